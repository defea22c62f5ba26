"""A motion as keyframes: one for each frame, of location and rotation."""

from __future__ import annotations

from collections.abc import Sequence

from blendwright.tool_api import Block, Findings, Kind, Scene
from blendwright.tool_api.physics_port import Track
from blendwright.tools.animation_data import LAYERED, action_of, curve_list, rotation_channel
from blendwright.tools.checks import conflict


def motion_conflicts(scene: Scene, obj: Block, at: str) -> Findings:
    """What would move an object elsewhere than its own channels say, or has them already."""
    if obj.parent is not None:
        yield conflict(f"'{obj.name}' hangs on '{obj.parent.name}'", at, "Clear its parent with object.set_parent.")
    if len(obj.constraints):
        cure = "Remove them with constraint.remove."
        yield conflict(f"'{obj.name}' has constraints, which place it by themselves", at, cure)
    if any(obj.delta_location) or any(obj.delta_rotation_euler):
        cure = "Apply its transform with object.apply_transform."
        yield conflict(f"'{obj.name}' has a delta transform on top of its own", at, cure)
    if obj.animation_data is not None and (action_of(obj) is not None or obj.animation_data.drivers):
        yield conflict(f"'{obj.name}' is animated already", at, "Clear that first with animation.clear.")
    if obj.rotation_mode == "AXIS_ANGLE":
        cure = "Turn it by Euler angles or a quaternion with object.transform."
        yield conflict(f"'{obj.name}' is turned about an axis, which keys cannot follow", at, cure)


def channel_rows(scene: Scene, obj: Block, track: Track) -> list[list[float]]:
    """For each frame location and rotation as the object's channels hold them, each rotation next to the one before."""
    rows: list[list[float]] = []
    previous: Block | None = None
    for place, turn in track:
        rotation = scene.quaternion(turn)
        if obj.rotation_mode == "QUATERNION":
            if previous is not None and previous.dot(rotation) < 0.0:
                rotation.negate()
        else:
            if previous is None:
                near = obj.rotation_euler
            else:
                near = previous
            rotation = rotation.to_euler(obj.rotation_mode, near)
        rows.append([*place, *rotation])
        previous = rotation
    return rows


def write_keys(scene: Scene, obj: Block, start: int, rows: Sequence[Sequence[float]]) -> str:
    """Key all of them on an object that may be written into freely; the name of the new action."""
    action = scene.create(Kind.ACTION, action_name(obj))
    data = obj.animation_data or obj.animation_data_create()
    data.action = action
    if scene.version >= LAYERED:
        data.action_slot = action.slots.new(id_type="OBJECT", name=obj.name)
        strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
        strip.channelbag(data.action_slot, ensure=True)
    curves = curve_list(scene, obj)
    assert curves is not None
    width = len(rows[0]) - 3
    places = [("location", axis) for axis in range(3)] + [(rotation_channel(obj), part) for part in range(width)]
    for column, (path, index) in enumerate(places):
        curve = curves.new(path, index=index)
        curve.keyframe_points.add(len(rows))
        flat = [number for frame, row in enumerate(rows) for number in (float(start + frame), row[column])]
        curve.keyframe_points.foreach_set("co", flat)
        for key in curve.keyframe_points:
            # What new keys are like depends on the user's preferences: all of it is said here.
            key.interpolation, key.easing, key.type = "LINEAR", "AUTO", "KEYFRAME"
            key.handle_left_type = key.handle_right_type = "VECTOR"
        curve.update()
    return action.name


def action_name(obj: Block) -> str:
    return f"{obj.name}Action"
