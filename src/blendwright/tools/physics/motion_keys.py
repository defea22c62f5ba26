"""Writing of a simulated motion as keyframes: location and rotation in every frame."""

from __future__ import annotations

from collections.abc import Sequence

from blendwright.tool_api import Block, Findings, Kind, Scene
from blendwright.tool_api.physics_port import Track
from blendwright.tools.animation_data import LAYERED, action_of, curve_list, rotation_channel
from blendwright.tools.checks import conflict


def motion_conflicts(scene: Scene, obj: Block, at: str) -> Findings:
    """Yield findings for relations that would displace an object from its keyframes, and for existing animation."""
    if obj.parent is not None:
        message = f"'{obj.name}' has the parent '{obj.parent.name}'"
        yield conflict(message, at, "Clear its parent with object.set_parent.")
    if len(obj.constraints):
        cure = "Remove them with constraint.remove."
        yield conflict(f"'{obj.name}' has constraints, which determine its position", at, cure)
    if any(obj.delta_location) or any(obj.delta_rotation_euler):
        cure = "Apply its transform with object.apply_transform."
        yield conflict(f"'{obj.name}' has a delta transform in addition to its own", at, cure)
    if obj.animation_data is not None and (action_of(obj) is not None or obj.animation_data.drivers):
        yield conflict(f"'{obj.name}' is already animated", at, "Clear its animation first with animation.clear.")
    if obj.rotation_mode == "AXIS_ANGLE":
        cure = "Switch it to Euler angles or a quaternion with object.transform."
        yield conflict(f"'{obj.name}' uses the rotation mode AXIS_ANGLE, which this tool cannot animate", at, cure)


def channel_rows(scene: Scene, obj: Block, track: Track) -> list[list[float]]:
    """Return location and rotation of each frame as values of the object's channels.

    Each rotation has the representation that is closest to the previous one.
    """
    rows: list[list[float]] = []
    previous: Block | None = None
    for location, orientation in track:
        rotation = scene.quaternion(orientation)
        if obj.rotation_mode == "QUATERNION":
            if previous is not None and previous.dot(rotation) < 0.0:
                rotation.negate()
        elif previous is None:
            rotation = rotation.to_euler(obj.rotation_mode, obj.rotation_euler)
        else:
            rotation = rotation.to_euler(obj.rotation_mode, previous)
        rows.append([*location, *rotation])
        previous = rotation
    return rows


def write_keys(scene: Scene, obj: Block, start: int, rows: Sequence[Sequence[float]]) -> str:
    """Write one key per row and channel from frame `start`. Return the name of the new action.

    The caller must have opened the object for writing.
    """
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
    channels = [("location", axis) for axis in range(3)]
    channels += [(rotation_channel(obj), part) for part in range(width)]
    for column, (path, index) in enumerate(channels):
        curve = curves.new(path, index=index)
        curve.keyframe_points.add(len(rows))
        flat: list[float] = []
        for frame, row in enumerate(rows, start):
            flat += [float(frame), row[column]]
        curve.keyframe_points.foreach_set("co", flat)
        for key in curve.keyframe_points:
            # Set everything explicitly, because the defaults of new keys depend on the user's preferences.
            key.interpolation, key.easing, key.type = "LINEAR", "AUTO", "KEYFRAME"
            key.handle_left_type = key.handle_right_type = "VECTOR"
        curve.update()
    return action.name


def action_name(obj: Block) -> str:
    return f"{obj.name}Action"
