"""How far objects reach: every tool means the same box, with instances, tight around curves, and true for what is hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from tools.objects import bounds, box, empty, named

if TYPE_CHECKING:
    from support.stage.stage import Stage

TOWER = [
    {"op": "create_node", "node_id": "spots", "bl_idname": "GeometryNodeInstanceOnPoints"},
    {"op": "create_node", "node_id": "cube", "bl_idname": "GeometryNodeMeshCube"},
    {"op": "set_input_default", "node_id": "cube", "socket": "Size", "value": [2, 2, 10]},
    {"op": "link", "from": {"node_id": "group_input", "socket": "Geometry"}, "to": {"node_id": "spots", "socket": "Points"}},
    {"op": "link", "from": {"node_id": "cube", "socket": "Mesh"}, "to": {"node_id": "spots", "socket": "Instance"}},
    {"op": "link", "from": {"node_id": "spots", "socket": "Instances"}, "to": {"node_id": "group_output", "socket": "Geometry"}},
]  # fmt: skip


def inspected(stage: Stage, name: str) -> tuple[list[float], list[float]]:
    found = stage.do("object.inspect", {"object": name})["bounds"]
    return found["minimum"], found["maximum"]


def found_in(stage: Stage, low: list[float], high: list[float], **filters: Any) -> list[str]:
    answer = stage.do("scene.find", {"box": {"min": low, "max": high}, **filters})
    return [entry["name"] for entry in answer["objects"]]


@pytest.fixture
def towers(stage: Stage) -> Stage:
    """A plane whose nodes put a tower of 2 by 2 by 10 metres on each of its corners, and leave nothing else."""
    stage.do("mesh.create_primitive", {"kind": "plane", "name": "Towers", "size": 6, "location": [0, 0, 1]})
    target = {"object_name": "Towers", "modifier_name": "G", "node_group_name": "Towers"}
    stage.do("geonodes.node_tree", {"target": target, "operations": TOWER})
    return stage


def test_instances_count_wherever_an_object_is_measured(towers: Stage) -> None:
    assert inspected(towers, "Towers") == ([-4, -4, -4], [4, 4, 6])
    assert towers.do("object.inspect", {"object": "Towers"})["dimensions"] == [8, 8, 10]
    assert found_in(towers, [-9, -9, 5], [9, 9, 9]) == ["Towers"]
    assert found_in(towers, [-9, -9, 7], [9, 9, 9]) == []
    grid = towers.do("object.duplicate_grid", {"object": "Towers", "prefix": "Row", "columns": 2, "rows": 1})
    assert grid["step"] == pytest.approx([8.2, 8.2, 10.2])
    towers.do("place.align", {"objects": ["Towers"], "axis": "Z", "edge": "min", "value": 0}, verify=True)
    assert named("Towers").location.z == pytest.approx(5)
    towers.do("mesh.create_primitive", {"kind": "plane", "name": "Floor", "size": 30, "location": [0, 0, -3]})
    towers.do("place.on_surface", {"object": "Towers", "target": "Floor"})
    assert named("Towers").location.z == pytest.approx(2)


def test_an_instanced_collection_gives_its_empty_an_extent(stage: Stage) -> None:
    stage.do("collection.create", {"name": "Models"})
    box(stage, "Model", collection="Models")
    empty(stage, "Place", location=[50, 0, 0], scale=[2, 1, 1])
    named("Place").instance_type = "COLLECTION"
    named("Place").instance_collection = bpy.data.collections["Models"]
    stage.state.refresh()
    assert inspected(stage, "Place") == ([48, -1, -1], [52, 1, 1])
    assert stage.do("object.inspect", {"object": "Place"})["dimensions"] == [4, 2, 2]
    assert found_in(stage, [51, 0, 0], [60, 0, 0]) == ["Place"]
    stage.do("place.align", {"objects": ["Place"], "axis": "X", "edge": "min", "value": 0})
    assert named("Place").location.x == pytest.approx(2)
    empty(stage, "Bare")
    assert stage.do("object.inspect", {"object": "Bare"})["bounds"] is None


def test_the_box_of_a_curve_is_tight(stage: Stage) -> None:
    stage.do("curve.create", {"name": "Wire", "kind": "POLY", "points": [[0, 0, 0], [4, 0, 0]], "bevel_depth": 0.1})
    low, high = inspected(stage, "Wire")
    assert ([*low, *high]) == pytest.approx([0, -0.1, -0.1, 4, 0.1, 0.1], abs=1e-6)
    assert (low, high) == bounds(stage, "Wire")
    assert stage.do("object.inspect", {"object": "Wire"})["dimensions"] == pytest.approx([4, 0.2, 0.2])
    assert found_in(stage, [-0.9, -0.9, -0.9], [-0.2, 0.9, 0.9]) == []


def test_a_turned_object_is_as_large_as_it_measures(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball", "rotation_euler_deg": [45, 0, 45]})
    low, high = bounds(stage, "Ball")
    found = inspected(stage, "Ball")
    assert ([*found[0], *found[1]]) == pytest.approx([*low, *high])
    assert max(high) < 1.01


def test_a_hidden_object_is_measured_where_it_is_now_without_its_modifiers(stage: Stage) -> None:
    box(stage)
    stage.do("modifier.add", {"object": "Box", "name": "Row", "settings": {"type": "ARRAY", "count": 5}})
    empty(stage, "Parent", scale=[2, 2, 2])
    stage.do("object.set_parent", {"object": "Box", "parent": "Parent", "keep_transform": False})
    assert inspected(stage, "Box") == ([-2, -2, -2], [18, 2, 2])
    stage.do("object.set_visibility", {"object": "Box", "viewport": False})
    stage.do("object.set_visibility", {"object": "Parent", "viewport": False})
    stage.do("object.transform", {"object": "Parent", "location": [100, 0, 0]})
    assert inspected(stage, "Box") == ([98, -2, -2], [102, 2, 2])
    assert stage.do("object.inspect", {"object": "Box"})["dimensions"] == [4, 4, 4]
    measured = stage.do("mesh.measure", {"object": "Box", "evaluated": False})
    assert (measured["bounds_min"], measured["volume"]) == ([98, -2, -2], pytest.approx(64))


def test_copies_of_a_hidden_model_are_as_large_as_it_stands_in_the_world(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "plane", "name": "Ground", "size": 10})
    box(stage, "Model", 0.2)
    empty(stage, "Parent", scale=[3, 3, 3])
    stage.do("object.set_parent", {"object": "Model", "parent": "Parent", "keep_transform": False})
    stage.do("object.set_visibility", {"object": "Model", "viewport": False})
    stage.do("place.scatter", {"object": "Model", "target": "Ground", "count": 1, "prefix": "Copy"})
    assert list(named("Copy_0001").scale) == pytest.approx([3, 3, 3])


@pytest.mark.parametrize("hidden", ["object", "collection", "collection above", "view layer"])
def test_a_picture_of_everything_shows_what_a_render_shows(stage: Stage, hidden: str) -> None:
    stage.do("camera.create", {"name": "Camera"})
    box(stage, "Near")
    stage.do("collection.create", {"name": "Above"})
    stage.do("collection.create", {"name": "Below", "parent": "Above"})
    box(stage, "Far", collection="Below", location=[1000, 0, 0])
    stage.do("camera.frame_objects", {"object": "Camera", "view": "FRONT"})
    assert named("Camera").location.x == pytest.approx(500, abs=5)
    layer = bpy.context.view_layer
    assert layer is not None
    if hidden == "object":
        named("Far").hide_render = True
    elif hidden == "view layer":
        layer.layer_collection.children["Above"].children["Below"].exclude = True
    else:
        bpy.data.collections["Below" if hidden == "collection" else "Above"].hide_render = True
    stage.state.refresh()
    stage.do("camera.frame_objects", {"object": "Camera", "view": "FRONT"})
    assert named("Camera").location.x == pytest.approx(0, abs=1e-4)
