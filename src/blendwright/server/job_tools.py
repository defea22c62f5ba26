"""job_status, job_cancel: runs that were begun in the background."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

from pydantic import Field

from blendwright.server.answers import Answer, defect, failed, refused, succeeded
from blendwright.server.context import Caller, ServerContext
from blendwright.server.jobs import Job
from blendwright.server.server_tool import ServerTool
from blendwright.tool_api.arguments import Args
from blendwright.values.errors import BlendwrightError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


class StatusArgs(Args):
    job_id: str | None = Field(default=None, description="A job; all of them when left out.")
    wait_s: float = Field(default=0.0, ge=0, le=60, description="Wait so long for it to end.")


class CancelArgs(Args):
    job_id: str = Field(description="The job to stop.")


async def job_status(house: ServerContext, caller: Caller, args: StatusArgs) -> Answer:
    if args.job_id is None:
        return succeeded("job_status", {"jobs": [job.to_json() for job in house.jobs.all()]}, "nondeterministic")
    job = house.jobs.find(args.job_id)
    if job is None:
        return _unknown("job_status", args.job_id)
    if args.wait_s:
        await _wait(job, args.wait_s)
    return _status(job)


async def job_cancel(house: ServerContext, caller: Caller, args: CancelArgs) -> Answer:
    job = house.jobs.find(args.job_id)
    if job is None:
        return _unknown("job_cancel", args.job_id)
    if job.answer is None or not job.answer.done():
        await asyncio.to_thread(job.cancel.cancel)
        await _wait(job, 30)
    return _status(job, "job_cancel")


def _status(job: Job, name: str = "job_status") -> Answer:
    """How far the job is. Once it has ended, the envelope is that of its plan; that the question was answered is no failure."""
    status = job.to_json()
    if job.answer is None or not job.answer.done():
        return succeeded(name, status, "nondeterministic")  # it depends on when one asks
    outcome = _answer(job.answer).outcome
    status |= {"ok": outcome.ok, "message": outcome.message, "outcome": outcome.result}
    if outcome.findings:
        status["findings"] = [finding.to_json() for finding in outcome.findings]
    determinism = outcome.determinism_class or "deterministic"
    answered = outcome.with_(
        tool=name, fault=None, message="", findings=(), result=status, determinism_class=determinism
    )
    return Answer(answered)


def _answer(done: Future[Answer]) -> Answer:
    error = done.exception()
    if error is None:
        return done.result()
    return failed("job", error) if isinstance(error, BlendwrightError) else defect("job", error)


async def _wait(job: Job, seconds: float) -> None:
    if job.answer is None:
        return
    ended = asyncio.wrap_future(job.answer)
    # Looked at also when nobody waits any more, or the loop complains of what nobody looked at.
    ended.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.wait([ended], timeout=seconds)


def _unknown(name: str, job_id: str) -> Answer:
    cure = "Jobs are remembered while the server runs; what was committed is in history_log."
    return refused(name, (Finding(Fault.TARGET_NOT_FOUND, f"there is no job '{job_id}'", "/job_id", cure),))


OFFERS = (
    ServerTool(
        "job_status", "How far a background run is, and its result once it ended.", StatusArgs, job_status, True
    ),
    ServerTool(
        "job_cancel", "Stop a background run; its current operation is rolled back.", CancelArgs, job_cancel, False
    ),
)
