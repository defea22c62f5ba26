"""The journal is killed at every named point; whoever opens it next finds all that was acknowledged, nothing twice, nothing half."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest

from blendwright.journal import Journal, JournalView
from blendwright.util import crash_points
from journal.crash_point_names import POINTS
from journal.crash_script import play
from journal.ledger import assert_sound, wanted

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def server() -> Generator[subprocess.Popen[str]]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    command = [sys.executable, "-m", "journal.crash_script"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        process.wait(60)


def killed_at(server: subprocess.Popen[str], point: str, workspace: Path) -> tuple[int, list[str]]:
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(f"{point} {workspace}\n")
    server.stdin.flush()
    code = int(server.stdout.readline())
    told = workspace.with_suffix(".told")
    return code, told.read_text().splitlines() if told.exists() else []


def assert_kept(workspace: Path, told: list[str]) -> None:
    """What was acknowledged is there."""
    view = JournalView(workspace)
    heads = [move.to_commit for move in view.moves(limit=1000)]
    for fact in told:
        what, *names = fact.split()
        if what == "head":
            assert int(names[0]) in heads
        elif what in ("committed", "rolled_back"):
            places = {found.where for found in view.find_many([wanted(name) for name in names])}
            assert places == ({"ancestor"} if what == "committed" else {"rolled_back"}) or _undone(view, what)
        elif what == "tag":
            assert names[0] in view.branches.tags()
    branch_facts = [fact for fact in told if "branch side" in fact]
    if branch_facts and branch_facts[-1] == "branch side" and told[-1] in ("branch side", "side goes on", "on main"):
        assert [branch.name for branch in view.branches.listed()] == ["main", "side"]
        assert (view.branches.current() == "main") or told[-1] != "on main" or view.head_number == 1
    view.close()


def _undone(view: JournalView, what: str) -> bool:
    return what == "committed" and view.moves(limit=1)[0].kind == "undo"


def test_every_point_is_reached_by_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hits: Counter[str] = Counter()

    def counted(name: str) -> None:
        hits[name] += 1

    monkeypatch.setattr(crash_points, "reach", counted)
    play(tmp_path / "workspace", lambda _: None)
    assert set(hits) == set(POINTS)
    assert len(POINTS) == len(set(POINTS))


@pytest.mark.parametrize("nth", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("point", POINTS)
def test_killed_at_a_point_nothing_is_lost_or_doubled(
    server: subprocess.Popen[str], tmp_path: Path, point: str, nth: int
) -> None:
    workspace = tmp_path / "workspace"
    code, told = killed_at(server, f"{point}:{nth}", workspace)
    if nth == 1:
        assert code == -signal.SIGKILL
    # The lock went with the process, and opening is all that recovery of the journal takes.
    Journal(workspace, recovering=True).close()
    assert_sound(workspace)
    assert_kept(workspace, told)

    play(workspace, told.append)
    assert_sound(workspace)
    assert_kept(workspace, told)
    view = JournalView(workspace)
    names = ["a1", "a2", "a3", "a4", "b", "c", "e1"]
    assert {found.where for found in view.find_many([wanted(name) for name in names])} == {"ancestor"}
    assert {found.where for found in view.find_many([wanted("d1"), wanted("d2")])} == {"rolled_back"}
    head = view.head
    assert head is not None and head.hash_after == "scene-e1"
    assert [(branch.name, branch.current) for branch in view.branches.listed()] == [("main", True), ("side", False)]
    assert not list((workspace / "checkpoints").glob("*.part"))
    view.close()


@pytest.mark.slow
def test_killed_again_and_again_it_still_gets_there(server: subprocess.Popen[str], tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    told: list[str] = []
    for point in POINTS:
        _, told = killed_at(server, f"{point}:1", workspace)
        Journal(workspace, recovering=True).close()
        assert_sound(workspace)
        assert_kept(workspace, told)
    code, told = killed_at(server, "nowhere:1", workspace)
    assert code == 0
    assert_sound(workspace)
    assert_kept(workspace, told)
