"""What is shown while a batch runs: a bar with figures on a terminal, lines of JSON for programs; and what Ctrl-C does to it."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from types import FrameType, TracebackType
from typing import Any, Self

import orjson
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from blendwright.batch import progress as figures
from blendwright.batch.engines.engine import JobReport
from blendwright.cli.output import notes

Stop = Callable[..., None]

# Columns for what is said beside the figures: the word before, a short bar, and how many of how many.
BESIDE = 40


class BatchDisplay:
    """Around one run. The first Ctrl-C ends it after the cases that are under way, the second at once, the third as ever."""

    def __init__(self, *, json: bool, stop: Stop) -> None:
        self._json = json
        self._stop = stop
        self._interrupts = 0
        self._before: Any = None
        text = TextColumn("{task.description}", markup=False)
        told = TextColumn("{task.fields[text]}", markup=False)
        columns = (text, BarColumn(), MofNCompleteColumn(), told)
        out = notes()
        if out.is_terminal and not json:
            self._bar = Progress(*columns, console=out.drawing, transient=True)
        else:
            self._bar = None
        self._task: Any = None

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._interrupted)
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("starting", total=None, text="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)
        if self._bar is not None:
            self._bar.stop()

    def tell(self, report: JobReport | None, progress: figures.Progress) -> None:
        """From the thread that the run was started in."""
        if self._json and report is not None:
            self._tell_programs(report, progress)
        if self._bar is not None:
            if self._interrupts:
                description = "stopping"
            else:
                description = "cases"
            self._bar.update(
                self._task, description=description, total=progress.counts.total, completed=progress.finished,
                text=_figures(progress, self._bar.console.width - BESIDE),
            )  # fmt: skip

    def _tell_programs(self, report: JobReport, progress: figures.Progress) -> None:
        if report.end == "published" and report.row is not None:
            self.line({"event": "case", **report.row, "progress": progress.to_json()})
        elif report.end == "lost":
            self.line({"event": "lane_lost", "key": report.job.case, "progress": progress.to_json()})

    def line(self, document: dict[str, Any]) -> None:
        with contextlib.suppress(AttributeError):  # without standard output there is no file at all
            sys.stdout.buffer.write(orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE))
            sys.stdout.buffer.flush()

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        self._interrupts += 1
        if self._interrupts > 2:
            signal.signal(signal.SIGINT, self._before)
            return
        # Not here: a handler runs in the middle of whatever the main thread does, which may hold the locks that this needs.
        threading.Thread(target=self._stop, kwargs={"at_once": self._interrupts == 2}).start()


def _figures(progress: figures.Progress, room: int) -> str:
    """In so many columns; the picture is left out where it would push out the rest."""
    parts: list[str] = []
    if failed := progress.counts.failed + progress.failed:
        parts.append(f"{failed} failed")
    if (rate := progress.rate) is not None:
        parts.append(f"{rate:.1f}/s" if rate >= 1 else f"{rate * 60:.1f}/min")
    if (left := progress.seconds_left) is not None:
        parts.append(f"{timedelta(seconds=round(left))} left")
    if progress.picture is not None and len("  ".join([*parts, str(progress.picture)])) <= room:
        parts.append(str(progress.picture))
    return "  ".join(parts)
