"""The progress of a render as Blender reports it, written to a file for waiting clients and kept for the answer."""

import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import bpy

_handlers: Any = bpy.app.handlers
SAMPLE = re.compile(r"Sample (\d+)/(\d+)")
# Seconds between two writes; Blender reports progress many times a second.
INTERVAL_SECONDS = 0.5


class RenderProgress:
    """A handler for Blender's render statistics, which writes them to a file.

    `samples` holds the finished and the planned samples per pixel; both are 0 for an engine that reports none."""

    def __init__(self, file: Path, label: str = "") -> None:
        self._file = file
        self._label = label
        self._last = 0.0
        self.samples = (0, 0)

    def __call__(self, stats: str, *_arguments: object) -> None:
        match = SAMPLE.search(stats)
        if match is not None:
            # At the end Blender starts counting from 0 again.
            self.samples = max(self.samples, (int(match[1]), int(match[2])))
        if perf_counter() - self._last > INTERVAL_SECONDS:
            self._last = perf_counter()
            # A failed write must not end the render.
            with suppress(OSError):
                self._file.write_text(f"{self._label}{stats}\n")


@contextmanager
def render_progress(file: Path, label: str = "") -> Generator[RenderProgress]:
    """Write the progress of renders to `file` for the length of the block. `label` is written at once, and before each report."""
    prefix = ""
    if label:
        prefix = f"{label}: "
        with suppress(OSError):
            file.write_text(f"{label}\n")

    progress = RenderProgress(file, prefix)
    _handlers.render_stats.append(progress)
    try:
        yield progress
    finally:
        _handlers.render_stats.remove(progress)
