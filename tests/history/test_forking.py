"""A new workspace from a commit: it has the commit's scene and says where it comes from; the other one stays as it is."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.history.fork import fork
from blendwright.util import crash_points
from blendwright.values.errors import Refusal
from blendwright.workspace.reading import read_journal


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """Two boxes, saved when it was closed; and a third that is not."""
    place = tmp_path_factory.mktemp("fork") / "w"
    with blendwright.open(place, spare=False) as opened:
        for name in ("A", "B"):
            assert opened.call("mesh.create_primitive", kind="cube", name=name).ok
        live: Any = opened
        opened.journal.checkpoints.add(opened.journal.checkpoints.stage(live._session.scene.save(), opened.hash), 3)
        assert opened.call("mesh.create_primitive", kind="cube", name="C").ok
    (place / "blendwright.toml").write_text('[policy.levels]\ndestructive = "ask"\n')
    (place / "macros").mkdir()
    yield place


def _content(workspace: Path) -> dict[str, bytes]:
    """What the workspace keeps; SQLite's own files come and go with those who read."""
    kept = [
        path
        for path in workspace.rglob("*")
        if path.is_file() and "scratch" not in path.parts and "journal.db-" not in path.name
    ]
    return {str(path): path.read_bytes() for path in kept}


def test_a_fork_has_the_scene_of_its_commit_and_names_it(workspace: Path, tmp_path: Path) -> None:
    before = _content(workspace)
    forked = fork(workspace, 4, tmp_path / "new" / "place")
    assert forked.copied == ("blendwright.toml", "macros")
    with read_journal(workspace) as journal, read_journal(forked.directory) as new:
        origin, head = journal.show(4), new.head
        assert head is not None and (head.number, head.kind, head.tool) == (1, "baseline", "workspace.fork")
        assert head.hash_after == origin.hash_after
        assert head.args["origin"] == {
            "workspace": journal.identity, "commit": 4, "scene_hash": origin.hash_after, "audit": origin.receipt["audit"],
        }  # fmt: skip
        assert new.identity != journal.identity and new.audit.verify().ok
        assert journal.head_number == 4
    assert _content(workspace) == before
    with blendwright.open(forked.directory, spare=False) as opened:
        moved = opened.call("object.transform", object="C", location=[0, 0, 3])
        assert moved.ok, moved.message
        assert opened.call("object.inspect", object="A").ok
    assert forked.to_json()["origin"]["commit"] == 4


def test_where_the_commit_has_a_saved_scene_no_blender_is_needed(workspace: Path, tmp_path: Path) -> None:
    for commit in (3, 1):
        forked = fork(workspace, commit, tmp_path / str(commit), blender=tmp_path / "no blender here")
        with read_journal(forked.directory) as new:
            assert new.head is not None and new.head.hash_after == forked.origin.hash_after
    with blendwright.open(tmp_path / "3", spare=False) as opened:
        assert opened.call("object.inspect", object="B").ok
    with blendwright.open(tmp_path / "1", spare=False) as opened:
        opened.warm()


def test_only_an_empty_place_is_forked_into(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "mine.txt").write_text("mine")
    with pytest.raises(Refusal, match="is not empty"):
        fork(workspace, 1, tmp_path / "used")
    with pytest.raises(Refusal, match="no commit 99"):
        fork(workspace, 99, tmp_path / "new")
    (tmp_path / "empty").mkdir()
    fork(workspace, 1, tmp_path / "empty")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "used"]


def test_what_goes_wrong_leaves_nothing(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(name: str) -> None:
        if name == "fork.made":
            raise KeyboardInterrupt

    monkeypatch.setattr(crash_points, "reach", stop)
    with pytest.raises(KeyboardInterrupt):
        fork(workspace, 3, tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_a_fork_of_a_copy_of_the_workspace_is_of_that_workspace(workspace: Path, tmp_path: Path) -> None:
    shutil.copytree(workspace, tmp_path / "copy", ignore=shutil.ignore_patterns("scratch"))
    assert fork(tmp_path / "copy", 3, tmp_path / "new").workspace == fork(workspace, 3, tmp_path / "other").workspace
