from __future__ import annotations

import re
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client

from blendwright.server.context import ServerContext
from blendwright.values.errors import BlendwrightError
from blendwright.views import queries
from blendwright.views.queries import difference
from support.hosts.mcp import Era, call, cube, plan, talk


def test_history_can_be_read_compared_and_gone_back_to(context: ServerContext, era: Era) -> None:
    name = f"Past{era}"
    call(context, era, "plan_execute", {"plan": plan(name, cube("a", name))})
    log = call(context, era, "history_log", {"limit": 2, "operations": True}).structured_content["result"]
    newest, older = log["commits"]
    assert (newest["operation_id"], newest["request_id"]) == ("a", name)
    compared = call(context, era, "history_diff", {"a": str(older["number"])}).structured_content["result"]
    assert compared["created"] == {"objects": name} and not compared["equal"]
    moved = call(context, era, "history_checkout", {"commit": str(older["number"])}).structured_content["result"]
    assert moved["head"] == older["number"]
    assert call(context, era, "scene_find", {"name": name}).structured_content["result"]["total"] == 0
    call(context, era, "history_checkout", {"commit": newest["number"]})
    assert call(context, era, "scene_find", {"name": name}).structured_content["result"]["total"] == 1


def test_the_log_has_a_line_for_each_plan_with_the_commit_that_undoes_it(context: ServerContext) -> None:
    program = "# A row of posts\nfor i in range(3): object.create_empty(name='LogPost_%d' % i)"
    ran = call(context, "legacy", "plan_execute", {"program": program}).structured_content["result"]["report"]
    log = call(context, "legacy", "history_log", {"limit": 1}).structured_content["result"]
    (line,) = log["plans"]
    # Other tests of the same workspace may have left a branch behind.
    assert re.match(rf"{ran['head_after']}( \([a-z]+\))?: A row of posts; 3 operations, ", line), line
    assert line.endswith(f"; before it {ran['head_before']}") and log["head"] == ran["head_after"]
    undone = call(context, "legacy", "history_checkout", {"commit": ran["head_before"]})
    assert not undone.is_error
    assert call(context, "legacy", "scene_find", {"name": "LogPost_*"}).structured_content["result"]["total"] == 0


def test_a_comparison_uses_the_blender_that_is_served(context: ServerContext, tmp_path: Path) -> None:
    call(context, "legacy", "scene_find", {})  # now there is something to compare
    other = replace(context, blender=str(tmp_path / "no-such-blender"))
    answer = call(other, "legacy", "history_diff", {"a": "HEAD"})
    assert answer.is_error
    assert answer.structured_content["error_code"] == "capability_missing"
    assert "no-such-blender" in answer.structured_content["message"]


def test_comparisons_wait_for_each_other(context: ServerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    call(context, "legacy", "scene_find", {})
    begun, most = list[int](), list[int]()

    def watched(*args: Any) -> Any:
        begun.append(1)
        most.append(len(begun))
        try:
            return difference(*args)
        finally:
            begun.pop()

    monkeypatch.setattr(queries, "difference", watched)

    async def script(client: Client) -> Any:
        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(client.call_tool, "history_diff", {"a": "HEAD"})

    talk(context, "legacy", script)
    assert most == [1, 1]


def test_a_comparison_that_is_cancelled_ends_its_blenders(
    context: ServerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    call(context, "legacy", "scene_find", {})
    begun, ended = threading.Event(), threading.Event()
    became = list[str]()

    def watched(*args: Any) -> Any:
        begun.set()
        try:
            found = difference(*args)
            became.append("compared")
            return found
        except BlendwrightError:
            became.append("stopped")
            raise
        finally:
            ended.set()

    monkeypatch.setattr(queries, "difference", watched)

    async def script(client: Client) -> Any:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "history_diff", {"a": "HEAD"})
            await anyio.to_thread.run_sync(begun.wait, 30)
            tasks.cancel_scope.cancel()
        await anyio.to_thread.run_sync(ended.wait, 30)

    talk(context, "legacy", script)
    assert became == ["stopped"]
