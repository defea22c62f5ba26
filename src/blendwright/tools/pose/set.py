from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Args, Block, Example, Findings, Kind, Result, Scene
from blendwright.tool_api.arguments import BoundedFloat, InnerName, UnitFloat, Vector3, Vector4, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.animation_data import channel_conflicts
from blendwright.tools.bones import bone_ends, existing_bone, pose_bone
from blendwright.tools.checks import invalid
from blendwright.tools.object_creation import radians
from blendwright.tools.settings import SetsObjectSettings, Setting, Settings

RIG = (
    "armature.create",
    {
        "name": "Rig",
        "bones": [
            {"name": "Upper", "head": [0, 0, 0], "tail": [0, 0, 1]},
            {"name": "Lower", "tail": [0, 0, 2], "parent": "Upper", "connected": True},
        ],
    },
)
BENT = ("pose.set", {"object": "Rig", "bones": [{"name": "Lower", "rotation_euler_deg": [20, 0, 0]}]})
ROTATIONS = ("rotation_euler", "rotation_quaternion", "rotation_axis_angle")
AT_REST: dict[str, tuple[str, tuple[float, ...]]] = {
    "QUATERNION": ("rotation_quaternion", (1.0, 0.0, 0.0, 0.0)),
    "AXIS_ANGLE": ("rotation_axis_angle", (0.0, 0.0, 1.0, 0.0)),
}
EULER_AT_REST = ("rotation_euler", (0.0, 0.0, 0.0))
Degrees = Annotated[float, Field(ge=-180.0, le=180.0)]
Limits = Annotated[tuple[Degrees | None, Degrees | None, Degrees | None], Field(strict=False)]
# Full stiffness would make Blender divide by zero, so Blender accepts at most 0.99.
Stiffness = Annotated[float, Field(ge=0.0, le=0.99)]
StiffnessAxes = Annotated[tuple[Stiffness, Stiffness, Stiffness], Field(strict=False)]


class BonePose(BaseModel):
    """The pose of one bone, relative to its rest pose; omitted parts stay unchanged."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    name: InnerName = Field(min_length=1, description="Name of the bone.")
    location: Vector3 | None = optional("Offset along its own axes, in metres; no effect on connected bones.")
    rotation_euler_deg: Vector3 | None = optional(
        "Rotation about its own X, Y and Z in degrees; Y is its length. Its rotation mode becomes XYZ."
    )
    rotation_quaternion: Vector4 | None = optional("Rotation as W, X, Y, Z; its rotation mode becomes QUATERNION.")
    scale: Vector3 | None = optional("Scale along its own axes.")
    ik_axes: Annotated[list[Literal["X", "Y", "Z"]], Field(max_length=3)] | None = optional(
        "Own axes about which IK may rotate it; a hinge has one."
    )
    ik_minimum_deg: Limits | None = optional("Smallest angle about X, Y and Z by IK, -180 to 0; null for no limit.")
    ik_maximum_deg: Limits | None = optional("Largest angle by IK, 0 to 180; null for the same axes.")
    ik_stiffness: StiffnessAxes | None = optional("Resistance to IK about X, Y and Z.")
    ik_stretch: UnitFloat | None = optional("How far IK may stretch it; 0 is not at all.")

    @model_validator(mode="after")
    def _check_rotations_and_limits(self) -> BonePose:
        if self.rotation_euler_deg is not None and self.rotation_quaternion is not None:
            raise PydanticCustomError("two_rotations", "give rotation_euler_deg or rotation_quaternion, not both")
        if self.rotation_quaternion is not None and math.hypot(*self.rotation_quaternion) < 1e-6:
            raise PydanticCustomError(
                "no_rotation", "rotation_quaternion must not be zero: no rotation is [1, 0, 0, 0]"
            )
        no_limits = (None, None, None)
        low, high = self.ik_minimum_deg or no_limits, self.ik_maximum_deg or no_limits
        if [value is None for value in low] != [value is None for value in high]:
            message = "each axis must have both ik_minimum_deg and ik_maximum_deg, or null in both"
            raise PydanticCustomError("half_limits", message)
        if any((value or 0) > 0 for value in low) or any((value or 0) < 0 for value in high):
            message = "IK limits must include the rest pose: minimum at most 0, maximum at least 0"
            raise PydanticCustomError("off_rest", message)
        return self


class SetPoseArgs(Args):
    object: ObjectName = Field(description="Name of the armature object.")
    bones: Annotated[list[BonePose], Field(max_length=1000)] = Field(default=[], description="The bones to pose.")
    to_rest: bool = Field(default=False, description="First reset all bones to the rest pose; IK settings stay.")

    @model_validator(mode="after")
    def _require_a_change(self) -> SetPoseArgs:
        if not self.bones and not self.to_rest:
            raise PydanticCustomError("nothing_asked", "give bones, to_rest, or both")
        return self


class PosedBone(Result):
    name: str = Field(description="Name of the bone.")
    head: list[BoundedFloat] | None = Field(description="World position of its head, with IK and constraints.")
    tail: list[BoundedFloat] | None = Field(description="World position of its tail; null if the armature is hidden.")


class PoseChanged(Result):
    object: str = Field(description="Name of the armature object.")
    changed: bool = Field(description="False if everything already was as requested.")
    bones: list[PosedBone] = Field(description="The bones in the arguments, after the call.")


class SetPose(SetsObjectSettings[SetPoseArgs, PoseChanged]):
    """Pose bones of an armature: location, rotation, scale, IK limits; several in one call, or back to the rest pose.

    IK and other constraints of a bone apply on top of its pose.
    """

    name = "pose.set"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT).needs("object_write")
    examples = (
        Example(
            {
                "object": "Rig",
                "bones": [
                    {"name": "Upper", "rotation_euler_deg": [0, 0, 30], "location": [0, 0.1, 0]},
                    {"name": "Lower", "rotation_quaternion": [0.9, 0.1, 0, 0], "scale": [1, 2, 1]},
                ],
            },
            RIG,
        ),
        Example(
            {
                "object": "Rig",
                "bones": [
                    {"name": "Lower", "ik_axes": ["X"], "ik_minimum_deg": [-120, None, None], "ik_stretch": 0.1,
                     "ik_maximum_deg": [0, None, None], "ik_stiffness": [0.2, 0, 0]},
                ],
            },
            RIG,
        ),
        Example({"object": "Rig", "to_rest": True, "bones": [{"name": "Upper", "scale": [2, 2, 2]}]}, RIG, BENT),
    )  # fmt: skip

    object_types = ("ARMATURE",)

    def problems(self, scene: Scene, args: SetPoseArgs, target: Block) -> Findings:
        first_numbers: dict[str, int] = {}
        for number, pose in enumerate(args.bones):
            at = f"/bones/{number}"
            first_number = first_numbers.setdefault(pose.name, number)
            if first_number != number:
                message = f"/bones/{first_number} already poses '{pose.name}'"
                yield invalid(message, f"{at}/name", "Name each bone once.")
            bone = yield from existing_bone(scene, target, pose.name, f"{at}/name")
            if bone is not None and (pose.rotation_euler_deg or pose.rotation_quaternion) is not None:
                # A change of the rotation mode changes which channels have an effect.
                if pose.rotation_euler_deg is None:
                    field = "rotation_quaternion"
                else:
                    field = "rotation_euler_deg"
                for channel in ROTATIONS:
                    yield from channel_conflicts(scene, target, bone.path_from_id(channel), f"{at}/{field}")

    def settings(self, scene: Scene, args: SetPoseArgs, target: Block) -> Settings:
        if args.to_rest:
            poses = {pose.name: pose for pose in args.bones}
            for bone in target.data.bones:
                yield from _rest(pose_bone(scene, target, bone.name), poses.get(bone.name))
        for number, pose in enumerate(args.bones):
            yield from _pose(pose_bone(scene, target, pose.name), pose, f"/bones/{number}")

    def result(self, scene: Scene, args: SetPoseArgs, target: Block, changed: bool) -> PoseChanged:
        posed: list[PosedBone] = []
        for pose in args.bones:
            head = tail = None
            ends = bone_ends(scene, target, pose.name)
            if ends is not None:
                head, tail = _numbers(ends[0]), _numbers(ends[1])
            posed.append(PosedBone(name=pose.name, head=head, tail=tail))
        return PoseChanged(object=target.name, changed=changed, bones=posed)


def _rest(bone: Block, pose: BonePose | None) -> Settings:
    """Yield the settings of a bone at rest, without the channels that `pose` sets."""
    if pose is None or pose.location is None:
        yield Setting(bone, "location", (0.0, 0.0, 0.0), "/to_rest")
    if pose is None or (pose.rotation_euler_deg is None and pose.rotation_quaternion is None):
        yield Setting(bone, *AT_REST.get(bone.rotation_mode, EULER_AT_REST), "/to_rest")
    if pose is None or pose.scale is None:
        yield Setting(bone, "scale", (1.0, 1.0, 1.0), "/to_rest")


def _pose(bone: Block, pose: BonePose, at: str) -> Settings:
    if pose.location is not None:
        yield Setting(bone, "location", pose.location, f"{at}/location")
    if pose.rotation_euler_deg is not None:
        yield Setting(bone, "rotation_mode", "XYZ", f"{at}/rotation_euler_deg")
        yield Setting(bone, "rotation_euler", radians(pose.rotation_euler_deg), f"{at}/rotation_euler_deg")
    if pose.rotation_quaternion is not None:
        length = math.hypot(*pose.rotation_quaternion)
        rotation = tuple(value / length for value in pose.rotation_quaternion)
        yield Setting(bone, "rotation_mode", "QUATERNION", f"{at}/rotation_quaternion")
        yield Setting(bone, "rotation_quaternion", rotation, f"{at}/rotation_quaternion")
    if pose.scale is not None:
        yield Setting(bone, "scale", pose.scale, f"{at}/scale")
    if pose.ik_axes is not None:
        for axis in "XYZ":
            yield Setting(bone, f"lock_ik_{axis.lower()}", axis not in pose.ik_axes, f"{at}/ik_axes")
    for end, limits in (("min", pose.ik_minimum_deg), ("max", pose.ik_maximum_deg)):
        yield from _limits(bone, end, limits, f"{at}/ik_{end}imum_deg")
    if pose.ik_stiffness is not None:
        for axis, value in zip("xyz", pose.ik_stiffness, strict=True):
            yield Setting(bone, f"ik_stiffness_{axis}", value, f"{at}/ik_stiffness")
    if pose.ik_stretch is not None:
        yield Setting(bone, "ik_stretch", pose.ik_stretch, f"{at}/ik_stretch")


def _limits(bone: Block, end: str, limits: Sequence[float | None] | None, at: str) -> Settings:
    for axis, value in zip("xyz", limits or (), strict=False):
        yield Setting(bone, f"use_ik_limit_{axis}", value is not None, at)
        if value is not None:
            yield Setting(bone, f"ik_{end}_{axis}", math.radians(value), at)


def _numbers(point: Any) -> list[float]:
    return [value + 0.0 for value in point]
