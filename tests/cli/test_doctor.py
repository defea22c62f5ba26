"""blendwright doctor: what works here, and cures for what does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from blendwright.setup.doctor import check_host
from blendwright.setup.hosts import host_named, install
from support.processes.shell import PROGRAM, Shell


def test_a_machine_that_is_fit_is_told_so(shell: Shell) -> None:
    report = shell("doctor", "--json", code=0).document
    assert report["ok"] is True
    checks = {check["name"]: check for check in report["checks"]}
    assert {"python", "blender", "other blenders", "render engines", "confinement", "undo tier", "tools"} <= set(checks)
    assert all(check["ok"] for check in checks.values() if check["required"])
    assert "CYCLES" in checks["render engines"]["found"]
    assert list(shell.place.iterdir()) == [], "looking leaves nothing behind"


def test_a_blender_that_is_not_there_is_unfit_with_a_cure(shell: Shell) -> None:
    report = shell("doctor", "--blender", "no-such-blender", "--json", code=3).document
    (check,) = [check for check in report["checks"] if check["name"] == "blender"]
    assert report["ok"] is False and check["ok"] is False
    assert "no-such-blender" in check["found"] and check["cure"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def checks_of(project: Path, *options: str) -> dict[str, dict[str, Any]]:
    """With the entry that `init-host` writes for Gemini CLI, and further options for the server."""
    host = host_named("gemini-cli")
    given = ["serve", "--workspace", str(project / "workspace"), *options]
    install(host, host.file("project", home=project, project=project), {"command": str(PROGRAM), "args": given})
    return {check.name: check.to_json() for check in check_host("gemini-cli")}


def test_a_host_whose_server_starts_is_told_so(project: Path) -> None:
    check = checks_of(project)["server start"]
    assert check["ok"] and "tools for Gemini CLI" in check["found"]
    assert [entry.name for entry in project.iterdir()] == [".gemini"], "looking leaves nothing behind"


def test_a_server_that_greets_its_host_and_then_cannot_be_loaded_is_found_out(project: Path) -> None:
    check = checks_of(project, "--envelope", "nope")["server start"]
    assert not check["ok"] and "exit code 2" in check["found"] and "--envelope nope" in check["cure"]


def test_a_host_without_an_entry_is_told_how_to_get_one(project: Path) -> None:
    (check,) = check_host("vscode")
    assert check.ok is False and check.cure == "blendwright init-host vscode"
