"""blendwright run, call, preview: a plan or one tool executed, or tried on a copy."""

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
    note_external_files,
    note_outcome,
    note_printed,
    note_remarks,
    notes,
    present,
    repair_lines,
    show_difference,
    count_alike,
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

STYLES = {"succeeded": "green", "refused": "yellow", "skipped_idempotent": "cyan", "skipped": "yellow"}
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
    """Execute a plan. What was done before under the same ids is not done again."""
    parsed = read_plan_file(plan, workspace, dialect=dialect, given=set, request_id=request_id, boundary=boundary)
    place = instead_of or instead
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
            # Before the plan runs: afterwards it is done, and what was asked for beside it is not there.
            targets = [path for path in (export, image) if path is not None]
            if problems := [finding for path in targets for finding in opened.target_findings(path)]:
                raise Refusal(problems)
            with progress.running(len(parsed.operations), show=not json) as advance:
                options = RunOptions(timeout=timeout, cancel=cancel, progress=advance, determinism=determinism)
                if place:
                    report = run_instead(opened, parsed, options, of=place)
                else:
                    report = opened.run(parsed, options)
            if place and report.ok:
                replaced = replaced_by_last(opened.journal)
            else:
                replaced = None
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
        if export is None or not extra:
            exported = None
        else:
            exported = extra[0].result
        exit_code = present(
            json,
            lambda: _run_document(report, extra, exported, envelope),
            lambda out: _show_run(out, report, instead=bool(place), replaced=replaced),
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
    """What `run` prints for programs: the dialect's own result and the report, in the envelope that is asked for. Without one, a
    failure has the code and the details of the envelope beside them."""
    outcome = plan_outcome("run", report, {}, beside=extra)
    body = {**(report.outline() if envelope is None else report.to_json())}
    body |= {} if exported is None else {"export": exported}
    body["notes"] = [*body["notes"], *(note for each in extra for note in (each.result or {}).get("notes", ()))]
    document = {"dialect": report.dialect, "ok": outcome.ok, "result": registry.render(report), "report": body}
    if envelope is not None:
        return render_envelope(outcome.with_(result=document), envelope)
    if outcome.ok:
        failed = {}
    else:
        failed = result_envelope(outcome).model_dump(include={"error_code", "message", "details"})
    return document | failed


def _show_run(out: SafeConsole, report: RunReport, *, instead: bool, replaced: Commit | None) -> None:
    """What was not run has nothing to tell: its number is enough."""
    if report.status == "refused":
        untried = {"skipped", "refused"}
    else:
        untried = {"skipped"}
    tried = [operation for operation in report.operations if operation.status not in untried]
    rows = [
        (
            operation.operation_id, operation.tool, (operation.status, STYLES.get(operation.status, "red")),
            (operation.scene_hash_after or "")[-12:],
            f"{sum(operation.timings.values()):.1f}" if operation.timings else "",
        )
        for operation in tried
    ]  # fmt: skip
    if rows:
        out.columns(rows, headers=("operation", "tool", "status", "scene", "ms"))
    show_findings_and_repair(out, report)
    if not instead and any(finding.fault is Fault.SCENE_CONFLICT for finding in report.all_findings()):
        out.show(REPLACE, "dim")
    done = sum(operation.done for operation in report.operations)
    if "run_ms" in report.timings:
        spent = f", {report.timings['run_ms'] / 1000:.2f} s"
    else:
        spent = ""
    if report.ok:
        style = "bold green"
    else:
        style = "bold red"
    not_run = len(report.operations) - len(tried)
    if not_run:
        left = f", {not_run} not run"
    else:
        left = ""
    out.labelled(report.status, f"{done} of {len(report.operations)} operations{left}{spent}", style)
    if replaced is not None:
        out.show(
            f"  In place of what led to commit {replaced.number}: `blendwright undo --plan` brings that back", "dim"
        )
    _show_conclusion(out, report)


def _note_missing_names(report: RunReport, plan: Plan, workspace: str) -> None:
    """Of a plan that was refused for other reasons: what would come next is told now."""
    if report.status == "refused":
        for finding, _ in count_alike(missing_names_beside(plan, workspace)):
            notes().labelled("fails when run", f"{finding.where}: {finding.message}. {finding.cure}", "bold yellow")


def show_findings_and_repair(out: SafeConsole, report: RunReport) -> None:
    out.findings(report.all_findings())
    for action, text in repair_lines((entry.action, entry.operation_id) for entry in report.repair):
        out.show(f"repair  {action:21}{text}")


def _show_conclusion(out: SafeConsole, report: RunReport) -> None:
    """What a dialect shows besides the operations; nothing for a plan that is too broken to have a result."""
    dialect = registry.dialect(report.dialect)
    if dialect.conclusion is None:
        result = None
    else:
        result = dialect.render(report)
    if dialect.conclusion is not None and result is not None:
        for tone, heading, text in dialect.conclusion(result):
            out.parts((heading, TONES[tone]), (f" {text}" if heading and text else text, "default"))


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
    document, findings = read_json(sys.stdin.buffer.read(LARGEST + 1) if args == "-" else args)
    if findings:
        raise Refusal(findings, cure=None if args == "-" or findings[0].pointer else QUOTED)
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
                stands = {"kept": [{"tool": tool, "changes": [dict(change) for change in outcome.changes]}]}
                if exported.ok:
                    outcome = outcome.with_(artifacts=(*outcome.artifacts, *exported.artifacts))
                else:
                    outcome = exported.with_(partial=stands)
        return present(
            json,
            lambda: render_envelope(outcome, envelope),
            lambda out: _show_call(out, outcome),
            Exit.of_call(outcome),
        )


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
        moved = outcome.fingerprint_before != outcome.fingerprint_after
        # What code or a file brought may be in no hash.
        if moved:
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
    place = instead_of or instead
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
                instead=place,
            )
    exit_code = present(
        json, result.to_json, lambda out: _show_preview(out, result, instead=bool(place)), _preview_exit(result)
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
    word, style = ("would succeed", "bold green") if report.ok else ("would fail", "bold red")
    out.labelled(word, f"{done} of {len(report.operations)} operations: {counts}", style)


def _note_picture(preview: Preview) -> None:
    if preview.picture is not None:
        for artifact in preview.picture.artifacts:
            notes().show(f"wrote {artifact}")
        note_remarks(preview.picture_notes)
        for finding in preview.picture.findings:
            notes().show(f"no picture: {finding.message}. {finding.cure or ''}", "red")
