"""Peculiar behaviour of the constraint tools; what holds for all tools is in the conformance suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from tools.objects import box, empty, named, place

if TYPE_CHECKING:
    from support.stage.stage import Stage


def constrained(stage: Stage, settings: dict[str, Any], **more: Any) -> Any:
    """The object after a constraint was put on it, evaluated."""
    stage.do("constraint.add", {"object": "Box", "name": "Rule", "settings": settings, **more})
    bpy.context.view_layer.update()
    return named("Box")


def refused(stage: Stage, settings: dict[str, Any]) -> tuple[str, str]:
    finding = stage.refusal("constraint.add", {"object": "Box", "name": "Rule", "settings": settings})[0]
    return finding["pointer"], finding["message"]


def goal(stage: Stage, **args: Any) -> Any:
    return empty(stage, "Goal", **{"location": [0, 4, 0], **args})


# ---------------------------------------------------------------------- what each type does


@pytest.mark.parametrize(("axis", "column", "sign"), [("X", 0, 1), ("-Z", 2, -1), ("Y", 1, 1)])
@pytest.mark.parametrize("kind", ["TRACK_TO", "DAMPED_TRACK"])
def test_the_axis_points_at_the_target_without_saying_which_is_up(
    stage: Stage, kind: str, axis: str, column: int, sign: int
) -> None:
    box(stage)
    goal(stage)
    obj = constrained(stage, {"type": kind, "target": "Goal", "track_axis": axis})
    assert tuple(obj.matrix_world.col[column][:3]) == pytest.approx((0, sign, 0), abs=1e-5)


def test_a_new_track_to_points_as_a_camera_does(stage: Stage) -> None:
    box(stage)
    goal(stage)
    obj = constrained(stage, {"type": "TRACK_TO", "target": "Goal"})
    assert tuple(obj.matrix_world.col[2][:3]) == pytest.approx((0, -1, 0), abs=1e-5)
    assert tuple(obj.matrix_world.col[1][:3]) == pytest.approx((0, 0, 1), abs=1e-5)


def test_copying_takes_the_chosen_axes_with_their_signs(stage: Stage) -> None:
    box(stage, location=[1, 1, 1])
    goal(stage, location=[5, 6, 7])
    settings = {"type": "COPY_LOCATION", "target": "Goal", "axes": ["X", "Z"], "invert_axes": ["Z"]}
    result = stage.do("constraint.add", {"object": "Box", "name": "Rule", "settings": settings})
    assert result["location"] == pytest.approx([5, 1, -7])


def test_influence_and_enabled_count(stage: Stage) -> None:
    box(stage)
    goal(stage)
    constrained(stage, {"type": "COPY_LOCATION", "target": "Goal"}, influence=0.25)
    assert tuple(place("Box")) == pytest.approx((0, 1, 0))
    assert stage.do("constraint.set", {"object": "Box", "constraint": "Rule", "enabled": False})["location"] == [
        0,
        0,
        0,
    ]
    again = stage.do("constraint.set", {"object": "Box", "constraint": "Rule", "enabled": True, "influence": 1})
    assert again["location"] == pytest.approx([0, 4, 0])


def test_limits_hold_where_they_are_not_null(stage: Stage) -> None:
    box(stage, location=[-5, -5, -5])
    obj = constrained(stage, {"type": "LIMIT_LOCATION", "minimum": [-1, None, 0], "maximum": [None, -6, None]})
    assert tuple(obj.matrix_world.translation) == pytest.approx((-1, -6, 0))
    stage.do(
        "constraint.set",
        {"object": "Box", "constraint": "Rule", "settings": {"type": "LIMIT_LOCATION", "minimum": [None, None, None]}},
    )
    assert tuple(place("Box")) == pytest.approx((-5, -6, -5))


def test_rotations_are_limited_in_degrees(stage: Stage) -> None:
    box(stage, rotation_euler_deg=[0, 0, 80])
    settings = {"type": "LIMIT_ROTATION", "minimum_deg": [None, None, -30], "maximum_deg": [None, None, 45]}
    obj = constrained(stage, settings)
    assert obj.matrix_world.to_euler().z == pytest.approx(0.785398, abs=1e-5)


def test_scale_and_distance_are_limited(stage: Stage) -> None:
    box(stage, scale=[5, 5, 5], location=[0, 0, 0])
    goal(stage)
    obj = constrained(stage, {"type": "LIMIT_SCALE", "maximum": [2, None, None]})
    assert tuple(obj.matrix_world.to_scale()) == pytest.approx((2, 5, 5))
    leash = {"type": "LIMIT_DISTANCE", "target": "Goal", "distance": 1, "mode": "ON_SURFACE"}
    result = stage.do("constraint.add", {"object": "Box", "name": "Leash", "settings": leash})
    assert result["location"] == pytest.approx([0, 3, 0])


def test_a_child_of_does_not_jump_and_follows_from_then_on(stage: Stage) -> None:
    box(stage, location=[1, 0, 0])
    goal(stage, rotation_euler_deg=[10, 20, 40], scale=[2, 2, 2])
    obj = constrained(stage, {"type": "CHILD_OF", "target": "Goal"})
    assert tuple(obj.matrix_world.translation) == pytest.approx((1, 0, 0), abs=1e-5)
    stage.do("object.transform", {"object": "Goal", "mode": "add", "location": [0, 0, 3]})
    bpy.context.view_layer.update()
    assert tuple(place("Box")) == pytest.approx((1, 0, 3), abs=1e-5)
    back = {"object": "Box", "constraint": "Rule", "settings": {"type": "CHILD_OF", "set_inverse": True}}
    assert stage.do("constraint.set", back)["location"] == pytest.approx([1, 0, 0], abs=1e-5)


def test_a_child_of_without_inverse_is_relative_to_the_target(stage: Stage) -> None:
    box(stage, location=[1, 0, 0])
    goal(stage)
    obj = constrained(stage, {"type": "CHILD_OF", "target": "Goal", "set_inverse": False})
    assert tuple(obj.matrix_world.translation) == pytest.approx((1, 4, 0))


def test_a_path_is_followed_by_a_factor_and_the_curve_becomes_one(stage: Stage) -> None:
    box(stage)
    stage.do("curve.create", {"name": "Wire", "kind": "POLY", "points": [[0, 0, 0], [4, 0, 0]]})
    obj = constrained(stage, {"type": "FOLLOW_PATH", "target": "Wire", "offset_factor": 0.25})
    assert named("Wire").data.use_path
    assert tuple(obj.matrix_world.translation) == pytest.approx((1, 0, 0), abs=1e-4)


def test_a_bone_is_a_target(stage: Stage) -> None:
    box(stage)
    armature = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", armature)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone: Any = armature.edit_bones.new("Arm")
    bone.head, bone.tail = (0, 0, 2), (0, 0, 3)
    bpy.ops.object.mode_set(mode="OBJECT")
    stage.state.refresh()
    assert "bone" in refused(stage, {"type": "COPY_LOCATION", "target": "Rig", "subtarget": "Leg"})[1]
    obj = constrained(stage, {"type": "COPY_LOCATION", "target": "Rig", "subtarget": "Arm"})
    assert tuple(obj.matrix_world.translation) == pytest.approx((0, 0, 2))
    stage.do("constraint.remove", {"object": "Box", "constraint": "Rule"})
    obj = constrained(stage, {"type": "CHILD_OF", "target": "Rig", "subtarget": "Arm"})
    assert tuple(obj.matrix_world.translation) == pytest.approx((0, 0, 0), abs=1e-6)


def test_removing_lets_go_or_leaves_it_where_it_was_put(stage: Stage) -> None:
    box(stage)
    goal(stage)
    constrained(stage, {"type": "COPY_LOCATION", "target": "Goal"})
    gone = {"object": "Box", "constraint": "Rule"}
    assert stage.do("constraint.remove", gone)["location"] == [0, 0, 0]
    constrained(stage, {"type": "COPY_LOCATION", "target": "Goal"})
    assert stage.do("constraint.remove", {**gone, "keep_transform": True})["location"] == pytest.approx([0, 4, 0])
    assert tuple(named("Box").location) == pytest.approx((0, 4, 0))


# ---------------------------------------------------------------------- what is refused


def test_what_would_lead_in_a_circle_is_refused(stage: Stage) -> None:
    box(stage)
    empty(stage, "Tip", parent="Box")
    goal(stage)
    stage.do(
        "constraint.add", {"object": "Goal", "name": "Watch", "settings": {"type": "COPY_LOCATION", "target": "Tip"}}
    )
    for target in ("Box", "Tip", "Goal"):
        pointer, _ = refused(stage, {"type": "TRACK_TO", "target": target})
        assert pointer == "/settings/target", target


def test_a_missing_target_another_type_and_unknown_parts_are_refused(stage: Stage) -> None:
    box(stage)
    goal(stage)
    assert refused(stage, {"type": "TRACK_TO"}) == ("/settings/target", "a new TRACK_TO constraint needs 'target'")
    assert refused(stage, {"type": "LIMIT_DISTANCE", "target": "Goal"})[0] == "/settings/distance"
    assert refused(stage, {"type": "TRACK_TO", "target": "Gaol"})[0] == "/settings/target"
    assert "not CURVE" in refused(stage, {"type": "FOLLOW_PATH", "target": "Goal"})[1]
    assert refused(stage, {"type": "TRACK_TO", "target": "Goal", "subtarget": "Tip"})[0] == "/settings/subtarget"


@pytest.mark.parametrize(
    "settings",
    [
        {"type": "TRACK_TO", "target": "Goal", "track_axis": "-Y", "up_axis": "Y"},
        {"type": "LIMIT_LOCATION", "minimum": [1, 0, 0], "maximum": [0, 0, 0]},
        {"type": "LIMIT_ROTATION", "minimum_deg": [0, 0, 0]},
        {"type": "LIMIT_ROTATION", "minimum_deg": [0, 0, None], "maximum_deg": [0, 0, 3]},
        {"type": "LIMIT_SCALE", "maximum": [1, 1, 2000]},
        {"type": "FOLLOW_PATH", "target": "Wire", "offset_factor": 0, "offset_frames": 1},
        {"type": "COPY_LOCATION", "target": "Goal", "track_axis": "X"},
        {"type": "NONSENSE"},
    ],
)
def test_settings_that_do_not_go_together_are_refused_before_blender(stage: Stage, settings: dict[str, Any]) -> None:
    pointers = stage.invalid("constraint.add", {"object": "Box", "name": "Rule", "settings": settings})
    assert all(pointer.startswith("/settings") for pointer in pointers)


def test_a_limit_must_go_with_the_one_that_is_there(stage: Stage) -> None:
    box(stage)
    constrained(stage, {"type": "LIMIT_LOCATION", "maximum": [2, None, None]})
    change = {"object": "Box", "constraint": "Rule", "settings": {"type": "LIMIT_LOCATION", "minimum": [3, 0, 0]}}
    assert stage.refusal("constraint.set", change)[0]["pointer"] == "/settings/minimum"


def test_axes_that_are_set_one_by_one_stay_different(stage: Stage) -> None:
    box(stage)
    goal(stage)
    constrained(stage, {"type": "TRACK_TO", "target": "Goal", "track_axis": "X", "up_axis": "Z"})
    change = {"object": "Box", "constraint": "Rule", "settings": {"type": "TRACK_TO", "up_axis": "X"}}
    assert stage.refusal("constraint.set", change)[0]["pointer"] == "/settings/up_axis"


def test_names_types_and_places_in_the_stack_are_checked(stage: Stage) -> None:
    box(stage)
    goal(stage)
    constrained(stage, {"type": "COPY_SCALE", "target": "Goal"})
    assert "already has" in refused(stage, {"type": "COPY_SCALE", "target": "Goal", "power": 2})[1]
    assert (
        "has no constraint" in stage.refusal("constraint.remove", {"object": "Box", "constraint": "Rul"})[0]["message"]
    )
    other = {"object": "Box", "constraint": "Rule", "settings": {"type": "TRACK_TO"}}
    assert stage.refusal("constraint.set", other)[0]["pointer"] == "/settings/type"
    assert (
        stage.refusal("constraint.set", {"object": "Box", "constraint": "Rule", "index": 1})[0]["pointer"] == "/index"
    )
    assert stage.invalid("constraint.set", {"object": "Box", "constraint": "Rule"})


def test_a_child_of_part_of_the_axes_that_would_jump_is_taken_back(stage: Stage) -> None:
    box(stage, location=[1, 2, 3])
    goal(stage, rotation_euler_deg=[30, 50, 70], location=[4, 5, 6])
    settings = {"type": "CHILD_OF", "target": "Goal", "rotation_axes": ["Z"]}
    assert refused(stage, settings)[0] == "/settings/set_inverse"


def test_a_target_without_size_has_no_inverse(stage: Stage) -> None:
    box(stage)
    goal(stage, scale=[0, 1, 1])
    assert refused(stage, {"type": "CHILD_OF", "target": "Goal"})[0] == "/settings/set_inverse"


def test_an_object_tells_its_constraints(stage: Stage) -> None:
    box(stage)
    goal(stage)
    constrained(stage, {"type": "DAMPED_TRACK", "target": "Goal", "track_axis": "X"})
    (told,) = stage.do("object.inspect", {"object": "Box"})["constraints"]
    assert (told["name"], told["type"]) == ("Rule", "DAMPED_TRACK")
    assert told["settings"]["target"] == "Goal" and told["settings"]["track_axis"] == "TRACK_X"


# ---------------------------------------------------------------------- animated


def test_influence_is_animated_and_shows_at_its_frames(stage: Stage) -> None:
    box(stage)
    goal(stage)
    constrained(stage, {"type": "COPY_LOCATION", "target": "Goal"})
    channel = {"channel": "constraint_influence", "constraint": "Rule", "interpolation": "LINEAR"}
    keys = [{**channel, "frame": 1, "value": 0}, {**channel, "frame": 11, "value": 1}]
    stage.do("animation.set_keyframes", {"object": "Box", "keys": keys})
    for frame, y in ((1, 0), (6, 2), (11, 4)):
        bpy.context.scene.frame_set(frame)
        assert place("Box").y == pytest.approx(y)
    stage.state.refresh()
    change = {"object": "Box", "constraint": "Rule", "influence": 0.5}
    assert stage.refusal("constraint.set", change)[0]["pointer"] == "/influence"
    stage.do("animation.clear", {"object": "Box", "channel": "constraint_influence", "constraint": "Rule"})
    stage.do("constraint.set", change)


def test_an_object_travels_along_a_path(stage: Stage) -> None:
    box(stage)
    stage.do("curve.create", {"name": "Wire", "kind": "POLY", "points": [[0, 0, 0], [4, 0, 0]]})
    constrained(stage, {"type": "FOLLOW_PATH", "target": "Wire", "offset_factor": 0})
    channel = {"channel": "constraint_offset_factor", "constraint": "Rule", "interpolation": "LINEAR"}
    keys = [{**channel, "frame": 1, "value": 0}, {**channel, "frame": 11, "value": 1}]
    stage.do("animation.set_keyframes", {"object": "Box", "keys": keys})
    bpy.context.scene.frame_set(6)
    assert place("Box").x == pytest.approx(2, abs=1e-3)


def test_keys_of_a_constraint_are_checked(stage: Stage) -> None:
    box(stage)
    goal(stage)
    constrained(stage, {"type": "COPY_LOCATION", "target": "Goal"})
    key: dict[str, Any] = {"object": "Box", "frame": 1, "value": 0.5, "channel": "constraint_influence"}
    wrong = [({"constraint": "Rul"}, "/constraint"), ({"constraint": "Rule", "value": 2}, "/value")]
    wrong.append(({"constraint": "Rule", "channel": "constraint_offset_factor"}, "/channel"))
    for change, pointer in wrong:
        assert stage.refusal("animation.set_keyframe", {**key, **change})[0]["pointer"] == pointer, change
    assert stage.invalid("animation.set_keyframe", key)
    assert stage.invalid("animation.set_keyframe", {**key, "constraint": "Rule", "value": [1, 2]})
    assert stage.invalid("animation.clear", {"object": "Box", "channel": "location", "constraint": "Rule"})
