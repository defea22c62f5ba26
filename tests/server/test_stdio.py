"""The server over stdio: only messages are on standard output, and each request is answered once in every protocol version."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from blendwright.server.transport.stdio import StdioConnection

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Wire:
    """The host's side of a connection that is open in this process."""

    def __init__(self, largest: int = 1000) -> None:
        incoming, self._to = os.pipe()
        self._from, outgoing = os.pipe()
        self.server = StdioConnection(incoming, outgoing, largest)

    def say(self, message: dict[str, Any] | bytes) -> None:
        raw = message if isinstance(message, bytes) else json.dumps(message).encode()
        os.write(self._to, raw + b"\n")

    def close(self) -> None:
        os.close(self._to)
        os.close(self._from)


@pytest.fixture
def wire() -> Generator[Wire]:
    opened = Wire()
    yield opened
    opened.close()


def request(id: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def test_who_waits_for_a_message_is_let_go_at_the_end(wire: Wire) -> None:
    got: list[bytes] = []
    waiting = threading.Thread(target=lambda: got.append(wire.server.line()), daemon=True)
    waiting.start()
    wire.server.end()
    waiting.join(60)
    assert got == [b""]


def test_a_message_without_end_does_not_fill_the_memory_and_the_next_one_is_whole(wire: Wire) -> None:
    writing = threading.Thread(target=wire.say, args=(b"x" * 100_000,))
    writing.start()
    assert len(wire.server.line()) == 1001
    writing.join()
    wire.say(request(3, "ping"))
    assert json.loads(wire.server.line())["id"] == 3


STRAY = """
import os, subprocess, sys
from blendwright.server.transport.stdio import take_over_stdio
with take_over_stdio(1000) as wire:
    print("stray", flush=True)
    os.write(1, b"stray\\n")
    subprocess.run(["sh", "-c", "echo stray; cat"], check=True)
    wire.write(b"the wire\\n")
print("afterwards")
"""


def test_standard_output_belongs_to_the_wire_alone_whoever_else_writes() -> None:
    ran = subprocess.run([sys.executable, "-c", STRAY], input=b"", capture_output=True, timeout=30, check=True)
    assert ran.stdout == b"the wire\nafterwards\n"
    assert ran.stderr.count(b"stray") == 3


def lines(place: Path, *messages: dict[str, Any]) -> list[Any]:
    """What a real server says to these messages, up to the answer to the last one."""
    command = [sys.executable, "-m", "blendwright", "serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=place) as process:
        assert process.stdin is not None and process.stdout is not None
        for message in messages:
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        heard: list[Any] = []
        while not heard or heard[-1].get("id") != messages[-1]["id"]:
            heard.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        heard += [json.loads(line) for line in process.stdout]
    return heard


# One of the older ones with every `make test`, the others with the slow proofs: each starts a server of its own.
VERSIONS = sorted(HANDSHAKE_PROTOCOL_VERSIONS)


@pytest.mark.parametrize(
    "version", [VERSIONS[-1], *(pytest.param(one, marks=pytest.mark.slow) for one in VERSIONS[:-1])]
)
def test_a_real_server_answers_each_request_once_and_goes_on_in_the_older_era(tmp_path: Path, version: str) -> None:
    hello = request(0, "initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "t", "version": "1"})
    started = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    heard = lines(tmp_path, hello, started, request(1, "tools/list"), request(2, "prompts/list"))
    assert [message["id"] for message in heard] == [0, 1, 2]
    assert heard[0]["result"]["protocolVersion"] == version
    assert "plan_execute" in {tool["name"] for tool in heard[1]["result"]["tools"]}
    assert heard[2]["result"]["prompts"]


def test_a_real_server_answers_each_request_once_and_goes_on_in_the_newer_era(tmp_path: Path) -> None:
    heard = lines(
        tmp_path,
        request("a", "server/discover", _meta=MODERN),
        request("b", "tools/list", _meta=MODERN),
        request("c", "prompts/list", _meta=MODERN),
    )
    assert [message["id"] for message in heard] == ["a", "b", "c"]
    assert "plan_execute" in {tool["name"] for tool in heard[1]["result"]["tools"]}
    assert heard[2]["result"]["prompts"]
