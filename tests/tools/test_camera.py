"""Peculiar behaviour of the camera tools; what holds for all tools is in the conformance suite."""

from __future__ import annotations

import importlib
import math
from typing import TYPE_CHECKING, Any

import bpy
import pytest
from mathutils import Vector

from tools.objects import named

if TYPE_CHECKING:
    from support.stage.stage import Stage


def camera(stage: Stage, name: str = "Camera", **args: Any) -> Any:
    stage.do("camera.create", {"name": name, **args})
    return named(name)


def world(name: str) -> Any:
    bpy.context.view_layer.update()
    return named(name).matrix_world


def axis(name: str, index: int) -> Any:
    return pytest.approx(tuple(world(name).to_3x3().normalized().col[index]), abs=1e-5)


def frame(eye: str, *objects: str) -> tuple[list[float], list[float]]:
    """Where the corners of objects come to lie in the picture: 0 and 1 are its sides."""
    picture: Any = importlib.import_module("bpy_extras.object_utils")
    bpy.context.view_layer.update()
    points: list[Any] = [
        picture.world_to_camera_view(bpy.context.scene, named(eye), named(name).matrix_world @ Vector(corner))
        for name in objects
        for corner in named(name).bound_box
    ]
    return [point.x for point in points], [point.y for point in points]


# ---------------------------------------------------------------------- create and set


def test_a_field_of_view_becomes_a_focal_length_on_the_asked_sensor(stage: Stage) -> None:
    data = camera(stage, fov_deg=90, sensor_width_mm=20).data
    assert data.lens == pytest.approx(10.0)
    assert data.angle == pytest.approx(math.radians(90))
    tall = camera(stage, "Tall", fov_deg=60, sensor_fit="VERTICAL").data
    assert tall.angle == pytest.approx(math.radians(60))


def test_a_focus_or_an_f_stop_turns_depth_of_field_on(stage: Stage) -> None:
    stage.do("object.create_empty", {"name": "Pivot"})
    assert camera(stage).data.dof.use_dof is False
    assert camera(stage, "Near", fstop=1.4).data.dof.use_dof is True
    assert camera(stage, "Off", focus_object="Pivot", depth_of_field=False).data.dof.use_dof is False
    assert named("Off").data.dof.focus_object == named("Pivot")
    stage.do("camera.set", {"object": "Off", "focus_distance": 2})
    assert (named("Off").data.dof.use_dof, named("Off").data.dof.focus_object) == (True, None)


@pytest.mark.parametrize(
    ("args", "pointer"),
    [
        ({"lens_mm": 50, "fov_deg": 40}, "/fov_deg"),
        ({"clip_start": 2, "clip_end": 1}, "/clip_end"),
        ({"focus_object": "Box", "focus_distance": 1}, "/focus_distance"),
        ({"lens_mm": 0.5}, "/lens_mm"),
    ],
)
def test_contradictory_settings_are_invalid(stage: Stage, args: dict[str, Any], pointer: str) -> None:
    assert stage.invalid("camera.create", {"name": "Camera", **args}) == [pointer]
    assert stage.invalid("camera.set", {"object": "Camera", **args}) == [pointer]


def test_set_holds_a_clipping_distance_against_the_one_that_is_there(stage: Stage) -> None:
    camera(stage, clip_end=10)
    (finding,) = stage.refusal("camera.set", {"object": "Camera", "clip_start": 20})
    assert finding["pointer"] == "/clip_start"
    assert stage.do("camera.set", {"object": "Camera", "clip_start": 20, "clip_end": 30})["changed"] is True


def test_a_view_that_no_lens_has_is_refused_with_the_widest_there_is(stage: Stage) -> None:
    wide = {"fov_deg": 170, "sensor_width_mm": 10}
    (finding,) = stage.refusal("camera.create", {"name": "Camera", **wide})
    assert (finding["code"], finding["pointer"]) == ("ARGS_INVALID", "/fov_deg")
    assert "157.3 degrees" in finding["cure"]
    camera(stage, fov_deg=157.3, sensor_width_mm=10)
    (finding,) = stage.refusal("camera.set", {"object": "Camera", "fov_deg": 170})
    assert finding["pointer"] == "/fov_deg"
    (finding,) = stage.refusal(
        "camera.create", {"name": "Tall", "fov_deg": 170, "sensor_fit": "VERTICAL", "sensor_height_mm": 5}
    )
    assert finding["pointer"] == "/fov_deg"
    camera(stage, "Wide", fov_deg=170)


def test_a_missing_focus_object_gets_a_suggestion(stage: Stage) -> None:
    stage.do("object.create_empty", {"name": "Pivot"})
    (finding,) = stage.refusal("camera.create", {"name": "Camera", "focus_object": "Pivo"})
    assert (finding["pointer"], finding["cure"]) == ("/focus_object", "Did you mean 'Pivot'?")


def test_only_a_camera_becomes_the_scenes_camera(stage: Stage) -> None:
    camera(stage)
    stage.do("object.create_empty", {"name": "Pivot"})
    assert stage.refusal("camera.set_active", {"object": "Pivot"})[0]["code"] == "SCENE_CONFLICT"
    assert stage.do("camera.set_active", {"object": "Camera"})["changed"] is True
    scene: Any = bpy.context.scene
    assert scene.camera == named("Camera")
    assert stage.do("camera.set_active", {"object": "Camera"})["changed"] is False


# ---------------------------------------------------------------------- look_at


def test_it_looks_along_minus_z_with_y_up(stage: Stage) -> None:
    camera(stage, location=[0, -5, 0])
    stage.do("camera.look_at", {"object": "Camera", "point": [0, 0, 0]})
    assert axis("Camera", 2) == (0, -1, 0)
    assert axis("Camera", 1) == (0, 0, 1)
    assert tuple(world("Camera").translation) == (0, -5, 0)


@pytest.mark.parametrize(("height", "up"), [(5, (0, 1, 0)), (-5, (0, -1, 0))])
def test_straight_down_and_up_have_a_definite_up(stage: Stage, height: float, up: tuple[float, ...]) -> None:
    camera(stage, location=[0, 0, height], rotation_euler_deg=[10, 20, 30])
    stage.do("camera.look_at", {"object": "Camera", "point": [0, 0, 0]})
    assert axis("Camera", 1) == up


def test_roll_turns_it_counter_clockwise(stage: Stage) -> None:
    camera(stage, location=[0, -5, 0])
    stage.do("camera.look_at", {"object": "Camera", "point": [0, 0, 0], "roll_deg": 90})
    assert axis("Camera", 0) == (0, 0, 1)
    assert axis("Camera", 1) == (-1, 0, 0)


def test_the_middle_of_the_bounds_can_be_aimed_at(stage: Stage) -> None:
    stage.do("mesh.create", {"name": "Off", "vertices": [[2, -1, -1], [4, 1, 1], [2, 1, 0]], "faces": [[0, 1, 2]]})
    camera(stage, location=[3, -5, 0])
    stage.do("camera.look_at", {"object": "Camera", "target": "Off", "aim": "CENTER"})
    assert axis("Camera", 2) == (0, -1, 0)
    stage.do("camera.look_at", {"object": "Camera", "target": "Off"})
    assert axis("Camera", 2) == tuple(Vector((3, -5, 0)).normalized())


def test_a_child_of_a_turned_and_scaled_parent_looks_there_too_and_repeating_changes_nothing(stage: Stage) -> None:
    stage.do(
        "object.create_empty",
        {"name": "Rig", "rotation_euler_deg": [30, 40, 50], "scale": [2, 2, 2], "location": [1, 2, 3]},
    )
    camera(stage, location=[1, -2, 0])
    stage.do("object.set_parent", {"object": "Camera", "parent": "Rig"})
    place = tuple(world("Camera").translation)
    args = {"name": "Camera", "point": [0, 0, 0]}
    assert stage.do("camera.look_at", args)["changed"] is True
    assert axis("Camera", 2) == tuple(Vector(place).normalized())
    assert stage.do("camera.look_at", args)["changed"] is False


def test_it_cannot_look_at_where_it_stands_nor_at_nothing_nor_at_two_things(stage: Stage) -> None:
    camera(stage, location=[1, 2, 3])
    (finding,) = stage.refusal("camera.look_at", {"object": "Camera", "point": [1, 2, 3]})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/point")
    assert stage.invalid("camera.look_at", {"object": "Camera"}) == ["/point"]
    assert stage.invalid("camera.look_at", {"object": "Camera", "target": "Box", "point": [0, 0, 0]}) == ["/point"]


def test_a_camera_that_a_constraint_holds_is_a_failed_verification(stage: Stage) -> None:
    eye = camera(stage, location=[0, -5, 0])
    stage.do("object.create_empty", {"name": "Other", "location": [9, 9, 9]})
    constraint = eye.constraints.new("TRACK_TO")
    constraint.target = named("Other")
    stage.state.refresh()
    (finding,) = stage.refusal("camera.look_at", {"object": "Camera", "point": [0, 0, 0]})
    assert finding["code"] == "VERIFICATION_FAILED"


# ---------------------------------------------------------------------- frame_objects


def stand_two(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box", "rotation_euler_deg": [0, 0, 20]})
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Far", "location": [5, 3, 1], "size": 1})


@pytest.mark.parametrize("resolution", [[1920, 1080], [600, 1200]])
@pytest.mark.parametrize("shift", [[0, 0], [0.2, -0.1]])
def test_the_objects_fill_the_frame_up_to_the_margin(stage: Stage, resolution: list[int], shift: list[float]) -> None:
    stand_two(stage)
    camera(stage, rotation_euler_deg=[60, 0, 30], shift=shift)
    stage.do("scene.set_render", {"resolution": resolution})
    stage.do("camera.frame_objects", {"object": "Camera", "objects": ["Box", "Far"], "margin": 0.1})
    xs, ys = frame("Camera", "Box", "Far")
    sides = (min(xs), 1 - max(xs), min(ys), 1 - max(ys))
    assert min(sides) == pytest.approx(0.1, abs=1e-3)
    # In the looser direction perspective leaves them a little off the middle of the picture.
    assert sides[0] == pytest.approx(sides[1], abs=0.01)
    assert sides[2] == pytest.approx(sides[3], abs=0.01)
    assert named("Camera").rotation_euler.x == pytest.approx(math.radians(60))


@pytest.mark.parametrize("view", ["FRONT", "BACK", "LEFT", "RIGHT", "TOP", "BOTTOM", "ISO"])
def test_it_can_look_from_each_side(stage: Stage, view: str) -> None:
    stand_two(stage)
    camera(stage)
    stage.do("camera.frame_objects", {"object": "Camera", "objects": ["Box"], "view": view, "margin": 0})
    xs, ys = frame("Camera", "Box")
    assert min(*xs, *ys) >= -1e-3
    assert max(*xs, *ys) <= 1 + 1e-3
    assert max(max(xs) - min(xs), max(ys) - min(ys)) > 0.99


def test_an_orthographic_camera_gets_its_scale(stage: Stage) -> None:
    stand_two(stage)
    camera(stage, projection="ORTHO", ortho_scale=0.5, shift=[0.1, 0])
    stage.do("camera.frame_objects", {"object": "Camera", "objects": ["Box", "Far"], "view": "TOP", "margin": 0.05})
    xs, ys = frame("Camera", "Box", "Far")
    assert min(min(xs), 1 - max(xs), min(ys), 1 - max(ys)) == pytest.approx(0.05, abs=1e-3)


def test_modifiers_count_and_far_things_are_not_clipped(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    modifier = named("Box").modifiers.new("Array", "ARRAY")
    modifier.count = 1000
    stage.state.refresh()
    camera(stage)
    result = stage.do("camera.frame_objects", {"object": "Camera", "objects": ["Box"], "view": "FRONT"})
    assert result["distance"] > 2000
    assert named("Camera").data.clip_end > result["distance"]


def test_a_curve_is_framed_as_it_looks_not_with_blenders_loose_box(stage: Stage) -> None:
    points = [[-1, 0, 0], [1, 0, 0], [1, 0, 1]]
    stage.do("curve.create", {"name": "Wire", "kind": "POLY", "points": points})
    camera(stage)
    result = stage.do("camera.frame_objects", {"object": "Camera", "objects": ["Wire"], "view": "FRONT", "margin": 0})
    assert result["distance"] == pytest.approx(2 / (36 / 50), abs=0.01)


def test_framing_again_changes_nothing(stage: Stage) -> None:
    stand_two(stage)
    camera(stage, rotation_euler_deg=[60, 0, 30])
    for change in ({}, {"view": "ISO"}, {"from_direction": [1, 2, 3]}):
        args = {"name": "Camera", "objects": ["Box", "Far"], **change}
        assert stage.do("camera.frame_objects", args)["changed"] is True
        assert stage.do("camera.frame_objects", args)["changed"] is False


def test_what_moves_is_in_the_frame_at_each_of_the_frames_and_the_scene_stays_at_its_own(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    keys = [{"channel": "location", "frame": at, "value": [x, 0, 0]} for at, x in ((1, 0), (24, 12))]
    stage.do("animation.set_keyframes", {"object": "Box", "keys": keys})
    camera(stage)
    args = {"object": "Camera", "objects": ["Box"], "view": "FRONT", "frames": [1, 24], "margin": 0.1}
    assert stage.do("camera.frame_objects", args)["changed"] is True
    assert bpy.context.scene.frame_current == 1
    sides: list[float] = []
    for at in (1, 24):
        bpy.context.scene.frame_set(at)
        xs, _ = frame("Camera", "Box")
        sides += [min(xs), 1 - max(xs)]
    bpy.context.scene.frame_set(1)
    assert min(sides) == pytest.approx(0.1, abs=1e-3)
    assert stage.do("camera.frame_objects", args)["changed"] is False


def test_missing_objects_and_wrong_directions_have_their_pointers(stage: Stage) -> None:
    stand_two(stage)
    camera(stage)
    findings = stage.refusal("camera.frame_objects", {"object": "Camera", "objects": ["Box", "Bax"]})
    assert [finding["pointer"] for finding in findings] == ["/objects/1"]
    assert stage.refusal("camera.frame_objects", {"object": "Box", "objects": ["Far"]})[0]["pointer"] == "/object"
    args = {"name": "Camera", "objects": ["Box"]}
    assert stage.invalid("camera.frame_objects", {**args, "from_direction": [0, 0, 0]}) == ["/from_direction"]
    assert stage.invalid("camera.frame_objects", {**args, "view": "TOP", "from_direction": [0, 0, 1]}) == [
        "/from_direction"
    ]


# ---------------------------------------------------------------------- mirrored and flat ones


@pytest.mark.parametrize("scale", [[-1, 1, 1], [1, 1, -1], [-2, 3, 0.5], [-1, -1, -1]])
def test_a_mirrored_one_is_aimed_at_the_target_and_stays_mirrored(stage: Stage, scale: list[float]) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    stage.do("light.create", {"name": "Spot", "type": "SPOT", "location": [0, -5, 0], "scale": scale})
    camera(stage, location=[0, -5, 0], scale=scale)
    for name, tool, args in (
        ("Spot", "camera.look_at", {"object": "Spot", "target": "Box"}),
        ("Camera", "camera.look_at", {"object": "Camera", "target": "Box"}),
        ("Camera", "camera.frame_objects", {"object": "Camera", "objects": ["Box"], "view": "FRONT"}),
        ("Camera", "camera.frame_objects", {"object": "Camera", "objects": ["Box"]}),
        ("Spot", "place.around", {"object": "Spot", "targets": ["Box"]}),
    ):
        stage.do(tool, args)
        assert axis(name, 2) == (0.0, -1.0, 0.0), tool
        assert world(name).determinant() < 0.0
        sizes = [column.length for column in world(name).to_3x3().col]
        assert sizes == pytest.approx([abs(factor) for factor in scale], abs=1e-5)
        assert stage.do(tool, args)["changed"] is False


def test_a_mirrored_camera_with_a_shifted_frame_still_frames(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    camera(stage, scale=[-1, 1, 1], shift=[0.3, 0.1])
    stage.do("camera.frame_objects", {"object": "Camera", "objects": ["Box"], "view": "ISO"})


@pytest.mark.parametrize("scale", [[0, 0, 0], [1, 0, 1]])
def test_one_without_size_cannot_be_aimed(stage: Stage, scale: list[float]) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    camera(stage, location=[0, -5, 0], scale=scale)
    for tool, args, pointer in (
        ("camera.look_at", {"object": "Camera", "target": "Box"}, "/object"),
        ("camera.frame_objects", {"object": "Camera", "objects": ["Box"]}, "/object"),
        ("camera.frame_objects", {"object": "Camera", "objects": ["Box"], "view": "FRONT"}, "/object"),
        ("place.around", {"object": "Camera", "targets": ["Box"]}, "/object"),
    ):
        (finding,) = stage.refusal(tool, args)
        assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", pointer)
