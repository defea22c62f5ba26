"""The real transports: a server process on stdio, and a web application on a loopback port."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from test_jsonrpc import BAD

from support.hosts.mcp import ERAS, FEWER_ERAS, Era, cube, operation, plan
from support.hosts.web_hosts import COMMAND, TOKEN, WHOLE_COMMAND, http_server, web_client

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}

SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 0)]
SLOW = operation(
    "slow", "render.preview", {"view": "ISO", "engine": "CYCLES", "samples": 256, "width": 2048, "height": 2048}, "a",
    level="read_only",
)  # fmt: skip


def ask(process: subprocess.Popen[bytes], message: dict[str, Any] | bytes) -> dict[str, Any]:
    assert process.stdin is not None and process.stdout is not None
    raw = message if isinstance(message, bytes) else json.dumps(message).encode()
    process.stdin.write(raw + b"\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Generator[subprocess.Popen[bytes]]:
    place = tmp_path_factory.mktemp("raw")
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=place) as process:
        ask(process, HELLO)
        yield process
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0
    assert list((place / ".blendwright" / "scratch").glob("session-*")) == [], "the workspace was closed"


@pytest.mark.parametrize(("message", "code", "said"), BAD)
@pytest.mark.proves("EXEC-PHASE-00")
def test_stdio_answers_what_is_no_message_and_lives_on(
    raw: subprocess.Popen[bytes], message: bytes, code: int, said: str
) -> None:
    answer = ask(raw, message)
    assert answer["error"]["code"] == code
    assert said in answer["error"]["message"]
    assert ask(raw, {"jsonrpc": "2.0", "id": 5, "method": "ping"}) == {"jsonrpc": "2.0", "id": 5, "result": {}}


def test_an_unknown_method_is_a_protocol_error(raw: subprocess.Popen[bytes]) -> None:
    answer = ask(raw, {"jsonrpc": "2.0", "id": 6, "method": "no/such"})
    assert answer["error"]["code"] == -32601


@pytest.mark.real_starts
@pytest.mark.parametrize("era", FEWER_ERAS)
def test_a_host_that_starts_the_server_gets_its_plan_done(tmp_path: Path, era: Era) -> None:
    async def main() -> Any:
        server = StdioServerParameters(
            command=WHOLE_COMMAND[0],
            args=[*WHOLE_COMMAND[1:], "--workspace", "workspace"],
            cwd=tmp_path,
            env=dict(os.environ),
        )
        with anyio.fail_after(120):
            async with Client(server, mode=era) as client:
                answer = await client.call_tool("plan_execute", {"plan": plan("r", cube("a", "Box"))})
                found = await client.call_tool("scene_find", {})
                return answer.structured_content, found.structured_content

    answer, found = anyio.run(main)
    assert answer["ok"] is True
    assert [entry["name"] for entry in found["result"]["objects"]] == ["Box"]


def test_a_server_keeps_to_the_policy_of_its_workspace_and_offers_what_it_was_started_with(tmp_path: Path) -> None:
    """Where no root is named on the command line, the policy says where files may be written."""
    (tmp_path / ".blendwright").mkdir()
    (tmp_path / ".blendwright" / "blendwright.toml").write_text('[policy.roots]\n"." = "deny"\n')
    call = {"name": "file_export", "arguments": {"path": str(tmp_path / "out.stl")}}
    command = [*COMMAND, "--tools", "direct"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path) as process:
        ask(process, HELLO)
        listed = ask(process, {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
        made = {"name": "mesh_create_primitive", "arguments": {"kind": "cube", "name": "Box"}}
        done = ask(process, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": made})
        refused = ask(process, {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call})
        assert process.stdin is not None
        process.stdin.close()
    assert "file_export" in [tool["name"] for tool in listed["result"]["tools"]]
    assert done["result"]["structuredContent"]["ok"] is True
    assert refused["result"]["isError"] is True
    assert refused["result"]["structuredContent"]["error_code"] == "policy_refused", refused
    assert not (tmp_path / "out.stl").exists()


def test_a_server_that_is_stopped_in_the_middle_leaves_a_workspace_that_goes_on(tmp_path: Path) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "plan_execute", "arguments": {"plan": plan("r", cube("a", "Box"), SLOW)}, "_meta": {"progressToken": 1}}}  # fmt: skip
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path) as process:
        ask(process, HELLO)
        assert ask(process, call)["method"] == "notifications/progress"
        process.kill()
    log = subprocess.run(
        [sys.executable, "-m", "blendwright", "log", "--json"], cwd=tmp_path, capture_output=True, check=True
    )
    assert json.loads(log.stdout)["commits"][0]["operation_id"] == "a"
    again = subprocess.run(
        [sys.executable, "-m", "blendwright", "snapshot", "--json"], cwd=tmp_path, capture_output=True, check=True
    )
    assert [entry["name"] for entry in json.loads(again.stdout)["objects"]["items"]] == ["Box"]


def closed(place: Path) -> bool:
    """Whoever closes a workspace leaves nothing in its scratch, and says in the log that it was closed."""
    log = (place / ".blendwright" / "logs" / "core.jsonl").read_text().splitlines()
    left = [entry.name for entry in (place / ".blendwright" / "scratch").iterdir()]
    return {*left} <= {".lock"} and json.loads(log[-1])["event"] == "workspace closed"


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_stops_the_work_on_stdio_and_closes_the_workspace(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "plan_execute", "arguments": {"plan": plan("r", cube("a", "Box"), SLOW)}, "_meta": {"progressToken": 1}}}  # fmt: skip
    pipe = subprocess.PIPE
    with subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, stderr=pipe, cwd=tmp_path) as process:
        ask(process, HELLO)
        assert ask(process, call)["method"] == "notifications/progress"
        process.send_signal(number)
        try:
            # Its input stays open: nothing but the signal tells it to end.
            assert process.wait(60) == code
        finally:
            process.kill()
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    assert closed(tmp_path)


# ---------------------------------------------------------------------- HTTP


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with http_server(tmp_path_factory.mktemp("http")) as (url, process):
        yield url
        process.send_signal(signal.SIGINT)
        process.wait(60)


@pytest.mark.parametrize("era", ERAS)
def test_http_serves_both_eras(address: str, era: Era) -> None:
    async def main() -> Any:
        async with web_client() as web, Client(streamable_http_client(address, http_client=web), mode=era) as client:
            answer = await client.call_tool("plan_execute", {"plan": plan(f"http{era}", cube("a", f"Http{era}"))})
            contract = await client.call_tool("contract_get", {})
            return answer.structured_content, contract.structured_content["result"]["contract"]

    answer, contract = anyio.run(main)
    assert answer["ok"] is True
    assert contract["host"]["transport"] == "http"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_strangers_are_turned_away_with_the_envelope(address: str, headers: dict[str, str], status: int) -> None:
    async def main() -> Any:
        async with web_client(**headers) as web:
            return await web.post(address, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})

    answer = anyio.run(main)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]
    assert TOKEN not in answer.text


@pytest.mark.parametrize(("message", "code", "said"), BAD)
@pytest.mark.proves("EXEC-PHASE-00")
def test_http_answers_what_is_no_message_and_lives_on(address: str, message: bytes, code: int, said: str) -> None:
    async def main() -> Any:
        async with web_client(
            **{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        ) as web:
            return await web.post(address, content=message)

    answer = anyio.run(main)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == code
    assert said in answer.json()["error"]["message"]


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_stops_the_work_over_http_and_closes_the_workspace(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    async def main(url: str, process: subprocess.Popen[bytes]) -> None:
        begun = anyio.Event()

        async def heard(progress: float, total: float | None, message: str | None) -> None:
            begun.set()

        async def work(client: Client) -> None:
            # The server leaves in the middle of it.
            with contextlib.suppress(MCPError, httpx2.HTTPError):
                await client.call_tool(
                    "plan_execute", {"plan": plan("r", cube("a", "Box"), SLOW)}, progress_callback=heard
                )

        async with (
            web_client() as web,
            Client(streamable_http_client(url, http_client=web), mode="legacy") as client,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(work, client)
            await begun.wait()
            process.send_signal(number)
            assert await anyio.to_thread.run_sync(process.wait, 20) == code
            tasks.cancel_scope.cancel()

    with http_server(tmp_path) as (url, process):
        anyio.run(main, url, process)
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    assert closed(tmp_path)
