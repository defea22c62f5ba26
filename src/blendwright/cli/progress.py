"""How far a command has come: a display on a terminal, nothing anywhere else."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator

from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.status import Status
from rich.text import Text

from blendwright.cli.output import notes
from blendwright.values.report import OperationReport


class Pausable:
    """A display that can be paused; nothing happens while there is none."""

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
    """The progress of a run: a bar on a terminal, nothing anywhere else."""

    @contextlib.contextmanager
    def running(self, operations: int, *, show: bool) -> Generator[Callable[[OperationReport], None] | None]:
        out = notes()
        if not show or not out.is_terminal:
            yield None
            return
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                   _Speed())  # fmt: skip
        with Progress(*columns, console=out, transient=True) as bar:
            self.live = bar
            task = bar.add_task("starting Blender", total=operations)

            def advance(report: OperationReport) -> None:
                bar.update(task, advance=1, description=f"{report.operation_id} {report.tool}"[:50])

            yield advance
        self.live = None


class _Speed(ProgressColumn):
    """Operations per second, once that is known."""

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:.0f}/s")
