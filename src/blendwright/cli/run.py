"""blendwright run: a plan executed, committed operation by operation, and reported."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from blendwright.app import RunOptions
from blendwright.app.exporting import export_open_scene, render_picture
from blendwright.app.queries import external_findings
from blendwright.cli.approver import approver
from blendwright.cli.options import (
    Approve,
    AsJson,
    Blender,
    ContractFile,
    Export,
    Image,
    MinimumDeterminism,
    Scene,
    Timeout,
    Workspace,
)
from blendwright.cli.output import Exit, note_external_files, note_outcome, present
from blendwright.cli.plan_input import InDialect, PlanFile, RequestId, TakenBack, plan_text, stops_on_interrupt
from blendwright.cli.progress import ProgressBar
from blendwright.cli.safe_console import SafeConsole
from blendwright.cli.session import open_session
from blendwright.dialects import registry
from blendwright.values.cancel import CancelToken
from blendwright.values.errors import Refusal
from blendwright.values.outcome import Outcome
from blendwright.values.report import RunReport

STYLES = {"succeeded": "green", "refused": "yellow", "skipped_idempotent": "cyan", "skipped": "yellow"}
TONES = {"good": "bold green", "warning": "bold yellow", "bad": "bold red"}


def run(
    plan: PlanFile,
    workspace: Workspace = ".blendwright",
    scene: Scene = None,
    blender: Blender = None,
    boundary: TakenBack = "operation",
    request_id: RequestId = None,
    dialect: InDialect = None,
    export: Export = None,
    image: Image = None,
    timeout: Timeout = None,
    approve: Approve = None,
    determinism: MinimumDeterminism = None,
    contract: ContractFile = None,
    json: AsJson = False,
) -> int:
    """Execute a plan. What was done before under the same ids is not done again."""
    parsed = registry.read_plan(plan_text(plan), dialect=dialect, request_id=request_id, boundary=boundary)
    cancel = CancelToken()
    progress = ProgressBar()
    allowed = approver(approve, progress.pause)
    extra: list[Outcome] = []
    with (
        stops_on_interrupt(cancel),
        open_session(workspace, scene=scene, blender=blender, contract=contract, approver=allowed) as opened,
    ):
        # Before the plan runs: afterwards it is done, and what was asked for beside it is not there.
        targets = [path for path in (export, image) if path is not None]
        if problems := [finding for path in targets for finding in opened.target_findings(path)]:
            raise Refusal(problems)
        with progress.running(len(parsed.operations), show=not json) as advance:
            options = RunOptions(timeout=timeout, cancel=cancel, progress=advance, determinism=determinism)
            report = opened.run(parsed, options)
        if scene is not None:
            note_external_files(external_findings(opened.journal))
        if report.ok and export is not None:
            extra.append(export_open_scene(opened, export, allowed, cancel))
        if report.ok and image is not None:
            extra.append(render_picture(opened, image, cancel))

    def document() -> dict[str, Any]:
        ok = report.ok and all(outcome.ok for outcome in extra)
        exported = {} if export is None or not extra else {"export": extra[0].result}
        body = {**report.outline(), **exported}
        return {"dialect": report.dialect, "ok": ok, "result": registry.render(report), "report": body}

    exit_code = present(json, document, lambda out: _show(out, report), Exit.of_run(report, extra))
    for outcome in extra:
        note_outcome(outcome)
    return exit_code


def _show(out: SafeConsole, report: RunReport) -> None:
    rows = [
        (
            operation.operation_id, operation.tool, (operation.status, STYLES.get(operation.status, "red")),
            (operation.scene_hash_after or "")[-12:],
            f"{sum(operation.timings.values()):.1f}" if operation.timings else "",
        )
        for operation in report.operations
    ]  # fmt: skip
    out.columns(rows, headers=("operation", "tool", "status", "scene", "ms"))
    show_findings_and_repair(out, report)
    done = sum(operation.done for operation in report.operations)
    spent = f", {report.timings['run_ms'] / 1000:.2f} s" if "run_ms" in report.timings else ""
    style = "bold green" if report.ok else "bold red"
    out.labelled(report.status, f"{done} of {len(report.operations)} operations{spent}", style)
    _show_conclusion(out, report)


def show_findings_and_repair(out: SafeConsole, report: RunReport) -> None:
    out.findings(report.all_findings())
    for entry in report.repair:
        out.show(f"repair  {entry.action:21}{entry.operation_id}")


def _show_conclusion(out: SafeConsole, report: RunReport) -> None:
    """What a dialect shows besides the operations; nothing for a plan that is too broken to have a result."""
    dialect = registry.dialect(report.dialect)
    result = None if dialect.conclusion is None else dialect.render(report)
    if dialect.conclusion is not None and result is not None:
        for tone, heading, text in dialect.conclusion(result):
            out.print(Text(heading, style=TONES[tone]).append(f" {text}" if heading and text else text, "default"))
