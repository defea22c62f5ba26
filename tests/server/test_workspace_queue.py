from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import blendwright
from blendwright.server import workspace_queue
from blendwright.server.context import Jobs, ServerContext
from blendwright.server.service import TOOLS
from blendwright.server.workspace_queue import WorkspaceQueue
from blendwright.tools import catalog
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import EnvironmentUnfit
from blendwright.workspace.open_scene import OpenScene
from support.hosts.mcp import cube, plan, talk


class Workspace:
    """Stands for an open one, where only the order of things matters."""

    def __init__(self) -> None:
        self.closed = False

    def warm(self) -> None: ...

    def close(self) -> None:
        self.closed = True


def desk_of(workspace: Workspace) -> WorkspaceQueue:
    return WorkspaceQueue(lambda: cast(OpenScene, workspace))


def test_clients_take_turns_and_each_keeps_its_order() -> None:
    queue, done = desk_of(Workspace()), list[str]()
    begun, go = threading.Event(), threading.Event()

    def first(opened: OpenScene) -> None:
        begun.set()
        go.wait(60)

    def note(word: str) -> Callable[[OpenScene], None]:
        def work(opened: OpenScene) -> None:
            done.append(word)

        return work

    queue.start()
    queue.submit("greedy", first, CancelToken())
    begun.wait(60)
    asked = [queue.submit("greedy", note(f"g{number}"), CancelToken()) for number in range(3)]
    asked += [queue.submit(client, note(client), CancelToken()) for client in ("a", "b")]
    assert queue.length == 5
    go.set()
    for each in asked:
        each.result(60)
    queue.close()
    assert done == ["g0", "a", "b", "g1", "g2"]


def test_closing_stops_what_runs_turns_away_what_waits_and_closes_the_workspace() -> None:
    workspace, token = Workspace(), CancelToken()
    queue, begun, stopped = desk_of(workspace), threading.Event(), threading.Event()
    token.subscribe(stopped.set)

    def long(opened: OpenScene) -> bool:
        begun.set()
        return stopped.wait(60)

    queue.start()
    running = queue.submit("a", long, token)
    begun.wait(60)
    waiting = queue.submit("a", lambda opened: None, CancelToken())
    queue.close()
    assert running.result(0) is True
    with pytest.raises(EnvironmentUnfit):
        waiting.result(0)
    assert workspace.closed
    with pytest.raises(EnvironmentUnfit):
        queue.submit("a", lambda opened: None, CancelToken())


def test_closing_closes_the_workspace_also_when_somebody_who_waits_has_left() -> None:
    workspace, begun = Workspace(), threading.Event()
    queue, token, stopped = desk_of(workspace), CancelToken(), threading.Event()
    token.subscribe(stopped.set)

    def long(opened: OpenScene) -> bool:
        begun.set()
        return stopped.wait(60)

    queue.start()
    queue.submit("a", long, token)
    begun.wait(60)
    left = queue.submit("a", lambda opened: None, CancelToken())
    stays = queue.submit("a", lambda opened: None, CancelToken())
    assert left.cancel()
    queue.close()
    assert workspace.closed
    with pytest.raises(EnvironmentUnfit):
        stays.result(0)


def test_a_defect_while_opening_is_told_to_whoever_asks_first_and_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tries = list[int]()

    def opening() -> OpenScene:
        tries.append(1)
        if len(tries) < 3:
            raise ModuleNotFoundError("no such part")
        return cast(OpenScene, Workspace())

    queue = WorkspaceQueue(opening)
    queue.start()
    with pytest.raises(ModuleNotFoundError, match="no such part"):
        queue.submit("a", lambda opened: 7, CancelToken()).result(60)
    assert queue.submit("a", lambda opened: 7, CancelToken()).result(60) == 7
    queue.close()
    assert "no such part" in caplog.text


def test_a_mistake_of_one_is_not_the_end_of_all() -> None:
    queue = desk_of(Workspace())
    queue.start()

    def wrong(opened: OpenScene) -> None:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        queue.submit("a", wrong, CancelToken()).result(60)
    assert queue.submit("b", lambda opened: 7, CancelToken()).result(60) == 7
    queue.close()


def test_a_server_without_blender_answers_and_says_so(tmp_path: Path) -> None:
    queue = WorkspaceQueue(lambda: blendwright.open(tmp_path / "w", blender=tmp_path / "no-such-blender", spare=False))
    queue.start()
    context = ServerContext(tmp_path / "w", queue, catalog.tools(), {}, Jobs())

    async def script(client: Any) -> Any:
        tools = (await client.list_tools()).tools
        checked = await client.call_tool("plan_validate", {"plan": plan("r", cube("a", "Box"))})
        return tools, checked, await client.call_tool("plan_execute", {"plan": plan("r", cube("a", "Box"))})

    tools, checked, refused = talk(context, "legacy", script)
    queue.close()
    assert [tool.name for tool in tools] == [offer.name for offer in TOOLS]
    assert checked.structured_content["ok"] is True
    assert refused.is_error
    assert refused.structured_content["error_code"] == "capability_missing"
    assert "no-such-blender" in refused.structured_content["message"]


def test_a_job_that_finds_no_workspace_says_so_and_what_to_do(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def opening() -> OpenScene:
        raise EnvironmentUnfit("somebody else has the workspace open", cure="Wait for them.")

    queue = WorkspaceQueue(opening)
    queue.start()
    context = ServerContext(tmp_path / "w", queue, catalog.tools(), {}, Jobs())

    async def script(client: Any) -> Any:
        begun = await client.call_tool("plan_execute", {"plan": plan("r", cube("a", "Box")), "background": True})
        job = begun.structured_content["result"]["job_id"]
        return (await client.call_tool("job_status", {"job_id": job, "wait_s": 30})).structured_content

    ended = talk(context, "legacy", script)
    queue.close()
    assert (ended["result"]["state"], ended["ok"]) == ("failed", False)
    assert ended["message"] == "somebody else has the workspace open"
    assert ended["details"]["findings"][0]["cure"] == "Wait for them."
    assert "never retrieved" not in caplog.text


def test_a_workspace_that_somebody_else_has_open_is_said_to_be(tmp_path: Path) -> None:
    with blendwright.open(tmp_path / "w", spare=False):
        queue = WorkspaceQueue(lambda: blendwright.open(tmp_path / "w", spare=False))
        queue.start()
        context = ServerContext(tmp_path / "w", queue, catalog.tools(), {}, Jobs())

        async def script(client: Any) -> Any:
            return await client.call_tool("scene_find", {})

        answer = talk(context, "legacy", script)
    assert answer.is_error
    assert "workspace" in answer.structured_content["message"]
    # Once the other has left, the next call finds it open.
    assert not talk(context, "legacy", script).is_error
    queue.close()


def test_a_server_freezes_the_loaded_code_before_it_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    monkeypatch.setattr(workspace_queue, "freeze_loaded_objects", lambda: order.append("frozen"))

    def opening() -> OpenScene:
        order.append("opened")
        return cast(OpenScene, Workspace())

    queue = WorkspaceQueue(opening)
    queue.start()
    try:
        queue.submit("client", lambda _: order.append("served"), CancelToken()).result(30)
    finally:
        queue.close()
    assert order == ["opened", "frozen", "served"]


def test_a_workspace_rests_once_and_again_after_it_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    rested = threading.Semaphore(0)

    class Resting(Workspace):
        def rest(self) -> None:
            rested.release()

    monkeypatch.setattr(workspace_queue, "REST_SECONDS", 0.02)
    queue = WorkspaceQueue(lambda: cast(OpenScene, Resting()))
    queue.start()
    try:
        for _ in range(2):
            assert rested.acquire(timeout=30)
            queue.submit("client", lambda _: None, CancelToken()).result(30)
        assert rested.acquire(timeout=30)
    finally:
        queue.close()
    assert not rested.acquire(blocking=False), "it rests once after each piece of work"
