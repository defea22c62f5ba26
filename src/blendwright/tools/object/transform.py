from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, Result, Scale3, Vector3, Vector4, optional, renamed
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_ACCUMULATING_WRITE, Idempotence
from blendwright.tools.animation_data import ROTATIONS, channel_conflicts, rotation_channel
from blendwright.tools.checks import differs, existing_object
from blendwright.tools.object_creation import radians
from blendwright.tools.settings import Setting, write_settings
from blendwright.tools.world_space import orientation

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})


class TransformArgs(Args):
    object: ObjectName = renamed("object", "name", description="Name of the object to move.")
    mode: Literal["set", "add"] = Field(
        default="set",
        description="set: the values replace the present ones. add: the location is added, the rotation is applied on top, "
        "the scale multiplies.",
    )
    location: Vector3 | None = optional("Position in metres, relative to the parent if there is one.")
    rotation_euler_deg: Vector3 | None = optional(
        "Rotation about X, Y and Z in degrees, in the object's own rotation order (XYZ unless changed)."
    )
    rotation_quaternion: Vector4 | None = optional(
        "Rotation as W, X, Y, Z (normalised automatically); switches the object to quaternions."
    )
    scale: Scale3 | None = optional("Scale along X, Y and Z.")

    @model_validator(mode="after")
    def _check_arguments(self) -> TransformArgs:
        if self.rotation_euler_deg is not None and self.rotation_quaternion is not None:
            raise PydanticCustomError("two_rotations", "give rotation_euler_deg or rotation_quaternion, not both")
        values = (self.location, self.rotation_euler_deg, self.rotation_quaternion, self.scale)
        if all(value is None for value in values):
            message = "give at least one of location, rotation_euler_deg, rotation_quaternion and scale"
            raise PydanticCustomError("nothing_asked", message)
        if self.rotation_quaternion is not None and math.hypot(*self.rotation_quaternion) < 1e-6:
            message = "rotation_quaternion must not be zero: no rotation is [1, 0, 0, 0]"
            raise PydanticCustomError("zero_quaternion", message)
        return self


class Transformed(Result):
    object: str = Field(description="Name of the object.")
    changed: bool = Field(description="False if everything already was as requested.")
    location: tuple[float, float, float] = Field(description="Position in metres, relative to the parent.")
    rotation_mode: str = Field(description="The rotation that Blender uses: an Euler order, QUATERNION or AXIS_ANGLE.")
    rotation: tuple[float, ...] = Field(
        description="X, Y, Z in degrees for an Euler order; W, X, Y, Z for QUATERNION; angle in degrees and axis for AXIS_ANGLE."
    )
    scale: tuple[float, float, float] = Field(description="Scale along X, Y and Z.")


class Transform(Tool[TransformArgs, Transformed]):
    """Move, rotate or scale an object by its channels, which are relative to its parent if it has one."""

    name = "object.transform"
    promises = SAFE_ACCUMULATING_WRITE.writes_to(Kind.OBJECT).needs("object_write")
    examples = (
        Example({"object": "Box", "location": [1, 2, 0.5], "scale": [1, 1, 2]}, CUBE),
        Example({"object": "Box", "mode": "add", "location": [0, 0, 1], "rotation_euler_deg": [0, 0, 30]}, CUBE),
        Example({"object": "Box", "rotation_quaternion": [0.7071068, 0, 0, 0.7071068]}, CUBE),
    )

    def idempotence_for(self, args: TransformArgs) -> Idempotence:
        if args.mode == "set":
            return Idempotence.IDEMPOTENT
        return Idempotence.ACCUMULATING

    def check(self, scene: Scene, args: TransformArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object")
        if obj is None:
            return
        if args.location is not None:
            yield from channel_conflicts(scene, obj, "location", "/location")
        if args.scale is not None:
            yield from channel_conflicts(scene, obj, "scale", "/scale")
        if args.rotation_euler_deg is not None:
            yield from channel_conflicts(scene, obj, rotation_channel(obj), "/rotation_euler_deg")
        if args.rotation_quaternion is not None:
            # Keyframes of the old rotation mode would have no effect after the switch.
            for channel in ("rotation_quaternion", "rotation_euler", "rotation_axis_angle"):
                yield from channel_conflicts(scene, obj, channel, "/rotation_quaternion")

    def apply(self, scene: Scene, args: TransformArgs) -> Transformed:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        requested = _requested(scene, args, obj)
        # Also write values that are nearly right, so that the result does not depend on the previous values.
        changed = write_settings(scene, [Setting(obj, channel, value, "") for channel, value in requested.items()])
        values = {**_channels(obj), **requested}
        mode = values["rotation_mode"]
        return Transformed(
            object=args.object,
            changed=changed,
            location=values["location"],
            rotation_mode=mode,
            rotation=_in_degrees(mode, values[ROTATIONS.get(mode, "rotation_euler")]),
            scale=values["scale"],
        )

    def verify(self, scene: Scene, args: TransformArgs, result: Transformed) -> Findings:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        actual = _channels(obj)
        yield from differs("its location", result.location, actual["location"], "/location")
        yield from differs("its scale", result.scale, actual["scale"], "/scale")
        yield from differs("its rotation mode", result.rotation_mode, actual["rotation_mode"], "/rotation_quaternion")
        mode = result.rotation_mode
        rotation = _in_degrees(mode, actual[ROTATIONS.get(mode, "rotation_euler")])
        if args.rotation_quaternion is None:
            pointer = "/rotation_euler_deg"
        else:
            pointer = "/rotation_quaternion"
        yield from differs("its rotation", result.rotation, rotation, pointer)


def _requested(scene: Scene, args: TransformArgs, obj: Block) -> dict[str, Any]:
    """Return the channels to write with their new values."""
    add = args.mode == "add"
    requested: dict[str, Any] = {}
    if args.location is not None:
        if add:
            requested["location"] = _combined(sum, obj.location, args.location)
        else:
            requested["location"] = args.location
    if args.rotation_quaternion is not None:
        rotation = scene.quaternion(args.rotation_quaternion).normalized()
        if add:
            rotation = rotation @ orientation(scene, obj)
        requested["rotation_mode"] = "QUATERNION"
        requested["rotation_quaternion"] = tuple(rotation)
    if args.rotation_euler_deg is not None:
        requested.update(_euler(scene, obj, radians(args.rotation_euler_deg), add))
    if args.scale is not None:
        if add:
            requested["scale"] = _combined(math.prod, obj.scale, args.scale)
        else:
            requested["scale"] = args.scale
    return requested


def _euler(scene: Scene, obj: Block, angles: tuple[float, ...], add: bool) -> dict[str, Any]:
    """Return the rotation channel of the object's rotation mode with its new value. `angles` are in radians."""
    mode = obj.rotation_mode
    if mode not in ROTATIONS:
        if add:
            angles = _combined(sum, obj.rotation_euler, angles)
        return {"rotation_euler": angles}
    rotation = scene.euler(angles).to_quaternion()
    if add:
        rotation = rotation @ orientation(scene, obj)
    if mode == "QUATERNION":
        return {"rotation_quaternion": tuple(rotation)}
    axis, angle = rotation.to_axis_angle()
    return {"rotation_axis_angle": (angle, *axis)}


def _combined(combine: Any, current: Sequence[float], change: Sequence[float]) -> tuple[float, ...]:
    return tuple(combine(pair) for pair in zip(current, change, strict=True))


def _channels(obj: Block) -> dict[str, Any]:
    channels: dict[str, Any] = {"rotation_mode": obj.rotation_mode}
    for name in ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"):
        channels[name] = tuple(getattr(obj, name))
    return channels


def _in_degrees(mode: str, rotation: Sequence[float]) -> tuple[float, ...]:
    if mode == "QUATERNION":
        return tuple(rotation)
    if mode == "AXIS_ANGLE":
        return (math.degrees(rotation[0]), *rotation[1:])
    return tuple(math.degrees(angle) for angle in rotation)
