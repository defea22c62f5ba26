"""blendwright run: a plan executed, committed operation by operation, and reported."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

import blendwright
from blendwright.cli.consent import Approve, ContractFile, Demand, approver, command_line, read_contract
from blendwright.cli.exporting import write_scene
from blendwright.cli.externals import of_head, say_externals
from blendwright.cli.output import (
    AsJson,
    Blender,
    Columns,
    Exit,
    Image,
    Scene,
    Workspace,
    console,
    notes,
    print_json,
    say_cleaned,
    say_recovered,
)
from blendwright.cli.plan_input import InDialect, PlanFile, RequestId, TakenBack, plan_text, stops_on_interrupt
from blendwright.dialects import registry
from blendwright.run.options import RunOptions
from blendwright.run.pictures import delivered
from blendwright.values.cancel import CancelToken
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.outcome import Outcome
from blendwright.values.plan import Plan
from blendwright.values.report import OperationReport, RunReport

TONES = {"good": "bold green", "warning": "bold yellow", "bad": "bold red"}
STYLES = {"succeeded": "green", "refused": "yellow", "skipped_idempotent": "cyan", "skipped": "yellow"}


def run(
    plan: PlanFile,
    workspace: Workspace = ".blendwright",
    scene: Scene = None,
    blender: Blender = None,
    boundary: TakenBack = "operation",
    request_id: RequestId = None,
    dialect: InDialect = None,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="FILE", help="Write the scene there afterwards, replacing what is there."),
    ] = None,
    image: Image = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="SECONDS", min=0.001, help="Deadline of the whole run.")
    ] = None,
    approve: Approve = None,
    determinism: Demand = None,
    contract: ContractFile = None,
    json: AsJson = False,
) -> int:
    """Execute a plan. What was done before under the same ids is not done again."""
    parsed = registry.read_plan(plan_text(plan), dialect=dialect, request_id=request_id, boundary=boundary)
    cancel = CancelToken()
    screen = _Screen()
    allowed = approver(approve, screen.aside)
    extra: list[Outcome] = []
    with (
        stops_on_interrupt(cancel),
        blendwright.open(
            workspace,
            scene=scene,
            blender=blender,
            spare=False,
            proposal=command_line(),
            contract=read_contract(contract),
            approver=allowed,
        ) as opened,
    ):
        say_recovered(opened.recovered)
        # Told before the plan runs: afterwards it is done, and what was asked for beside it is not there.
        targets = [path for path in (export, image) if path is not None]
        if wrong := [finding for path in targets for finding in opened.target_findings(path)]:
            raise Refusal(wrong)
        with _progress(parsed, screen, show=not json) as advance:
            options = RunOptions(timeout=timeout, cancel=cancel, progress=advance, determinism=determinism)
            report = opened.run(parsed, options)
        if scene is not None:
            say_externals(of_head(opened.journal))
        if report.ok and export is not None:
            extra.append(write_scene(opened, export, allowed, cancel))
        if report.ok and image is not None:
            extra.append(picture(opened, image, cancel))
    if json:
        ok = report.ok and all(outcome.ok for outcome in extra)
        exported = {} if export is None or not extra else {"export": extra[0].result}
        print_json(
            {
                "dialect": report.dialect,
                "ok": ok,
                "result": registry.render(report),
                "report": {**report.to_json(), **exported},
            }
        )
    else:
        _show(report)
        _show_conclusion(report)
    for outcome in extra:
        tell(outcome)
    return exit_code(report, extra)


def _show_conclusion(report: RunReport) -> None:
    """What a dialect shows besides the operations; nothing for a plan that is too broken to have a result."""
    dialect = registry.dialect(report.dialect)
    result = None if dialect.conclusion is None else dialect.render(report)
    if dialect.conclusion is not None and result is not None:
        for tone, heading, text in dialect.conclusion(result):
            console().print(
                Text(heading, style=TONES[tone]).append(f" {text}" if heading and text else text, "default")
            )


def exit_code(report: RunReport, extra: list[Outcome]) -> Exit:
    faults = {operation.fault for operation in report.operations}
    if Fault.CANCELLED in faults or any(outcome.fault is Fault.CANCELLED for outcome in extra):
        return Exit.INTERRUPTED
    if report.status == "refused" or nothing_ran(report):
        return Exit.REFUSED
    return Exit.DONE if report.ok and all(outcome.ok for outcome in extra) else Exit.FAILED


def nothing_ran(report: RunReport) -> bool:
    """Whether all that was tried was refused: a person declined, and nothing went before it."""
    statuses = {operation.status for operation in report.operations}
    return "refused" in statuses and statuses <= {"refused", "skipped", "skipped_idempotent"}


# A picture on a slow machine takes longer than the calls of a plan may.
PICTURE_SECONDS = 600.0


def picture(opened: blendwright.OpenScene, target: Path, cancel: CancelToken) -> Outcome:
    """Through the scene's camera where it has one, else from the front right above."""
    args: dict[str, Any] = {"engine": "CYCLES", "samples": 16, "artifact": "run.png"}
    options = RunOptions(cancel=cancel, call_seconds=PICTURE_SECONDS)
    taken = opened.outcome("render.preview", args, options)
    if taken.fault is Fault.SCENE_CONFLICT:
        taken = opened.outcome("render.preview", {"artifact": "run.png", "view": "ISO"}, options)
    return delivered(taken, target)


class _Speed(ProgressColumn):
    """Operations per second, once that is known."""

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:.0f}/s")


class _Screen:
    """The bar of a run, out of the way while a question is asked."""

    def __init__(self) -> None:
        self.bar: Progress | None = None

    @contextlib.contextmanager
    def aside(self) -> Generator[None]:
        if self.bar is not None:
            self.bar.stop()
        try:
            yield
        finally:
            if self.bar is not None:
                self.bar.start()


@contextlib.contextmanager
def _progress(plan: Plan, screen: _Screen, *, show: bool) -> Generator[Any]:
    """A bar on a terminal; nothing anywhere else."""
    out = notes()
    if not show or not out.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
               _Speed())  # fmt: skip
    with Progress(*columns, console=out, transient=True) as bar:
        screen.bar = bar
        task = bar.add_task("starting Blender", total=len(plan.operations))

        def advance(report: OperationReport) -> None:
            bar.update(task, advance=1, description=f"{report.operation_id} {report.tool}"[:50])

        yield advance


def _show(report: RunReport) -> None:
    out = console()
    table = Columns("operation", "tool", "status", "scene", "ms")
    for operation in report.operations:
        status = Text(operation.status, style=STYLES.get(operation.status, "red"))
        spent = f"{sum(operation.timings.values()):.1f}" if operation.timings else ""
        table.row(
            Text(operation.operation_id), Text(operation.tool), status, (operation.scene_hash_after or "")[-12:], spent
        )
    out.print(table)
    for finding in report.all_findings():
        line = Text(f"{finding.fault.value} ", style="bold red")
        out.print(line.append(f"{finding.pointer or '(plan)'}: {finding.message}", style="default"))
        if finding.cure:
            out.print(Text(f"  {finding.cure}", style="dim"))
    for entry in report.repair:
        out.print(Text(f"repair  {entry.action:21}{entry.operation_id}"))
    done = sum(operation.done for operation in report.operations)
    word = Text(f"{report.status} ", style="bold green" if report.ok else "bold red")
    spent = f", {report.timings['run_ms'] / 1000:.2f} s" if "run_ms" in report.timings else ""
    out.print(word.append(f"{done} of {len(report.operations)} operations{spent}", style="default"))


def tell(outcome: Outcome) -> None:
    """What was asked for beside the plan goes to standard error, which is free in either form of output."""
    for artifact in outcome.artifacts:
        notes().print(Text(f"wrote {artifact}"))
    say_cleaned((outcome.result or {}).get("cleaned", ()))
    for finding in outcome.findings:
        notes().print(Text(f"{outcome.tool}: {finding.message}. {finding.cure or ''}".rstrip(), style="red"))
