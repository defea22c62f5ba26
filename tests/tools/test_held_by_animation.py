"""Values that keyframes or drivers would overwrite at the next evaluation: every tool that writes such a channel refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.tools.modifier.stored_inputs import data_path
from tools.objects import box, named, place

if TYPE_CHECKING:
    from support.stage.stage import Stage

TURNING = ["rotation_euler"]
MOVING = ["location"]
# The channels of the camera or the box that are keyframed, a call that would write them, and where it is refused.
PLACING: list[tuple[str, list[str], str, dict[str, Any], str]] = [
    ("Box", MOVING, "place.align", {"objects": ["Box"], "axis": "Z", "value": 7}, "/objects/0"),
    (
        "Box",
        MOVING,
        "place.distribute",
        {"objects": ["Ball", "Box"], "start": [0, 0, 3], "end": [3, 3, 3]},
        "/objects/1",
    ),
    ("Box", MOVING, "place.around", {"object": "Box", "targets": ["Ball"], "face": False}, "/object"),
    ("Box", TURNING, "place.around", {"object": "Box", "targets": ["Ball"]}, "/object"),
    ("Box", MOVING, "place.on_surface", {"object": "Box", "target": "Floor"}, "/object"),
    ("Box", TURNING, "place.on_surface", {"object": "Box", "target": "Floor", "align_to_normal": True}, "/object"),
    ("Box", MOVING, "object.duplicate_grid", {"object": "Box", "prefix": "Tile", "rows": 1}, "/object"),
    ("Camera", TURNING, "camera.look_at", {"object": "Camera", "target": "Box"}, "/object"),
    ("Camera", MOVING, "camera.frame_objects", {"object": "Camera", "objects": ["Box"]}, "/object"),
    ("Camera", TURNING, "camera.frame_objects", {"object": "Camera", "view": "FRONT"}, "/object"),
]
# What these calls leave alone may be animated.
FREE: list[tuple[str, list[str], str, dict[str, Any]]] = [
    ("Box", TURNING, "place.around", {"object": "Box", "targets": ["Ball"], "face": False}),
    ("Box", TURNING, "place.on_surface", {"object": "Box", "target": "Floor"}),
    ("Box", TURNING, "object.duplicate_grid", {"object": "Box", "prefix": "Tile", "rows": 1}),
    ("Camera", MOVING, "camera.look_at", {"object": "Camera", "target": "Box"}),
    ("Camera", TURNING, "camera.frame_objects", {"object": "Camera", "objects": ["Box"]}),
]


@pytest.fixture
def set_up(stage: Stage) -> Stage:
    box(stage, "Box", location=[0, 0, 3])
    box(stage, "Ball", location=[9, 0, 0])
    stage.do("mesh.create_primitive", {"kind": "plane", "name": "Floor", "size": 40})
    stage.do("camera.create", {"name": "Camera", "location": [0, -10, 0], "rotation_euler_deg": [80, 0, 0]})
    return stage


@pytest.mark.parametrize(("name", "channels", "tool", "args", "pointer"), PLACING)
def test_what_is_keyframed_or_driven_is_not_placed(
    set_up: Stage, name: str, channels: list[str], tool: str, args: dict[str, Any], pointer: str
) -> None:
    for channel in channels:
        named(name).keyframe_insert(channel, frame=1)
    set_up.state.refresh()
    (finding,) = set_up.refusal(tool, args)
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", pointer)
    assert "animation.clear" in finding["cure"]
    named(name).animation_data_clear()
    named(name).driver_add(channels[0], 0)
    set_up.state.refresh()
    (finding,) = set_up.refusal(tool, args)
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", pointer)


@pytest.mark.parametrize(("name", "channels", "tool", "args"), FREE)
def test_animation_of_another_channel_does_not_matter(
    set_up: Stage, name: str, channels: list[str], tool: str, args: dict[str, Any]
) -> None:
    for channel in channels:
        named(name).keyframe_insert(channel, frame=1)
    set_up.state.refresh()
    set_up.do(tool, args)


def test_a_copy_that_a_constraint_keeps_from_its_place_in_the_grid_is_a_failed_verification(set_up: Stage) -> None:
    named("Box").constraints.new("COPY_LOCATION").target = named("Ball")
    set_up.state.refresh()
    findings = set_up.refusal("object.duplicate_grid", {"object": "Box", "prefix": "Tile", "columns": 2, "rows": 1})
    assert [finding["code"] for finding in findings] == ["VERIFICATION_FAILED"]


def test_a_grid_under_a_turned_and_scaled_parent_is_where_it_says(set_up: Stage) -> None:
    set_up.do("object.create_empty", {"name": "Pivot", "rotation_euler_deg": [0, 0, 30], "scale": [2, 1, 1]})
    set_up.do("object.set_parent", {"object": "Box", "parent": "Pivot"})
    made = set_up.do("object.duplicate_grid", {"object": "Box", "prefix": "Tile", "columns": 2, "rows": 2})
    bpy.context.view_layer.update()
    assert tuple(place("Tile 004") - place("Box")) == pytest.approx((made["step"][0], made["step"][1], 0), abs=1e-4)


# ---------------------------------------------------------------------- settings


def test_settings_that_are_keyframed_are_not_set(set_up: Stage) -> None:
    data: Any = bpy.data
    set_up.do("light.create", {"name": "Lamp", "type": "POINT", "energy": 5})
    set_up.do("material.ensure_principled", {"name": "Red"})
    set_up.do("modifier.add", {"object": "Box", "name": "Row", "settings": {"type": "ARRAY", "count": 2}})
    data.lights["Lamp"].keyframe_insert("energy", frame=1)
    data.cameras["Camera"].keyframe_insert("lens", frame=1)
    data.cameras["Camera"].dof.keyframe_insert("focus_distance", frame=1)
    node = data.materials["Red"].node_tree.nodes["Principled BSDF"]
    node.inputs["Roughness"].keyframe_insert("default_value", frame=1)
    named("Box").modifiers["Row"].keyframe_insert("count", frame=1)
    set_up.state.refresh()
    row = {"object": "Box", "modifier": "Row", "settings": {"type": "ARRAY", "count": 5}}
    for tool, args, pointer in (
        ("light.set", {"object": "Lamp", "energy": 50}, "/energy"),
        ("light.expose", {"object": "Lamp"}, "/brightness"),
        ("camera.set", {"object": "Camera", "lens_mm": 85}, "/lens_mm"),
        ("camera.set", {"object": "Camera", "fov_deg": 40}, "/fov_deg"),
        ("camera.set", {"object": "Camera", "focus_distance": 4}, "/focus_distance"),
        ("material.ensure_principled", {"name": "Red", "roughness": 0.9}, "/roughness"),
        ("modifier.set", row, "/settings/count"),
    ):
        (finding,) = set_up.refusal(tool, args)
        assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", pointer)
    set_up.do("light.set", {"object": "Lamp", "color": [1, 0, 0]})
    set_up.do("camera.set", {"object": "Camera", "clip_end": 50})
    set_up.do("material.ensure_principled", {"name": "Red", "metallic": 1})


def test_an_orthographic_camera_whose_scale_is_keyframed_is_not_fitted(set_up: Stage) -> None:
    set_up.do("camera.set", {"object": "Camera", "projection": "ORTHO"})
    data: Any = bpy.data.cameras["Camera"]
    data.keyframe_insert("ortho_scale", frame=1)
    set_up.state.refresh()
    (finding,) = set_up.refusal("camera.frame_objects", {"object": "Camera", "objects": ["Box"]})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/object")
    assert "ortho_scale" in finding["message"]


def test_an_input_of_a_tree_that_is_keyframed_is_not_set(set_up: Stage) -> None:
    height = {"op": "set_group_io", "inputs": [{"name": "Height", "socket_type": "NodeSocketFloat"}]}
    target = {"object_name": "Box", "modifier_name": "Nodes", "node_group_name": "Tree"}
    set_up.do("geonodes.node_tree", {"target": target, "operations": [height]})
    modifier = named("Box").modifiers["Nodes"]
    identifier = modifier.node_group.interface.items_tree["Height"].identifier
    named("Box").keyframe_insert(data_path(modifier, identifier), frame=1)
    set_up.state.refresh()
    (finding,) = set_up.refusal("geonodes.set_modifier_input", {"object_name": "Box", "socket": "Height", "value": 3.0})
    assert finding["pointer"] == "/value"
    settings = {"type": "NODES", "inputs": {"Height": 3.0}}
    (finding,) = set_up.refusal("modifier.set", {"object": "Box", "modifier": "Nodes", "settings": settings})
    assert finding["pointer"] == "/settings/inputs/Height"
