"""Channels of an object that a driver can control: arguments, data paths, and lookup of the driver."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, InnerName, Result, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.scene import Block
from blendwright.tool_api.tool import Findings
from blendwright.tools.animation.channels import constraint_findings, elements
from blendwright.tools.animation_data import custom_path
from blendwright.tools.checks import conflict
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

Axis = Literal["X", "Y", "Z"]
PATHS = {"location": "location", "rotation_euler_deg": "rotation_euler", "scale": "scale"}
TRANSFORM_TYPES = {"location": "LOC", "rotation_euler_deg": "ROT", "scale": "SCALE"}


class DriverVariable(BaseModel):
    """A number in the scene that an expression can use under a name."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    object: ObjectName = Field(description="Name of the object that has the number.")
    channel: Literal["location", "rotation_euler_deg", "scale", "property"] = Field(
        description="Channel to read; rotations are in degrees. property: the custom property named by the argument "
        "property."
    )
    axis: Axis | None = optional("Axis of location, rotation or scale.")
    property: InnerName | None = optional("Key of the custom property, which must be one number.", min_length=1)
    space: Literal["local", "world"] = Field(
        default="local",
        description="local: the object's own channel. world: its world transform, including parents and constraints.",
    )

    @model_validator(mode="after")
    def _is_one_number(self) -> DriverVariable:
        refuse_stray_parts(self.channel, self.axis, self.property)
        if self.space == "world" and self.channel == "property":
            raise PydanticCustomError("property_space", "a custom property has no space")
        return self

    def path(self) -> str:
        """Return the data path of the number in local space."""
        if self.property is not None:
            return custom_path(self.property)
        return f"{PATHS[self.channel]}[{'XYZ'.index(self.axis or 'X')}]"


class DrivenChannel(Args):
    object: ObjectName = Field(description="Name of the object.")
    channel: Literal["location", "rotation_euler_deg", "scale", "property", "constraint_influence"] = Field(
        description="The driven channel. property: the custom property named by the argument property."
    )
    axis: Axis | None = optional("Axis of location, rotation or scale.")
    property: InnerName | None = optional("Key of the custom property, which must be one number.", min_length=1)
    constraint: InnerName | None = optional("Name of the constraint, for constraint_influence.", min_length=1)

    @model_validator(mode="after")
    def _is_one_channel(self) -> DrivenChannel:
        refuse_stray_parts(self.channel, self.axis, self.property)
        if (self.constraint is not None) != (self.channel == "constraint_influence"):
            raise PydanticCustomError(
                "constraint_name", "give constraint if, and only if, channel is constraint_influence"
            )
        return self

    def path(self) -> str:
        if self.property is not None:
            return custom_path(self.property)
        if self.constraint is not None:
            return f"constraints{custom_path(self.constraint)}.influence"
        return PATHS[self.channel]

    def index(self) -> int:
        if self.axis is not None:
            return "XYZ".index(self.axis)
        return 0


Variables = Annotated[dict[str, DriverVariable], Field(max_length=16)]


class DriverResult(Result):
    object: str = Field(description="Name of the object.")
    path: str = Field(description="Blender's data path of the channel.")
    expression: str | None = Field(
        description="The driver's expression in Blender's form; null if the channel has no driver."
    )
    changed: bool = Field(description="False if everything was already as requested.")
    value: float | None = Field(
        description="Present value of the channel, angles in degrees; null if Blender has no value."
    )


def refuse_stray_parts(channel: str, axis: str | None, key: str | None) -> None:
    if (axis is not None) != (channel in PATHS):
        raise PydanticCustomError(
            "channel_axis", "give axis if, and only if, channel is location, rotation_euler_deg or scale"
        )
    if (key is not None) != (channel == "property"):
        raise PydanticCustomError("channel_property", "give property if, and only if, channel is property")


def number_findings(obj: Block, channel: Any, at: str) -> Findings:
    """Yield findings if a channel or variable is not a single number of that object."""
    if channel.property is not None:
        current = obj.get(channel.property)
        if current is None:
            message = f"'{obj.name}' has no custom property '{channel.property}'"
            fix = "Create it first with object.set_property."
            yield Finding(Fault.TARGET_NOT_FOUND, message, f"{at}/property", fix)
        elif not isinstance(current, (bool, int, float)):
            if isinstance(current, str):
                label = "text"
            else:
                label = f"an array of {len(elements(current))}"
            fix = "Choose a property with a single number."
            yield conflict(f"'{channel.property}' is {label}, not one number", f"{at}/property", fix)
    elif channel.channel == "rotation_euler_deg" and obj.rotation_mode in ("QUATERNION", "AXIS_ANGLE"):
        if getattr(channel, "space", "local") == "local":
            message = f"the rotation of '{obj.name}' is in mode {obj.rotation_mode}, so its Euler angles have no effect"
            yield conflict(message, f"{at}/channel", "Use another channel, or for a variable set space to world.")
    elif getattr(channel, "constraint", None) is not None:
        yield from constraint_findings(obj, "constraint_influence", channel.constraint, 0.0)


def find_driver(obj: Block, channel: DrivenChannel) -> Block | None:
    """Return the driver curve of a channel, or None."""
    animation = obj.animation_data
    if animation is None:
        return None
    for curve in animation.drivers:
        if curve.data_path == channel.path() and curve.array_index == channel.index():
            return curve
    return None
