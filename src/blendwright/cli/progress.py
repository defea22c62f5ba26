"""Progress displays of commands. They appear only on a terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from datetime import timedelta
from math import ceil

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.status import Status
from rich.text import Text

from blendwright.cli.output import notes
from blendwright.values.report import OperationReport

# Seconds before the display shows a rate.
MIN_RATE_SECONDS = 1.0


class Pausable:
    """A display that stops during a question. Without a display, a pause does nothing."""

    def __init__(self) -> None:
        self.live: Progress | Status | None = None

    @contextlib.contextmanager
    def pause(self) -> Generator[None]:
        live = self.live
        if live is not None:
            live.stop()
        try:
            yield
        finally:
            if live is not None:
                live.start()


class ProgressBar(Pausable):
    """A progress bar for the operations of a run, on a terminal only."""

    @contextlib.contextmanager
    def running(self, operations: int, *, show: bool) -> Generator[Callable[[OperationReport], None] | None]:
        out = notes()
        if not show or not out.is_terminal:
            yield None
            return
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                   Rate())  # fmt: skip
        with Progress(*columns, console=out.drawing, transient=True) as bar:
            self.live = bar
            task = bar.add_task("starting Blender", total=operations)

            def advance(report: OperationReport) -> None:
                # Reports of skipped operations arrive together and are not progress.
                tried = report.status not in ("skipped", "refused")
                bar.update(task, advance=int(tried), description=f"{report.operation_id} {report.tool}"[:50])

            yield advance
        self.live = None


class Rate(ProgressColumn):
    """A column with the number of operations per second or minute, and the remaining time at that rate."""

    def render(self, task: Task) -> Text:
        # A short time gives no useful rate, because reports arrive in groups.
        if not task.completed or (task.elapsed or 0.0) < MIN_RATE_SECONDS:
            return Text("")
        speed = task.completed / (task.elapsed or 1.0)
        if speed >= 1:
            rate = f"{speed:.0f}/s"
        else:
            rate = f"{speed * 60:.0f}/min"
        if not task.remaining:
            return Text(rate)
        remaining_seconds = ceil(task.remaining / speed)
        return Text(f"{rate}  {timedelta(seconds=remaining_seconds)} left")


@contextlib.contextmanager
def waiting(what: str, *, show: bool, pausable: Pausable | None = None) -> Generator[None]:
    """Show a spinner with a description and the elapsed time on a terminal, for work of unknown length.

    A question during the work stops the display through `pausable`.
    """
    out = notes()
    if not show or not out.is_terminal:
        yield
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=out.drawing, transient=True) as display:
        display.add_task(what, total=None)
        if pausable is not None:
            pausable.live = display
        yield
    if pausable is not None:
        pausable.live = None
