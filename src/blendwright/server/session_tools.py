"""contract_get, job_status, job_cancel: the contract of the session with this host, and runs that were started in the background."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import Field

from blendwright.app.open_scene import OpenScene
from blendwright.server.context import Caller, Job, ServerContext
from blendwright.server.responses import ToolResponse, error_failure, failure, success
from blendwright.server.server_tool import server_tool
from blendwright.tool_api.arguments import Args
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


class ContractArgs(Args):
    registries: bool = Field(default=False, description="Also the hash of every tool and macro.")


@server_tool(
    "The contract of this session: limits, what is allowed, asked about or denied, Blender, registries.", read_only=True
)
async def contract_get(context: ServerContext, caller: Caller, args: ContractArgs) -> ToolResponse:
    def work(opened: OpenScene) -> dict[str, Any]:
        contract = opened.contract
        document = contract.to_json()
        if not args.registries:
            for name in ("tool_registry", "macro_registry"):
                document[name]["entries"] = len(document[name]["entries"])
        return {"fingerprint": contract.fingerprint, "contract": document}

    return success(await context.run(caller, work))


class StatusArgs(Args):
    job_id: str | None = Field(default=None, description="A job; all of them when left out.")
    wait_s: float = Field(default=0.0, ge=0, le=60, description="Wait so long for it to end.")


class CancelArgs(Args):
    job_id: str = Field(description="The job to stop.")


@server_tool("How far a background run is, and its result once it ended.", read_only=True)
async def job_status(context: ServerContext, caller: Caller, args: StatusArgs) -> ToolResponse:
    if args.job_id is None:
        return success({"jobs": [job.to_json() for job in context.jobs.all()]}, "nondeterministic")
    job = context.jobs.find(args.job_id)
    if job is None:
        return _unknown(args.job_id)
    if args.wait_s:
        await _wait(job, args.wait_s)
    return _status(job)


@server_tool("Stop a background run; its current operation is rolled back.")
async def job_cancel(context: ServerContext, caller: Caller, args: CancelArgs) -> ToolResponse:
    job = context.jobs.find(args.job_id)
    if job is None:
        return _unknown(args.job_id)
    if not job.ended:
        await asyncio.to_thread(job.cancel.cancel)
        await _wait(job, 30)
    return _status(job)


def _status(job: Job) -> ToolResponse:
    """How far the job is. Once it has ended, the envelope is that of its plan; a plan that failed is no failure of this call."""
    status = job.to_json()
    if job.response is None or not job.ended:
        return success(status, "nondeterministic")  # it depends on when one asks
    error = job.response.exception()
    outcome = (job.response.result() if error is None else error_failure(error)).outcome
    status |= {"ok": outcome.ok, "message": outcome.message, "outcome": outcome.result}
    if outcome.findings:
        status["findings"] = [finding.to_json() for finding in outcome.findings]
    determinism = outcome.determinism_class or "deterministic"
    return ToolResponse(
        outcome.with_(fault=None, message="", findings=(), result=status, determinism_class=determinism)
    )


async def _wait(job: Job, seconds: float) -> None:
    if job.response is None:
        return
    ended = asyncio.wrap_future(job.response)
    # The exception is read also when nobody waits any more, or the loop complains that nobody read it.
    ended.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.wait([ended], timeout=seconds)


def _unknown(job_id: str) -> ToolResponse:
    cure = "Jobs are remembered while the server runs; what was committed is in history_log."
    return failure(Finding(Fault.TARGET_NOT_FOUND, f"there is no job '{job_id}'", "/job_id", cure))


TOOLS = (contract_get, job_status, job_cancel)
