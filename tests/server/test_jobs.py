"""Runs in the background: their handle, their state, their end."""

from __future__ import annotations

import gc
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, cast

import anyio
import pytest
from mcp.client.client import Client
from mcp_types import ElicitResult

from blendwright.server import context as server_context
from blendwright.server.answers.response import ToolResponse, failure, success
from blendwright.server.context import MAX_FINISHED_JOBS, Job, Jobs, ServerContext
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from support.hosts.mcp import Era, cube, operation, plan, talk

GOOD = success({})
STOPPED = failure(Finding(Fault.CANCELLED, "the run was cancelled"))
BAD = failure(Finding(Fault.EXECUTION_FAILED, "no"))
SLOW = operation(
    "slow",
    "render.preview",
    {"view": "ISO", "engine": "CYCLES", "samples": 256, "width": 2048, "height": 2048},
    "first",
    level="read_only",
)


def job(answer: ToolResponse | Exception | None = None, *, cancelled: bool = False, running: bool = False) -> Job:
    made = Jobs().start("r", 1, CancelToken())
    made.response = Future()
    if running or answer is not None:
        made.response.set_running_or_notify_cancel()
    if isinstance(answer, Exception):
        made.response.set_exception(answer)
    elif answer is not None:
        made.response.set_result(answer)
    if cancelled:
        made.cancel.cancel()
    return made


def test_the_state_of_a_job_is_what_became_of_it() -> None:
    assert job().state == "waiting"
    assert job(running=True).state == "running"
    assert job(GOOD).state == "finished"
    assert job(BAD).state == "failed"
    assert job(ValueError("defect")).state == "failed"
    assert job(STOPPED, cancelled=True).state == "cancelled"
    assert job(BAD, cancelled=True).state == "failed", "it failed before it could be cancelled"
    assert job(ValueError("defect"), cancelled=True).state == "failed"
    assert job(GOOD, cancelled=True).state == "finished", "too late to cancel"


def test_finished_jobs_are_forgotten_in_the_end_and_others_never() -> None:
    jobs = Jobs()
    waiting = jobs.start("waits", 1, CancelToken())
    ended: list[Job] = []
    for number in range(MAX_FINISHED_JOBS + 5):
        ended.append(jobs.start(f"r{number}", 1, CancelToken()))
        ended[-1].response = Future()
        ended[-1].response.set_result(GOOD)
    last = jobs.start("last", 1, CancelToken())
    assert jobs.find(waiting.id) is waiting and jobs.find(last.id) is last
    assert jobs.find(ended[0].id) is None and jobs.find(ended[-1].id) is ended[-1]
    assert len(jobs.all()) == MAX_FINISHED_JOBS + 2


def test_of_a_finished_job_nothing_is_held_but_its_packed_answer() -> None:
    jobs = Jobs()

    def many() -> ToolResponse:
        return success({"report": [{"operation_id": f"o{number}", "status": "committed"} for number in range(2000)]})

    endings: dict[str, Callable[[Future[ToolResponse]], object]] = {
        "finished": lambda response: response.set_result(many()),
        "failed": lambda response: response.set_exception(ValueError("defect")),
        "cancelled": lambda response: response.cancel(),
    }
    ended: dict[str, Job] = {}
    for state, end in endings.items():
        one = ended[state] = jobs.start(state, 1, CancelToken())
        one.attach(Future())
        assert one.response is not None
        end(one.response)
    before = {state: (one.state, one.outcome, one.detail) for state, one in ended.items()}
    waits = jobs.start("next", 1, CancelToken())
    waits.attach(Future())
    jobs.start("the one after", 1, CancelToken())
    assert {state: (one.state, one.outcome, one.detail) for state, one in ended.items()} == before
    assert [one.state for one in ended.values()] == list(ended)
    assert waits.state == "waiting" and waits.response is not None
    for one in ended.values():
        assert one.ended and one.response is None
    held = [each for each in gc.get_referents(*ended.values()) if isinstance(each, bytes)]
    assert len(held) == len(ended) and max(map(len, held)) < 20_000
    del before
    gc.collect()
    assert not [
        each for each in gc.get_objects() if isinstance(each, dict) and cast("Any", each).get("operation_id") == "o7"
    ]


def test_jobs_that_have_not_ended_are_bounded_by_client_and_together() -> None:
    jobs = Jobs()
    for _ in range(server_context.MAX_UNFINISHED_JOBS_OF_CLIENT):
        jobs.start("r", 1, CancelToken(), "one")
    with pytest.raises(Refusal) as refused:
        jobs.start("r", 1, CancelToken(), "one")
    [finding] = refused.value.findings
    assert (
        finding.fault is Fault.LIMIT_EXCEEDED
        and finding.pointer == "/background"
        and "job_cancel" in (finding.cure or "")
    )
    number = 0
    while len(jobs.all()) < server_context.MAX_UNFINISHED_JOBS:
        jobs.start("r", 1, CancelToken(), f"other {(number := number + 1)}")
    with pytest.raises(Refusal, match=f"{server_context.MAX_UNFINISHED_JOBS} background runs"):
        jobs.start("r", 1, CancelToken(), "newcomer")
    ended = jobs.all()[0]
    ended.attach(Future())
    assert ended.response is not None
    ended.response.set_result(GOOD)
    assert jobs.start("r", 1, CancelToken(), "newcomer").state == "waiting", "one has ended"


def test_a_host_is_told_how_to_go_on_where_too_many_jobs_wait(
    context: ServerContext, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_context, "MAX_UNFINISHED_JOBS_OF_CLIENT", 0)

    async def act(client: Client) -> None:
        document = plan(f"waits{era}", cube("a", f"Waits{era}"))
        answer: Any = await client.call_tool("plan_execute", {"plan": document, "background": True})
        assert answer.is_error
        told = str(answer.structured_content)
        assert "LIMIT_EXCEEDED" in told and "/background" in told and "job_status" in told
        answer = await client.call_tool("plan_execute", {"plan": document})
        assert answer.structured_content["ok"], "nothing was refused but the background"

    talk(context, era, act)


async def ask(client: Client, tool: str, **args: Any) -> Any:
    """Of a job that has ended, the answer is that of its plan."""
    answer = await client.call_tool(tool, args)
    result = answer.structured_content["result"]
    assert answer.is_error is (result.get("ok") is False), answer.structured_content
    return result


def test_a_job_can_be_stopped_and_takes_its_whole_plan_back(context: ServerContext, era: Era) -> None:
    name = f"Stopped{era}"

    async def script(client: Client) -> Any:
        document = plan(name, cube("first", name), SLOW)
        begun = await ask(client, "plan_execute", plan=document, background=True, boundary="plan")
        id = begun["job_id"]
        while (await ask(client, "job_status", job_id=id, wait_s=0.1))["state"] == "waiting":
            pass
        stopped = await ask(client, "job_cancel", job_id=id)
        found = await ask(client, "scene_find", name=name)
        return stopped, found, await ask(client, "job_status"), id

    stopped, found, listed, id = talk(context, era, script)
    assert (stopped["state"], stopped["ok"]) == ("cancelled", False)
    assert stopped["outcome"]["result"]["error_code"] == "CANCELLED"
    assert found["total"] == 0
    assert [each["state"] for each in listed["jobs"] if each["job_id"] == id] == ["cancelled"]


def test_a_job_that_fails_tells_why_and_one_that_ended_is_not_cancelled_any_more(
    context: ServerContext, era: Era
) -> None:
    name = f"Ended{era}"

    async def script(client: Client) -> Any:
        wrong = operation("a", "object.transform", {"name": "Nobody", "location": [0, 0, 0]})
        failing = await ask(client, "plan_execute", plan=plan(f"bad{name}", wrong), background=True)
        failed = await ask(client, "job_status", job_id=failing["job_id"], wait_s=30)
        working = await ask(client, "plan_execute", plan=plan(name, cube("a", name)), background=True)
        await ask(client, "job_status", job_id=working["job_id"], wait_s=30)
        ended = await ask(client, "job_cancel", job_id=working["job_id"])
        return failed, ended, await client.call_tool("job_cancel", {"job_id": "nobody"})

    failed, ended, unknown = talk(context, era, script)
    assert (failed["state"], failed["ok"]) == ("failed", False)
    assert failed["outcome"]["result"]["error_code"] == "TARGET_NOT_FOUND"
    assert (ended["state"], ended["ok"]) == ("finished", True)
    assert unknown.is_error and unknown.structured_content["error_code"] == "not_found"


def test_nobody_is_asked_about_a_run_in_the_background(context: ServerContext, era: Era) -> None:
    name, heard = f"Unasked{era}", list[str]()

    async def user(context: Any, params: Any) -> ElicitResult:
        heard.append(params.message)
        return ElicitResult(action="accept", content={"allow": True})

    async def script(client: Client) -> Any:
        delete = operation("b", "object.delete", {"name": name}, "a", level="destructive")
        document = plan(name, cube("a", name), delete)
        begun = await ask(client, "plan_execute", plan=document, background=True)
        with anyio.fail_after(120):
            return await ask(client, "job_status", job_id=begun["job_id"], wait_s=30)

    ended = talk(context, era, script, elicitation_callback=user)
    assert (ended["state"], heard) == ("failed", [])
    assert "blendwright approve" in ended["outcome"]["result"]["retry_hint"]
