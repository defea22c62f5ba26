"""The bundle as a host gets it: unpacked, started as its manifest says, and answered by a server with a Blender of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import blendwright
from packages.conftest import ROOT, UV, run

REQUESTS: list[dict[str, Any]] = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "tool_call",
        "arguments": {"tool": "mesh.create_primitive", "args": {"kind": "cube", "name": "Box"}}}},
]  # fmt: skip


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("bundle")
    run(sys.executable, ROOT / "scripts" / "build_bundle.py", "--output", output, cwd=output)
    return output / f"blendwright-{blendwright.__version__}.mcpb"


def test_the_bundle_holds_what_its_manifest_names(bundle: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        names = set(archive.namelist())
        manifest = json.loads(archive.read("manifest.json"))
        project = tomllib.loads(archive.read("pyproject.toml").decode())
    wheel = project["tool"]["uv"]["sources"]["blendwright"]["path"]
    assert names == {"manifest.json", "pyproject.toml", "LICENSE", manifest["server"]["entry_point"], wheel}
    assert project["project"]["dependencies"] == ["blendwright[blender]"]


@pytest.mark.skipif(not UV.is_file(), reason="there is no uv here: make test-packages brings one")
def test_a_host_starts_it_as_its_manifest_says(bundle: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(tmp_path / "unpacked")
    config = json.loads((tmp_path / "unpacked" / "manifest.json").read_text())["server"]["mcp_config"]
    chosen = {
        "${__dirname}": str(tmp_path / "unpacked"),
        "${user_config.workspace}": str(tmp_path / "workspace"),
        "${user_config.files}": str(tmp_path / "files"),
    }
    (tmp_path / "files").mkdir()
    arguments = [_substituted(part, chosen) for part in config["args"]]
    answers: dict[int, Any] = {}
    with subprocess.Popen(
        [UV, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path, text=True,
        env=os.environ | {"UV_PYTHON": sys.executable},
    ) as server:  # fmt: skip
        assert server.stdin is not None and server.stdout is not None
        for request in REQUESTS:
            server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        while 2 not in answers and (line := server.stdout.readline()):
            message = json.loads(line)
            answers[message.get("id", 0)] = message
        server.stdin.close()
        assert server.wait(60) == 0
    assert answers[1]["result"]["serverInfo"]["version"] == blendwright.__version__
    assert answers[2]["result"]["structuredContent"]["ok"] is True


def _substituted(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text
