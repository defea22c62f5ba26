"""The channels of an object that a driver can move, and what drives one: arguments, their paths in Blender, and the driver itself."""

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
    """A number of the scene, under the name that it has in an expression."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    object: ObjectName = Field(description="Name of the object that has it.")
    channel: Literal["location", "rotation_euler_deg", "scale", "property"] = Field(
        description="What is read of it; rotations are in degrees. property is the custom property named by the "
        "argument property."
    )
    axis: Axis | None = optional("Which axis of location, rotation or scale.")
    property: InnerName | None = optional("Key of the custom property, which must be one number.", min_length=1)
    space: Literal["local", "world"] = Field(
        default="local", description="local: its own channel. world: where it stands, with parents and constraints."
    )

    @model_validator(mode="after")
    def _is_one_number(self) -> DriverVariable:
        refuse_stray_parts(self.channel, self.axis, self.property)
        if self.space == "world" and self.channel == "property":
            raise PydanticCustomError("property_space", "a custom property has no space")
        return self

    def path(self) -> str:
        """The data path of the number in its own space."""
        if self.property is not None:
            return custom_path(self.property)
        return f"{PATHS[self.channel]}[{'XYZ'.index(self.axis or 'X')}]"


class DrivenChannel(Args):
    object: ObjectName = Field(description="Name of the object.")
    channel: Literal["location", "rotation_euler_deg", "scale", "property", "constraint_influence"] = Field(
        description="What is driven. property is the custom property named by the argument property."
    )
    axis: Axis | None = optional("Which axis of location, rotation or scale.")
    property: InnerName | None = optional("Key of the custom property, which must be one number.", min_length=1)
    constraint: InnerName | None = optional("Name of the constraint, for constraint_influence.", min_length=1)

    @model_validator(mode="after")
    def _is_one_channel(self) -> DrivenChannel:
        refuse_stray_parts(self.channel, self.axis, self.property)
        if (self.constraint is not None) != (self.channel == "constraint_influence"):
            raise PydanticCustomError("constraint_name", "give constraint exactly when channel is constraint_influence")
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
    path: str = Field(description="Blender's path of the channel.")
    expression: str | None = Field(description="What Blender computes; null when nothing drives it.")
    changed: bool = Field(description="False when everything was as asked already.")
    value: float | None = Field(
        description="Value of the channel now (angles in degrees); null where Blender gives none."
    )


def refuse_stray_parts(channel: str, axis: str | None, key: str | None) -> None:
    if (axis is not None) != (channel in PATHS):
        raise PydanticCustomError("channel_axis", "give axis exactly when channel is location, rotation or scale")
    if (key is not None) != (channel == "property"):
        raise PydanticCustomError("channel_property", "give property exactly when channel is property")


def number_findings(obj: Block, channel: Any, at: str) -> Findings:
    """What keeps a channel or variable from being one number of that object."""
    if channel.property is not None:
        current = obj.get(channel.property)
        if current is None:
            message = f"'{obj.name}' has no custom property '{channel.property}'"
            cure = "Create it first with object.set_property."
            yield Finding(Fault.TARGET_NOT_FOUND, message, f"{at}/property", cure)
        elif not isinstance(current, (bool, int, float)):
            if isinstance(current, str):
                what = "text"
            else:
                what = f"an array of {len(elements(current))}"
            yield conflict(f"'{channel.property}' is {what}, not one number", f"{at}/property", "Choose one number.")
    elif channel.channel == "rotation_euler_deg" and obj.rotation_mode in ("QUATERNION", "AXIS_ANGLE"):
        if getattr(channel, "space", "local") == "local":
            message = f"the rotation of '{obj.name}' is in {obj.rotation_mode}, so that its angles do not count"
            yield conflict(message, f"{at}/channel", "Use another channel, or read it in the world.")
    elif getattr(channel, "constraint", None) is not None:
        yield from constraint_findings(obj, "constraint_influence", channel.constraint, 0.0)


def find_driver(obj: Block, channel: DrivenChannel) -> Block | None:
    """The curve of the channel's driver."""
    data = obj.animation_data
    for curve in data.drivers if data is not None else ():
        if curve.data_path == channel.path() and curve.array_index == channel.index():
            return curve
    return None
