"""blendwright preview: what a plan would create, change and remove, found out on a copy of the scene."""

from __future__ import annotations

from blendwright.app import RunOptions
from blendwright.app.previewing import preview as preview_plan
from blendwright.cli.approver import approver
from blendwright.cli.difference import show_difference
from blendwright.cli.options import Approve, AsJson, Blender, Image, MinimumDeterminism, Scene, Timeout, Workspace
from blendwright.cli.output import Exit, notes, present
from blendwright.cli.plan_input import InDialect, PlanFile, RequestId, TakenBack, plan_text, stops_on_interrupt
from blendwright.cli.run import show_findings_and_repair
from blendwright.cli.safe_console import SafeConsole
from blendwright.cli.session import command_line
from blendwright.dialects.registry import read_plan
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
    timeout: Timeout = None,
    approve: Approve = None,
    determinism: MinimumDeterminism = None,
    json: AsJson = False,
) -> int:
    """Show what a plan would do. The workspace stays as it is, and need not exist."""
    parsed = read_plan(plan_text(plan), dialect=dialect, request_id=request_id, boundary=boundary)
    cancel = CancelToken()
    with stops_on_interrupt(cancel):
        result = preview_plan(
            parsed,
            workspace,
            RunOptions(timeout=timeout, cancel=cancel, determinism=determinism, approver=approver(approve)),
            scene=scene,
            blender=blender,
            image=image,
            proposal=command_line(),
        )
    exit_code = present(json, result.to_json, lambda out: _show(out, result), _exit_code(result))
    _note_picture(result)
    return exit_code


def _exit_code(preview: Preview) -> Exit:
    if Fault.CANCELLED in {operation.fault for operation in preview.report.operations}:
        return Exit.INTERRUPTED
    if preview.report.status == "refused":
        return Exit.REFUSED
    return Exit.DONE if preview.ok else Exit.FAILED


def _show(out: SafeConsole, preview: Preview) -> None:
    report = preview.report
    show_difference(preview.differences.difference, out)
    show_findings_and_repair(out, report)
    if report.status == "refused":
        out.labelled("refused", "nothing would run", "bold red")
        return
    done = sum(operation.done for operation in report.operations)
    counts = ", ".join(f"{count} {name}" for name, count in preview.differences.totals.items())
    word, style = ("would succeed", "bold green") if report.ok else ("would fail", "bold red")
    out.labelled(word, f"{done} of {len(report.operations)} operations: {counts}", style)


def _note_picture(preview: Preview) -> None:
    if preview.picture is not None:
        for artifact in preview.picture.artifacts:
            notes().show(f"wrote {artifact}")
        for finding in preview.picture.findings:
            notes().show(f"no picture: {finding.message}. {finding.cure or ''}", "red")
