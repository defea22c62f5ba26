"""The settings of each type of constraint as typed models.

One model per type, told apart by `type`. A setting that is left out keeps its value; on a new constraint that is Blender's default.
This module knows no scene: `blender_settings.py` reads and writes by it, `properties.py` has Blender's names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import BoundedFloat, InnerName, PositiveFloat, UnitFloat, optional
from blendwright.tool_api.mentions import ObjectName

Axis = Literal["X", "Y", "Z"]
Axes = Annotated[list[Axis], Field(max_length=3)]
SignedAxis = Literal["X", "Y", "Z", "-X", "-Y", "-Z"]
Space = Literal["WORLD", "LOCAL", "POSE", "LOCAL_WITH_PARENT"]
# Spaces that only bones have.
OF_BONES = frozenset({"POSE", "LOCAL_WITH_PARENT"})
Limits = Annotated[tuple[BoundedFloat | None, BoundedFloat | None, BoundedFloat | None], Field(strict=False)]
SUBTARGET = "Bone of an armature, or vertex group of a mesh, that is meant instead of the whole target; an empty name means none."


class ConstraintSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    def for_new(self) -> Self:
        """The settings of a new constraint: what follows from those that were given."""
        return self


class Targeted(ConstraintSettings):
    target: ObjectName | None = optional("Object that it depends on; needed on a new constraint.")
    subtarget: InnerName | None = optional(SUBTARGET)


class AtPoint(Targeted):
    head_tail: UnitFloat | None = optional("Of a target bone: 0 is its head, 1 its tail.")


class InSpaces(Targeted):
    owner_space: Space | None = optional("Space in which the object is changed; the last two are of bones.")
    target_space: Space | None = optional("Space in which the target is read; the last two are of bones.")


class TrackToSettings(AtPoint):
    """Point an axis at the target, with another axis up."""

    type: Literal["TRACK_TO"]
    track_axis: SignedAxis | None = optional("Axis that points at the target; -Z for cameras and lights.")
    up_axis: Axis | None = optional("Axis that points up; another one than track_axis. Y for cameras and lights.")
    use_target_z: bool | None = optional("Up is the target's Z instead of the world's.")

    @model_validator(mode="after")
    def _two_axes(self) -> TrackToSettings:
        refuse_same_axis(self.track_axis, self.up_axis, "track_axis")
        return self

    def for_new(self) -> Self:
        pointing, up = two_axes(self.track_axis, self.up_axis, ("-Z", "Y"), otherwise="Y")
        return self.model_copy(update={"track_axis": pointing, "up_axis": up})


class DampedTrackSettings(AtPoint):
    """Point an axis at the target by the shortest turn."""

    type: Literal["DAMPED_TRACK"]
    track_axis: SignedAxis | None = optional("Axis that points at the target.")


class CopyLocationSettings(InSpaces, AtPoint):
    """Stand where the target stands."""

    type: Literal["COPY_LOCATION"]
    axes: Axes | None = optional("Axes that are copied.")
    invert_axes: Axes | None = optional("Axes that are copied with the opposite sign.")
    use_offset: bool | None = optional("Add the object's own location.")


class CopyRotationSettings(InSpaces):
    """Turn as the target turns."""

    type: Literal["COPY_ROTATION"]
    axes: Axes | None = optional("Axes that are copied.")
    invert_axes: Axes | None = optional("Axes that are copied with the opposite sign.")
    mix_mode: Literal["REPLACE", "ADD", "BEFORE", "AFTER"] | None = optional(
        "How it goes with the object's own rotation."
    )


class CopyScaleSettings(InSpaces):
    """Have the size of the target."""

    type: Literal["COPY_SCALE"]
    axes: Axes | None = optional("Axes that are copied.")
    power: BoundedFloat | None = optional("The target's scale is raised to this power.")
    use_make_uniform: bool | None = optional("The change of volume, in all axes alike.")
    use_offset: bool | None = optional("Combine it with the object's own scale.")


class CopyTransformsSettings(InSpaces, AtPoint):
    """Have location, rotation and scale of the target."""

    type: Literal["COPY_TRANSFORMS"]
    mix_mode: (
        Literal["REPLACE", "BEFORE_FULL", "BEFORE", "BEFORE_SPLIT", "AFTER_FULL", "AFTER", "AFTER_SPLIT"] | None
    ) = optional("How it goes with its own transform.")


class StretchToSettings(AtPoint):
    """Point Y at the target and stretch to reach it: pistons, cables, limbs."""

    type: Literal["STRETCH_TO"]
    rest_length: PositiveFloat | None = optional(
        "Length without stretch in metres; that of the bone, or the present distance, when left out on a new one."
    )
    bulge: Annotated[float, Field(ge=0.0, le=100.0)] | None = optional("How much it gets thinner when it stretches.")
    volume: Literal["XZ", "X", "Z", "NONE"] | None = optional("Axes in which it gets thinner.")
    keep_axis: Literal["PLANE_X", "PLANE_Z", "SWING_Y"] | None = optional("How it turns towards the target.")


class Limiting(ConstraintSettings):
    owner_space: Space | None = optional("Space in which the limits count.")
    use_transform_limit: bool | None = optional("Interactive tools keep to the limits too.")


class LimitLocationSettings(Limiting):
    """Keep the location between limits."""

    type: Literal["LIMIT_LOCATION"]
    minimum: Limits | None = optional("Least X, Y and Z in metres; null for an axis without limit.")
    maximum: Limits | None = optional("Greatest X, Y and Z in metres; null for an axis without limit.")

    @model_validator(mode="after")
    def _ordered(self) -> LimitLocationSettings:
        refuse_crossed_limits(self.minimum, self.maximum)
        return self


class LimitScaleSettings(Limiting):
    """Keep the scale between limits."""

    type: Literal["LIMIT_SCALE"]
    minimum: Limits | None = optional("Least scale in X, Y and Z, -1000 to 1000; null for an axis without limit.")
    maximum: Limits | None = optional("Greatest scale in X, Y and Z, -1000 to 1000; null for an axis without limit.")

    @model_validator(mode="after")
    def _ordered(self) -> LimitScaleSettings:
        refuse_crossed_limits(self.minimum, self.maximum, most=1000)
        return self


class LimitRotationSettings(Limiting):
    """Keep the rotation between limits."""

    type: Literal["LIMIT_ROTATION"]
    minimum_deg: Limits | None = optional("Least angle about X, Y and Z in degrees; null for an axis without limits.")
    maximum_deg: Limits | None = optional("Greatest angle about X, Y and Z in degrees; null for the same axes.")

    @model_validator(mode="after")
    def _pairs(self) -> LimitRotationSettings:
        low, high = self.minimum_deg, self.maximum_deg
        none = (None, None, None)
        if [value is None for value in low or none] != [value is None for value in high or none]:
            raise PydanticCustomError("half_limits", "an axis has both minimum_deg and maximum_deg, or null in both")
        refuse_crossed_limits(low, high, most=3600)
        return self


class LimitDistanceSettings(AtPoint):
    """Keep a distance from the target."""

    type: Literal["LIMIT_DISTANCE"]
    distance: PositiveFloat | None = optional("The distance in metres; needed on a new constraint.")
    mode: Literal["INSIDE", "OUTSIDE", "ON_SURFACE"] | None = optional("At most, at least, or just so far away.")


class ChildOfSettings(Targeted):
    """Follow the target as its child would, as long as the constraint has influence."""

    type: Literal["CHILD_OF"]
    location_axes: Axes | None = optional("Axes in which its location follows.")
    rotation_axes: Axes | None = optional("Axes in which its rotation follows.")
    scale_axes: Axes | None = optional("Axes in which its scale follows.")
    set_inverse: bool | None = optional(
        "true: take the target's present transform as rest, so that nothing jumps (the default of a new constraint). "
        "false: the object's channels are relative to the target."
    )


class FollowPathSettings(ConstraintSettings):
    """Stand on a curve, or travel along it. The object's own location is added to the place on the curve."""

    type: Literal["FOLLOW_PATH"]
    target: ObjectName | None = optional("Curve object to follow; needed on a new constraint.")
    offset_factor: BoundedFloat | None = optional(
        "Place on the curve, 0 is its start and 1 its end; animate this one to travel."
    )
    offset_frames: Annotated[float, Field(ge=-1_048_574, le=1_048_574)] | None = optional(
        "Instead of offset_factor: offset in frames from the curve's own evaluation time."
    )
    use_curve_follow: bool | None = optional("Turn along with the curve.")
    forward_axis: SignedAxis | None = optional("Axis that points along the curve.")
    up_axis: Axis | None = optional("Axis that points up; another one than forward_axis.")
    use_curve_radius: bool | None = optional("Scale by the radius of the curve.")

    @model_validator(mode="after")
    def _one_offset_two_axes(self) -> FollowPathSettings:
        if self.offset_factor is not None and self.offset_frames is not None:
            raise PydanticCustomError("two_offsets", "give offset_factor or offset_frames, not both")
        refuse_same_axis(self.forward_axis, self.up_axis, "forward_axis")
        return self

    def for_new(self) -> Self:
        pointing, up = two_axes(self.forward_axis, self.up_axis, ("Y", "Z"), otherwise="X")
        return self.model_copy(update={"forward_axis": pointing, "up_axis": up})


class InverseKinematicsSettings(ConstraintSettings):
    """IK, for bones: turn a chain of bones so that the end of this one reaches the target."""

    type: Literal["IK"]
    target: ObjectName | None = optional("Object to reach, such as an empty; needed on a new constraint.")
    subtarget: InnerName | None = optional("Bone of the target to reach instead; it must not follow the chain.")
    chain_count: Annotated[int, Field(ge=0, le=255)] | None = optional(
        "How many bones turn, from this one up through its parents; 0 for all."
    )
    pole_target: ObjectName | None = optional("Object that elbow or knee points at.")
    pole_subtarget: InnerName | None = optional("Bone of the pole target instead.")
    pole_angle_deg: Annotated[float, Field(ge=-180.0, le=180.0)] | None = optional(
        "Turn about the line to the target; when left out with a new pole_target, as the chain lies at rest."
    )
    use_tail: bool | None = optional("Whether this bone itself turns, and its tail reaches; else its head.")
    use_stretch: bool | None = optional("Bones that have ik_stretch may stretch.")
    use_rotation: bool | None = optional("The end of the chain also turns as the target does.")
    weight: Annotated[float, Field(ge=0.01, le=1.0)] | None = optional("How much it counts among several IKs.")
    orient_weight: Annotated[float, Field(ge=0.01, le=1.0)] | None = optional("How much use_rotation counts.")
    iterations: Annotated[int, Field(ge=0, le=10_000)] | None = optional("How often the solver tries.")


class SplineIkSettings(ConstraintSettings):
    """For bones: lay a chain of bones along a curve, as tentacles, cables and spines."""

    type: Literal["SPLINE_IK"]
    target: ObjectName | None = optional("Curve object to lie along; needed on a new constraint.")
    chain_count: Annotated[int, Field(ge=1, le=255)] | None = optional(
        "How many bones lie along it, from this one up through its parents."
    )
    use_chain_offset: bool | None = optional("The chain begins where its first bone is.")
    use_even_divisions: bool | None = optional("All bones are as long as each other.")
    use_curve_radius: bool | None = optional("Bones are as thick as the curve.")
    y_scale_mode: Literal["NONE", "FIT_CURVE", "BONE_ORIGINAL"] | None = optional("How long bones are.")


Settings = Annotated[
    TrackToSettings | DampedTrackSettings | CopyLocationSettings | CopyRotationSettings | CopyScaleSettings
    | LimitLocationSettings | LimitRotationSettings | LimitScaleSettings | LimitDistanceSettings | ChildOfSettings
    | FollowPathSettings | CopyTransformsSettings | StretchToSettings | InverseKinematicsSettings | SplineIkSettings,
    Field(discriminator="type"),
]  # fmt: skip
# Types that only bones have.
BONES_ONLY = frozenset({"IK", "SPLINE_IK"})
# Types whose target is a curve.
CURVE_TYPES = frozenset({"FOLLOW_PATH", "SPLINE_IK"})
# Without these a new constraint does nothing.
NEEDED = {"LIMIT_DISTANCE": ("target", "distance"), "SPLINE_IK": ("target", "chain_count")}


def needed_on_new(settings: ConstraintSettings) -> tuple[str, ...]:
    by_type = NEEDED.get(getattr(settings, "type", ""))
    return by_type or (("target",) if "target" in type(settings).model_fields else ())


def refuse_same_axis(pointing: str | None, up: str | None, name: str) -> None:
    if pointing is not None and up is not None and pointing[-1] == up:
        raise PydanticCustomError("same_axis", "up_axis must be another axis than {name}", {"name": name})


def two_axes(pointing: str | None, up: str | None, usual: tuple[str, str], otherwise: str) -> tuple[str, str]:
    """The axis that points somewhere and the one that is up, the usual ones where they go with what is given."""
    if pointing is None:
        return (usual[0] if up is None or usual[0][-1] != up else otherwise), up or usual[1]
    return pointing, up or ("Z" if pointing[-1] != "Z" else "Y")


def refuse_crossed_limits(
    low: Sequence[float | None] | None, high: Sequence[float | None] | None, most: float | None = None
) -> None:
    for axis, least, greatest in zip("XYZ", low or (None,) * 3, high or (None,) * 3, strict=True):
        if least is not None and greatest is not None and least > greatest:
            raise PydanticCustomError("crossed_limits", "the minimum of {axis} is above its maximum", {"axis": axis})
        if most is not None and any(value is not None and abs(value) > most for value in (least, greatest)):
            raise PydanticCustomError("far_limit", "the limits of {axis} go up to {most}", {"axis": axis, "most": most})
