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
from blendwright.engine.options import too_much_time
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
from blendwright.server.context import Caller, ServerContext
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
    printed = dict(plan.remarks) if plan.program is not None and plan.remarks else {}
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
            picture = Path(directory, "preview.png") if args.image else None
            preview = opened.preview(plan, context.options(caller), image=picture, instead=instead)
            images = (Picture(picture.read_bytes()),) if picture is not None and picture.is_file() else ()
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
    """Raises Refusal for what is no plan."""
    started = perf_counter()
    instead: Instead = args.instead if isinstance(args, PreviewArgs | ExecuteArgs) else False
    is_bare = not args.program and not args.plan and args.program_edit is None
    runs, sent = isinstance(args, ExecuteArgs), context.sent_programs
    if runs and is_bare and args.params is None and caller.client in sent.previewed:
        instead = instead or sent.previewed[caller.client]
        args = args.model_copy(update={"program_edit": {}})  # the one that was previewed, as it is
    elif instead and is_bare:
        program, params, instead = await asyncio.to_thread(last_program, context.workspace, args.params)
        args = args.model_copy(update={"program": program, "params": params})
    elif runs and is_bare and caller.client in sent.sent_last:
        args = args.model_copy(update={"program_edit": {}})
    if args.program_edit is not None:
        if args.program or args.plan:
            cure = "Leave out the other one."
            raise Refusal(
                [Finding(Fault.ARGS_INVALID, "an edit is of a program that was sent before", "/program_edit", cure)]
            )
        edit = edited(sent, caller.client, args.program_edit, args.params)
        if instead is True:
            instead = await asyncio.to_thread(plan_of_program, context.workspace, edit.of) or True
        args = args.model_copy(update={"program": edit.text, "params": edit.params})
    if args.program:
        params = args.params or {}
        previewed = instead if isinstance(args, PreviewArgs) else None
        sent.remember(caller.client, SentProgram(args.program, params), previewed=previewed)
        asked = args.timeout_s if isinstance(args, ExecuteArgs) else None
        seconds = asked or caller.proposal.host.call_seconds or context.costs.run_seconds
        plan = await read_program(context, seconds, args.program, params, args.plan, **options)
    else:
        if caller.client in sent.sent_last:
            sent.forget_last(caller.client)
        # The arguments were checked when they were read.
        plan = parse_plan(complete(args.plan, context.tools, context.macros), is_json=True, **options)
    return Parsed(plan, round((perf_counter() - started) * 1000, 3), instead)


async def _execute(
    context: ServerContext, caller: Caller, args: ExecuteArgs, plan: Plan, parse_ms: float, instead: Instead
) -> ToolResponse:
    job = None
    if args.background:
        job = context.jobs.start(plan.request_id, len(plan.operations), caller.cancel, caller.client)

    def work(opened: OpenScene) -> ToolResponse:
        ended = 0

        def advance(report: OperationReport) -> None:
            nonlocal ended
            last = report.origin is None or report.origin.step == report.origin.steps
            ended += last  # a macro is one operation to whoever asked for it
            if job is not None:
                job.done += last and report.done
                job.current = f"{report.operation_id} {report.tool}"
            if last:
                caller.progress(ended, len(plan.operations), f"{report.operation_id} {report.status}")

        # Nobody waits for a run in the background: its approval requests are left for `blendwright approve`.
        options = context.options(caller)
        options = options if job is None else replace(options, approver=NOBODY, background=True)
        # A host that waits for an answer has it before it gives up.
        waits = caller.proposal.host.call_seconds if job is None else None
        timeout = waits if args.timeout_s is None else args.timeout_s
        too_long = () if args.timeout_s is None else too_much_time(timeout, waits or math.inf, "call_seconds")
        if too_long:
            return plan_response(refused_report(plan, [finding.under("/timeout_s") for finding in too_long]))
        if timeout is not None and plan.program is not None:
            timeout = max(0.001, timeout - parse_ms / 1000)  # the program had its part of it

        def tell(waiting: Waiting) -> None:
            if job is not None:
                job.current = str(waiting)
            caller.progress(ended + min(0.99, waiting.seconds / waiting.limit), len(plan.operations), str(waiting))

        # The weakest that there is accepts everything.
        demand = None if args.determinism in (None, "nondeterministic") else Determinism(args.determinism)
        demands = replace(options, determinism=demand, verify=args.verify)
        if args.skip_unapproved:
            demands = replace(demands, approver=NOBODY)
        settings = replace(demands, timeout=timeout, progress=advance, waiting=tell)
        before = opened.journal.head_number
        last, replaced = (replaced_request(opened.journal, one) if instead else None for one in (True, instead))

        def run(these: Plan) -> RunReport:
            return run_instead(opened, these, settings, of=instead) if instead else opened.run(these, settings)

        report, more = run_the_rest(plan, run) if args.skip_unapproved else (run(plan), {})
        if plan.program is not None and plan.program.params and not args.program:
            more |= {"params": dict(plan.program.params)}  # some of them are those of the program that was sent before
        if before is not None and (after := opened.journal.head_number) != before:
            more |= {"head_before": before, "head_after": after}
        told, now_told = NOTHING_TOLD, told_of(report)
        if replaced is not None and report.ok:
            which = "the last plan" if replaced == last else f"plan {replaced}"
            more |= {"replaced": f"all that {which} made, up to commit {before}"}
            told = context.told_plans.get(replaced, NOTHING_TOLD)
            if gone := told.made - now_told.made:
                more |= {"no_longer_made": families(sorted(gone))}
        if report.ok:
            context.told_plans.keep(report.request_id, now_told)
            previewed, told_then = context.previews.get(caller.client, ("", told))
            if "head_after" in more and previewed == report.scene_hash_after:
                told = told_then._replace(previewed=True)
        more |= _help(context, plan, report)
        response = plan_response(report, args.detail, parse_ms=parse_ms, more=more, told=told)
        if args.image and report.ok:
            response = with_picture(response, read_request(args.image), opened, context.look_pace, options, before)
        return response

    if job is None:
        return await context.run(caller, work)
    job.attach(context.submit(caller, work))
    return success({**job.to_json(), "next": "Ask job_status with this job_id."}, "nondeterministic")


def _help(context: ServerContext, plan: Plan, report: RunReport) -> dict[str, Any]:
    """For who must mend a plan: the name under which a repair finds its program, and how the tools are called that it calls wrongly."""
    if report.ok:
        return {}
    named = {} if plan.program is None else {"program": program_name(plan.program.text)}
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
