"""What a person and a model meet first: a workspace that makes itself, a server that says where it is, and a page on how to work here."""

from __future__ import annotations

import json
import os
import pty
import re
import socket
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from blendwright.server.instructions import INSTRUCTIONS
from blendwright.server.serve import Settings, Watch, open_or_create
from blendwright.server.service import TOOLS
from blendwright.server.transport.call_log import CallEnded
from blendwright.tools import catalog
from blendwright.values.errors import EnvironmentUnfit
from blendwright.workspace.policy_files import FILE as POLICY
from support.hosts.web_hosts import WHOLE_COMMAND

LARGEST_INSTRUCTIONS = 1500
# Words with an underscore or a dot that are fields of a plan, or arguments.
FIELDS = {"head_before", "program_edit"}


def test_instructions_are_short_and_name_only_tools_that_exist() -> None:
    assert len(INSTRUCTIONS.encode()) <= LARGEST_INSTRUCTIONS
    of_server, of_plans = {tool.name for tool in TOOLS}, set(catalog.tools())
    named = set(re.findall(r"\b[a-z]+(?:[._][a-z]+)+\b", INSTRUCTIONS)) - FIELDS
    assert named <= of_server | of_plans
    assert {"scene_image", "tool_search", "plan_preview", "plan_execute", "geonodes_execute"} <= named
    assert {"geonodes.node_tree", "geonodes.patch"} <= named
    assert "program" in INSTRUCTIONS and "python" in INSTRUCTIONS


def test_a_workspace_that_is_not_there_is_made_with_its_policy(tmp_path: Path) -> None:
    place, made = tmp_path / "new", list[Path]()
    settings = Settings(place, watch=Watch(on_new_workspace=made.append))
    open_or_create(settings).close()
    assert made == [place] and (place / POLICY).is_file()
    (place / POLICY).write_text("[policy]\n")
    open_or_create(settings).close()
    assert made == [place] and (place / POLICY).read_text() == "[policy]\n", "what is there stays"


def test_a_workspace_that_cannot_be_made_is_an_error_with_a_cure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentUnfit) as caught:
        open_or_create(Settings(tmp_path / "file"))
    assert caught.value.cure


@pytest.mark.parametrize(
    ("ended", "line"),
    [
        (CallEnded("scene_find", 0.0042, True, 1234), "scene_find               4 ms  ok      1.2 kB"),
        (CallEnded("plan_execute", 12.34, False, 56_000), "plan_execute           12.3 s  failed  56.0 kB"),
    ],
)
def test_a_call_is_one_line(ended: CallEnded, line: str) -> None:
    assert ended.line() == line


class Terminal:
    """What a program shows on a terminal, as far as it was read."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.text = ""

    def until(self, pattern: str) -> re.Match[str]:
        while (found := re.search(pattern, self.text)) is None:
            try:
                read = os.read(self._descriptor, 4096)
            except OSError:
                raise AssertionError(self.text) from None  # the program has ended
            self.text += read.decode().replace("\r\n", "\n")
        return found


@contextmanager
def server_at_terminal(place: Path) -> Generator[Terminal]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "BLENDWRIGHT_TOKEN"}
    environment |= {"TERM": "dumb", "COLUMNS": "300"}
    command = [*WHOLE_COMMAND, "--http", f"127.0.0.1:{port}"]
    with subprocess.Popen(command, env=environment, cwd=place, stderr=theirs) as process:
        os.close(theirs)
        try:
            yield Terminal(ours)
        finally:
            process.kill()
            os.close(ours)


@pytest.mark.timeout(120)
def test_a_server_at_a_terminal_says_where_it_is_how_to_connect_and_what_is_called(tmp_path: Path) -> None:
    async def talk(url: str, token: str) -> None:
        web = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)
        async with web, Client(streamable_http_client(url, http_client=web), mode="legacy") as client:
            await client.call_tool("tool_search", {"query": "bevel"})
            await client.call_tool("no_such_tool", {})

    with server_at_terminal(tmp_path) as terminal:
        token = terminal.until(r"bearer token \(shown once\): (\S+)\n")[1]
        entry: Any = json.loads(terminal.until(r"  (\{.*\})\n")[1])["mcpServers"]["blendwright"]
        assert entry["headers"] == {"Authorization": "Bearer ${BLENDWRIGHT_TOKEN}"}
        assert f"serving {entry['url']}\n" in terminal.text
        anyio.run(talk, entry["url"], token)
        terminal.until(r"\n\d\d:\d\d:\d\d  tool_search +[\d.]+ m?s  ok      [\d.]+ kB\n")
        terminal.until(r"\n\d\d:\d\d:\d\d  no_such_tool +[\d.]+ m?s  failed  [\d.]+ kB\n")
        terminal.until(r"created workspace \S+; edit blendwright.toml to change its policy\n")
        assert terminal.text.count(token) == 1
    assert (tmp_path / ".blendwright" / POLICY).is_file()
