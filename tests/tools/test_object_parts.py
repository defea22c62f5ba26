"""Parents that are bones or vertices, collections that are shown again, and what custom properties say of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from tools.objects import box, empty, named, place

if TYPE_CHECKING:
    from support.stage.stage import Stage


def rig(stage: Stage) -> Any:
    """An armature with one bone from (0, 0, 2) up to (0, 0, 3), turned by 40 degrees."""
    armature = bpy.data.armatures.new("Rig")
    obj = bpy.data.objects.new("Rig", armature)
    bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    bone: Any = armature.edit_bones.new("Arm")
    bone.head, bone.tail, bone.roll = (0, 0, 2), (0, 0, 3), 0.7
    bpy.ops.object.mode_set(mode="OBJECT")
    stage.state.refresh()
    return obj


def updated(name: str) -> tuple[float, ...]:
    bpy.context.view_layer.update()
    return tuple(place(name))


# ---------------------------------------------------------------------- parents


def test_a_child_of_a_bone_stays_in_place_and_follows_the_pose(stage: Stage) -> None:
    rig(stage)
    box(stage, location=[1, 0, 4])
    stage.do("object.set_parent", {"object": "Box", "parent": "Rig", "bone": "Arm"})
    assert updated("Box") == pytest.approx((1, 0, 4), abs=1e-5)
    named("Rig").pose.bones["Arm"].location = (0, 1, 0)
    assert updated("Box") == pytest.approx((1, 0, 5), abs=1e-5)


def test_without_keeping_its_place_it_sits_at_the_end_of_the_bone(stage: Stage) -> None:
    rig(stage)
    empty(stage, "Tip")
    stage.do("object.set_parent", {"object": "Tip", "parent": "Rig", "bone": "Arm", "keep_transform": False})
    assert updated("Tip") == pytest.approx((0, 0, 3), abs=1e-5)
    stage.do("object.set_parent", {"object": "Tip", "parent": "Rig"})
    assert named("Tip").parent_type == "OBJECT"
    assert updated("Tip") == pytest.approx((0, 0, 3), abs=1e-5)


@pytest.mark.parametrize("vertices", [[7], [0, 3, 7]])
def test_a_child_of_vertices_stays_in_place_and_follows_them(stage: Stage, vertices: list[int]) -> None:
    box(stage, rotation_euler_deg=[0, 0, 30])
    empty(stage, "Tip", location=[3, 4, 5])
    stage.do("object.set_parent", {"object": "Tip", "parent": "Box", "vertices": vertices})
    assert updated("Tip") == pytest.approx((3, 4, 5), abs=1e-5)
    for vertex in named("Box").data.vertices:
        vertex.co.z += 2
    assert updated("Tip") == pytest.approx((3, 4, 7), abs=1e-5)


def test_parts_that_are_not_there_are_refused(stage: Stage) -> None:
    rig(stage)
    box(stage)
    empty(stage, "Tip")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"parent": "Rig", "bone": "Leg"}, "/bone"),
        ({"parent": "Box", "bone": "Arm"}, "/bone"),
        ({"parent": "Box", "vertices": [8]}, "/vertices"),
        ({"parent": "Rig", "vertices": [0]}, "/vertices"),
    ]
    for args, pointer in wrong:
        assert stage.refusal("object.set_parent", {"object": "Tip", **args})[0]["pointer"] == pointer, args
    for args in (
        {"parent": None, "bone": "Arm"},
        {"parent": "Box", "vertices": [1, 2]},
        {"parent": "Box", "vertices": [1, 1, 1]},
    ):
        assert stage.invalid("object.set_parent", {"object": "Tip", **args})


def test_constraints_keep_a_child_from_hanging_on_a_part_where_it_is(stage: Stage) -> None:
    box(stage)
    empty(stage, "Tip")
    rule = {"type": "LIMIT_LOCATION", "minimum": [1, None, None]}
    stage.do("constraint.add", {"object": "Tip", "name": "Rule", "settings": rule})
    args = {"object": "Tip", "parent": "Box", "vertices": [0]}
    assert stage.refusal("object.set_parent", args)[0]["pointer"] == "/keep_transform"
    stage.do("object.set_parent", {**args, "keep_transform": False})


# ---------------------------------------------------------------------- collections


def test_an_instance_shows_what_is_in_the_collection(stage: Stage) -> None:
    stage.do("collection.create", {"name": "Tree"})
    box(stage, "Trunk", collection="Tree")
    stage.do("object.instance_collection", {"name": "Second", "instance_of": "Tree", "location": [5, 0, 0]})
    depsgraph = bpy.context.evaluated_depsgraph_get()
    shown = [tuple(one.matrix_world.translation) for one in depsgraph.object_instances if one.is_instance]
    assert shown == [(5, 0, 0)]


def test_a_collection_is_not_shown_inside_itself(stage: Stage) -> None:
    stage.do("collection.create", {"name": "Tree"})
    stage.do("collection.create", {"name": "Leaves", "parent": "Tree"})
    stage.do("collection.create", {"name": "Wood"})
    stage.do("object.instance_collection", {"name": "First", "instance_of": "Tree", "collection": "Wood"})
    for home, shown in (("Tree", "Tree"), ("Leaves", "Tree"), ("Tree", "Wood")):
        args = {"name": "Again", "instance_of": shown, "collection": home}
        assert stage.refusal("object.instance_collection", args)[0]["pointer"] == "/collection", (home, shown)
    assert (
        stage.refusal("object.instance_collection", {"name": "A", "instance_of": "Tre"})[0]["pointer"] == "/instance_of"
    )


# ---------------------------------------------------------------------- custom properties


def hints(name: str, key: str) -> dict[str, Any]:
    return named(name).id_properties_ui(key).as_dict()


def test_a_property_says_its_range_and_what_it_is_for(stage: Stage) -> None:
    empty(stage, "Door")
    base = {"object": "Door", "key": "open"}
    stage.do("object.set_property", {**base, "value": 0.5, "minimum": 0, "maximum": 1, "description": "How far"})
    told = hints("Door", "open")
    assert (told["min"], told["soft_max"], told["description"]) == (0.0, 1.0, "How far")
    answer = stage.call("object.set_property", {**base, "value": 0.5, "description": "How wide"})
    assert answer["result"] is not None and answer["result"]["changed"] and answer["changes"]
    assert hints("Door", "open")["description"] == "How wide" and hints("Door", "open")["max"] == 1.0
    answer = stage.call("object.set_property", {**base, "value": 0.5, "maximum": 1})
    assert answer["result"] is not None and not answer["result"]["changed"] and answer["changes"] == []


def test_whole_numbers_have_a_whole_range(stage: Stage) -> None:
    empty(stage, "Door")
    base = {"object": "Door", "key": "panes", "value": 3}
    stage.do("object.set_property", {**base, "minimum": 1, "maximum": 6})
    assert (hints("Door", "panes")["min"], hints("Door", "panes")["max"]) == (1, 6)
    assert stage.invalid("object.set_property", {**base, "minimum": 0.5})


@pytest.mark.parametrize(
    "args",
    [
        {"value": 2, "minimum": 3},
        {"value": 2, "minimum": 3, "maximum": 1},
        {"value": "text", "minimum": 1},
        {"value": None, "description": "nothing"},
    ],
)
def test_a_range_that_does_not_go_with_the_value_is_refused(stage: Stage, args: dict[str, Any]) -> None:
    assert stage.invalid("object.set_property", {"object": "Door", "key": "open", **args})
