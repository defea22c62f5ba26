"""A Blender that is started for a workspace before it is opened: when, for whom, and what becomes of one that nobody takes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import blendwright
from blendwright.app.attaching import FILE as BINDING
from blendwright.app.early_blender import NOTE, WINDOW, EarlyBlender, start_early
from blendwright.app.places import SETTINGS, user_file
from blendwright.policy.policy import Costs, Policy
from blendwright.values.errors import EnvironmentUnfit


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


def begun(workspace: Path) -> EarlyBlender:
    started = start_early(str(workspace))
    assert started is not None
    return started


def lives(started: EarlyBlender) -> bool:
    """Whether its process is there; one that has ended and was waited for has no pid any more."""
    try:
        os.kill(started.worker.child.process.pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_whoever_opens_the_workspace_gets_it(workspace: Path) -> None:
    started = begun(workspace)
    with blendwright.open(workspace, spare=False, early=started) as scene:
        assert scene.worker_pid == started.worker.child.process.pid
        assert scene.call("object.create_empty", name="Pivot").ok
    assert started.taken and not lives(started)
    assert not [*(workspace / "scratch").glob("session-*")]


def test_one_that_nobody_takes_leaves_nothing(workspace: Path) -> None:
    started = begun(workspace / "in" / "this")
    started.drop()
    assert not lives(started) and not workspace.exists()
    started.drop()  # a second time does nothing


def test_a_directory_that_is_no_workspace_yet_is_left_alone(workspace: Path) -> None:
    (workspace / "logs").mkdir(parents=True)
    (workspace / "logs").chmod(0o755)
    assert start_early(str(workspace)) is None
    assert (workspace / "logs").stat().st_mode & 0o777 == 0o755 and len([*workspace.iterdir()]) == 1


def test_a_session_with_other_limits_starts_its_own(workspace: Path) -> None:
    started = begun(workspace)
    policy = Policy(costs=Costs(memory_mb=12_288))
    with blendwright.open(workspace, spare=False, early=started, policy=policy) as scene:
        assert scene.worker_pid != started.worker.child.process.pid
        assert not lives(started)
    assert not (workspace / "scratch" / NOTE).exists()


def test_a_workspace_that_cannot_be_opened_leaves_it_to_its_caller(workspace: Path) -> None:
    with blendwright.open(workspace, spare=False) as scene:
        assert scene.hash
        (workspace / "scratch" / NOTE).touch()
        started = begun(workspace)
        with pytest.raises(EnvironmentUnfit):
            blendwright.open(workspace, spare=False, early=started)
        assert not started.taken
        started.drop()
        assert not lives(started)
        assert scene.call("object.create_empty", name="Pivot").ok


def test_a_workspace_tells_the_next_start_what_it_worked_with(workspace: Path) -> None:
    with blendwright.open(workspace, spare=False) as scene:
        assert scene.hash
        assert start_early(str(workspace)) is None  # nothing is known of it yet
    begun(workspace).drop()
    with blendwright.open(workspace, spare=False, policy=Policy(costs=Costs(memory_mb=12_288))) as scene:
        assert scene.hash
    assert start_early(str(workspace)) is None


@pytest.mark.parametrize(
    "text", ["[costs]\nmemory_mb = 9000\n", "[costs]\nscratch_mb = 100\n", '[blender]\nuse = "4.5"\n', "no settings"]
)
def test_settings_of_the_user_may_mean_another_one(workspace: Path, text: str) -> None:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text(text)
    try:
        assert start_early(str(workspace)) is None
    finally:
        user_file().unlink()
    begun(workspace).drop()


def test_settings_of_the_workspace_may_mean_another_one(workspace: Path) -> None:
    blendwright.open(workspace, spare=False).close()
    (workspace / SETTINGS).write_text('[policy.levels]\ndestructive = "allow"\n')
    begun(workspace).drop()
    (workspace / SETTINGS).write_text("[costs]\nmemory_mb = 9000\n")
    assert start_early(str(workspace)) is None


def test_a_workspace_with_a_window_has_its_own_blender(workspace: Path) -> None:
    assert WINDOW == BINDING
    blendwright.open(workspace, spare=False).close()
    begun(workspace).drop()
    (workspace / WINDOW).write_text("{}")
    assert start_early(str(workspace)) is None


def test_where_there_can_be_no_workspace_nothing_is_started(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert start_early(str(tmp_path / "file")) is None
    assert start_early(str(tmp_path / "file" / "below")) is None
