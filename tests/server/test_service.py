"""What the server does with calls before and around any work: arguments, names, hosts, its own defects. Without Blender."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp.client.client import Client

from blendwright.server.answers.response import ToolResponse
from blendwright.server.context import Jobs, ServerContext
from blendwright.server.service import TOOLS
from blendwright.server.tools.server_tool import ServerTool
from blendwright.server.transport.client_info import client_id
from blendwright.server.workspace_queue import WorkspaceQueue
from blendwright.tool_api.promises import Idempotence, SafetyLevel
from blendwright.tools import catalog
from blendwright.values.findings import Finding
from blendwright.values.outcome import Outcome
from blendwright.workspace.open_scene import OpenScene
from support.hosts.mcp import Era, talk

BY_NAME = {tool.name: tool for tool in TOOLS}


def never() -> OpenScene:
    raise AssertionError("nothing here opens a workspace")


@pytest.fixture
def closed(tmp_path: Path) -> ServerContext:
    """A context whose workspace nobody opens."""
    return ServerContext(tmp_path, WorkspaceQueue(never), catalog.tools(), {}, Jobs())


def findings(tool: ServerTool, args: dict[str, Any]) -> list[tuple[str, str]]:
    parsed = tool.parse(args)
    assert isinstance(parsed, tuple), parsed
    assert all(isinstance(finding, Finding) and finding.cure for finding in parsed)
    return [(finding.fault.value, finding.pointer) for finding in parsed]


@pytest.mark.parametrize("key", ["wait_for", "wait_for_previous_", "Wait_for_previous", "waitForPrevious", "_meta", ""])
def test_of_unknown_arguments_exactly_one_is_dropped(key: str) -> None:
    tool = BY_NAME["scene_find"]
    assert not isinstance(tool.parse({"wait_for_previous": True}), tuple)
    assert findings(tool, {key: True}) == [("ARGS_INVALID", f"/{key}")]


def test_inside_an_argument_nothing_is_dropped() -> None:
    parsed: Any = BY_NAME["plan_validate"].parse({"plan": {"wait_for_previous": True}, "wait_for_previous": 1})
    assert parsed.plan == {"wait_for_previous": True}


def test_every_wrong_argument_is_found_also_where_a_schema_cannot_tell() -> None:
    assert findings(BY_NAME["scene_find"], {"collection": "é" * 200}) == [("ARGS_INVALID", "/collection")]
    assert findings(BY_NAME["plan_validate"], {"plan": {"x": float("nan")}}) == [("SCHEMA_INVALID", "/plan/x")]
    assert findings(BY_NAME["plan_validate"], {"plan": {"x": "\ud800"}}) == [("SCHEMA_INVALID", "/plan/x")]
    two = findings(BY_NAME["history_log"], {"limit": 0, "befor": "1"})
    assert sorted(two) == [("ARGS_INVALID", "/befor"), ("ARGS_INVALID", "/limit")]


def test_a_tool_of_plans_that_is_called_by_itself_is_told_where_it_belongs(closed: ServerContext, era: Era) -> None:
    async def script(client: Client) -> Any:
        return await client.session.call_tool("object.delete", {"name": "Box"})

    answer = talk(closed, era, script)
    assert answer.is_error
    (finding,) = answer.structured_content["details"]["findings"]
    assert finding["cure"] == "Call it with tool_call, or use it in a plan with plan_execute."


class Broken(Mapping[str, Any]):
    """A catalogue with a defect."""

    def __getitem__(self, name: str) -> Any:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("insides that are nobody's business")

    def __len__(self) -> int:
        return 0


def test_a_defect_is_an_error_result_without_its_insides_and_the_server_lives_on(tmp_path: Path, era: Era) -> None:
    context = ServerContext(tmp_path, WorkspaceQueue(never), Broken(), {}, Jobs())

    async def script(client: Client) -> Any:
        broken = await client.call_tool("tool_search", {})
        return broken, await client.call_tool("job_status", {})

    broken, after = talk(context, era, script)
    assert broken.is_error
    assert broken.structured_content["error_code"] == "internal_error"
    assert "RuntimeError" in broken.structured_content["message"]
    assert "nobody's business" not in broken.content[0].text
    assert not after.is_error


def test_an_answer_that_breaks_its_envelope_is_our_defect_and_not_the_arguments(
    closed: ServerContext, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def handler(context: ServerContext, caller: Any, args: Any) -> ToolResponse:
        return ToolResponse(Outcome("scene.find", 1, result={}, determinism_class="seeded"))  # of which seed?

    [tool] = [each for each in TOOLS if each.name == "tool_search"]
    monkeypatch.setattr("blendwright.server.service.TOOLS", (replace(tool, handler=handler),))

    async def script(client: Client) -> Any:
        return await client.call_tool("tool_search", {})

    answer = talk(closed, era, script)
    assert answer.is_error and answer.structured_content["details"]["findings"][0]["code"] == "INTERNAL_ERROR"


@pytest.mark.proves("EXEC-IDEMP-04")
def test_every_direct_tool_has_the_hints_of_its_declaration(closed: ServerContext, era: Era) -> None:
    async def script(client: Client) -> Any:
        return {tool.name: tool for tool in (await client.list_tools()).tools}

    listed = talk(closed, era, script, direct=True)
    assert {tool.name for tool in TOOLS} <= listed.keys()
    for tool in catalog.tools().values():
        name = tool.name.replace(".", "_")
        if name in BY_NAME:
            continue
        hints = listed[name].annotations
        reads = tool.safety_level is SafetyLevel.READ_ONLY
        assert bool(hints.read_only_hint) is reads, name
        if not reads:
            may_destroy = tool.safety_level is SafetyLevel.DESTRUCTIVE or bool(tool.destructive_with)
            assert hints.destructive_hint is may_destroy, name
            assert bool(hints.idempotent_hint) is (tool.idempotence is Idempotence.IDEMPOTENT), name


def test_clients_are_told_apart_by_their_session_or_else_by_where_they_are() -> None:
    def client(request: Any) -> str:
        context: Any = SimpleNamespace(request=request, protocol_version="2025-06-18")
        return client_id(context)

    def web(port: int, **headers: str) -> Any:
        where = SimpleNamespace(host="127.0.0.1", port=port)
        return SimpleNamespace(headers={name.replace("_", "-"): value for name, value in headers.items()}, client=where)

    assert client(None) == "stdio"
    assert client(web(1, mcp_session_id="one")) == client(web(2, mcp_session_id="one"))
    assert client(web(1, mcp_session_id="one")) != client(web(1, mcp_session_id="two"))
    assert client(web(1)) != client(web(2))
