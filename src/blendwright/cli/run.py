"""The commands `blendwright run`, `call` and `preview`. They execute a plan or one tool, or try a plan on a copy."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Annotated, Any

import orjson
import typer

from blendwright.cli.approvals import approver
from blendwright.cli.choices import callable_names
from blendwright.cli.options import (
    Approve,
    AsJson,
    Attach,
    Blender,
    ContractFile,
    Export,
    Image,
    InDialect,
    Instead,
    InsteadOf,
    MinimumDeterminism,
    PlanFile,
    RequestId,
    Scene,
    Set,
    TakenBack,
    Timeout,
    Workspace,
)
from blendwright.cli.output import (
    Exit,
    SafeConsole,
    count_alike,
    note_external_files,
    note_outcome,
    note_printed,
    note_remarks,
    notes,
    present,
    repair_lines,
    show_difference,
)
from blendwright.cli.plan_files import read_plan_file
from blendwright.cli.progress import Pausable, ProgressBar, waiting
from blendwright.cli.proposal import command_line
from blendwright.cli.session import open_session, stops_on_interrupt
from blendwright.dialects import registry
from blendwright.dialects.envelopes import plan_outcome, render_envelope, result_envelope
from blendwright.policy.host_profile import EnvelopeName
from blendwright.records.commits import Commit
from blendwright.records.results import Preview
from blendwright.schemas.json_reader import LARGEST, read_json
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.outcome import Outcome
from blendwright.values.plan import Plan
from blendwright.values.report import RunReport, summarise_receipts
from blendwright.views.export import export_open_scene, render_picture
from blendwright.views.queries import external_findings
from blendwright.workspace import RunOptions
from blendwright.workspace.opening import follow_window
from blendwright.workspace.preview import preview as preview_plan
from blendwright.workspace.replace_plan import replaced_by_last, run_instead
from blendwright.workspace.validate import missing_names_beside

# Styles of the statuses of operations. Other statuses are red.
STYLES = {"succeeded": "green", "refused": "yellow", "skipped_idempotent": "cyan", "skipped": "yellow"}
# Styles of the tones in the conclusion of a dialect.
TONES = {"good": "bold green", "warning": "bold yellow", "bad": "bold red"}
REPLACE = "  To replace what the last plan made by this one: the same command with --instead"
QUOTED = """Give one JSON object, quoted for the shell: --args '{"name": "Box"}'"""


def run(
    plan: PlanFile,
    workspace: Workspace = ".blendwright",
    scene: Scene = None,
    blender: Blender = None,
    attach: Attach = None,
    boundary: TakenBack = None,
    set: Set = None,
    instead: Instead = False,
    instead_of: InsteadOf = None,
    request_id: RequestId = None,
    dialect: InDialect = None,
    export: Export = None,
    image: Image = None,
    timeout: Timeout = None,
    approve: Approve = None,
    determinism: MinimumDeterminism = None,
    contract: ContractFile = None,
    envelope: Annotated[
        EnvelopeName | None,
        typer.Option("--envelope", help="Put the document of --json into the shape of this contract."),
    ] = None,
    json: AsJson = False,
) -> int:
    """Execute a plan. Operations that ran before under the same ids do not run again."""
    parsed = read_plan_file(plan, workspace, dialect=dialect, given=set, request_id=request_id, boundary=boundary)
    # The request id of a plan, or True for the last plan.
    replaced_plan = instead_of or instead
    note_printed(parsed)
    cancel = CancelToken()
    progress = ProgressBar()
    allowed = approver(approve, progress.pause)
    extra: list[Outcome] = []
    with stops_on_interrupt(cancel):
        with contextlib.ExitStack() as session:
            opened = session.enter_context(
                open_session(
                    workspace, scene=scene, blender=blender, contract=contract, approver=allowed, attach=attach
                )
            )
            # Check the files before the plan runs. Otherwise the plan is done, but its picture or export is missing.
            problems: list[Finding] = []
            for path in (export, image):
                if path is not None:
                    problems += opened.target_findings(path)
            if problems:
                raise Refusal(problems)

            with progress.running(len(parsed.operations), show=not json) as advance:
                options = RunOptions(timeout=timeout, cancel=cancel, progress=advance, determinism=determinism)
                if replaced_plan:
                    report = run_instead(opened, parsed, options, of=replaced_plan)
                else:
                    report = opened.run(parsed, options)

            replaced = None
            if replaced_plan and report.ok:
                replaced = replaced_by_last(opened.journal)
            if scene is not None:
                note_external_files(external_findings(opened.journal))
            if report.ok and export is not None:
                with waiting("writing the file", show=not json):
                    extra.append(export_open_scene(opened, export, allowed, cancel))
            if report.ok and image is not None:
                with waiting("taking the picture", show=not json):
                    extra.append(render_picture(opened, image, cancel))
            with waiting(
                "ending Blender; after the first picture, with what makes the next ones quicker", show=not json
            ):
                session.close()

        exported = None
        if export is not None and extra:
            exported = extra[0].result
        exit_code = present(
            json,
            lambda: _run_document(report, extra, exported, envelope),
            lambda out: _show_run(out, report, instead=bool(replaced_plan), replaced=replaced),
            Exit.of_run(report, extra),
        )
    _note_missing_names(report, parsed, workspace)
    note_remarks((*report.notes, *summarise_receipts(report.operations).notes))
    for outcome in extra:
        note_outcome(outcome)
    return exit_code


def _run_document(
    report: RunReport, extra: Sequence[Outcome], exported: Mapping[str, Any] | None, envelope: EnvelopeName | None
) -> dict[str, Any]:
    """Return the JSON document of `run`: the result of the dialect and the report, inside the envelope.

    Without an envelope, the document of a failure also has the error code and the details.
    """
    outcome = plan_outcome("run", report, {}, beside=extra)
    if envelope is None:
        body = dict(report.outline())
    else:
        body = dict(report.to_json())
    if exported is not None:
        body["export"] = exported
    remarks = list(body["notes"])
    for extra_outcome in extra:
        remarks += (extra_outcome.result or {}).get("notes", ())
    body["notes"] = remarks

    document = {"dialect": report.dialect, "ok": outcome.ok, "result": registry.render(report), "report": body}
    if envelope is not None:
        return render_envelope(outcome.with_(result=document), envelope)
    if not outcome.ok:
        document |= result_envelope(outcome).model_dump(include={"error_code", "message", "details"})
    return document


def _show_run(out: SafeConsole, report: RunReport, *, instead: bool, replaced: Commit | None) -> None:
    """Print the operations that ran, the findings and a summary. The summary counts the operations that did not run."""
    untried = {"skipped"}
    if report.status == "refused":
        untried.add("refused")
    tried = [operation for operation in report.operations if operation.status not in untried]
    rows = [
        (
            operation.operation_id, operation.tool, (operation.status, STYLES.get(operation.status, "red")),
            (operation.scene_hash_after or "")[-12:],
            _milliseconds(operation.timings),
        )
        for operation in tried
    ]  # fmt: skip
    if rows:
        out.columns(rows, headers=("operation", "tool", "status", "scene", "ms"))
    show_findings_and_repair(out, report)
    if not instead and any(finding.fault is Fault.SCENE_CONFLICT for finding in report.all_findings()):
        out.show(REPLACE, "dim")
    _show_summary(out, report, len(report.operations) - len(tried))
    if replaced is not None:
        out.show(
            f"  In place of what led to commit {replaced.number}: `blendwright undo --plan` brings that back", "dim"
        )
    _show_conclusion(out, report)


def _milliseconds(timings: Mapping[str, float]) -> str:
    """Return the sum of the timings of an operation, or an empty string without any."""
    if not timings:
        return ""
    return f"{sum(timings.values()):.1f}"


def _show_summary(out: SafeConsole, report: RunReport, untried_count: int) -> None:
    done = sum(operation.done for operation in report.operations)
    summary = f"{done} of {len(report.operations)} operations"
    if untried_count:
        summary += f", {untried_count} not run"
    if "run_ms" in report.timings:
        summary += f", {report.timings['run_ms'] / 1000:.2f} s"

    if report.ok:
        style = "bold green"
    else:
        style = "bold red"
    out.labelled(report.status, summary, style)


def _note_missing_names(report: RunReport, plan: Plan, workspace: str) -> None:
    """Print the missing names of a refused plan, so that the user can fix them together with the reasons for the refusal."""
    if report.status == "refused":
        for finding, _ in count_alike(missing_names_beside(plan, workspace)):
            notes().labelled("fails when run", f"{finding.where}: {finding.message}. {finding.cure}", "bold yellow")


def show_findings_and_repair(out: SafeConsole, report: RunReport) -> None:
    """Print the findings of a report and a line for each repair that it proposes."""
    out.findings(report.all_findings())
    for action, text in repair_lines((entry.action, entry.operation_id) for entry in report.repair):
        out.show(f"repair  {action:21}{text}")


def _show_conclusion(out: SafeConsole, report: RunReport) -> None:
    """Print the conclusion of a dialect after the operations. A plan that is too broken for a result has none."""
    dialect = registry.dialect(report.dialect)
    if dialect.conclusion is None:
        return
    result = dialect.render(report)
    if result is None:
        return
    for tone, heading, text in dialect.conclusion(result):
        if heading and text:
            separator = " "
        else:
            separator = ""
        out.parts((heading, TONES[tone]), (separator + text, "default"))


def call(
    tool: Annotated[
        str,
        typer.Argument(
            metavar="TOOL",
            help="Name of a tool or macro, as `blendwright tools` and `macros` list them.",
            autocompletion=callable_names,
        ),
    ],
    args: Annotated[
        str, typer.Option("--args", metavar="JSON", help="Its arguments; - reads them from standard input.")
    ] = "{}",
    workspace: Workspace = ".blendwright",
    scene: Scene = None,
    blender: Blender = None,
    attach: Attach = None,
    timeout: Timeout = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read the result back, also after a read-only tool.")
    ] = False,
    snapshot: Annotated[bool, typer.Option("--snapshot", help="Add the scene as it is afterwards.")] = False,
    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="Take the call back and prove that the scene is as before.")
    ] = False,
    export: Export = None,
    envelope: Annotated[
        EnvelopeName, typer.Option("--envelope", help="Which contract's shape --json prints.")
    ] = "tool_result",
    approve: Approve = None,
    determinism: MinimumDeterminism = None,
    contract: ContractFile = None,
    json: AsJson = False,
) -> int:
    """Call one tool or macro on the scene of the workspace; a new one starts empty, or from a copy of a .blend file."""
    started = perf_counter()
    document = _call_arguments(args)
    parse_ms = (perf_counter() - started) * 1000
    display = Pausable()
    allowed = approver(approve, display.pause)
    cancel = CancelToken()
    options = RunOptions(
        timeout=timeout,
        cancel=cancel,
        determinism=determinism,
        verify=verify,
        rehearse="inverse" if rehearse else None,
        snapshot=snapshot,
        parse_ms=parse_ms,
    )
    with stops_on_interrupt(cancel):
        with open_session(
            workspace, scene=scene, blender=blender, contract=contract, approver=allowed, attach=attach
        ) as opened:
            with waiting(tool, show=not json, pausable=display):
                outcome = opened.outcome(tool, document, options)
            if export is not None and outcome.ok:
                exported = export_open_scene(opened, export, allowed, cancel)
                partial = {"kept": [{"tool": tool, "changes": [dict(change) for change in outcome.changes]}]}
                if exported.ok:
                    outcome = outcome.with_(artifacts=(*outcome.artifacts, *exported.artifacts))
                else:
                    outcome = exported.with_(partial=partial)
        return present(
            json,
            lambda: render_envelope(outcome, envelope),
            lambda out: _show_call(out, outcome),
            Exit.of_call(outcome),
        )


def _call_arguments(args: str) -> Any:
    """Return the arguments of a call from JSON, or from standard input for `-`. Raise Refusal when they are not JSON."""
    if args == "-":
        document, findings = read_json(sys.stdin.buffer.read(LARGEST + 1))
    else:
        document, findings = read_json(args)
    if not findings:
        return document
    if args == "-" or findings[0].pointer:
        raise Refusal(findings)
    raise Refusal(findings, cure=QUOTED)


def _show_call(out: SafeConsole, outcome: Outcome) -> None:
    if outcome.fault is None:
        out.labelled("ok", outcome.tool, "bold green")
        if outcome.result and "macro" in outcome.result:
            for step in outcome.result["steps"]:
                out.labelled(f"  {step['step']:3}  {step['title']} ", step["tool"], "", text_style="dim")
        elif outcome.result:
            rows = [(f"  {key}", orjson.dumps(value).decode()) for key, value in outcome.result.items()]
            out.columns(rows)
    else:
        out.labelled(outcome.fault.value, outcome.tool, "bold red")
        for finding in outcome.findings:
            out.show(f"  {finding.pointer or '(call)'}: {finding.message}")
            if finding.cure:
                out.show(f"    {finding.cure}", "dim")
    for change in outcome.changes:
        out.show(f"  {change['change']:8}{change['kind']} {change['name']}")
    for artifact in outcome.artifacts:
        out.show(f"  wrote   {artifact}")
    if outcome.fingerprint_after:
        # Changes from code or from a file may be missing in the hash, so an equal hash proves nothing then.
        if outcome.fingerprint_before != outcome.fingerprint_after:
            remark = ""
        elif outcome.blender_mutation_id:
            remark = "  (the same hash)"
        else:
            remark = "  (unchanged)"
        out.show(f"  scene   {outcome.fingerprint_after}{remark}", "dim")
    spent = ", ".join(f"{phase.name} {phase.ms:g} ms" for phase in outcome.trace if phase.ms)
    out.show(f"  phases  {spent}", "dim")


def preview(
    plan: PlanFile,
    workspace: Workspace = ".blendwright",
    scene: Scene = None,
    blender: Blender = None,
    image: Image = None,
    boundary: TakenBack = None,
    set: Set = None,
    instead: Annotated[
        bool, typer.Option("--instead", help="As in place of the last plan, compared with the scene as it is.")
    ] = False,
    instead_of: InsteadOf = None,
    request_id: RequestId = None,
    dialect: InDialect = None,
    timeout: Timeout = None,
    approve: Approve = None,
    determinism: MinimumDeterminism = None,
    json: AsJson = False,
) -> int:
    """Show what a plan would do. The workspace stays as it is, and need not exist."""
    parsed = read_plan_file(plan, workspace, dialect=dialect, given=set, request_id=request_id, boundary=boundary)
    # The request id of a plan, or True for the last plan.
    replaced_plan = instead_of or instead
    note_printed(parsed)
    cancel = CancelToken()
    progress = ProgressBar()
    allowed = approver(approve, progress.pause)
    with stops_on_interrupt(cancel):
        follow_window(workspace, blender=blender)
        with progress.running(len(parsed.operations), show=not json) as advance:
            result = preview_plan(
                parsed,
                workspace,
                RunOptions(timeout=timeout, cancel=cancel, progress=advance, determinism=determinism, approver=allowed),
                scene=scene,
                blender=blender,
                image=image,
                proposal=command_line(),
                instead=replaced_plan,
            )
    exit_code = present(
        json, result.to_json, lambda out: _show_preview(out, result, instead=bool(replaced_plan)), _preview_exit(result)
    )
    _note_missing_names(result.report, parsed, workspace)
    _note_picture(result)
    return exit_code


def _preview_exit(preview: Preview) -> Exit:
    if preview.report.cancelled:
        return Exit.INTERRUPTED
    if preview.report.status == "refused":
        return Exit.REFUSED
    if preview.ok:
        return Exit.DONE
    return Exit.FAILED


def _show_preview(out: SafeConsole, preview: Preview, *, instead: bool) -> None:
    report = preview.report
    show_difference(preview.differences.difference, out)
    show_findings_and_repair(out, report)
    if not instead and any(finding.fault is Fault.SCENE_CONFLICT for finding in report.all_findings()):
        out.show(REPLACE, "dim")
    if report.status == "refused":
        out.labelled("refused", "nothing would run", "bold red")
        return
    for question in preview.asks:
        out.labelled("asks", f"a person must allow {question}", "yellow")
    done = sum(operation.done for operation in report.operations)
    counts = ", ".join(f"{count} {name}" for name, count in preview.differences.totals.items())
    if report.ok:
        verdict, style = "would succeed", "bold green"
    else:
        verdict, style = "would fail", "bold red"
    out.labelled(verdict, f"{done} of {len(report.operations)} operations: {counts}", style)


def _note_picture(preview: Preview) -> None:
    if preview.picture is not None:
        for artifact in preview.picture.artifacts:
            notes().show(f"wrote {artifact}")
        note_remarks(preview.picture_notes)
        for finding in preview.picture.findings:
            notes().show(f"no picture: {finding.message}. {finding.cure or ''}", "red")
