"""Storms of cancels: many clients who call their calls off at any moment. Nothing is lost, doubled or left behind."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp_types import ElicitResult

from blendwright.server.context import ServerContext
from blendwright.workspace.reading import read_journal
from support.hosts.mcp import ERAS, Era, connected, cube, operation, plan, served, talk

YES = ElicitResult(action="accept", content={"allow": True})
CLIENTS, CALLS = 6, 5


def cubes(request: str, count: int) -> dict[str, Any]:
    chain = [f"o{at}" for at in range(count)]
    return plan(request, *(cube(id, f"{request} {id}", *chain[max(0, at - 1) : at]) for at, id in enumerate(chain)))


def documents(client: int) -> list[dict[str, Any]]:
    """What one client wants done; some of it is wanted by all."""
    own = [cubes(f"c{client} p{at}", 4 + 3 * at) for at in range(CALLS - 2)]
    gone = f"c{client} gone"
    asked = plan(gone, cube("a", gone), operation("b", "object.delete", {"name": gone}, "a", level="destructive"))
    return [*own, cubes("shared", 12), asked]


async def agrees(context: Any, params: Any) -> ElicitResult:
    return YES


async def storm(context: ServerContext, era: Era, number: int, seed: int) -> None:
    """Each call is called off after a time that is chosen by lot, from at once to about when it has ended."""
    draw = random.Random(seed * 100 + number)
    async with connected(context, era, elicitation_callback=agrees) as client:
        for document in documents(number):
            kind = draw.choice(("plan_execute", "plan_execute", "plan_execute", "plan_preview", "job"))
            if kind == "job":
                begun: Any = await client.call_tool("plan_execute", {"plan": document, "background": True})
                job = begun.structured_content["result"]["job_id"]
                await anyio.sleep(draw.random() * 0.1)
                async with anyio.create_task_group() as tasks:
                    for _ in range(3):
                        tasks.start_soon(client.call_tool, "job_cancel", {"job_id": job})
                continue
            with anyio.move_on_after(draw.choice((0.0, 0.002, 0.01, 0.05, 0.2))):
                await client.call_tool(kind, {"plan": document})


async def settled(context: ServerContext) -> None:
    with anyio.fail_after(120):
        while context.queue.length or context.queue.aside:
            await anyio.sleep(0.02)


async def finish(context: ServerContext) -> tuple[list[Any], str]:
    """The same plans once more, to their end; then the scene."""
    answers: list[Any] = []
    async with connected(context, "legacy", elicitation_callback=agrees) as client:
        for number in range(CLIENTS):
            for document in documents(number):
                answers.append((await client.call_tool("plan_execute", {"plan": document})).structured_content)
        scene: Any = await client.call_tool("scene_snapshot", {"limit": 1, "detail": "full"})
    return answers, scene.structured_content["result"]["fingerprint"]


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_after_a_storm_of_cancels_every_key_stands_once_and_the_scene_is_that_of_a_serial_run(
    tmp_path: Path, seed: int
) -> None:
    async def main(context: ServerContext) -> tuple[list[Any], str]:
        with anyio.fail_after(240):
            async with anyio.create_task_group() as tasks:
                for number in range(CLIENTS):
                    tasks.start_soon(storm, context, ERAS[number % 2], number, seed)
            await settled(context)
            return await finish(context)

    threads = threading.active_count()
    with served(tmp_path / "stormy") as context:
        answers, scene = anyio.run(main, context)
        assert all(answer["ok"] for answer in answers), [answer for answer in answers if not answer["ok"]]
        assert not [job for job in context.jobs.all() if not job.ended]
    with read_journal(tmp_path / "stormy") as journal:
        commits = journal.log(limit=10_000)
        keys = [(commit.request_id, commit.operation_id) for commit in commits]
        assert len(keys) == len(set(keys)) and journal.audit.verify().ok
        assert (
            journal.recovery.open_boundary() is None
            and journal.recovery.indeterminate() == ()
            and journal.recovery.quarantine() is None
        )
    # A preview that got so far before it was called off has made the directory of previews; what was in it is gone.
    left = {path.name for path in (tmp_path / "stormy" / "scratch").rglob("*")}
    assert left <= {".lock", "previews"}, "no session and no preview leaves anything"
    assert threading.active_count() <= threads + 2
    with served(tmp_path / "serial") as context:
        serial, expected = anyio.run(finish, context)
        assert all(answer["ok"] for answer in serial) and scene == expected


def test_the_same_call_called_off_many_times_over_is_done_once_in_the_end(context: ServerContext, era: Era) -> None:
    document = cubes(f"again {era}", 30)

    async def script(client: Client) -> Any:
        for at in range(12):
            with anyio.move_on_after(0.003 * at):
                await client.call_tool("plan_execute", {"plan": document})
        return (await client.call_tool("plan_execute", {"plan": document})).structured_content

    assert talk(context, era, script)["ok"] is True
    with read_journal(context.workspace) as journal:
        assert len(journal.commits_of(f"again {era}")) == 30


def test_cancels_of_what_is_unknown_ended_or_somebody_elses_change_nothing(context: ServerContext) -> None:
    async def script(client: Client) -> Any:
        begun: Any = await client.call_tool("plan_execute", {"plan": cubes("ended", 3), "background": True})
        job = begun.structured_content["result"]["job_id"]
        ended: Any = await client.call_tool("job_status", {"job_id": job, "wait_s": 30})
        assert ended.structured_content["result"]["state"] == "finished"
        cancelled = [await client.call_tool("job_cancel", {"job_id": job}) for _ in range(20)]
        unknown = [await client.call_tool("job_cancel", {"job_id": f"{job}{at}"}) for at in range(20)]
        for at in range(200):
            await client.session.send_notification(
                types.CancelledNotification(params=types.CancelledNotificationParams(request_id=at + 1000))
            )
        return cancelled, unknown, await client.call_tool("scene_find", {"name": "ended *"})

    cancelled, unknown, found = talk(context, "legacy", script)
    assert all(not answer.is_error for answer in cancelled), "its result stands"
    assert all(answer.is_error for answer in unknown)
    assert found.structured_content["result"]["total"] == 3
