"""The tools plan_validate, plan_preview, plan_execute and geonodes_execute, which check, try and run plans."""

from __future__ import annotations

import asyncio
import math
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, NamedTuple

from pydantic import Field

from blendwright.dialects.envelopes import plan_outcome
from blendwright.dialects.registry import parse_plan, render
from blendwright.engine.heartbeat import Waiting
from blendwright.engine.moves.replaced_plans import Instead, replaced_request
from blendwright.engine.options import RunOptions, too_much_time
from blendwright.plan.graph import Owners
from blendwright.plan.repair import refused as refused_report
from blendwright.plan.validate import ValidPlan
from blendwright.server.answers.call_help import call_help
from blendwright.server.answers.plan_report import (
    NO_EARLIER_ANSWER,
    Detail,
    EarlierAnswer,
    answer_content,
    brief_difference,
    brief_report,
    families,
)
from blendwright.server.answers.response import Picture, ToolResponse, success
from blendwright.server.answers.skip_unapproved import approval_note, run_the_rest
from blendwright.server.context import Caller, Job, ServerContext
from blendwright.server.instructions import MOST_USED
from blendwright.server.pictures.pictures import pictures_made
from blendwright.server.pictures.requests import DESCRIBED, RequestedPicture, read_request, with_picture
from blendwright.server.programs.defaults import complete
from blendwright.server.programs.edits import SentProgram, edited, program_name
from blendwright.server.programs.parse import read_program
from blendwright.server.tools.server_tool import server_tool
from blendwright.tool_api.arguments import Args
from blendwright.tool_api.promises import Determinism
from blendwright.values.approval import NOBODY
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.outcome import DeterminismClass
from blendwright.values.plan import Plan
from blendwright.values.report import OperationReport, RunReport
from blendwright.workspace.names.unresolved import granted_by_refused, granted_by_valid
from blendwright.workspace.open_scene import OpenScene
from blendwright.workspace.replace_plan import last_program, plan_of_program, run_instead
from blendwright.workspace.validate import check, refused_plan

PLAN = "{request_id, operations:[{operation_id, tool_name, args}]}, or a steps plan. Operations wait for what they use."
DETAIL = "operations: each separately; full: receipts, hashes, trace."
PROGRAM = (
    "Instead of a plan, Starlark that makes one: for i in range(4): leg = mesh.create_primitive(kind='cube', name='L%d' % i). "
    "leg is its name. Has param(name, default), pad(7, 2) for '07', math (also sin_deg, cos_deg), "
    "vec (add, sub, scale, lerp, rotate, polar …), random(seed) (.uniform, .int, .choice). No %02d, **, import."
)

PROGRAM_EDIT = "Edits the last program sent: {replace: [{old, new}]}; each old occurs once."
PARAMS = "For param(). An edit keeps the last params; {} resets them."
INSTEAD = "Replace the last plan (params only: of the last program); rerun later ones."


class ValidateArgs(Args):
    plan: dict[str, Any] = Field(default_factory=dict[str, Any])
    program: str = ""
    program_edit: dict[str, Any] | None = None
    params: dict[str, Any] | None = None
    detail: Detail = "summary"


class PreviewArgs(ValidateArgs):
    instead: bool = False
    image: bool = False


class ExecuteArgs(Args):
    plan: dict[str, Any] = Field(default_factory=dict[str, Any], description=PLAN)
    program: str = Field(default="", description=PROGRAM)
    program_edit: dict[str, Any] | None = Field(default=None, description=PROGRAM_EDIT)
    params: dict[str, Any] | None = Field(default=None, description=PARAMS)
    instead: bool = Field(default=False, description=INSTEAD)
    boundary: Literal["operation", "plan"] | None = Field(
        default=None, description="What a failure undoes: its operation (plan) or all (program)."
    )
    skip_unapproved: bool = Field(default=False, description="Skip what a person must allow.")
    background: bool = Field(default=False, description="Return a job_id; longer limits.")
    timeout_s: float | None = Field(default=None, gt=0, le=86400)
    determinism: DeterminismClass | None = Field(default=None, description="Weakest accepted class.")
    verify: bool = Field(default=False, description="Read back all results.")
    image: RequestedPicture = Field(default=False, description=DESCRIBED)
    detail: Detail = Field(default="summary", description=DETAIL)


# Fewer options than plan_execute, because the others are seldom needed here. A docstring would be sent to hosts, so there is none.
class GeonodesArgs(Args):
    plan: dict[str, Any]
    boundary: Literal["operation", "plan"] = "operation"
    image: bool = False
    detail: Detail = "summary"


def _refuse_plan(*findings: Finding, dialect: str | None = None) -> ToolResponse:
    """Return a failure in the contract of the plan's dialect, also before a plan has been parsed."""
    return plan_response(refused_plan(None, dialect, findings))


@server_tool(
    "Check a plan without running it. Returns all findings.",
    read_only=True,
    refuse=_refuse_plan,
)
async def plan_validate(context: ServerContext, caller: Caller, args: ValidateArgs) -> ToolResponse:
    plan = (await parse_plan_arguments(context, caller, args)).plan
    # Check outside the queue, so that a plan can be checked while another one runs. The roots are the server's own.
    valid = await asyncio.to_thread(
        check, plan, context.workspace, caller.proposal, tools=context.tools, macros=context.macros, roots=False
    )

    # Report missing names in addition to other findings, so that the caller can fix all of them at once.
    if isinstance(valid, ValidPlan):
        uses = granted_by_valid(valid, context.tools).uses
    else:
        uses = (await asyncio.to_thread(granted_by_refused, plan, context.tools, context.macros)).uses
    if uses and context.queue.idle:
        # Do not wait for another client's work: that work is about to change the scene.
        missing = await context.run(caller, lambda opened: opened.missing_uses(uses))
        if missing:
            findings = [*missing]
            if not isinstance(valid, ValidPlan):
                findings = [*valid, *missing]
            owners = Owners(plan)
            valid = tuple(sorted(findings, key=lambda finding: owners.position(finding.pointer)))

    if not isinstance(valid, ValidPlan):
        report = refused_report(plan, valid)
        return plan_response(report, args.detail, extra=_help(context, plan, report))

    result: dict[str, Any] = {
        "dialect": plan.dialect,
        "ok": True,
        "request_id": plan.request_id,
        "operations": len(plan.operations),
    }
    if plan.program is not None and plan.remarks:
        result |= plan.remarks
    result["implied_by"] = valid.implied_by
    result["warnings"] = [finding.to_json() for finding in valid.unrunnable.values()]
    return success(result)


@server_tool(
    "Run a plan on a copy: what it would create, change, remove.",
    read_only=True,
    refuse=_refuse_plan,
)
async def plan_preview(context: ServerContext, caller: Caller, args: PreviewArgs) -> ToolResponse:
    plan, parse_ms, instead = await parse_plan_arguments(context, caller, args)

    def work(opened: OpenScene) -> ToolResponse:
        with tempfile.TemporaryDirectory() as directory:
            if args.image:
                picture = Path(directory, "preview.png")
            else:
                picture = None
            preview = opened.preview(plan, context.options(caller), image=picture, instead=instead)
            images: tuple[Picture, ...] = ()
            if picture is not None and picture.is_file():
                images = (Picture(picture.read_bytes()),)

        report = preview.report
        result = preview.to_json()
        if report.ok and report.scene_hash_after is not None:
            context.previews.keep(caller.client, (report.scene_hash_after, answer_content(report)))
        if args.detail != "full":
            extra = {key: result["report"][key] for key in ("totals", "unseen", "asks") if result["report"].get(key)}
            if plan.program is not None and plan.program.params and not args.program:
                # Some params may come from the program that the client sent before.
                extra["params"] = dict(plan.program.params)
            if all(total == len(result["result"][change]) for change, total in extra["totals"].items()):
                del extra["totals"]  # the result lists every change
            result["report"] = brief_report(report, args.detail, on_copy=True) | extra | _help(context, plan, report)
        if args.detail == "summary":
            result["result"] = brief_difference(result["result"])
            if report.ok:
                result = {key: value for key, value in result.items() if key not in ("dialect", "ok")}

        outcome = plan_outcome("", report, result, parse_ms=parse_ms, receipts=preview.receipts)
        # A preview never changes the scene, so its hash afterwards is the hash before.
        notes = (*outcome.notes, *preview.picture_notes)
        outcome = outcome.with_(fingerprint_after=report.scene_hash_before, notes=notes)
        return ToolResponse(outcome, images, args.detail)

    return await context.run(caller, work)


@server_tool(
    "Run a plan. Each operation is verified and committed, or undone. Operations completed under the same ids are skipped.",
    calls=MOST_USED,
    destructive=True,
    refuse=_refuse_plan,
)
async def plan_execute(context: ServerContext, caller: Caller, args: ExecuteArgs) -> ToolResponse:
    if args.image:
        read_request(args.image)  # before a program is evaluated
    parsed = await parse_plan_arguments(context, caller, args, boundary=args.boundary)
    return await _execute(context, caller, args, *parsed)


@server_tool(
    "Run a geometry-nodes plan: {version, steps, done, final_message, meta}. `done` is accepted only when the gates pass.",
    destructive=True,
    refuse=partial(_refuse_plan, dialect="geonodes"),
)
async def geonodes_execute(context: ServerContext, caller: Caller, args: GeonodesArgs) -> ToolResponse:
    execute_args = ExecuteArgs(plan=args.plan, image=args.image, detail=args.detail)
    parsed = await parse_plan_arguments(context, caller, execute_args, boundary=args.boundary, dialect="geonodes")
    return await _execute(context, caller, execute_args, *parsed)


class ParsedCall(NamedTuple):
    """A plan, the milliseconds that parsing it took, and the plan that it replaces."""

    plan: Plan
    parse_ms: float
    instead: Instead


async def parse_plan_arguments(
    context: ServerContext, caller: Caller, args: ValidateArgs | ExecuteArgs, **options: Any
) -> ParsedCall:
    """Return the plan that a call's arguments describe. Raises Refusal when they describe none.

    The arguments hold a plan, a program or an edit of an earlier program. They may also hold only what to replace or
    run.
    `options` are passed to the parser of the dialect.
    """
    started = perf_counter()
    call = await _complete_call(context, caller, args)
    if call.edit is not None:
        call = await _edit_program(context, caller, call, call.edit)
    args = call.args
    if args.program:
        plan = await _read_sent_program(context, caller, args, call.instead, options)
    else:
        if caller.client in context.sent_programs.sent_last:
            context.sent_programs.forget_last(caller.client)
        # ServerTool.parse has already checked that the arguments are valid JSON.
        plan = parse_plan(complete(args.plan, context.tools, context.macros), is_json=True, **options)
    return ParsedCall(plan, round((perf_counter() - started) * 1000, 3), call.instead)


class _CompletedCall(NamedTuple):
    """The arguments of a call with its omitted parts filled in. `edit` is an edit of an earlier program."""

    args: ValidateArgs | ExecuteArgs
    instead: Instead
    edit: Mapping[str, Any] | None


async def _complete_call(context: ServerContext, caller: Caller, args: ValidateArgs | ExecuteArgs) -> _CompletedCall:
    """Fill in the program of a call that names none: the previewed program, the last one that ran, or the last one
    sent.
    """
    instead: Instead
    if isinstance(args, PreviewArgs | ExecuteArgs):
        instead = args.instead
    else:
        instead = False
    if args.program or args.plan or args.program_edit is not None:
        return _CompletedCall(args, instead, args.program_edit)

    runs = isinstance(args, ExecuteArgs)
    sent = context.sent_programs
    if runs and args.params is None and caller.client in sent.previewed:
        return _CompletedCall(args, instead or sent.previewed[caller.client], {})
    if instead:
        program, params, instead = await asyncio.to_thread(last_program, context.workspace, args.params)
        return _CompletedCall(args.model_copy(update={"program": program, "params": params}), instead, None)
    if runs and caller.client in sent.sent_last:
        return _CompletedCall(args, instead, {})
    return _CompletedCall(args, instead, None)


async def _edit_program(
    context: ServerContext, caller: Caller, call: _CompletedCall, changes: Mapping[str, Any]
) -> _CompletedCall:
    """Return the call with an edited earlier program. Raises Refusal when the call also has a program or a plan."""
    args, instead = call.args, call.instead
    if args.program or args.plan:
        message = "a call has either program_edit or a plan or program, not both"
        fix = "Omit program_edit, or omit plan and program."
        raise Refusal([Finding(Fault.ARGS_INVALID, message, "/program_edit", fix)])
    edit = edited(context.sent_programs, caller.client, changes, args.params)
    if instead is True:
        instead = await asyncio.to_thread(plan_of_program, context.workspace, edit.of) or True
    return _CompletedCall(args.model_copy(update={"program": edit.text, "params": edit.params}), instead, None)


async def _read_sent_program(
    context: ServerContext,
    caller: Caller,
    args: ValidateArgs | ExecuteArgs,
    instead: Instead,
    options: Mapping[str, Any],
) -> Plan:
    """Evaluate the program, remember it for later edits, and return its plan."""
    params = args.params or {}
    previewed = None
    if isinstance(args, PreviewArgs):
        previewed = instead
    context.sent_programs.remember(caller.client, SentProgram(args.program, params), previewed=previewed)

    timeout = None
    if isinstance(args, ExecuteArgs):
        timeout = args.timeout_s
    seconds = timeout or caller.proposal.host.call_seconds or context.costs.run_seconds
    return await read_program(context, seconds, args.program, params, args.plan, **options)


async def _execute(
    context: ServerContext, caller: Caller, args: ExecuteArgs, plan: Plan, parse_ms: float, instead: Instead
) -> ToolResponse:
    job = None
    if args.background:
        job = context.jobs.start(plan.request_id, len(plan.operations), caller.cancel, caller.client)
    execution = _PlanExecution(context, caller, args, plan, parse_ms, instead, job)
    if job is None:
        return await context.run(caller, execution.run)
    job.attach(context.submit(caller, execution.run))
    return success({**job.to_json(), "next": "Call job_status with this job_id."}, "nondeterministic")


class _PlanExecution:
    """A run of a caller's plan, from its options to its answer."""

    def __init__(
        self,
        context: ServerContext,
        caller: Caller,
        args: ExecuteArgs,
        plan: Plan,
        parse_ms: float,
        instead: Instead,
        job: Job | None,
    ) -> None:
        """Prepare a run. `job` is the job of a background run, and None in the foreground."""
        self._context = context
        self._caller = caller
        self._args = args
        self._plan = plan
        self._parse_ms = parse_ms
        self._instead: Instead = instead
        self._job = job
        self._ended = 0
        """The number of the caller's operations that have ended. A macro counts as one."""

    def run(self, opened: OpenScene) -> ToolResponse:
        """Run the plan and return the answer."""
        self._ended = 0
        options = self._options()
        too_long = self._timeout_findings()
        if too_long:
            return plan_response(refused_report(self._plan, too_long))

        settings = self._settings(options)
        before = opened.journal.head_number
        replaced_request_id, replaced_name = self._to_replace(opened)
        report, extra = self._run_plan(opened, settings)

        extra |= self._about_params() | self._about_head(before, opened.journal.head_number)
        earlier = NO_EARLIER_ANSWER
        if replaced_request_id is not None and report.ok:
            earlier = self._context.plan_answers.get(replaced_request_id, NO_EARLIER_ANSWER)
            extra["replaced"] = f"everything that {replaced_name} made, up to commit {before}"
            missing_names = earlier.made - answer_content(report).made
            if missing_names:
                extra["no_longer_made"] = families(sorted(missing_names))
        if report.ok:
            earlier = self._remember_answer(report, earlier, scene_moved="head_after" in extra)
        extra |= _help(self._context, self._plan, report)

        response = plan_response(report, self._args.detail, parse_ms=self._parse_ms, extra=extra, earlier=earlier)
        if self._args.image and report.ok:
            picture = read_request(self._args.image)
            response = with_picture(response, picture, opened, self._context.look_pace, options, before)
        return response

    # ------------------------------------------------------------------ options

    def _options(self) -> RunOptions:
        options = self._context.options(self._caller)
        if self._job is None:
            return options
        # No client waits for a background run, so its approval requests wait for `blendwright approve`.
        return replace(options, approver=NOBODY, background=True)

    @property
    def _host_seconds(self) -> float | None:
        """Return the seconds that the host waits for an answer, or None without a limit or for a background run."""
        if self._job is None:
            return self._caller.proposal.host.call_seconds
        return None

    def _timeout_findings(self) -> list[Finding]:
        """Return a finding if the requested timeout is longer than the host waits."""
        timeout = self._args.timeout_s
        if timeout is None:
            return []
        findings = too_much_time(timeout, self._host_seconds or math.inf, "call_seconds")
        return [finding.under("/timeout_s") for finding in findings]

    def _settings(self, options: RunOptions) -> RunOptions:
        if self._args.timeout_s is None:
            timeout = self._host_seconds
        else:
            timeout = self._args.timeout_s
        if timeout is not None and self._plan.program is not None:
            timeout = max(0.001, timeout - self._parse_ms / 1000)  # evaluating the program used a part of the time

        determinism = None
        if self._args.determinism not in (None, "nondeterministic"):  # the weakest level accepts everything
            determinism = Determinism(self._args.determinism)

        approver = options.approver
        if self._args.skip_unapproved:
            approver = NOBODY
        return replace(
            options,
            approver=approver,
            determinism=determinism,
            verify=self._args.verify,
            timeout=timeout,
            progress=self._advance,
            waiting=self._report_waiting,
        )

    # ------------------------------------------------------------------ the run

    def _to_replace(self, opened: OpenScene) -> tuple[str | None, str]:
        """Return the id of the request that this plan replaces, or None, and the words that name it in an answer."""
        if not self._instead:
            return None, ""
        last = replaced_request(opened.journal, True)
        request_id = replaced_request(opened.journal, self._instead)
        if request_id == last:
            return request_id, "the last plan"
        return request_id, f"plan {request_id}"

    def _run_plan(self, opened: OpenScene, settings: RunOptions) -> tuple[RunReport, dict[str, Any]]:
        """Run the plan. Return its report and the answer's fields about skipped operations."""

        def run(plan: Plan) -> RunReport:
            if self._instead:
                return run_instead(opened, plan, settings, of=self._instead)
            return opened.run(plan, settings)

        if self._args.skip_unapproved:
            return run_the_rest(self._plan, run)
        return run(self._plan), {}

    def _advance(self, report: OperationReport) -> None:
        is_last = report.origin is None or report.origin.step == report.origin.steps
        if is_last:
            self._ended += 1
        if self._job is not None:
            if is_last and report.done:
                self._job.done += 1
            self._job.current = f"{report.operation_id} {report.tool}"
        if is_last:
            operations = len(self._plan.operations)
            self._caller.progress(self._ended, operations, f"{report.operation_id} {report.status}")

    def _report_waiting(self, waiting: Waiting) -> None:
        if self._job is not None:
            self._job.current = str(waiting)
        part_done = min(0.99, waiting.seconds / waiting.limit)
        self._caller.progress(self._ended + part_done, len(self._plan.operations), str(waiting))

    # ------------------------------------------------------------------ the answer

    def _about_params(self) -> dict[str, Any]:
        """Return the params of an earlier program, so that the answer shows which of them were used."""
        program = self._plan.program
        if program is None or not program.params or self._args.program:
            return {}
        return {"params": dict(program.params)}

    @staticmethod
    def _about_head(before: int | None, after: int | None) -> dict[str, Any]:
        if before is None or after == before:
            return {}
        return {"head_before": before, "head_after": after}

    def _remember_answer(self, report: RunReport, earlier: EarlierAnswer, *, scene_moved: bool) -> EarlierAnswer:
        """Store the content of this answer for later answers. Return what earlier answers contained, including a
        preview of this plan.
        """
        self._context.plan_answers.keep(report.request_id, answer_content(report))

        previewed_hash, preview_answer = self._context.previews.get(self._caller.client, ("", earlier))
        if scene_moved and previewed_hash == report.scene_hash_after:
            return preview_answer._replace(previewed=True)
        return earlier


def _help(context: ServerContext, plan: Plan, report: RunReport) -> dict[str, Any]:
    """Return help for fixing a failed plan: the name of its program and the signatures of tools that it calls
    incorrectly.
    """
    if report.ok:
        return {}
    calls = call_help(plan, report, context.tools, context.macros)
    if plan.program is None:
        return calls
    return {"program": program_name(plan.program.text), **calls}


def plan_response(
    report: RunReport,
    detail: Detail = "summary",
    *,
    parse_ms: float | None = None,
    extra: Mapping[str, Any] | None = None,
    earlier: EarlierAnswer = NO_EARLIER_ANSWER,
) -> ToolResponse:
    """Return the answer to a plan: the result in its dialect's contract and a report of the length that `detail`
    names.

    `extra` holds further fields of the report. The report omits what `earlier` answers already contained.
    """
    result: dict[str, Any] = {
        "dialect": report.dialect,
        "ok": report.ok,
        "result": render(report),
        "report": brief_report(report, detail, earlier),
    }
    if detail == "full":
        counts = dict(Counter(operation.status for operation in report.operations))
        result["report"] = {**report.to_json(), "counts": counts, "scene_hash": report.scene_hash_after}
    elif report.dialect in ("operations", "program") and report.ok:
        result["result"] = {"status": "succeeded"}  # the report has the id, the journal has the receipts

    if not report.ok:
        result["report"] |= approval_note(report)
    result["report"] |= extra or {}
    if detail == "summary" and (report.dialect == "program" or (report.dialect == "operations" and report.ok)):
        # The findings and the report contain everything that the contract of the dialect adds.
        result = {"report": result["report"]}

    outcome = plan_outcome("", report, result, parse_ms=parse_ms)
    return ToolResponse(outcome.with_(artifacts=pictures_made(report.operations)), detail=detail)


TOOLS = (plan_validate, plan_preview, plan_execute, geonodes_execute)
