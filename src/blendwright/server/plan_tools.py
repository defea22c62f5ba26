"""plan_validate, plan_preview, plan_execute, geonodes_execute: plans from a model, and what became of them."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from pydantic import Field

from blendwright.app.checking import check
from blendwright.app.open_scene import OpenScene
from blendwright.app.plans import parse_plan, render
from blendwright.dialects.plan_outcome import plan_outcome
from blendwright.plan.refusal import refused as refused_report
from blendwright.plan.validate import ValidPlan
from blendwright.policy.approvals import NOBODY
from blendwright.run.options import RunOptions
from blendwright.server.answers import Answer, succeeded
from blendwright.server.context import Caller, ServerContext
from blendwright.server.jobs import Job
from blendwright.server.server_tool import ServerTool
from blendwright.tool_api.arguments import Args
from blendwright.values.faults import Fault
from blendwright.values.outcome import Outcome
from blendwright.values.plan import Plan
from blendwright.values.report import OperationReport, RunReport

PLAN = (
    "The plan: {request_id, operations:[{operation_id, tool_name, args, depends_on, safety_level}]}, or a steps plan."
)


class ValidateArgs(Args):
    plan: dict[str, Any] = Field(description=PLAN)


class PreviewArgs(ValidateArgs):
    image: bool = Field(default=False, description="Also a picture of the result.")


class ExecuteArgs(ValidateArgs):
    boundary: Literal["operation", "plan"] = Field(
        default="operation", description="What a failure takes back: its operation, or the whole plan."
    )
    background: bool = Field(default=False, description="Return a job_id at once instead of waiting.")
    timeout_s: float | None = Field(default=None, gt=0, le=86400, description="Deadline of the whole run.")
    image: bool = Field(default=False, description="Also a picture of the scene afterwards.")
    full_report: bool = Field(default=False, description="All operations in the report, not only those that failed.")


class GeonodesArgs(Args):
    """The rest is as for any plan, and seldom wanted here."""

    plan: dict[str, Any] = Field(description="The geometry-nodes plan.")
    boundary: Literal["operation", "plan"] = Field(default="operation", description="As in plan_execute.")
    image: bool = Field(default=False, description="Also a picture afterwards.")


async def plan_validate(house: ServerContext, caller: Caller, args: ValidateArgs) -> Answer:
    plan = parse_plan(args.plan)
    # Not at the desk: a plan can be checked while another one runs. Roots are whatever the server was started with.
    valid = await asyncio.to_thread(
        check, plan, house.workspace, caller.proposal, tools=house.tools, macros=house.macros, roots=False
    )
    if isinstance(valid, ValidPlan):
        warnings = [finding.to_json() for finding in valid.unrunnable.values()]
        found = {"dialect": plan.dialect, "ok": True, "request_id": plan.request_id, "operations": len(plan.operations),
                 "warnings": warnings}  # fmt: skip
        return succeeded("plan_validate", found)
    return plan_answer("plan_validate", refused_report(plan, valid))


async def plan_preview(house: ServerContext, caller: Caller, args: PreviewArgs) -> Answer:
    plan, parse_ms = _parse(args.plan)

    def work(opened: OpenScene) -> Answer:
        with tempfile.TemporaryDirectory() as aside:
            picture = Path(aside, "preview.png") if args.image else None
            shown = opened.preview(plan, caller.options, image=picture)
            images = (picture.read_bytes(),) if picture is not None and picture.is_file() else ()
        found = shown.to_json()
        found["report"] = summary(shown.report, full=False) | {
            key: found["report"][key] for key in ("totals", "unseen") if key in found["report"]
        }
        # The scene is as it was, whatever became of the copy.
        scene_hash = shown.report.scene_hash_before
        outcome = plan_outcome("plan_preview", shown.report, found, parse_ms=parse_ms, receipts=shown.receipts)
        return Answer(outcome.with_(fingerprint_after=scene_hash), images)

    return await house.ask(caller, work)


async def plan_execute(house: ServerContext, caller: Caller, args: ExecuteArgs) -> Answer:
    return await execute(house, caller, "plan_execute", args, *_parse(args.plan, boundary=args.boundary))


async def geonodes_execute(house: ServerContext, caller: Caller, args: GeonodesArgs) -> Answer:
    parsed = _parse(args.plan, boundary=args.boundary, dialect="geonodes")
    return await execute(house, caller, "geonodes_execute", ExecuteArgs(plan=args.plan, image=args.image), *parsed)


def _parse(document: dict[str, Any], **options: Any) -> tuple[Plan, float]:
    """The plan, and how many milliseconds reading it took."""
    started = perf_counter()
    plan = parse_plan(document, **options)
    return plan, round((perf_counter() - started) * 1000, 3)


async def execute(
    house: ServerContext, caller: Caller, name: str, args: ExecuteArgs, plan: Plan, parse_ms: float
) -> Answer:
    job = house.jobs.begin(plan.request_id, len(plan.operations), caller.cancel) if args.background else None

    def work(opened: OpenScene) -> Answer:
        done = 0

        def advance(report: OperationReport) -> None:
            nonlocal done
            done += 1
            if job is not None:
                job.done, job.current = done, f"{report.operation_id} {report.tool}"
            caller.progress(done, len(plan.operations), f"{report.operation_id} {report.status}")

        # Nobody waits for a run in the background: what it would ask is left for `blendwright approve`.
        options = caller.options if job is None else replace(caller.options, approver=NOBODY)
        report = opened.run(plan, replace(options, timeout=args.timeout_s, progress=advance))
        answer = plan_answer(name, report, full=args.full_report, parse_ms=parse_ms)
        return Answer(answer.outcome, _picture(opened, options)) if args.image and report.ok else answer

    if job is None:
        return await house.ask(caller, work)
    job.follow(house.submit(caller, work))
    return succeeded(name, _begun(job), "nondeterministic")


def plan_answer(name: str, report: RunReport, *, full: bool = False, parse_ms: float | None = None) -> Answer:
    """A report as an answer: the result of the plan's own contract, and a summary that a model can afford to read."""
    result = {
        "dialect": report.dialect,
        "ok": report.ok,
        "result": render(report),
        "report": summary(report, full=full),
    }
    return Answer(plan_outcome(name, report, result, parse_ms=parse_ms))


def summary(report: RunReport, *, full: bool) -> dict[str, Any]:
    whole = report.to_json()
    counts: dict[str, int] = {}
    for operation in report.operations:
        counts[operation.status] = counts.get(operation.status, 0) + 1
    kept = [entry for entry in whole["operations"] if full or entry["fault"] is not None or entry["findings"]]
    if not full:
        kept = [_short(entry) for entry in kept]
    return {
        "status": report.status,
        "request_id": report.request_id,
        "counts": counts,
        "scene_hash": report.scene_hash_after,
        "operations": kept,
        "findings": whole["findings"],
        "repair": whole["repair"],
        "checkpoint": whole["checkpoint"],
        "schedule_hash": whole["schedule_hash"],
        "timings": whole["timings"],
    }


def _short(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: entry[key] for key in ("operation_id", "tool", "status", "fault", "message", "findings")}


def _picture(opened: OpenScene, options: RunOptions) -> tuple[bytes, ...]:
    for args in ({}, {"view": "ISO"}):
        whole = {**args, "artifact": "after.png"}
        taken: Outcome = opened.outcome("render.preview", whole, options)
        if taken.ok:
            return (Path(taken.artifacts[0]).read_bytes(),)
        if taken.fault is Fault.POLICY_BLOCKED:
            break  # whoever does not want a picture is not asked for another one
    return ()


def _begun(job: Job) -> dict[str, Any]:
    return {**job.to_json(), "next": "Ask job_status with this job_id."}


OFFERS = (
    ServerTool(
        "plan_validate",
        "Check a plan without running it: every finding at once, with JSON pointers and cures. Needs no Blender.",
        ValidateArgs,
        plan_validate,
        read_only=True,
    ),
    ServerTool(
        "plan_preview",
        "Run a plan on a disposable copy: what would be created, changed, removed. The scene stays as it is.",
        PreviewArgs,
        plan_preview,
        read_only=True,
    ),
    ServerTool(
        "plan_execute",
        "Run a plan. Each operation is verified and committed, or taken back; done before under the same ids is not done again. "
        "Learn tools with tool_search and tool_describe first.",
        ExecuteArgs,
        plan_execute,
        read_only=False,
        destructive=True,
    ),
    ServerTool(
        "geonodes_execute",
        "Run a geometry-nodes plan: {version, steps, done, final_message, meta}. `done` is accepted only when the gates pass.",
        GeonodesArgs,
        geonodes_execute,
        read_only=False,
        destructive=True,
    ),
)
