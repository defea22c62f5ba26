"""Peculiar behaviour of the animation tools; what holds for all tools is in the conformance suite."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from tools.objects import box, empty, named

if TYPE_CHECKING:
    from support.stage.stage import Stage


def key(stage: Stage, channel: str, frame: int, value: Any, name: str = "Pivot", **args: Any) -> dict[str, Any]:
    arguments = {"object": name, "channel": channel, "frame": frame, "value": value, **args}
    return stage.do("animation.set_keyframe", arguments)


def curves(obj: Any) -> list[Any]:
    action = obj.animation_data.action
    if bpy.app.version < (4, 4, 0):
        return list(action.fcurves)
    return list(action.layers[0].strips[0].channelbag(obj.animation_data.action_slot).fcurves)


# ---------------------------------------------------------------------- set_keyframe


def test_the_first_key_makes_an_action_named_after_the_object(stage: Stage) -> None:
    obj = empty(stage)
    result = key(stage, "location", 1, [1, 2, 3])
    assert result["action"] == obj.animation_data.action.name == "PivotAction"
    assert [(curve.data_path, curve.array_index) for curve in curves(obj)] == [
        ("location", index) for index in range(3)
    ]
    assert tuple(obj.location) == (1, 2, 3)


def test_keys_move_the_object_from_frame_to_frame(stage: Stage) -> None:
    obj = empty(stage)
    key(stage, "location", 1, [0, 0, 0], interpolation="LINEAR")
    assert key(stage, "location", 11, [10, 0, 0])["channel_keys"] == 2
    stage.do("animation.set_frame", {"frame": 6})
    assert obj.location.x == pytest.approx(5)
    assert obj.matrix_world.translation.x == pytest.approx(5)


def test_a_key_replaces_the_one_at_its_frame(stage: Stage) -> None:
    obj = empty(stage)
    key(stage, "scale", 1, [1, 1, 1])
    assert key(stage, "scale", 1, [2, 2, 2], interpolation="CONSTANT")["channel_keys"] == 1
    assert not key(stage, "scale", 1, [2, 2, 2], interpolation="CONSTANT")["changed"]
    point = curves(obj)[0].keyframe_points[0]
    assert (tuple(point.co), point.interpolation) == ((1, 2), "CONSTANT")


def test_euler_keys_are_given_in_degrees(stage: Stage) -> None:
    obj = empty(stage)
    key(stage, "rotation_euler_deg", 1, [0, 0, 180])
    assert curves(obj)[2].keyframe_points[0].co[1] == pytest.approx(math.pi)


def test_quaternion_keys_switch_the_mode_and_do_not_mix_with_euler_keys(stage: Stage) -> None:
    obj = empty(stage)
    key(stage, "rotation_quaternion", 1, [0, 0, 0, 1])
    assert obj.rotation_mode == "QUATERNION"
    args = {"object": "Pivot", "channel": "rotation_euler_deg", "frame": 1, "value": [0, 0, 0]}
    [finding] = stage.refusal("animation.set_keyframe", args)
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/channel")


def test_what_has_no_values_in_between_steps_from_key_to_key(stage: Stage) -> None:
    obj = empty(stage)
    stage.do("object.set_property", {"object": "Pivot", "key": "count", "value": 1})
    key(stage, "hide_render", 1, False)
    key(stage, "hide_render", 11, True)
    key(stage, "property", 1, 0, property="count")
    key(stage, "property", 11, 8, property="count")
    assert {point.interpolation for curve in curves(obj) for point in curve.keyframe_points} == {"CONSTANT"}
    stage.do("animation.set_frame", {"frame": 6})
    assert (obj.hide_render, obj["count"]) == (False, 0)
    stage.do("animation.set_frame", {"frame": 11})
    assert (obj.hide_render, obj["count"]) == (True, 8)


@pytest.mark.parametrize(("before", "value"), [(0.5, 2.5), ([0.5, 1.5], [2.5, 3.5])])
@pytest.mark.parametrize("name", ["mass", 'a "quoted" \\ key', "dotted.key"])
def test_custom_properties_of_any_name_can_be_keyed_and_cleared(
    stage: Stage, name: str, before: Any, value: Any
) -> None:
    obj = empty(stage)
    stage.do("object.set_property", {"object": "Pivot", "key": name, "value": before})
    key(stage, "property", 1, value, property=name)
    [finding] = stage.refusal("object.set_property", {"object": "Pivot", "key": name, "value": 1})
    assert finding["pointer"] == "/key"
    stage.do("animation.clear", {"object": "Pivot", "channel": "property", "property": name})
    assert list(obj.keys()) == [name]
    assert getattr(obj[name], "to_list", lambda: obj[name])() == value
    stage.do("object.set_property", {"object": "Pivot", "key": name, "value": 1})


@pytest.mark.parametrize(
    ("held", "value", "pointer"),
    [(None, 1, "/property"), ("text", 1, "/property"), (1, [1, 2], "/value"), (1, 1.5, "/value")],
)
def test_a_property_that_cannot_take_the_key_is_refused(stage: Stage, held: Any, value: Any, pointer: str) -> None:
    empty(stage)
    stage.do("object.set_property", {"object": "Pivot", "key": "k", "value": held})
    args = {"object": "Pivot", "channel": "property", "property": "k", "frame": 1, "value": value}
    [finding] = stage.refusal("animation.set_keyframe", args)
    assert finding["pointer"] == pointer
    assert finding["cure"]


@pytest.mark.parametrize(
    "args",
    [
        {"channel": "location", "value": [1, 2]},
        {"channel": "location", "value": 1},
        {"channel": "hide_render", "value": 1},
        {"channel": "rotation_quaternion", "value": [0, 0, 0, 0]},
        {"channel": "property", "value": 1},
        {"channel": "location", "value": [1, 2, 3], "property": "k"},
        {"channel": "location", "value": [1, 2, 3], "frame": 2_000_000},
        {"channel": "location", "value": [1, 2, 3], "frame": 1.5},
    ],
)
def test_values_that_do_not_fit_their_channel_are_refused_before(stage: Stage, args: dict[str, Any]) -> None:
    stage.invalid("animation.set_keyframe", {"object": "Pivot", "frame": 1, **args})


@pytest.mark.parametrize("value", [2**40, -(2**40)])
def test_a_key_of_a_whole_number_has_32_bits(stage: Stage, value: int) -> None:
    empty(stage)
    stage.do("object.set_property", {"object": "Pivot", "key": "level", "value": 3})
    args = {"object": "Pivot", "channel": "property", "property": "level", "frame": 1}
    (finding,) = stage.refusal("animation.set_keyframe", {**args, "value": value})
    assert (finding["code"], finding["pointer"]) == ("ARGS_INVALID", "/value")
    stage.do("animation.set_keyframe", {**args, "value": 7})


def test_the_name_of_the_action_must_be_free(stage: Stage) -> None:
    empty(stage)
    bpy.data.actions.new("PivotAction").use_fake_user = True
    stage.state.refresh()
    args = {"object": "Pivot", "channel": "location", "frame": 1, "value": [0, 0, 0]}
    [finding] = stage.refusal("animation.set_keyframe", args)
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/object")


def test_keys_that_would_move_a_linked_copy_as_well_are_refused(stage: Stage) -> None:
    empty(stage)
    key(stage, "location", 1, [0, 0, 0])
    stage.do("object.duplicate", {"object": "Pivot", "new_name": "Twin"})
    args = {"object": "Pivot", "channel": "location", "frame": 5, "value": [0, 0, 1]}
    [finding] = stage.refusal("animation.set_keyframe", args)
    assert "Twin" in finding["message"]
    assert stage.do("animation.clear", {"object": "Twin"})["action_removed"] is None
    stage.do("animation.set_keyframe", args)
    key(stage, "location", 1, [0, 0, 0], name="Twin")
    assert named("Twin").animation_data.action.name == "TwinAction"


def test_an_object_whose_action_has_no_slot_for_it_gets_one(stage: Stage) -> None:
    obj = empty(stage)
    obj.animation_data_create().action = bpy.data.actions.new("Shared")
    stage.state.refresh()
    args = {"object": "Pivot", "channel": "location", "frame": 1, "value": [0, 0, 2]}
    assert stage.call("animation.set_keyframe", args, rehearse="inverse")["reverted_by"] == "inverse"
    assert stage.do("animation.set_keyframe", args)["action"] == "Shared"
    bpy.context.view_layer.update()
    assert tuple(named("Pivot").location) == (0, 0, 2)


def test_a_driven_channel_takes_no_keys(stage: Stage) -> None:
    obj = empty(stage)
    obj.driver_add("location", 0)
    stage.state.refresh()
    args = {"object": "Pivot", "channel": "location", "frame": 1, "value": [0, 0, 0]}
    [finding] = stage.refusal("animation.set_keyframe", args)
    assert finding["pointer"] == "/channel"


def test_keys_survive_saving_and_opening_with_the_same_hash(stage: Stage) -> None:
    empty(stage)
    key(stage, "location", 1, [1, 0, 0])
    key(stage, "location", 24, [4, 0, 0])
    before = stage.state.root()
    stage.state.save(stage.scratch / "keys.blend")
    stage.state.open(stage.scratch / "keys.blend")
    assert stage.state.root() == before
    assert key(stage, "location", 24, [4, 0, 0])["changed"] is False


# ---------------------------------------------------------------------- clear


def test_clearing_keeps_the_values_of_the_current_frame(stage: Stage) -> None:
    obj = empty(stage)
    key(stage, "location", 1, [0, 0, 0], interpolation="LINEAR")
    key(stage, "location", 11, [10, 0, 0])
    stage.do("animation.set_frame", {"frame": 6})
    result = stage.do("animation.clear", {"object": "Pivot"})
    assert (result["curves"], result["keys"], result["action_removed"]) == (3, 6, "PivotAction")
    assert "PivotAction" not in bpy.data.actions
    assert obj.location.x == pytest.approx(5)
    assert stage.do("animation.clear", {"object": "Pivot"})["curves"] == 0
    stage.do("object.transform", {"object": "Pivot", "location": [1, 1, 1]})


def test_clearing_one_channel_leaves_the_others_and_their_action(stage: Stage) -> None:
    obj = empty(stage)
    key(stage, "location", 1, [1, 0, 0])
    key(stage, "scale", 1, [2, 2, 2])
    assert stage.do("animation.clear", {"object": "Pivot", "channel": "location"})["action_removed"] is None
    assert {curve.data_path for curve in curves(obj)} == {"scale"}
    assert stage.do("animation.clear", {"object": "Pivot", "channel": "scale"})["action_removed"] == "PivotAction"


def test_an_action_that_another_object_uses_stays(stage: Stage) -> None:
    empty(stage)
    key(stage, "location", 1, [1, 0, 0])
    key(stage, "scale", 1, [1, 1, 1])
    stage.do("object.duplicate", {"object": "Pivot", "new_name": "Twin"})
    [finding] = stage.refusal("animation.clear", {"object": "Twin", "channel": "scale"})
    assert finding["pointer"] == "/channel"
    assert stage.call("animation.clear", {"object": "Twin"}, rehearse="inverse")["reverted_by"] == "inverse"
    stage.do("animation.clear", {"object": "Twin"})
    assert len(curves(named("Pivot"))) == 6
    assert named("Twin").animation_data is None


def test_drivers_stay_when_keys_go(stage: Stage) -> None:
    obj = empty(stage)
    obj.driver_add("scale", 0)
    stage.state.refresh()
    key(stage, "location", 1, [1, 0, 0])
    stage.do("animation.clear", {"object": "Pivot"})
    assert len(named("Pivot").animation_data.drivers) == 1


def test_curves_of_other_paths_are_cleared_with_their_values_kept(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    obj = named("Box")
    modifier = obj.modifiers.new("Rows", "ARRAY")
    modifier.count = 4
    modifier.keyframe_insert("count", frame=1)
    modifier.fit_type = "FIT_LENGTH"
    modifier.keyframe_insert("fit_type", frame=1)
    obj["gone"] = 1.0
    obj.keyframe_insert('["gone"]', frame=1)
    del obj["gone"]
    stage.state.refresh()
    modifier.count = 9
    assert stage.do("animation.clear", {"object": "Box"})["curves"] == 3
    modifier = named("Box").modifiers["Rows"]
    assert (modifier.count, modifier.fit_type) == (4, "FIT_LENGTH")


# ---------------------------------------------------------------------- set_frame


def test_the_current_frame_is_set_exactly(stage: Stage) -> None:
    scene: Any = bpy.context.scene
    scene.frame_subframe = 0.5
    stage.state.refresh()
    assert stage.do("animation.set_frame", {"frame": 1})["changed"]
    assert (scene.frame_current, scene.frame_subframe) == (1, 0.0)
    assert not stage.do("animation.set_frame", {"frame": 1})["changed"]


@pytest.mark.parametrize("frame", [-1, 1_048_575, 1.5, True])
def test_frames_that_blender_does_not_have_are_refused(stage: Stage, frame: Any) -> None:
    assert stage.invalid("animation.set_frame", {"frame": frame}) == ["/frame"]


KEYS = [
    {"channel": "location", "frame": frame, "value": [frame, 0, 0], "interpolation": "LINEAR"} for frame in range(1, 41)
]


def test_many_keys_are_what_single_calls_would_have_set(stage: Stage) -> None:
    turn = {"channel": "rotation_euler_deg", "frame": 10, "value": [0, 0, 90]}
    box(stage)
    many = stage.call("animation.set_keyframes", {"object": "Box", "keys": [*KEYS, turn]})
    assert many["ok"] and many["result"] == {"object": "Box", "action": "BoxAction", "keys": 41, "changed": True}
    again = stage.call("animation.set_keyframes", {"object": "Box", "keys": [*KEYS, turn]})
    assert again["ok"] and again["after"] == many["after"]
    stage.do("animation.clear", {"object": "Box"})
    for key in [*KEYS, turn]:
        stage.do("animation.set_keyframe", {"object": "Box", **key})
    assert stage.state.full_root() == many["after"]


def test_a_wrong_key_among_many_is_named_and_nothing_is_set(stage: Stage) -> None:
    box(stage)
    first = {"channel": "location", "frame": 1, "value": [0, 0, 0]}
    quaternion = {"channel": "rotation_quaternion", "frame": 1, "value": [1, 0, 0, 0]}
    euler = {"channel": "rotation_euler_deg", "frame": 2, "value": [0, 0, 0]}
    for keys in ([first, first], [quaternion, euler], []):
        assert stage.invalid("animation.set_keyframes", {"object": "Box", "keys": keys}) == ["/keys"]
    mass = {"channel": "property", "property": "mass", "frame": 1, "value": 1}
    (finding,) = stage.refusal(
        "animation.set_keyframes", {"object": "Box", "keys": [first, mass, {**mass, "frame": 2}]}
    )
    assert finding["pointer"] == "/keys/1/property"
    (finding,) = stage.refusal("animation.set_keyframes", {"object": "Boxx", "keys": [first, mass]})
    assert finding["pointer"] == "/object"
