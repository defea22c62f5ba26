"""Peculiar behaviour of the object tools; what holds for all tools is in the conformance suite."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.blender.step_modes import HAS_UNDO
from tools.objects import box, empty, named

if TYPE_CHECKING:
    from support.stage.stage import Stage


def keyed(stage: Stage, name: str, channel: str, value: Any) -> None:
    stage.do("animation.set_keyframe", {"object": name, "channel": channel, "frame": 1, "value": value})


# ---------------------------------------------------------------------- transform


def test_set_replaces_only_the_channels_that_are_given(stage: Stage) -> None:
    obj = box(stage, location=[1, 2, 3], scale=[2, 2, 2])
    stage.do("object.transform", {"object": "Box", "rotation_euler_deg": [0, 0, 90]})
    assert tuple(obj.location) == (1, 2, 3)
    assert tuple(obj.scale) == (2, 2, 2)
    assert obj.rotation_euler.z == pytest.approx(math.pi / 2)


def test_add_adds_the_location_turns_further_and_multiplies_the_scale(stage: Stage) -> None:
    obj = box(stage, location=[1, 0, 0], rotation_euler_deg=[0, 0, 30], scale=[2, 1, 1])
    change = {"name": "Box", "mode": "add", "location": [1, 1, 0], "rotation_euler_deg": [0, 0, 15], "scale": [3, 1, 1]}
    result = stage.do("object.transform", change)
    assert tuple(obj.location) == (2, 1, 0)
    assert math.degrees(obj.rotation_euler.z) == pytest.approx(45)
    assert tuple(obj.scale) == (6, 1, 1)
    assert result["rotation"] == pytest.approx([0, 0, 45])


def test_a_quaternion_is_normalised_and_switches_the_mode(stage: Stage) -> None:
    obj = box(stage)
    result = stage.do("object.transform", {"object": "Box", "rotation_quaternion": [2, 0, 0, 2]})
    assert obj.rotation_mode == result["rotation_mode"] == "QUATERNION"
    assert tuple(obj.rotation_quaternion) == pytest.approx((math.sqrt(0.5), 0, 0, math.sqrt(0.5)))


def test_adding_a_quaternion_turns_an_euler_object_further_in_its_parents_space(stage: Stage) -> None:
    obj = box(stage, rotation_euler_deg=[90, 0, 0])
    stage.do("object.transform", {"object": "Box", "mode": "add", "rotation_quaternion": [1, 0, 0, 1]})
    # Its own Z points to -Y after the first turn, and to X after the second about the parent's Z.
    assert tuple(obj.rotation_quaternion.to_matrix().col[2]) == pytest.approx((1, 0, 0), abs=1e-6)


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE"])
def test_euler_angles_are_converted_where_the_object_uses_something_else(stage: Stage, mode: str) -> None:
    obj = box(stage)
    obj.rotation_mode = mode
    stage.state.refresh()
    stage.do("object.transform", {"object": "Box", "rotation_euler_deg": [0, 90, 0]})
    stage.do("object.transform", {"object": "Box", "mode": "add", "rotation_euler_deg": [0, 90, 0]})
    assert obj.rotation_mode == mode
    assert tuple(obj.matrix_basis.to_3x3().col[0]) == pytest.approx((-1, 0, 0), abs=1e-6)


def test_nothing_changes_when_it_stands_so_already(stage: Stage) -> None:
    box(stage, location=[0.1, 0, 0])
    answer = stage.call("object.transform", {"object": "Box", "location": [0.1, 0, 0]})
    assert answer["result"] is not None and answer["result"]["changed"] is False
    assert answer["changes"] == []


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"rotation_euler_deg": [0, 0, 0], "rotation_quaternion": [1, 0, 0, 0]},
        {"rotation_quaternion": [0, 0, 0, 0]},
        {"location": [0, 0]},
        {"location": [0, 0, math.inf]},
    ],
)
def test_unclear_transforms_are_refused_before_blender_is_asked(stage: Stage, args: dict[str, Any]) -> None:
    stage.invalid("object.transform", {"object": "Box", **args})


def test_a_keyed_channel_refuses_a_value_that_would_not_last(stage: Stage) -> None:
    box(stage)
    keyed(stage, "Box", "location", [0, 0, 1])
    [finding] = stage.refusal("object.transform", {"object": "Box", "location": [5, 0, 0], "scale": [1, 1, 2]})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/location")
    assert "animation.set_keyframe" in finding["cure"]


# ---------------------------------------------------------------------- duplicate


def test_a_linked_copy_shares_its_mesh_and_stands_in_the_same_collections(stage: Stage) -> None:
    stage.do("collection.create", {"name": "Props"})
    obj = box(stage, location=[1, 2, 3], collection="Props")
    stage.do("collection.link_object", {"object": "Box"})
    stage.do("object.duplicate", {"object": "Box", "new_name": "Twin"})
    twin = named("Twin")
    assert twin.data == obj.data
    assert tuple(twin.location) == (1, 2, 3)
    assert {home.name for home in twin.users_collection} == {home.name for home in obj.users_collection}


def test_a_deep_copy_has_a_mesh_shape_keys_and_an_action_of_its_own(stage: Stage) -> None:
    obj = box(stage)
    obj.shape_key_add(name="Basis")
    stage.state.refresh()
    keyed(stage, "Box", "location", [0, 0, 1])
    args = {"name": "Box", "new_name": "Twin", "mode": "deep"}
    assert stage.call("object.duplicate", args, rehearse="inverse")["reverted_by"] == "inverse"
    if HAS_UNDO:
        assert stage.call("object.duplicate", args, rehearse="memfile")["reverted_by"] == "memfile"
    assert stage.do("object.duplicate", args)["data"] == "Twin"
    obj, twin = named("Box"), named("Twin")
    assert twin.data.name == twin.data.shape_keys.name == "Twin"
    assert twin.animation_data.action.name == "TwinAction"
    assert obj.animation_data.action.name == "BoxAction"
    keyed(stage, "Twin", "location", [5, 0, 0])
    bpy.context.view_layer.update()
    assert tuple(obj.location) == (0, 0, 1)
    assert tuple(twin.location) == (5, 0, 0)


def test_a_deep_copy_needs_the_name_for_its_mesh_as_well(stage: Stage) -> None:
    box(stage)
    stage.do("object.rename", {"object": box(stage, "Other").name, "new_name": "Elsewhere"})
    stage.do("object.duplicate", {"object": "Box", "new_name": "Linked"})
    [finding] = stage.refusal("object.duplicate", {"object": "Box", "new_name": "Other", "mode": "deep"})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/new_name")
    assert "mesh" in finding["message"]


def test_a_deep_copy_of_an_empty_is_just_a_copy(stage: Stage) -> None:
    empty(stage, "Pivot")
    assert stage.do("object.duplicate", {"object": "Pivot", "new_name": "Twin", "mode": "deep"})["data"] is None


# ---------------------------------------------------------------------- rename


def test_whoever_refers_to_a_renamed_object_goes_on_doing_so(stage: Stage) -> None:
    obj, tip = box(stage), empty(stage, "Tip")
    stage.do("object.set_parent", {"object": "Tip", "parent": "Box"})
    assert stage.do("object.rename", {"object": "Box", "new_name": "Crate"})["data"] == "Box"
    assert tip.parent == obj == named("Crate")


def test_data_is_renamed_along_only_when_it_is_the_objects_own(stage: Stage) -> None:
    obj = box(stage)
    stage.do("object.duplicate", {"object": "Box", "new_name": "Twin"})
    [finding] = stage.refusal("object.rename", {"object": "Box", "new_name": "Crate", "rename_data": True})
    assert finding["pointer"] == "/rename_data"
    assert "Twin" in finding["message"]
    stage.do("object.delete", {"object": "Twin"})
    stage.do("object.rename", {"object": "Box", "new_name": "Crate", "rename_data": True})
    assert obj.name == obj.data.name == "Crate"


def test_a_name_in_use_is_refused_and_never_numbered(stage: Stage) -> None:
    box(stage)
    empty(stage, "Tip")
    [finding] = stage.refusal("object.rename", {"object": "Tip", "new_name": "Box"})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/new_name")
    assert sorted(bpy.data.objects.keys()) == ["Box", "Tip"]


def test_the_data_alone_can_be_brought_to_the_objects_name(stage: Stage) -> None:
    obj = box(stage)
    stage.do("object.rename", {"object": "Box", "new_name": "Crate"})
    assert stage.do("object.rename", {"object": "Crate", "new_name": "Crate", "rename_data": True})["changed"]
    assert obj.data.name == "Crate"


# ---------------------------------------------------------------------- set_visibility


def test_visibility_is_set_where_it_is_asked_and_left_elsewhere(stage: Stage) -> None:
    obj = box(stage)
    stage.do("object.set_visibility", {"object": "Box", "viewport": False})
    assert (obj.hide_viewport, obj.hide_render) == (True, False)
    stage.do("object.set_visibility", {"object": "Box", "viewport": True, "render": False})
    assert (obj.hide_viewport, obj.hide_render) == (False, True)
    stage.invalid("object.set_visibility", {"object": "Box"})


# ---------------------------------------------------------------------- set_property


@pytest.mark.parametrize(
    ("value", "number_type", "kept"),
    [
        (True, "auto", True),
        (3, "auto", 3),
        (3.0, "auto", 3),
        (3, "float", 3.0),
        (2.5, "auto", 2.5),
        ("", "auto", ""),
        ([1, 2.0], "auto", [1, 2]),
        ([1, 2], "float", [1.0, 2.0]),
        ([1, 2.5], "auto", [1.0, 2.5]),
        (2**31 - 1, "int", 2**31 - 1),
        (2**40, "float", 2.0**40),
    ],
)
def test_values_are_kept_with_their_types(stage: Stage, value: Any, number_type: str, kept: Any) -> None:
    obj = empty(stage, "Marker")
    stage.do("object.set_property", {"object": "Marker", "key": "k", "value": "another type before"})
    args = {"name": "Marker", "key": "k", "value": value, "number_type": number_type}
    assert stage.call("object.set_property", args, rehearse="inverse")["reverted_by"] == "inverse"
    stage.do("object.set_property", args)
    assert repr(getattr(obj["k"], "to_list", lambda: obj["k"])()) == repr(kept), "equal, and of the same type"


@pytest.mark.parametrize(
    "args",
    [
        {"value": 2**31},
        {"value": [0, -(2**31) - 1]},
        {"value": 1.5, "number_type": "int"},
        {"value": []},
        {"value": ["a"]},
        {"value": {"a": 1}},
        {"key": "k" * 64, "value": 1},
        {"key": "é" * 32, "value": 1},
        {},
    ],
)
def test_what_blender_cannot_keep_is_refused_before(stage: Stage, args: dict[str, Any]) -> None:
    stage.invalid("object.set_property", {"object": "Marker", "key": "k", **args})


def test_null_removes_a_property_and_removing_none_is_no_change(stage: Stage) -> None:
    obj = empty(stage, "Marker")
    stage.do("object.set_property", {"object": "Marker", "key": "k", "value": [1, 2, 3]})
    assert stage.do("object.set_property", {"object": "Marker", "key": "k", "value": None})["changed"]
    assert "k" not in obj
    assert not stage.do("object.set_property", {"object": "Marker", "key": "k", "value": None})["changed"]


def test_the_settings_of_an_add_on_are_not_overwritten(stage: Stage) -> None:
    empty(stage, "Marker")
    [finding] = stage.refusal("object.set_property", {"object": "Marker", "key": "cycles", "value": 1})
    assert finding["pointer"] == "/key"


# ---------------------------------------------------------------------- inspect


def test_a_report_tells_place_size_relations_modifiers_and_properties(stage: Stage) -> None:
    obj = box(stage, location=[0, 0, 1], rotation_euler_deg=[0, 0, 90])
    empty(stage, "Tip")
    stage.do("object.set_parent", {"object": "Tip", "parent": "Box"})
    stage.do("object.set_property", {"object": "Box", "key": "size", "value": [1, 2]})
    modifier = obj.modifiers.new("Rows", "ARRAY")
    modifier.count = 3
    mirror = obj.modifiers.new("Mirror", "MIRROR")
    mirror.mirror_object = named("Tip")
    mirror.use_axis = (False, False, False)
    stage.state.refresh()
    report = stage.do("object.inspect", {"object": "Box"}, verify=True)
    assert report["location"] == [0, 0, 1]
    assert report["rotation_euler_deg"] == pytest.approx([0, 0, 90])
    assert report["children"] == ["Tip"]
    assert report["properties"] == {"size": [1, 2]}
    assert [entry["type"] for entry in report["modifiers"]] == ["ARRAY", "MIRROR"]
    assert report["modifiers"][0]["settings"]["count"] == 3
    assert report["modifiers"][1]["settings"]["mirror_object"] == "Tip"
    # Three cubes in a row along the object's own X, which is the world's Y.
    assert report["dimensions"] == pytest.approx([6, 2, 2])
    assert report["bounds"]["minimum"] == pytest.approx([-1, -1, 0], abs=1e-5)
    assert report["bounds"]["maximum"] == pytest.approx([1, 5, 2], abs=1e-5)
    assert report["data_hash"] != report["content_hash"]


def test_an_empty_has_no_bounds(stage: Stage) -> None:
    empty(stage, "Pivot", location=[1, 1, 1])
    report = stage.do("object.inspect", {"object": "Pivot"})
    assert report["bounds"] is None
    assert report["data"] is report["data_hash"] is None


def test_a_hidden_object_is_reported_where_it_is(stage: Stage) -> None:
    box(stage)
    stage.do("object.set_visibility", {"object": "Box", "viewport": False})
    stage.do("object.transform", {"object": "Box", "location": [5, 0, 0]})
    report = stage.do("object.inspect", {"object": "Box"})
    assert [row[3] for row in report["matrix_world"]] == [5, 0, 0, 1]
    assert report["bounds"]["minimum"] == pytest.approx([4, -1, -1])


def test_an_unknown_name_is_answered_with_the_nearest_one(stage: Stage) -> None:
    box(stage)
    [finding] = stage.refusal("object.inspect", {"object": "Boxx"})
    assert (finding["code"], finding["pointer"], finding["cure"]) == (
        "TARGET_NOT_FOUND",
        "/object",
        "Did you mean 'Box'?",
    )
