"""Spacers at the end of the lists: they exist where steps create many datablocks, and no result shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest

from blendwright.blender.scene.state import is_tombstone
from blendwright.blender.scene.tracking import spacers
from support.stage.stage import Stage

NAMES = [f"Box {number}" for number in (3, 1, 2, 5, 4)]
SPACED = {"meshes": spacers.COUNT, "objects": spacers.COUNT}
CODE = "import bpy\nprint([b.name for b in [*bpy.data.meshes, *bpy.data.objects] if b.name.startswith('~')])"


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Return a stage with as many boxes as it takes to create spacers."""
    monkeypatch.setattr(spacers, "CREATED_BEFORE_SPACERS", len(NAMES))
    stage = Stage(tmp_path)
    for name in NAMES:
        stage.do("mesh.create_primitive", {"kind": "cube", "name": name})
    return stage


def reserved() -> dict[str, int]:
    collections: dict[str, Any] = {"meshes": bpy.data.meshes, "objects": bpy.data.objects}
    return {kind: count for kind, blocks in collections.items() if (count := sum(map(is_tombstone, blocks)))}


def test_spacers_are_behind_everything_and_in_no_hash(stage: Stage) -> None:
    assert reserved() == SPACED
    blocks: Any = bpy.data.objects
    assert [block.name for block in blocks][: len(NAMES)] == sorted(NAMES)
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box 6"})
    assert [block.name for block in blocks][len(NAMES)] == "Box 6"
    assert stage.state.root() == stage.state.full_root()
    assert not any(is_tombstone(block) for kind in ("meshes", "objects") for block in stage.state.named(kind).values())


def test_a_scene_has_the_hash_that_it_has_without_them(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    spaced = stage.state.full_root()
    second_stage = Stage(tmp_path / "other")
    second_stage.state.reset()
    assert not reserved()
    for name in sorted(NAMES):
        second_stage.do("mesh.create_primitive", {"kind": "cube", "name": name})
        second_stage.state.spacers.forget()
    assert not reserved() and second_stage.state.full_root() == spaced


def test_no_file_has_them(stage: Stage, tmp_path: Path) -> None:
    before = stage.state.root()
    stage.state.save(tmp_path / "saved.blend")
    assert reserved() == SPACED
    stage.state.open(tmp_path / "saved.blend")
    assert not reserved() and stage.state.root() == before


def test_foreign_code_and_the_undo_of_blender_meet_none(stage: Stage) -> None:
    before = stage.state.root()
    assert stage.do("python.run", {"code": CODE})["output"].strip() == "[]"
    assert not reserved() and stage.state.root() == stage.state.full_root() == before


def test_they_come_again_when_they_are_needed_again(stage: Stage) -> None:
    stage.state.spacers.remove()
    assert not reserved()
    for number in range(len(NAMES)):
        stage.do("object.create_empty", {"name": f"Empty {number}"})
    assert reserved() == {"objects": spacers.COUNT}
