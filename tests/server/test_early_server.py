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

from blendwright.server.transport.early_server import VERSION_KEY, EarlyServer, recorded_answers

MODERN = {
    VERSION_KEY: "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
ANSWERS: dict[str, dict[str, Any]] = {"initialize": {"1": {"hello": True}}, "tools/list": {"1": {"tools": ["one"]}}}


class Wire:
    """The host's side of an early server that is open in this process."""

    def __init__(self, largest: int = 1000) -> None:
        incoming, self._to = os.pipe()
        self._from, outgoing = os.pipe()
        self.server = EarlyServer(incoming, outgoing, ANSWERS, largest)
        self._lines = os.fdopen(self._from, "rb")

    def say(self, message: dict[str, Any] | bytes) -> None:
        raw = message if isinstance(message, bytes) else json.dumps(message).encode()
        os.write(self._to, raw + b"\n")

    def hear(self) -> Any:
        return json.loads(self._lines.readline())

    def close(self) -> None:
        os.close(self._to)
        self._lines.close()


@pytest.fixture
def wire() -> Generator[Wire]:
    opened = Wire()
    yield opened
    opened.close()


def request(id: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def test_what_is_known_beforehand_is_answered_at_once_and_still_reaches_the_server(wire: Wire) -> None:
    wire.say(request(7, "initialize", protocolVersion="1"))
    assert wire.hear() == {"jsonrpc": "2.0", "id": 7, "result": {"hello": True}}
    wire.say(request(8, "tools/list"))
    assert wire.hear()["result"] == {"tools": ["one"]}
    assert json.loads(wire.server.line())["id"] == 7
    assert json.loads(wire.server.line())["id"] == 8


def test_a_host_that_shows_apps_waits_for_a_list_that_has_more_in_it(wire: Wire) -> None:
    shows: dict[str, Any] = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
    wire.say(request(7, "initialize", protocolVersion="1", capabilities=shows))
    assert wire.hear()["id"] == 7
    wire.say(request(8, "tools/list"))
    assert wire.server.line() and wire.server.line()
    wire.server.write(b'{"jsonrpc": "2.0", "id": 8, "result": {"tools": ["more"]}}\n')
    assert wire.hear()["result"] == {"tools": ["more"]}


def test_who_waits_for_a_message_is_let_go_at_the_end(wire: Wire) -> None:
    got: list[bytes] = []
    waiting = threading.Thread(target=lambda: got.append(wire.server.line()), daemon=True)
    waiting.start()
    wire.server.end()
    waiting.join(60)
    assert got == [b""]


def test_the_server_s_own_answer_to_it_is_dropped_once(wire: Wire) -> None:
    wire.say(request(7, "initialize", protocolVersion="1"))
    wire.hear()
    wire.server.write(b'{"jsonrpc": "2.0", "id": 7, "result": {"late": true}}\n')
    wire.server.write(b'{"jsonrpc": "2.0", "id": 9, "result": {}}\n')
    assert wire.hear()["id"] == 9
    wire.server.write(b'{"jsonrpc": "2.0", "id": 7, "result": {"second": true}}\n')
    assert wire.hear()["result"] == {"second": True}


@pytest.mark.parametrize(
    "message",
    [
        request(1, "initialize", protocolVersion="unheard of"),
        request(1, "tools/list"),
        request(1, "tools/call", name="x"),
        request(None, "initialize", protocolVersion="1"),
        {"jsonrpc": "1.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "1"}},
        request(1, "tools/list", cursor="5", _meta={VERSION_KEY: "1"}),
        b"not json",
        b"[]",
    ],
)
def test_anything_else_waits_for_the_server(wire: Wire, message: Any) -> None:
    wire.say(message)
    wire.server.line()
    wire.server.write(b'{"jsonrpc": "2.0", "id": "marker", "result": {}}\n')
    assert wire.hear()["id"] == "marker"


def test_after_the_server_took_over_nothing_is_answered_here(wire: Wire) -> None:
    wire.server.take_over()
    wire.say(request(7, "initialize", protocolVersion="1"))
    wire.server.line()
    wire.server.write(b'{"jsonrpc": "2.0", "id": 7, "result": {"the server": true}}\n')
    assert wire.hear()["result"] == {"the server": True}


def test_a_message_without_end_does_not_fill_the_memory_and_the_next_one_is_whole(wire: Wire) -> None:
    writing = threading.Thread(target=wire.say, args=(b"x" * 100_000,))
    writing.start()
    assert len(wire.server.line()) == 1001
    writing.join()
    wire.say(request(3, "ping"))
    assert json.loads(wire.server.line())["id"] == 3


STRAY = """
import os, subprocess, sys
from blendwright.server.transport.early_server import early_server
with early_server(1000) as wire:
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
VERSIONS = sorted(recorded_answers()["initialize"])


@pytest.mark.parametrize(
    "version", [VERSIONS[-1], *(pytest.param(one, marks=pytest.mark.slow) for one in VERSIONS[:-1])]
)
def test_a_real_server_answers_each_request_once_and_goes_on_in_the_older_era(tmp_path: Path, version: str) -> None:
    hello = request(0, "initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "t", "version": "1"})
    started = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    heard = lines(tmp_path, hello, started, request(1, "tools/list"), request(2, "prompts/list"))
    assert [message["id"] for message in heard] == [0, 1, 2]
    assert heard[0]["result"] == recorded_answers()["initialize"][version]
    assert heard[1]["result"] == recorded_answers()["tools/list"][version]
    assert heard[2]["result"]["prompts"]


def test_a_real_server_answers_each_request_once_and_goes_on_in_the_newer_era(tmp_path: Path) -> None:
    heard = lines(
        tmp_path,
        request("a", "server/discover", _meta=MODERN),
        request("b", "tools/list", _meta=MODERN),
        request("c", "prompts/list", _meta=MODERN),
    )
    assert [message["id"] for message in heard] == ["a", "b", "c"]
    assert heard[1]["result"]["tools"] == recorded_answers()["tools/list"]["2026-07-28"]["tools"]
    assert heard[2]["result"]["prompts"]
