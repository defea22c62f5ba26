"""What the simulation found, each by itself: Ctrl-C in the narrow places of a process that lives on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from blendwright.workspace.open_scene import OpenScene
from blendwright.workspace.opening import open as open_workspace
from simulation.background import BackgroundThread
from simulation.disk import Disk
from simulation.pool import SimulatedSource
from simulation.toy_scene import CREATE, ToyScene
from simulation.world import Rates, Waiting, World
from support.plans.documents import box


def interrupted(
    place: Path, point: str, act: Callable[[OpenScene], object], after: Callable[[OpenScene], None]
) -> None:
    """Ctrl-C at a point while something is done; then, in the same process, something else."""

    def interrupt(where: str) -> None:
        raise KeyboardInterrupt

    world = World(0)
    world.rates = Rates()
    with world.installed(BackgroundThread), Disk(world).installed():
        scene = open_workspace(place / "w", blender=SimulatedSource(world), spare=False)
        scene.warm()
        world.waiting.append(Waiting(1, interrupt, point))
        with pytest.raises(KeyboardInterrupt):
            act(scene)
        after(scene)
        scene.close()


def plan(request: str) -> dict[str, object]:
    return {"request_id": request, "operations": [box("a", tool_name=CREATE, args={"name": request})]}


@pytest.mark.parametrize("point", ["boundary.after_commit", "whole.begun", "whole.before_keep", "whole.kept"])
def test_a_plan_that_is_kept_whole_leaves_nothing_open_when_it_is_interrupted(tmp_path: Path, point: str) -> None:
    """What is done later in the same process would be taken back with it by whoever opens the workspace next."""

    def after(scene: OpenScene) -> None:
        assert scene.journal.recovery.open_boundary() is None
        assert scene.run(plan("later")).status == "succeeded"

    interrupted(tmp_path, point, lambda scene: scene.run(plan("whole"), boundary="plan"), after)


@pytest.mark.parametrize("point", ["close.saved", "close.workers_ended", "close.before_lock_release"])
def test_a_workspace_whose_closing_is_interrupted_is_closed(tmp_path: Path, point: str) -> None:
    def after(scene: OpenScene) -> None:
        assert list((tmp_path / "w" / "scratch").glob("session-*")) == []
        open_workspace(tmp_path / "w", spare=False).close()

    interrupted(tmp_path, point, lambda scene: scene.close(), after)


def adopt(scene: OpenScene, place: Path, name: str) -> str:
    edited = ToyScene()
    edited.put(name, "by hand")
    file = place / f"{name}.blend"
    file.write_bytes(edited.to_bytes())
    commit = scene.history.adopt(file)
    assert commit is not None
    return commit.hash_after


def head_of(scene: OpenScene) -> str:
    assert scene.journal.head is not None
    return scene.journal.head.hash_after


@pytest.mark.parametrize("point", ["commit.after_commit", "adopt.committed"])
def test_a_file_is_adopted_after_an_adoption_that_was_interrupted_behind_its_commit(tmp_path: Path, point: str) -> None:
    def after(scene: OpenScene) -> None:
        assert scene.hash == head_of(scene)
        assert adopt(scene, tmp_path, "second") == head_of(scene)

    interrupted(tmp_path, point, lambda scene: adopt(scene, tmp_path, "first"), after)


def test_a_move_of_head_that_was_interrupted_behind_it_is_followed(tmp_path: Path) -> None:
    def undo(scene: OpenScene) -> None:
        assert scene.run(plan("before")).status == "succeeded"
        scene.history.undo()

    def after(scene: OpenScene) -> None:
        assert scene.hash == head_of(scene)
        assert adopt(scene, tmp_path, "edited") == head_of(scene)

    interrupted(tmp_path, "move.moved", undo, after)
