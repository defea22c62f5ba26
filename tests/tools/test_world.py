"""Where objects stand: told without an evaluation of the scene wherever that says the same, bit by bit."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import bpy
import pytest

from blendwright.blender.scene import BpyScene, SceneState
from blendwright.tools.world_space import evaluated_matrix

data: Any = bpy.data


def told_and_true(state: SceneState, place: Path) -> dict[str, tuple[Any, Any]]:
    """Of every object: what is told, before the scene was evaluated, and what the evaluated scene says."""
    scene = BpyScene(state, {}, place)
    objects = list(data.objects)
    told = {obj.name: _plain(evaluated_matrix(scene, obj)) for obj in objects}
    graph = scene.depsgraph()
    evaluated = {obj.name: obj.evaluated_get(graph) for obj in objects}
    return {
        name: (told[name], _plain(one.matrix_world) if one.is_evaluated else None) for name, one in evaluated.items()
    }


def _plain(matrix: Any) -> Any:
    return None if matrix is None else [tuple(row) for row in matrix]


def some_objects(chance: random.Random, count: int) -> list[Any]:
    made: list[Any] = []
    for number in range(count):
        obj: Any = data.objects.new(f"O{number}", data.meshes.new(f"O{number}") if chance.random() < 0.5 else None)
        obj.rotation_mode = chance.choice(("XYZ", "ZYX", "QUATERNION", "AXIS_ANGLE"))
        for channel in ("location", "scale", "rotation_euler", "rotation_quaternion", "delta_location", "delta_scale"):
            setattr(obj, channel, [chance.uniform(-3, 3) for _ in getattr(obj, channel)])
        made.append(obj)
    return made


def place_them(chance: random.Random, objects: list[Any]) -> None:
    """In collections some of which are shut, under parents, held by constraints, animated, driven, hidden, or used while hidden."""
    root = bpy.context.scene.collection
    homes: list[Any] = [root]
    for number in range(3):
        home: Any = data.collections.new(f"C{number}")
        chance.choice(homes).children.link(home)
        homes.append(home)
    for number, obj in enumerate(objects):
        if chance.random() < 0.9:
            chance.choice(homes).objects.link(obj)
        earlier = objects[:number]
        if earlier and chance.random() < 0.3:
            obj.parent = chance.choice(earlier)
        if earlier and chance.random() < 0.2:
            obj.constraints.new("COPY_LOCATION").target = chance.choice(earlier)
        if chance.random() < 0.15:
            obj.keyframe_insert("location", frame=1)
            obj.location.x += 5
        if chance.random() < 0.15:
            obj.driver_add("scale", 0).driver.expression = "2.5"
        if obj.data is not None and earlier and chance.random() < 0.2:
            modifier = obj.modifiers.new("cut", "BOOLEAN")
            modifier.object = next((other for other in earlier if other.data is not None), None)
        obj.hide_viewport = chance.random() < 0.2
        obj.hide_render = chance.random() < 0.2
    for layer in bpy.context.view_layer.layer_collection.children:
        layer.exclude = chance.random() < 0.2
        layer.hide_viewport = chance.random() < 0.2
    for home in homes[1:]:
        home.hide_viewport = chance.random() < 0.15
    for obj in objects:
        if obj.name in bpy.context.view_layer.objects and chance.random() < 0.1:
            obj.hide_set(True)


@pytest.mark.parametrize("seed", range(25))
def test_a_place_is_told_as_an_evaluation_has_it(tmp_path: Path, seed: int) -> None:
    state = SceneState()
    state.reset()
    chance = random.Random(seed)
    objects = some_objects(chance, 14)
    place_them(chance, objects)
    for name, (told, true) in told_and_true(state, tmp_path).items():
        assert told == true, name
    for obj in objects:
        if chance.random() < 0.5:
            obj.location.y += chance.random()
            obj.hide_viewport = chance.random() < 0.2
    for name, (told, true) in told_and_true(state, tmp_path).items():
        assert told == true, name


def test_a_free_object_needs_no_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = SceneState()
    state.reset()
    obj: Any = data.objects.new("Free", None)
    bpy.context.scene.collection.objects.link(obj)
    obj.location = (1, 2, 3)

    def evaluate(scene: BpyScene) -> None:
        pytest.fail("the scene was evaluated")

    monkeypatch.setattr(BpyScene, "depsgraph", evaluate)
    matrix = evaluated_matrix(BpyScene(state, {}, tmp_path), obj)
    assert matrix is not None and tuple(matrix.translation) == (1, 2, 3)
