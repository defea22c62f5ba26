"""A Blender that is started for a workspace before it is opened: when, for whom, and what becomes of one that nobody takes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import blendwright
from blendwright.bridge.spawn import EarlyWorker
from blendwright.policy.policy import Constraints, Policy
from blendwright.tools import registry_cache
from blendwright.values.errors import EnvironmentUnfit
from blendwright.window.binding import FILE as BINDING
from blendwright.workspace.early_blender import CACHE_FOLDER, WINDOW, start_early
from blendwright.workspace.locations import SETTINGS, user_file
from blendwright.workspace.opening import create_workspace

OTHER_LIMITS = Policy(constraints=Constraints(memory_mb=12_288))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


def begun(workspace: Path) -> EarlyWorker:
    started = start_early(str(workspace))
    assert started is not None
    return started


def lives(started: EarlyWorker) -> bool:
    """Whether its process is there; one that has ended and was waited for has no pid any more."""
    try:
        os.kill(started.child.process.pid, 0)
    except ProcessLookupError:
        return False
    return True


def left() -> list[Path]:
    """What is there of the scratch of early workers."""
    cache = registry_cache.user_directory()
    assert cache is not None
    return [*(cache / CACHE_FOLDER).glob("session-*")]


def test_whoever_opens_the_workspace_gets_it(workspace: Path) -> None:
    started = begun(workspace)
    with blendwright.open(workspace, spare=False, early=started) as scene:
        assert scene.worker_pid == started.child.process.pid
        assert scene.call("object.create_empty", name="Pivot").ok
    assert started.adopted and not lives(started) and not left()


def test_one_that_nobody_takes_leaves_nothing(workspace: Path) -> None:
    started = begun(workspace / "in" / "this")
    assert [*left()]
    started.discard()
    assert not lives(started) and not left() and not workspace.exists()


def test_a_directory_that_is_there_is_not_touched(workspace: Path) -> None:
    (workspace / "logs").mkdir(parents=True)
    (workspace / "logs").chmod(0o755)
    begun(workspace).discard()
    assert (workspace / "logs").stat().st_mode & 0o777 == 0o755 and len([*workspace.iterdir()]) == 1


def test_one_that_has_died_is_replaced(workspace: Path) -> None:
    started = begun(workspace)
    started.child.process.kill()
    with blendwright.open(workspace, spare=False, early=started) as scene:
        assert scene.worker_pid != started.child.process.pid
        assert scene.call("object.create_empty", name="Pivot").ok
    assert not lives(started)


def test_code_does_not_tell_where_it_ran(workspace: Path) -> None:
    with blendwright.open(workspace, spare=False, early=begun(workspace)) as scene:
        ran = scene.call("python.run", code="import bpy\nprint(bpy.app.tempdir)")
        assert ran.ok and "…/worker-" in str(ran.result), ran
        assert str(workspace) not in str(ran.result)


def test_a_session_with_other_limits_starts_its_own(workspace: Path) -> None:
    started = begun(workspace)
    with blendwright.open(workspace, spare=False, early=started, policy=OTHER_LIMITS) as scene:
        assert scene.worker_pid != started.child.process.pid
        assert not lives(started)


def test_a_workspace_that_cannot_be_opened_leaves_it_to_its_caller(workspace: Path) -> None:
    with blendwright.open(workspace, spare=False) as scene:
        assert scene.hash
        started = begun(workspace)
        with pytest.raises(EnvironmentUnfit):
            blendwright.open(workspace, spare=False, early=started)
        assert not started.adopted
        started.discard()
        assert not lives(started)
        assert scene.call("object.create_empty", name="Pivot").ok


@pytest.mark.parametrize(
    "text",
    [
        "[constraints]\nmemory_mb = 9000\n",
        "[constraints]\nscratch_mb = 100\n",
        '[blender]\nuse = "4.5"\n',
        "no settings",
    ],
)
def test_settings_of_the_user_may_mean_another_one(workspace: Path, text: str) -> None:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text(text)
    try:
        assert start_early(str(workspace)) is None
    finally:
        user_file().unlink()
    begun(workspace).discard()


def test_a_directory_with_settings_may_mean_another_one(workspace: Path) -> None:
    workspace.mkdir()
    (workspace / SETTINGS).write_text('[policy.levels]\ndestructive = "allow"\n')
    begun(workspace).discard()
    (workspace / SETTINGS).write_text("[constraints]\nmemory_mb = 9000\n")
    assert start_early(str(workspace)) is None


def test_a_workspace_as_it_is_made_for_people_has_one(workspace: Path) -> None:
    create_workspace(workspace)
    assert "[blender]" in (workspace / SETTINGS).read_text()
    begun(workspace).discard()


def test_a_workspace_with_a_window_has_its_own_blender(workspace: Path) -> None:
    assert WINDOW == BINDING
    blendwright.open(workspace, spare=False).close()
    begun(workspace).discard()
    (workspace / WINDOW).write_text("{}")
    assert start_early(str(workspace)) is None


def test_where_there_can_be_no_workspace_nothing_is_started(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert start_early(str(tmp_path / "file")) is None
