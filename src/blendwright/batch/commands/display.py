"""The display of a running batch: a progress bar on a terminal, or lines of JSON for programs. It also handles Ctrl-C."""

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

# Columns of the terminal for everything but the figures: the description, the bar, and the count.
RESERVED_COLUMNS = 40


class BatchDisplay:
    """The display of one run. The first Ctrl-C stops after the running cases, the second at once; the third has its normal effect."""

    def __init__(self, *, json: bool, stop: Stop) -> None:
        self._json = json
        self._stop = stop
        self._interrupts = 0
        self._before: Any = None
        text = TextColumn("{task.description}", markup=False)
        figures_text = TextColumn("{task.fields[text]}", markup=False)
        columns = (text, BarColumn(), MofNCompleteColumn(), figures_text)
        out = notes()
        self._bar: Progress | None = None
        if out.is_terminal and not json:
            self._bar = Progress(*columns, console=out.drawing, transient=True)
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

    def update(self, report: JobReport | None, progress: figures.Progress) -> None:
        """Show the report of a job, or only the progress if it is None. Call it from the thread that started the run."""
        if self._json and report is not None:
            self._print_event(report, progress)
        if self._bar is not None:
            description = "cases"
            if self._interrupts:
                description = "stopping"
            self._bar.update(
                self._task, description=description, total=progress.counts.total, completed=progress.finished,
                text=_figures(progress, self._bar.console.width - RESERVED_COLUMNS),
            )  # fmt: skip

    def _print_event(self, report: JobReport, progress: figures.Progress) -> None:
        if report.end == "published" and report.row is not None:
            self.line({"event": "case", **report.row, "progress": progress.to_json()})
        elif report.end == "lost":
            self.line({"event": "lane_lost", "key": report.job.case, "progress": progress.to_json()})

    def line(self, document: dict[str, Any]) -> None:
        """Print a document as one line of JSON on standard output."""
        with contextlib.suppress(AttributeError):  # sys.stdout is None if the process has no standard output
            sys.stdout.buffer.write(orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE))
            sys.stdout.buffer.flush()

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        self._interrupts += 1
        if self._interrupts > 2:
            signal.signal(signal.SIGINT, self._before)
            return
        # In another thread, because a signal handler interrupts the main thread, which may hold the locks that `stop` needs.
        threading.Thread(target=self._stop, kwargs={"at_once": self._interrupts == 2}).start()


def _figures(progress: figures.Progress, max_columns: int) -> str:
    """Return the figures as text. It names the latest picture only if that fits into `max_columns`."""
    parts: list[str] = []
    failed = progress.counts.failed + progress.failed
    if failed:
        parts.append(f"{failed} failed")
    rate = progress.rate
    if rate is not None:
        if rate >= 1:
            parts.append(f"{rate:.1f}/s")
        else:
            parts.append(f"{rate * 60:.1f}/min")
    seconds_left = progress.seconds_left
    if seconds_left is not None:
        parts.append(f"{timedelta(seconds=round(seconds_left))} left")
    if progress.picture is not None and len("  ".join([*parts, str(progress.picture)])) <= max_columns:
        parts.append(str(progress.picture))
    return "  ".join(parts)
