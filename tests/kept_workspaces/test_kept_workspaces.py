"""Workspaces that older code made still open, verify, show their history, replay and take new work."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from support.processes.blender_environments import use_blender
from support.processes.shell import Shell

ARCHIVES = Path(__file__).parent
# The number of commits on the line of HEAD, the Blender that made them, and the objects of the scene at HEAD.
KEPT = {
    "plans": ("5.2", 5, {"Crate"}),
    "program": ("5.2", 7, {f"Board {number}" for number in range(5)}),
    "history": ("5.2", 5, {"A", "B", "On the side"}),
    "code": ("5.2", 4, {"Tent", "Triangle"}),
    "blender-5.2": ("5.2", 5, {"Crate"}),
    "blender-4.5": ("4.5", 5, {"Crate"}),
}


def unpacked(name: str, place: Path) -> Shell:
    """Unpack an archive and return a shell in its directory."""
    with tarfile.open(ARCHIVES / f"{name}.tar.xz") as archive:
        archive.extractall(place, filter="data")
    return Shell(place / name)


@pytest.mark.parametrize("name", KEPT)
def test_a_kept_workspace_opens_verifies_replays_and_continues(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    series, commits, objects = KEPT[name]
    blender = ("--blender", use_blender(series, monkeypatch))
    shell = unpacked(name, tmp_path)
    verified = shell("audit", "verify", "--json", code=0).document
    assert verified["ok"] is True
    entries = shell("log", "--operations", "--limit", "100", "--json", code=0).document["commits"]
    assert len(entries) == commits
    replayed = shell("replay", *blender, "--json", code=0).document
    assert (replayed["ok"], replayed["mismatch"]) == (True, None) and replayed["agreed"] >= commits
    assert names_in(shell, *blender) == objects
    shell("call", "object.create_empty", "--args", '{"name": "Later"}', *blender, "--json", code=0)
    assert names_in(shell, *blender) == objects | {"Later"}
    shell("undo", *blender, "--json", code=0)
    assert names_in(shell, *blender) == objects
    assert shell("audit", "verify", "--json", code=0).document["ok"] is True


def test_a_kept_batch_is_read_and_continues_without_its_finished_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blender = ("--blender", use_blender("5.2", monkeypatch))
    shell = unpacked("batch", tmp_path)
    status = shell("batch", "status", "out", "--json", code=0).document
    assert (status["cases"], status["done"], status["failed"]) == (2, 2, 0)
    [prefix] = (shell.place / "out" / "work" / "prefixes").iterdir()
    verified = shell("audit", "verify", "--workspace", str(prefix), "--json", code=0).document
    assert verified["ok"] is True and verified["records"] > 0
    delivered = sorted((shell.place / "out" / "cases").rglob("scene.glb"))
    before = [(file.stat().st_mtime_ns, file.read_bytes()) for file in delivered]
    assert len(before) == 2
    again = ("run", "shelf.star", "--params", "rows.csv", "--output", "glb", "--workers", "1", "--out", "out")
    # The archive was unpacked elsewhere, so the rows name outputs at another path.
    with (shell.place / "rows.csv").open("a") as table:
        table.write("3\n")
    shell.program("batch", *again, *blender, "--json", code=0)
    assert [(file.stat().st_mtime_ns, file.read_bytes()) for file in delivered] == before
    assert shell("batch", "status", "out", "--json", code=0).document["done"] == 3


def test_the_kept_workspaces_name_no_path_of_the_machine_that_made_them(tmp_path: Path) -> None:
    for archive in sorted(ARCHIVES.glob("*.tar.xz")):
        shell = unpacked(archive.name.removesuffix(".tar.xz"), tmp_path)
        for file in shell.place.rglob("*"):
            content = file.read_bytes() if file.is_file() else b""
            assert b"/root/" not in content and b"/home/" not in content, file


def names_in(shell: Shell, *options: str) -> set[str]:
    """Return the names of the objects in the scene at HEAD."""
    snapshot = shell("snapshot", *options, "--json", code=0).document
    return {entry["name"] for entry in snapshot["objects"]["items"]}
