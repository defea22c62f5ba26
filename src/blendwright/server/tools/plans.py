"""plan_validate, plan_preview, plan_execute, geonodes_execute: checking, trying and running plans."""

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
    NOTHING_TOLD,
    AlreadyTold,
    Detail,
    brief_difference,
    brief_report,
    families,
    told_of,
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

PLAN = "{request_id, operations:[{operation_id, tool_name, args}]}, or a steps plan. What uses what another makes waits for it."
DETAIL = "operations: each by itself; full: receipts, hashes, trace."
PROGRAM = (
    "Instead of a plan, Starlark that yields one: for i in range(4): leg = mesh.create_primitive(kind='cube', name='L%d' % i). "
    "leg stands for its name. Has param(name, default), pad(7, 2) for '07', math (also sin_deg, cos_deg), "
    "vec (add, sub, scale, lerp, rotate, polar …), random(seed) (.uniform, .int, .choice). No %02d, **, import."
)

PROGRAM_EDIT = "The last program sent, changed: {replace: [{old, new}]}; each old occurs once."
PARAMS = "For param(). An edit keeps those sent before, {}: the defaults."
INSTEAD = "Replaces the last plan (params alone: last program's); later ones rerun."


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
        default=None, description="What a failure takes back: its operation (plan), or all (program)."
    )
    skip_unapproved: bool = Field(default=False, description="Leave out what a person must allow.")
    background: bool = Field(default=False, description="A job_id at once; longer limits.")
    timeout_s: float | None = Field(default=None, gt=0, le=86400)
    determinism: DeterminismClass | None = Field(default=None, description="Weakest class accepted.")
    verify: bool = Field(default=False, description="Read all results back.")
    image: RequestedPicture = Field(default=False, description=DESCRIBED)
    detail: Detail = Field(default="summary", description=DETAIL)


# Fewer options than plan_execute: the rest is seldom needed here. No docstring: a host would read it.
class GeonodesArgs(Args):
    plan: dict[str, Any]
    boundary: Literal["operation", "plan"] = "operation"
    image: bool = False
    detail: Detail = "summary"


def _refuse_plan(*findings: Finding, dialect: str | None = None) -> ToolResponse:
    """The failure of the plan's own contract also where there is no plan yet."""
    return plan_response(refused_plan(None, dialect, findings))


@server_tool(
    "Check a plan without running it: every finding at once, with place and cure.",
    read_only=True,
    refuse=_refuse_plan,
)
async def plan_validate(context: ServerContext, caller: Caller, args: ValidateArgs) -> ToolResponse:
    plan = (await parse_plan_arguments(context, caller, args)).plan
    # Not in the queue: a plan can be checked while another one runs. Roots are whatever the server was started with.
    valid = await asyncio.to_thread(
        check, plan, context.workspace, caller.proposal, tools=context.tools, macros=context.macros, roots=False
    )
    # Beside other findings too: whoever mends those wants to know of all.
    if isinstance(valid, ValidPlan):
        uses = granted_by_valid(valid, context.tools).uses
    else:
        uses = (await asyncio.to_thread(granted_by_refused, plan, context.tools, context.macros)).uses
    if uses and context.queue.idle:
        # Whoever works in the workspace is not waited for: its scene is about to change.
        missing = await context.run(caller, lambda opened: opened.missing_uses(uses))
        if missing:
            owners, others = Owners(plan), () if isinstance(valid, ValidPlan) else valid
            valid = tuple(sorted((*others, *missing), key=lambda finding: owners.position(finding.pointer)))
    if not isinstance(valid, ValidPlan):
        report = refused_report(plan, valid)
        return plan_response(report, args.detail, more=_help(context, plan, report))
    warnings = [finding.to_json() for finding in valid.unrunnable.values()]
    result = {"dialect": plan.dialect, "ok": True, "request_id": plan.request_id, "operations": len(plan.operations)}
    if plan.program is not None and plan.remarks:
        printed = dict(plan.remarks)
    else:
        printed = {}
    return success({**result, **printed, "implied_by": valid.implied_by, "warnings": warnings})


@server_tool(
    "Run a plan on a disposable copy: what would be created, changed, removed.",
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
            if picture is not None and picture.is_file():
                images = (Picture(picture.read_bytes()),)
            else:
                images = ()
        report = preview.report
        result = preview.to_json()
        if report.ok and report.scene_hash_after is not None:
            context.previews.keep(caller.client, (report.scene_hash_after, told_of(report)))
        if args.detail != "full":
            about = {key: result["report"][key] for key in ("totals", "unseen", "asks") if result["report"].get(key)}
            if plan.program is not None and plan.program.params and not args.program:
                # Some of them are those of the program that was sent before.
                about["params"] = dict(plan.program.params)
            if all(total == len(result["result"][change]) for change, total in about["totals"].items()):
                del about["totals"]  # all is listed
            result["report"] = brief_report(report, args.detail, on_copy=True) | about | _help(context, plan, report)
        if args.detail == "summary":
            result["result"] = brief_difference(result["result"])
            result = {key: value for key, value in result.items() if not report.ok or key not in ("dialect", "ok")}
        outcome = plan_outcome("", report, result, parse_ms=parse_ms, receipts=preview.receipts)
        # The scene is as it was, whatever became of the copy.
        told = outcome.with_(fingerprint_after=report.scene_hash_before, notes=(*outcome.notes, *preview.picture_notes))
        return ToolResponse(told, images, args.detail)

    return await context.run(caller, work)


@server_tool(
    "Run a plan. Each operation is verified and committed, or taken back; done before under the same ids is not done again.",
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
    asked = ExecuteArgs(plan=args.plan, image=args.image, detail=args.detail)
    parsed = await parse_plan_arguments(context, caller, asked, boundary=args.boundary, dialect="geonodes")
    return await _execute(context, caller, asked, *parsed)


class Parsed(NamedTuple):
    """The plan, how many milliseconds reading it took, and what it is to take the place of."""

    plan: Plan
    parse_ms: float
    instead: Instead


async def parse_plan_arguments(
    context: ServerContext, caller: Caller, args: ValidateArgs | ExecuteArgs, **options: Any
) -> Parsed:
    """Return the plan that the arguments mean. Raises Refusal where they mean none.

    They may hold a plan, a program, an edit of an earlier program, or nothing but what is to be replaced or run."""
    started = perf_counter()
    asked = await _completed(context, caller, args)
    if asked.edit is not None:
        asked = await _edited_program(context, caller, asked, asked.edit)
    args = asked.args
    if args.program:
        plan = await _read_sent_program(context, caller, args, asked.instead, options)
    else:
        if caller.client in context.sent_programs.sent_last:
            context.sent_programs.forget_last(caller.client)
        # The arguments were checked when they were read.
        plan = parse_plan(complete(args.plan, context.tools, context.macros), is_json=True, **options)
    return Parsed(plan, round((perf_counter() - started) * 1000, 3), asked.instead)


class _Asked(NamedTuple):
    """The arguments of a call with what they leave out; `edit` is an edit of a program that was sent before."""

    args: ValidateArgs | ExecuteArgs
    instead: Instead
    edit: Mapping[str, Any] | None


async def _completed(context: ServerContext, caller: Caller, args: ValidateArgs | ExecuteArgs) -> _Asked:
    """Fill in the program of a call that has none: the one that was previewed, the last one that ran, or the last one sent."""
    instead: Instead
    if isinstance(args, PreviewArgs | ExecuteArgs):
        instead = args.instead
    else:
        instead = False
    if args.program or args.plan or args.program_edit is not None:
        return _Asked(args, instead, args.program_edit)
    runs, sent = isinstance(args, ExecuteArgs), context.sent_programs
    if runs and args.params is None and caller.client in sent.previewed:
        return _Asked(args, instead or sent.previewed[caller.client], {})
    if instead:
        program, params, instead = await asyncio.to_thread(last_program, context.workspace, args.params)
        return _Asked(args.model_copy(update={"program": program, "params": params}), instead, None)
    if runs and caller.client in sent.sent_last:
        return _Asked(args, instead, {})
    return _Asked(args, instead, None)


async def _edited_program(context: ServerContext, caller: Caller, asked: _Asked, changes: Mapping[str, Any]) -> _Asked:
    """Apply an edit to the program that was sent before. Raises Refusal where a program or plan is given as well."""
    args, instead = asked.args, asked.instead
    if args.program or args.plan:
        message, cure = "an edit is of a program that was sent before", "Leave out the other one."
        raise Refusal([Finding(Fault.ARGS_INVALID, message, "/program_edit", cure)])
    edit = edited(context.sent_programs, caller.client, changes, args.params)
    if instead is True:
        instead = await asyncio.to_thread(plan_of_program, context.workspace, edit.of) or True
    return _Asked(args.model_copy(update={"program": edit.text, "params": edit.params}), instead, None)


async def _read_sent_program(
    context: ServerContext,
    caller: Caller,
    args: ValidateArgs | ExecuteArgs,
    instead: Instead,
    options: Mapping[str, Any],
) -> Plan:
    """Evaluate the program, and remember it for later edits."""
    params = args.params or {}
    if isinstance(args, PreviewArgs):
        previewed = instead
    else:
        previewed = None
    context.sent_programs.remember(caller.client, SentProgram(args.program, params), previewed=previewed)
    if isinstance(args, ExecuteArgs):
        timeout = args.timeout_s
    else:
        timeout = None
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
    return success({**job.to_json(), "next": "Ask job_status with this job_id."}, "nondeterministic")


class _PlanExecution:
    """One run of a plan that a caller asked for, from its options to its answer."""

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
        """`job` is there for a run in the background."""
        self._context = context
        self._caller = caller
        self._args = args
        self._plan = plan
        self._parse_ms = parse_ms
        self._instead: Instead = instead
        self._job = job
        self._ended = 0
        """The operations of the caller's plan that have ended; a macro counts as one."""

    def run(self, opened: OpenScene) -> ToolResponse:
        """Run the plan, and return the answer."""
        self._ended = 0
        options = self._options()
        too_long = self._timeout_findings()
        if too_long:
            return plan_response(refused_report(self._plan, too_long))

        settings = self._settings(options)
        before = opened.journal.head_number
        replaced, which = self._to_replace(opened)
        report, more = self._run_plan(opened, settings)

        more |= self._about_params() | self._about_head(before, opened.journal.head_number)
        told = NOTHING_TOLD
        if replaced is not None and report.ok:
            told = self._context.told_plans.get(replaced, NOTHING_TOLD)
            more["replaced"] = f"all that {which} made, up to commit {before}"
            if gone := told.made - told_of(report).made:
                more["no_longer_made"] = families(sorted(gone))
        if report.ok:
            told = self._remembered(report, told, scene_moved="head_after" in more)
        more |= _help(self._context, self._plan, report)

        response = plan_response(report, self._args.detail, parse_ms=self._parse_ms, more=more, told=told)
        if self._args.image and report.ok:
            picture = read_request(self._args.image)
            response = with_picture(response, picture, opened, self._context.look_pace, options, before)
        return response

    # ------------------------------------------------------------------ options

    def _options(self) -> RunOptions:
        options = self._context.options(self._caller)
        if self._job is None:
            return options
        # Nobody waits for a run in the background: its approval requests are left for `blendwright approve`.
        return replace(options, approver=NOBODY, background=True)

    @property
    def _host_seconds(self) -> float | None:
        """How long the host waits for an answer. A host has it before it gives up."""
        if self._job is None:
            return self._caller.proposal.host.call_seconds
        return None

    def _timeout_findings(self) -> list[Finding]:
        """Return a finding where the timeout is longer than the host waits."""
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
            timeout = max(0.001, timeout - self._parse_ms / 1000)  # the program had its part of it
        determinism = None
        if self._args.determinism not in (None, "nondeterministic"):  # the weakest level accepts everything
            determinism = Determinism(self._args.determinism)
        return replace(
            options,
            approver=NOBODY if self._args.skip_unapproved else options.approver,
            determinism=determinism,
            verify=self._args.verify,
            timeout=timeout,
            progress=self._advance,
            waiting=self._report_waiting,
        )

    # ------------------------------------------------------------------ the run

    def _to_replace(self, opened: OpenScene) -> tuple[str | None, str]:
        """Return the request that the plan runs in place of, None for none, and its name in an answer."""
        if not self._instead:
            return None, ""
        last = replaced_request(opened.journal, True)
        replaced = replaced_request(opened.journal, self._instead)
        return replaced, "the last plan" if replaced == last else f"plan {replaced}"

    def _run_plan(self, opened: OpenScene, settings: RunOptions) -> tuple[RunReport, dict[str, Any]]:
        """Run the plan. Returns the report, and what skipping unapproved operations has to say."""

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
        """Show the params of a program that was sent before: some of them may be those of that program."""
        program = self._plan.program
        if program is None or not program.params or self._args.program:
            return {}
        return {"params": dict(program.params)}

    @staticmethod
    def _about_head(before: int | None, after: int | None) -> dict[str, Any]:
        if before is None or after == before:
            return {}
        return {"head_before": before, "head_after": after}

    def _remembered(self, report: RunReport, told: AlreadyTold, *, scene_moved: bool) -> AlreadyTold:
        """Keep what this answer says for later ones. Returns what earlier answers said, a preview's included."""
        self._context.told_plans.keep(report.request_id, told_of(report))
        previewed_hash, told_in_preview = self._context.previews.get(self._caller.client, ("", told))
        if scene_moved and previewed_hash == report.scene_hash_after:
            return told_in_preview._replace(previewed=True)
        return told


def _help(context: ServerContext, plan: Plan, report: RunReport) -> dict[str, Any]:
    """For who must mend a plan: the name under which a repair finds its program, and how the tools are called that it calls wrongly."""
    if report.ok:
        return {}
    if plan.program is None:
        named = {}
    else:
        named = {"program": program_name(plan.program.text)}
    return {**named, **call_help(plan, report, context.tools, context.macros)}


def plan_response(
    report: RunReport,
    detail: Detail = "summary",
    *,
    parse_ms: float | None = None,
    more: Mapping[str, Any] | None = None,
    told: AlreadyTold = NOTHING_TOLD,
) -> ToolResponse:
    """The result of the plan's own contract and the report, as far as a model wants to read them, with what else is to be said of it."""
    result: dict[str, Any] = {
        "dialect": report.dialect,
        "ok": report.ok,
        "result": render(report),
        "report": brief_report(report, detail, told),
    }
    if detail == "full":
        counts = dict(Counter(operation.status for operation in report.operations))
        result["report"] = {**report.to_json(), "counts": counts, "scene_hash": report.scene_hash_after}
    elif report.dialect in ("operations", "program") and report.ok:
        result["result"] = {"status": "succeeded"}  # its id is in the report, its receipts are in the journal
    result["report"] |= {**({} if report.ok else approval_note(report)), **(more or {})}
    if detail == "summary" and (report.dialect == "program" or (report.dialect == "operations" and report.ok)):
        # What its dialect answers is in the findings and in the report.
        result = {"report": result["report"]}
    outcome = plan_outcome("", report, result, parse_ms=parse_ms)
    return ToolResponse(outcome.with_(artifacts=pictures_made(report.operations)), detail=detail)


TOOLS = (plan_validate, plan_preview, plan_execute, geonodes_execute)
