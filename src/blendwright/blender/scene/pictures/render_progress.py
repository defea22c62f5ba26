"""How far a render is, as Blender tells it: into a file, where whoever waits can read it, and for the answer."""

import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import bpy

_handlers: Any = bpy.app.handlers
SAMPLE = re.compile(r"Sample (\d+)/(\d+)")
# Blender tells many times a second.
INTERVAL = 0.5


class RenderProgress:
    """`samples`: how many were taken of each pixel, and how many were meant to be; both 0 for an engine that does not say."""

    def __init__(self, file: Path, label: str = "") -> None:
        self._file = file
        self._label = label
        self._last = 0.0
        self.samples = (0, 0)

    def __call__(self, stats: str, *more: object) -> None:
        found = SAMPLE.search(stats)
        if found is not None:
            # At the end Blender begins to count anew.
            self.samples = max(self.samples, (int(found[1]), int(found[2])))
        if perf_counter() - self._last > INTERVAL:
            self._last = perf_counter()
            # What cannot be told is no reason to lose a picture.
            with suppress(OSError):
                self._file.write_text(f"{self._label}{stats}\n")


@contextmanager
def render_progress(file: Path, label: str = "") -> Generator[RenderProgress]:
    """`label` is told at once, and before all that Blender tells."""
    progress = RenderProgress(file, f"{label}: " if label else "")
    if label:
        with suppress(OSError):
            file.write_text(f"{label}\n")
    _handlers.render_stats.append(progress)
    try:
        yield progress
    finally:
        _handlers.render_stats.remove(progress)
