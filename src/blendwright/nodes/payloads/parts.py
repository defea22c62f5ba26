"""What both payloads are made of: targets, ids, values and sockets of the group's interface.

Field names that the protocol prints are taken over exactly. Fields that it only names are defined here; docs/geonodes.md tells
which. This module says what has the right form; whether it makes sense is for `nodes.checks`.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import INNER_BYTES, NAME_BYTES, Args, Name, name_of, optional

MOST_OPERATIONS = 10_000
MOST_TEXT = 10_000
MOST_SOCKETS = 500
# Ids that every tree has without creating them.
GROUP_INPUT, GROUP_OUTPUT = "group_input", "group_output"
GIVEN_IDS = (GROUP_INPUT, GROUP_OUTPUT)

# An id is kept as the name of its node. What the schema is to say comes before the function.
NodeId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=INNER_BYTES,
        pattern=r"^[^\x00-\x1f\x7f]+$",
        description="Id of a node in this tree; 'group_input' and 'group_output' are there from the start.",
    ),
    name_of(INNER_BYTES),
]
TypeName = Annotated[str, Field(min_length=1, max_length=100, description="Blender's name of the node type.")]
SocketKey = Annotated[
    str,
    Field(
        min_length=1,
        max_length=256,
        description="Identifier or name of the socket; 'Value#2' is the second available socket of that name.",
    ),
]
PropertyName = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[a-z][a-z0-9_]*$")]
Coordinate = Annotated[float, Field(ge=-1e6, le=1e6)]
Location = Annotated[tuple[Coordinate, Coordinate], Field(strict=False)]

# What an unlinked socket holds: a number, a text, a vector or colour; the name of a datablock or of a menu's item; null for none.
SocketValue = (
    bool
    | int
    | float
    | Annotated[str, Field(max_length=MOST_TEXT)]
    | Annotated[list[float], Field(min_length=2, max_length=16)]
    | None
)


def _not_too_much(value: JsonValue) -> JsonValue:
    if _size(value) > MOST_TEXT:
        raise PydanticCustomError("value_too_large", "a property's value has at most {most} parts", {"most": MOST_TEXT})
    return value


def _size(value: JsonValue) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return 1 + sum(len(key) + _size(part) for key, part in value.items())
    if isinstance(value, list):
        return 1 + sum(_size(part) for part in value)
    return 1


PropertyValue = Annotated[JsonValue, AfterValidator(_not_too_much)]

T = TypeVar("T")
SocketT = TypeVar("SocketT")


class Part(Args):
    """Base of what payloads hold. Fields whose names are words of Python have an alias, which is their name outside."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=False, validate_by_alias=True)


class LinkOf(Part, Generic[SocketT]):
    """A link in the words of one payload, which name its sockets as it does."""

    op: Literal["link"]
    source: SocketT = Field(alias="from", description="The output.")
    target: SocketT = Field(alias="to", description="The input.")


class UnlinkOf(Part, Generic[SocketT]):
    """The same for links to be removed; one side may be left out."""

    op: Literal["unlink"]
    source: SocketT | None = Field(alias="from", default=None, description="The output; left out: any.")
    target: SocketT | None = Field(alias="to", default=None, description="The input; left out: any.")

    @model_validator(mode="after")
    def _some_side(self) -> Self:
        if self.source is None and self.target is None:
            raise PydanticCustomError("unlink_nothing", "unlink needs 'from', 'to' or both")
        return self


def _left_out(value: Any) -> bool:
    return value is None


# Null is never a value here, and a tree with fifty sockets would be mostly nulls.
Optional = Annotated[T | None, Field(exclude_if=_left_out)]


class InterfaceSocket(Part):
    """One socket of the group's interface. What is left out keeps its value; on a new socket that is Blender's default."""

    name: Name = Field(description="Name of the socket; one that is there already is changed.")
    socket_type: Annotated[str, Field(min_length=1, max_length=64)] = Field(
        description="Type, like NodeSocketFloat or NodeSocketGeometry."
    )
    default: Optional[SocketValue] = optional("Value that it has unless another is given.")
    min: Optional[float] = optional("Smallest value, for numbers and vectors.")
    max: Optional[float] = optional("Largest value, for numbers and vectors.")
    description: Optional[Annotated[str, Field(max_length=1023)]] = optional("Shown as a tooltip.")
    subtype: Optional[Annotated[str, Field(max_length=64)]] = optional(
        "How the value is meant, like DISTANCE, ANGLE, FACTOR or PERCENTAGE."
    )
    dimensions: Optional[Annotated[int, Field(ge=2, le=4)]] = optional("Numbers of a vector (from Blender 5.0).")
    default_attribute_name: Optional[Annotated[str, Field(max_length=NAME_BYTES), name_of(NAME_BYTES)]] = optional(
        "Attribute that is read or written by default."
    )
    attribute_domain: Optional[Annotated[str, Field(max_length=64)]] = optional(
        "Where an output's attribute is kept, like POINT or FACE."
    )
    default_input: Optional[Annotated[str, Field(max_length=64)]] = optional(
        "What an input holds when nothing is linked, like VALUE, INDEX, POSITION or NORMAL."
    )
    structure_type: Optional[Annotated[str, Field(max_length=64)]] = optional(
        "AUTO, SINGLE, DYNAMIC, FIELD or GRID (from Blender 5.0)."
    )
    hide_value: Optional[bool] = optional("Do not show the value.")
    hide_in_modifier: Optional[bool] = optional("Do not show it in the modifier.")
    panel: Optional[Annotated[list[Name], Field(max_length=8)]] = optional(
        "Names of the panels that it is in, the outermost first."
    )


InterfaceSockets = Annotated[list[InterfaceSocket], Field(max_length=MOST_SOCKETS)]
