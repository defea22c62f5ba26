"""Settings of each type of constraint, as typed models.

There is one model per type, selected by `type`. A setting that is left out keeps its value, or Blender's default on a
new constraint. This module does not access a scene: `blender_settings.py` reads and writes, and `properties.py` maps to
Blender's names.
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
# Spaces that exist only for bones.
OF_BONES = frozenset({"POSE", "LOCAL_WITH_PARENT"})
Limits = Annotated[tuple[BoundedFloat | None, BoundedFloat | None, BoundedFloat | None], Field(strict=False)]
SUBTARGET = "Bone or vertex group to use instead of the whole target; an empty name removes it."


class ConstraintSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    def for_new(self) -> Self:
        """Return the settings of a new constraint, completed with defaults that depend on the given ones."""
        return self


class Targeted(ConstraintSettings):
    target: ObjectName | None = optional("Target object; required for a new constraint.")
    subtarget: InnerName | None = optional(SUBTARGET)


class AtPoint(Targeted):
    head_tail: UnitFloat | None = optional("Position on a target bone: 0 is its head, 1 its tail.")


class InSpaces(Targeted):
    owner_space: Space | None = optional(
        "Space in which the owner is changed; POSE and LOCAL_WITH_PARENT are for bones."
    )
    target_space: Space | None = optional(
        "Space in which the target is read; POSE and LOCAL_WITH_PARENT are for bones."
    )


class TrackToSettings(AtPoint):
    """Point an axis at the target, with another axis up."""

    type: Literal["TRACK_TO"]
    track_axis: SignedAxis | None = optional("Axis that points at the target; -Z for cameras and lights.")
    up_axis: Axis | None = optional("Axis that points up; must differ from track_axis. Y for cameras and lights.")
    use_target_z: bool | None = optional("Use the target's Z axis as up instead of the world's.")

    @model_validator(mode="after")
    def _two_axes(self) -> TrackToSettings:
        refuse_same_axis(self.track_axis, self.up_axis, "track_axis")
        return self

    def for_new(self) -> Self:
        pointing, up = two_axes(self.track_axis, self.up_axis, ("-Z", "Y"), otherwise="Y")
        return self.model_copy(update={"track_axis": pointing, "up_axis": up})


class DampedTrackSettings(AtPoint):
    """Point an axis at the target by the shortest rotation."""

    type: Literal["DAMPED_TRACK"]
    track_axis: SignedAxis | None = optional("Axis that points at the target.")


class CopyLocationSettings(InSpaces, AtPoint):
    """Copy the target's location."""

    type: Literal["COPY_LOCATION"]
    axes: Axes | None = optional("Axes to copy.")
    invert_axes: Axes | None = optional("Axes to copy with the opposite sign.")
    use_offset: bool | None = optional("Add the object's own location.")


class CopyRotationSettings(InSpaces):
    """Copy the target's rotation."""

    type: Literal["COPY_ROTATION"]
    axes: Axes | None = optional("Axes to copy.")
    invert_axes: Axes | None = optional("Axes to copy with the opposite sign.")
    mix_mode: Literal["REPLACE", "ADD", "BEFORE", "AFTER"] | None = optional(
        "How it is combined with the owner's own rotation."
    )


class CopyScaleSettings(InSpaces):
    """Copy the target's scale."""

    type: Literal["COPY_SCALE"]
    axes: Axes | None = optional("Axes to copy.")
    power: BoundedFloat | None = optional("Exponent for the target's scale.")
    use_make_uniform: bool | None = optional("Apply the change of volume equally to all axes.")
    use_offset: bool | None = optional("Combine it with the owner's own scale.")


class CopyTransformsSettings(InSpaces, AtPoint):
    """Copy the target's location, rotation and scale."""

    type: Literal["COPY_TRANSFORMS"]
    mix_mode: (
        Literal["REPLACE", "BEFORE_FULL", "BEFORE", "BEFORE_SPLIT", "AFTER_FULL", "AFTER", "AFTER_SPLIT"] | None
    ) = optional("How it is combined with the owner's own transform.")


class StretchToSettings(AtPoint):
    """Point Y at the target and stretch to reach it: pistons, cables, limbs."""

    type: Literal["STRETCH_TO"]
    rest_length: PositiveFloat | None = optional(
        "Length without stretch in metres. Default for a new constraint: the bone's length, or the present distance."
    )
    bulge: Annotated[float, Field(ge=0.0, le=100.0)] | None = optional(
        "How much the owner becomes thinner when it stretches."
    )
    volume: Literal["XZ", "X", "Z", "NONE"] | None = optional("Axes in which it becomes thinner.")
    keep_axis: Literal["PLANE_X", "PLANE_Z", "SWING_Y"] | None = optional("How it rotates towards the target.")


class Limiting(ConstraintSettings):
    owner_space: Space | None = optional("Space of the limits.")
    use_transform_limit: bool | None = optional("Apply the limits to interactive transform tools too.")


class LimitLocationSettings(Limiting):
    """Keep the location between limits."""

    type: Literal["LIMIT_LOCATION"]
    minimum: Limits | None = optional("Minimum X, Y and Z in metres; null for an axis without limit.")
    maximum: Limits | None = optional("Maximum X, Y and Z in metres; null for an axis without limit.")

    @model_validator(mode="after")
    def _ordered(self) -> LimitLocationSettings:
        refuse_crossed_limits(self.minimum, self.maximum)
        return self


class LimitScaleSettings(Limiting):
    """Keep the scale between limits."""

    type: Literal["LIMIT_SCALE"]
    minimum: Limits | None = optional("Minimum scale in X, Y and Z, -1000 to 1000; null for an axis without limit.")
    maximum: Limits | None = optional("Maximum scale in X, Y and Z, -1000 to 1000; null for an axis without limit.")

    @model_validator(mode="after")
    def _ordered(self) -> LimitScaleSettings:
        refuse_crossed_limits(self.minimum, self.maximum, most=1000)
        return self


class LimitRotationSettings(Limiting):
    """Keep the rotation between limits."""

    type: Literal["LIMIT_ROTATION"]
    minimum_deg: Limits | None = optional("Minimum angle about X, Y and Z in degrees; null for an axis without limits.")
    maximum_deg: Limits | None = optional(
        "Maximum angle about X, Y and Z in degrees; null for the same axes as in minimum_deg."
    )

    @model_validator(mode="after")
    def _pairs(self) -> LimitRotationSettings:
        low, high = self.minimum_deg, self.maximum_deg
        none = (None, None, None)
        if [value is None for value in low or none] != [value is None for value in high or none]:
            raise PydanticCustomError(
                "half_limits", "each axis needs both minimum_deg and maximum_deg, or null in both"
            )
        refuse_crossed_limits(low, high, most=3600)
        return self


class LimitDistanceSettings(AtPoint):
    """Keep a distance from the target."""

    type: Literal["LIMIT_DISTANCE"]
    distance: PositiveFloat | None = optional("Distance in metres; required for a new constraint.")
    mode: Literal["INSIDE", "OUTSIDE", "ON_SURFACE"] | None = optional(
        "INSIDE: at most the distance. OUTSIDE: at least. ON_SURFACE: exactly."
    )


class ChildOfSettings(Targeted):
    """Follow the target like its child, in proportion to the constraint's influence."""

    type: Literal["CHILD_OF"]
    location_axes: Axes | None = optional("Axes in which the location follows.")
    rotation_axes: Axes | None = optional("Axes in which the rotation follows.")
    scale_axes: Axes | None = optional("Axes in which the scale follows.")
    set_inverse: bool | None = optional(
        "true: the target's present transform becomes the rest state, so the owner does not move (default for a new "
        "constraint). false: the owner's channels are relative to the target."
    )


class FollowPathSettings(ConstraintSettings):
    """Stay on a curve, or travel along it. The object's own location is added to the position on the curve."""

    type: Literal["FOLLOW_PATH"]
    target: ObjectName | None = optional("Curve object to follow; required for a new constraint.")
    offset_factor: BoundedFloat | None = optional(
        "Position on the curve: 0 is its start, 1 its end. Animate this setting to travel."
    )
    offset_frames: Annotated[float, Field(ge=-1_048_574, le=1_048_574)] | None = optional(
        "Instead of offset_factor: offset in frames from the curve's own evaluation time."
    )
    use_curve_follow: bool | None = optional("Rotate along the curve.")
    forward_axis: SignedAxis | None = optional("Axis that points along the curve.")
    up_axis: Axis | None = optional("Axis that points up; must differ from forward_axis.")
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
    """IK, for bones: rotate a chain of bones so that the end of this bone reaches the target."""

    type: Literal["IK"]
    target: ObjectName | None = optional("Object to reach, such as an empty; required for a new constraint.")
    subtarget: InnerName | None = optional("Bone of the target to reach instead; it must not depend on the chain.")
    chain_count: Annotated[int, Field(ge=0, le=255)] | None = optional(
        "Number of bones in the chain, from this one up through its parents; 0 for all."
    )
    pole_target: ObjectName | None = optional("Object that the elbow or knee points at.")
    pole_subtarget: InnerName | None = optional("Bone of the pole target to use instead.")
    pole_angle_deg: Annotated[float, Field(ge=-180.0, le=180.0)] | None = optional(
        "Rotation in degrees about the line to the target. Default with a new pole_target: the angle of the rest "
        "position."
    )
    use_tail: bool | None = optional(
        "True: this bone rotates too, and its tail reaches the target. False: its head does."
    )
    use_stretch: bool | None = optional("Allow bones with ik_stretch to stretch.")
    use_rotation: bool | None = optional("Also rotate the end of the chain like the target.")
    weight: Annotated[float, Field(ge=0.01, le=1.0)] | None = optional("Weight relative to other IK constraints.")
    orient_weight: Annotated[float, Field(ge=0.01, le=1.0)] | None = optional("Weight of use_rotation.")
    iterations: Annotated[int, Field(ge=0, le=10_000)] | None = optional("Maximum number of solver iterations.")


class SplineIkSettings(ConstraintSettings):
    """For bones: fit a chain of bones to a curve, as for tentacles, cables and spines."""

    type: Literal["SPLINE_IK"]
    target: ObjectName | None = optional("Curve object to fit to; required for a new constraint.")
    chain_count: Annotated[int, Field(ge=1, le=255)] | None = optional(
        "Number of bones in the chain, from this one up through its parents."
    )
    use_chain_offset: bool | None = optional("Keep the offset of the chain's first bone from the curve.")
    use_even_divisions: bool | None = optional("Make all bones equally long.")
    use_curve_radius: bool | None = optional("Scale the bones by the curve's radius.")
    y_scale_mode: Literal["NONE", "FIT_CURVE", "BONE_ORIGINAL"] | None = optional(
        "How the length of the bones is determined."
    )


Settings = Annotated[
    TrackToSettings | DampedTrackSettings | CopyLocationSettings | CopyRotationSettings | CopyScaleSettings
    | LimitLocationSettings | LimitRotationSettings | LimitScaleSettings | LimitDistanceSettings | ChildOfSettings
    | FollowPathSettings | CopyTransformsSettings | StretchToSettings | InverseKinematicsSettings | SplineIkSettings,
    Field(discriminator="type"),
]  # fmt: skip
# Types that exist only for bones.
BONES_ONLY = frozenset({"IK", "SPLINE_IK"})
# Types whose target is a curve.
CURVE_TYPES = frozenset({"FOLLOW_PATH", "SPLINE_IK"})
# Settings without which a new constraint of this type has no effect.
NEEDED = {"LIMIT_DISTANCE": ("target", "distance"), "SPLINE_IK": ("target", "chain_count")}


def needed_on_new(settings: ConstraintSettings) -> tuple[str, ...]:
    """Return the names of the settings that a new constraint of this type requires."""
    by_type = NEEDED.get(getattr(settings, "type", ""))
    if by_type:
        return by_type
    if "target" in type(settings).model_fields:
        return ("target",)
    return ()


def refuse_same_axis(pointing: str | None, up: str | None, name: str) -> None:
    if pointing is not None and up is not None and pointing[-1] == up:
        raise PydanticCustomError("same_axis", "up_axis must be another axis than {name}", {"name": name})


def two_axes(pointing: str | None, up: str | None, usual: tuple[str, str], otherwise: str) -> tuple[str, str]:
    """Return the pointing axis and the up axis, with defaults for missing ones that differ from the given one."""
    if pointing is None:
        if up is None or usual[0][-1] != up:
            return usual[0], up or usual[1]
        return otherwise, up
    if up is not None:
        return pointing, up
    if pointing[-1] == "Z":
        return pointing, "Y"
    return pointing, "Z"


def refuse_crossed_limits(
    low: Sequence[float | None] | None, high: Sequence[float | None] | None, most: float | None = None
) -> None:
    for axis, minimum, maximum in zip("XYZ", low or (None,) * 3, high or (None,) * 3, strict=True):
        if minimum is not None and maximum is not None and minimum > maximum:
            raise PydanticCustomError("crossed_limits", "the minimum of {axis} is above its maximum", {"axis": axis})
        if most is not None and any(value is not None and abs(value) > most for value in (minimum, maximum)):
            raise PydanticCustomError(
                "far_limit", "the limits of {axis} must be at most {most}", {"axis": axis, "most": most}
            )
