"""blendwright init-host and doctor --host: the entry in a host's own file, and whether what it says can be started."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blendwright.server.service import TOOLS
from blendwright.setup.doctor import check_host
from support.processes.shell import Shell


@pytest.fixture
def home(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = shell.place / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.chdir(shell.place)
    return place


def test_an_entry_is_written_once_and_what_it_starts_answers(shell: Shell, home: Path) -> None:
    first = shell("init-host", "gemini-cli", "--workspace", "work", "--json", code=0).document
    file = home / ".gemini" / "settings.json"
    assert (first["file"], first["written"]) == (str(file), True)
    assert json.loads(file.read_text())["mcpServers"]["blendwright"] == first["entry"]
    assert shell("init-host", "gemini-cli", "--workspace", "work", "--json", code=0).document["written"] is False
    shell("init-host", "gemini-cli", "--workspace", "other", "--json", code=2)
    configured, started = check_host("gemini-cli")
    assert configured.ok and started.ok, started
    assert started.found == f"{len(TOOLS)} tools for Gemini CLI"


def test_a_host_that_is_not_set_up_or_starts_nothing_is_unfit_with_a_cure(shell: Shell, home: Path) -> None:
    missing = shell("doctor", "--host", "cursor", "--json", code=3).document["checks"][-1]
    assert missing["ok"] is False and missing["cure"] == "blendwright init-host cursor"
    (home / ".cursor").mkdir()
    entry = {"command": str(home / "no-such-program"), "args": ["serve"]}
    (home / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": {"blendwright": entry}}))
    broken = check_host("cursor")[-1]
    assert broken.name == "server command" and broken.cure == "blendwright init-host cursor --replace"
    entry = {"command": "/bin/true", "args": ["serve"]}
    (home / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": {"blendwright": entry}}))
    silent = check_host("cursor")[-1]
    assert (silent.name, silent.ok) == ("server start", False)
