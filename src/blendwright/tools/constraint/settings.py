"""The settings of each type of constraint as typed models, and which of Blender's properties each of them stands for.

One model per type, told apart by `type`. A setting that is left out keeps its value; on a new constraint that is Blender's default.
This module knows no scene: `blender_settings.py` reads and writes by it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import BoundedFloat, InnerName, PositiveFloat, optional
from blendwright.tool_api.mentions import ObjectName

Axis = Literal["X", "Y", "Z"]
Axes = Annotated[list[Axis], Field(max_length=3)]
SignedAxis = Literal["X", "Y", "Z", "-X", "-Y", "-Z"]
Space = Literal["WORLD", "LOCAL"]
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


class InSpaces(Targeted):
    owner_space: Space | None = optional("Space in which the object is changed.")
    target_space: Space | None = optional("Space in which the target is read.")


class TrackToSettings(Targeted):
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


class DampedTrackSettings(Targeted):
    """Point an axis at the target by the shortest turn."""

    type: Literal["DAMPED_TRACK"]
    track_axis: SignedAxis | None = optional("Axis that points at the target.")


class CopyLocationSettings(InSpaces):
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


class LimitDistanceSettings(Targeted):
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


Settings = Annotated[
    TrackToSettings | DampedTrackSettings | CopyLocationSettings | CopyRotationSettings | CopyScaleSettings
    | LimitLocationSettings | LimitRotationSettings | LimitScaleSettings | LimitDistanceSettings | ChildOfSettings
    | FollowPathSettings,
    Field(discriminator="type"),
]  # fmt: skip
# Without these a new constraint does nothing.
NEEDED = {"LIMIT_DISTANCE": ("target", "distance")}


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


# ---------------------------------------------------------------------- Blender's properties


@dataclass(frozen=True, slots=True)
class Property:
    """One property of a constraint that is to have a value. `name` is the setting that asks for it."""

    name: str
    attribute: str
    value: Any


Values = dict[str, Any]


def _axes(prefix: str) -> Callable[[Sequence[str]], Values]:
    return lambda axes: {f"{prefix}_{axis.lower()}": axis in axes for axis in "XYZ"}


def _limits(end: str) -> Callable[[Sequence[float | None]], Values]:
    def values(limits: Sequence[float | None]) -> Values:
        switches = {f"use_{end}_{axis}": value is not None for axis, value in zip("xyz", limits, strict=True)}
        return switches | {
            f"{end}_{axis}": value for axis, value in zip("xyz", limits, strict=True) if value is not None
        }

    return values


def _angles(end: str) -> Callable[[Sequence[float | None]], Values]:
    def values(limits: Sequence[float | None]) -> Values:
        switches = {f"use_limit_{axis}": value is not None for axis, value in zip("xyz", limits, strict=True)}
        angles = zip("xyz", limits, strict=True)
        return switches | {f"{end}_{axis}": math.radians(value) for axis, value in angles if value is not None}

    return values


def _track(axis: str) -> Values:
    return {"track_axis": f"TRACK_NEGATIVE_{axis[1]}" if len(axis) == 2 else f"TRACK_{axis}"}


def _forward(axis: str) -> Values:
    return {"forward_axis": f"TRACK_NEGATIVE_{axis[1]}" if len(axis) == 2 else f"FORWARD_{axis}"}


# Settings that are not simply the property of the same name; a name means the same in every type that has it.
SPECIAL: dict[str, Callable[[Any], Values]] = {
    "track_axis": _track,
    "forward_axis": _forward,
    "up_axis": lambda axis: {"up_axis": f"UP_{axis}"},
    "axes": _axes("use"),
    "invert_axes": _axes("invert"),
    "location_axes": _axes("use_location"),
    "rotation_axes": _axes("use_rotation"),
    "scale_axes": _axes("use_scale"),
    "minimum": _limits("min"),
    "maximum": _limits("max"),
    "minimum_deg": _angles("min"),
    "maximum_deg": _angles("max"),
    "mode": lambda mode: {"limit_mode": f"LIMITDIST_{mode.replace('_', '')}"},
    "offset_factor": lambda value: {"use_fixed_location": True, "offset_factor": value},
    "offset_frames": lambda value: {"use_fixed_location": False, "offset": value},
}
# Handled separately: the discriminator, what refers to datablocks, and what is computed from the scene.
SEPARATE = frozenset({"type", "target", "set_inverse"})


def properties(settings: ConstraintSettings) -> list[Property]:
    """The plain properties that the given settings stand for."""
    found: list[Property] = []
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if name not in SEPARATE and value is not None:
            values = SPECIAL[name](value) if name in SPECIAL else {name: value}
            found += [Property(name, attribute, each) for attribute, each in values.items()]
    return found
