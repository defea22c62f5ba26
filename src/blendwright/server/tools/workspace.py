"""The tools history_*, contract_get and job_*: the history of the workspace, its contract and background runs."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from blendwright.policy.host_profile import HostLimits, HostStatement
from blendwright.server.answers.plan_report import brief_difference
from blendwright.server.answers.response import ToolResponse, failure, success
from blendwright.server.context import Caller, Job, ServerContext
from blendwright.server.tools.server_tool import server_tool
from blendwright.tool_api.arguments import Args
from blendwright.tool_api.promises import Determinism
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.outcome import DeterminismClass
from blendwright.views.plan_log import PlanEntry, PlanPage, plan_log
from blendwright.views.queries import commit_log, compare_commits
from blendwright.workspace.contracts import sources_of
from blendwright.workspace.open_scene import OpenScene
from blendwright.workspace.policy_files import load_policy

COMMIT = "Number of a commit, or HEAD."
MAX_WAIT_SECONDS = 60.0
SUMMARY_FIELDS = ("number", "parent", "kind", "request_id", "operation_id", "tool", "timestamp", "hash_after")


def _as_text(value: Any) -> Any:
    if type(value) is int:
        return str(value)
    return value


# Answers contain commit numbers, so callers may pass numbers. The schema allows any type, to keep the list of tools short.
CommitName = Annotated[str, BeforeValidator(_as_text), WithJsonSchema({})]


class LogArgs(Args):
    limit: int = Field(default=20, ge=1, le=500)
    before: CommitName | None = Field(default=None, description="next_before of the last page.")
    operations: bool = Field(default=False, description="List each commit.")


class DiffArgs(Args):
    a: CommitName = Field(description=COMMIT)
    b: CommitName = "HEAD"


class CheckoutArgs(Args):
    commit: CommitName = Field(description=COMMIT)


@server_tool("List the plans, newest first.", read_only=True)
async def history_log(context: ServerContext, caller: Caller, args: LogArgs) -> ToolResponse:
    if args.operations:
        read = commit_log
    else:
        read = plan_log
    page = await asyncio.to_thread(read, context.workspace, limit=args.limit, before=args.before)
    if isinstance(page, PlanPage):
        entries: dict[str, Any] = {"plans": [_plan_line(plan) for plan in page.plans]}
    else:
        commits = [{name: getattr(commit, name) for name in SUMMARY_FIELDS} for commit in page.commits]
        entries = {"redo": page.redo, "commits": commits}

    next_before = None
    if page.next_before is not None:
        next_before = str(page.next_before)
    return success({"head": page.head, **entries, "next_before": next_before})


def _plan_line(entry: PlanEntry) -> str:
    """Return a line about a plan: its commit, what it did, its size and author, and the commit before it."""
    number, span = entry.commit.number, entry.span
    count = f"{span.operations} operations"
    if span.operations == 1:
        count = "1 operation"
    author = names = before = ""
    if entry.who.by != "model":
        author = f", by {entry.who.by}"
    if entry.names:
        names = f" ({', '.join(entry.names)})"
    if entry.before is not None:
        before = f"; before it {entry.before}"
    return f"{number}{names}: {entry.what}; {count}{author}, {entry.commit.timestamp[:16]}{before}"


@server_tool("Compare two commits' scenes by property.", read_only=True)
async def history_diff(context: ServerContext, caller: Caller, args: DiffArgs) -> ToolResponse:
    def work() -> dict[str, Any]:
        compared = compare_commits(context.workspace, args.a, args.b, blender=context.blender, cancel=caller.cancel)
        numbers = {"a": compared.before.number, "b": compared.after.number}
        return {**numbers, "equal": compared.difference.is_empty, **brief_difference(compared.difference.to_json())}

    return success(await context.run_aside(caller, work))


@server_tool("Go to any commit's scene; keeps all commits.")
async def history_checkout(context: ServerContext, caller: Caller, args: CheckoutArgs) -> ToolResponse:
    def work(opened: OpenScene) -> dict[str, Any]:
        moved = opened.checkout(args.commit, context.options(caller))
        return {"from": moved.origin, "head": moved.commit.number, "scene_hash": moved.commit.hash_after}

    return success(await context.run(caller, work))


class ContractArgs(Args):
    registries: bool = Field(default=False, description="Add hashes of tools.")
    determinism: Annotated[DeterminismClass | None, WithJsonSchema({"type": "string"})] = None
    verify: bool = False


@server_tool(
    "Show what this session allows, asks about or denies, and why.",
    read_only=True,
)
async def contract_get(context: ServerContext, caller: Caller, args: ContractArgs) -> ToolResponse:
    def work(opened: OpenScene) -> dict[str, Any]:
        contract = opened.contract
        demanded = Determinism(args.determinism or "nondeterministic")
        verification = None
        if args.verify:
            verification = "all"
        limits = HostLimits(determinism=demanded, verification=verification)
        statements = (*caller.statements, HostStatement("call", limits))
        document = contract.demanding(demanded).model_dump(mode="json")
        if args.verify:
            document["host"]["verification"] = "all"
        else:
            document["host"]["verification"] = contract.host.verification
        if not args.registries:
            for name in ("tool_registry", "macro_registry"):
                document[name]["entries"] = len(document[name]["entries"])
        origins = load_policy(context.workspace).origins
        sources = sources_of(document, statements, origins, own_roots=context.roots is not None)
        return {"fingerprint": contract.fingerprint, "contract": document, "sources": sources}

    return replace(success(await context.run(caller, work)), whole=args.registries)


class StatusArgs(Args):
    job_id: str | None = Field(default=None, description="Default: all, or with wait_s the newest.")
    wait_s: float = Field(default=0.0, ge=0, le=86400, description="At most 60.")


class CancelArgs(Args):
    job_id: str


@server_tool("Return a background run's progress and result.", read_only=True)
async def job_status(context: ServerContext, caller: Caller, args: StatusArgs) -> ToolResponse:
    if args.job_id is not None:
        job = context.jobs.find(args.job_id)
        if job is None:
            return _unknown(args.job_id)
    else:
        job = None
        if args.wait_s:
            job = context.jobs.newest(caller.client)
        if job is None:
            return success({"jobs": [job.to_json() for job in context.jobs.all()]}, "nondeterministic")

    if args.wait_s:
        # Hosts give up calls that are silent for long, so a caller waits again after MAX_WAIT_SECONDS.
        await _wait(job, min(args.wait_s, MAX_WAIT_SECONDS))
    return _status(job)


@server_tool("Stop a background run.")
async def job_cancel(context: ServerContext, caller: Caller, args: CancelArgs) -> ToolResponse:
    job = context.jobs.find(args.job_id)
    if job is None:
        return _unknown(args.job_id)
    if not job.ended:
        await asyncio.to_thread(job.stop)
        await _wait(job, 30)
    return _status(job)


def _status(job: Job) -> ToolResponse:
    """Return the progress of a job, or after its end the envelope of its plan, as a foreground run would have
    returned it.
    """
    outcome, status = job.outcome, job.to_json()
    if outcome is None:
        return success(status, "nondeterministic")  # the answer depends on the time of the call
    status |= {"ok": outcome.ok, "outcome": outcome.result}
    return ToolResponse(outcome.with_(result=status), detail=job.detail)


async def _wait(job: Job, seconds: float) -> None:
    response = job.response
    if response is None:
        return
    ended = asyncio.wrap_future(response)
    # Read the exception even after the timeout, because asyncio logs exceptions that were never read.
    ended.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.wait([ended], timeout=seconds)


def _unknown(job_id: str) -> ToolResponse:
    fix = "The server forgets jobs when it ends. Use history_log to see what was committed."
    return failure(Finding(Fault.TARGET_NOT_FOUND, f"there is no job '{job_id}'", "/job_id", fix))


TOOLS = (history_log, history_diff, history_checkout, contract_get, job_status, job_cancel)
