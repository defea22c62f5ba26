"""A preview where a saved scene is not what it was: without Blender, which cannot be brought to open a file to another scene."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from blendwright.values.errors import EnvironmentUnfit
from blendwright.workspace.open_scene import OpenScene
from blendwright.workspace.opening import open as open_workspace
from simulation.background import BackgroundThread
from simulation.pool import SimulatedSource
from simulation.toy_scene import CREATE, IMPORT, ToyScene
from simulation.world import Rates, World
from support.plans.documents import box


def create(name: str) -> dict[str, object]:
    return {"request_id": name, "operations": [box("a", tool_name=CREATE, args={"name": name})]}


@pytest.fixture
def scene(tmp_path: Path) -> Generator[OpenScene]:
    world = World(0)
    world.rates = Rates()
    with world.installed(BackgroundThread):
        opened = open_workspace(tmp_path / "w", blender=SimulatedSource(world), roots=[tmp_path], spare=False)
        yield opened
        opened.close()


def save_another_scene(scene: OpenScene, place: Path, *, number: int) -> None:
    """HEAD gets a checkpoint whose file opens to another scene."""
    other, head = ToyScene(), scene.journal.head
    assert head is not None
    other.put(f"somebody else's {number}", "elsewhere")
    file = place / "other.blend"
    file.write_bytes(other.to_bytes())
    journal = scene._session.journal  # pyright: ignore[reportPrivateUsage]
    journal.checkpoints.add(journal.checkpoints.stage(file, head.hash_after), head.number)


def test_a_preview_falls_back_to_an_earlier_checkpoint(scene: OpenScene, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        assert scene.run(create(name)).ok
    expected = scene.preview(create("four")).report.scene_hash_after
    for number in range(2):
        save_another_scene(scene, tmp_path, number=number)
    before = scene.journal.head
    found = scene.preview(create("four"))
    assert found.ok and found.report.scene_hash_after == expected
    assert [entry.name for entry in found.differences.difference.created] == ["four"]
    assert scene.journal.head == before and scene.journal.recovery.quarantine() is None
    left = [path.name for path in (tmp_path / "w" / "scratch" / "previews").iterdir() if path.is_dir()]
    assert left == [], "nothing is left of any copy"


def test_a_preview_says_so_where_no_checkpoint_leads_to_the_scene(scene: OpenScene, tmp_path: Path) -> None:
    model = tmp_path / "in.blend"
    model.write_bytes(ToyScene().to_bytes())
    assert scene.outcome(IMPORT, {"path": str(model)}).ok
    assert scene.run(create("one")).ok
    save_another_scene(scene, tmp_path, number=1)
    head = scene.journal.head
    assert head is not None
    newest = scene.journal.checkpoints.route(head.number).checkpoint
    assert newest is not None
    imported = scene.journal.checkpoints.route(head.number, without=[newest.id]).checkpoint
    assert imported is not None
    imported.path.write_bytes(b"damaged")
    with pytest.raises(EnvironmentUnfit, match="opens every checkpoint") as refused:
        scene.preview(create("two"))
    assert "replay" in (refused.value.cure or "") and "quarantine" not in refused.value.message
    assert scene.journal.recovery.quarantine() is None
