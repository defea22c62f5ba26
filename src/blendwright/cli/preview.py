"""blendwright preview: what a plan would create, change and remove, found out on a copy of the scene."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from blendwright.app.previewing import preview as preview_plan
from blendwright.cli.consent import Approve, Demand, approver, command_line
from blendwright.cli.difference import show_difference
from blendwright.cli.output import AsJson, Blender, Exit, Image, Scene, Workspace, console, notes, print_json
from blendwright.cli.plan_input import InDialect, PlanFile, RequestId, TakenBack, plan_text, stops_on_interrupt
from blendwright.dialects.registry import read_plan
from blendwright.run.options import RunOptions
from blendwright.run.preview import Preview
from blendwright.values.cancel import CancelToken
from blendwright.values.faults import Fault


def preview(
    plan: PlanFile,
    workspace: Workspace = ".blendwright",
    scene: Scene = None,
    blender: Blender = None,
    image: Image = None,
    boundary: TakenBack = "operation",
    request_id: RequestId = None,
    dialect: InDialect = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="SECONDS", min=0.001, help="Deadline of the whole plan.")
    ] = None,
    approve: Approve = None,
    determinism: Demand = None,
    json: AsJson = False,
) -> int:
    """Show what a plan would do. The workspace stays as it is, and need not exist."""
    parsed = read_plan(plan_text(plan), dialect=dialect, request_id=request_id, boundary=boundary)
    cancel = CancelToken()
    with stops_on_interrupt(cancel):
        shown = preview_plan(
            parsed,
            workspace,
            RunOptions(timeout=timeout, cancel=cancel, determinism=determinism, approver=approver(approve)),
            scene=scene,
            blender=blender,
            image=image,
            proposal=command_line(),
        )
    if json:
        print_json(shown.to_json())
    else:
        _show(shown)
    if shown.picture is not None:
        _tell_picture(shown)
    return exit_code(shown)


def exit_code(shown: Preview) -> Exit:
    if Fault.CANCELLED in {operation.fault for operation in shown.report.operations}:
        return Exit.INTERRUPTED
    if shown.report.status == "refused":
        return Exit.REFUSED
    return Exit.DONE if shown.ok else Exit.FAILED


def _show(shown: Preview) -> None:
    out = console()
    show_difference(shown.differences.difference, out)
    for finding in shown.report.all_findings():
        line = Text(f"{finding.fault.value} ", style="bold red")
        out.print(line.append(f"{finding.pointer or '(plan)'}: {finding.message}", style="default"))
        if finding.cure:
            out.print(Text(f"  {finding.cure}", style="dim"))
    for entry in shown.report.repair:
        out.print(Text(f"repair  {entry.action:21}{entry.operation_id}"))
    out.print(_summary(shown))


def _summary(shown: Preview) -> Text:
    report, totals = shown.report, shown.differences.totals
    if report.status == "refused":
        return Text("refused ", style="bold red").append("nothing would run", style="default")
    done = sum(operation.done for operation in report.operations)
    word = Text("would succeed " if report.ok else "would fail ", style="bold green" if report.ok else "bold red")
    counts = ", ".join(f"{count} {name}" for name, count in totals.items())
    return word.append(f"{done} of {len(report.operations)} operations: {counts}", style="default")


def _tell_picture(shown: Preview) -> None:
    assert shown.picture is not None
    for artifact in shown.picture.artifacts:
        notes().print(Text(f"wrote {artifact}"))
    for finding in shown.picture.findings:
        notes().print(Text(f"no picture: {finding.message}. {finding.cure or ''}", style="red"))
