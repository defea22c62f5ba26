"""The two payloads that change a node tree, NODE_TREE and GN_OPS, and what both are made of.

Field names that the protocol prints are taken over exactly. Fields that it only names are defined here; docs/geonodes.md tells
which. This module says what has the right form; whether it makes sense is for `nodes.checks`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Generic, Literal, Self, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import INNER_BYTES, NAME_BYTES, Args, Name, name_of, optional
from blendwright.tool_api.mentions import PERHAPS_A_NAME

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
NUMBERED = re.compile(r"(.+)#([1-9][0-9]*)$", re.DOTALL)
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


def positions_named(names: Sequence[str], key: str) -> list[int]:
    """The positions that a key means: those of all sockets of that name, else the one that its number says."""
    positions = [position for position, name in enumerate(names) if name == key]
    numbered = NUMBERED.match(key)
    if positions or numbered is None:
        return positions
    number = int(numbered[2])
    return positions_named(names, numbered[1])[number - 1 : number]


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


# Null is never a value here, and a tree with fifty sockets would be mostly nulls.
Optional = Annotated[T | None, Field(exclude_if=lambda value: value is None)]


class InterfaceSocket(Part):
    """One socket of the group's interface. What is left out keeps its value; on a new socket that is Blender's default."""

    name: Name = Field(description="Name of the socket; one that is there already is changed.")
    socket_type: Annotated[str, Field(min_length=1, max_length=64)] = Field(
        description="Type, like NodeSocketFloat or NodeSocketGeometry."
    )
    default: Annotated[Optional[SocketValue], PERHAPS_A_NAME] = optional("Value that it has unless another is given.")
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


# ---------------------------------------------------------------------- NODE_TREE: operations, one after the other


class TreeTarget(Part):
    """The modifier and the node group are created where they are missing; the object only when that is allowed."""

    object_name: Name = Field(description="Object whose modifier holds the tree.")
    modifier_name: Name = Field(description="Its geometry-nodes modifier.")
    node_group_name: Name = Field(description="The node group; the modifier is made to use it.")
    allow_create_object: bool = Field(default=False, description="Create a missing object, with an empty mesh.")


class Socket(Part):
    """A socket of a node."""

    node_id: NodeId
    socket: SocketKey


class CreateNode(Part):
    """Add a node under an id that is free."""

    op: Literal["create_node"]
    node_id: NodeId
    bl_idname: TypeName
    location: Location = Field(default=(0.0, 0.0), description="Where it stands in the editor.")


class DeleteNode(Part):
    """Remove a node and its links."""

    op: Literal["delete_node"]
    node_id: NodeId


class SetInputDefault(Part):
    """The value of an input that nothing is linked to."""

    op: Literal["set_input_default"]
    node_id: NodeId
    socket: SocketKey
    value: Annotated[SocketValue, PERHAPS_A_NAME] = Field(
        description="Number, text, list of numbers, name of a datablock or menu item, or null."
    )


class SetProperty(Part):
    """A property of a node, by the name that Blender gives it."""

    op: Literal["set_property"]
    node_id: NodeId
    property: PropertyName = Field(description="Like data_type, operation, node_tree, paired_output or repeat_items.")
    value: PropertyValue = Field(
        description="Value; the name of a datablock or the id of a node where one is meant; a list for items."
    )


class Link(LinkOf[Socket]):
    """Link an output to an input. Links into one multi-input socket keep the order in which they are made."""


class Unlink(UnlinkOf[Socket]):
    """Remove the link between two sockets; with one side left out, all links of the other."""


class SetGroupIO(Part):
    """The sockets of the group: those that are named are added or changed, in this order; the others stay as they are.

    With `replace`, the group has exactly these on each side that is given.
    """

    op: Literal["set_group_io"]
    inputs: InterfaceSockets | None = optional("Inputs of the group.")
    outputs: InterfaceSockets | None = optional("Outputs of the group.")
    remove_inputs: Annotated[list[SocketKey], Field(max_length=MOST_SOCKETS)] = Field(
        default=[], description="Inputs to remove."
    )
    remove_outputs: Annotated[list[SocketKey], Field(max_length=MOST_SOCKETS)] = Field(
        default=[], description="Outputs to remove."
    )
    replace: bool = Field(default=False, description="Remove what is not listed, and take the order of the list.")


Operation = Annotated[
    CreateNode | DeleteNode | SetInputDefault | SetProperty | Link | Unlink | SetGroupIO, Field(discriminator="op")
]


class NodeTreePayload(Part):
    """A tree and what is to be done to it. All of it is done, or nothing."""

    target: TreeTarget = Field(description="Object, modifier and node group.")
    operations: Annotated[list[Operation], Field(max_length=MOST_OPERATIONS)] = Field(
        description="What is done, in this order."
    )


# ---------------------------------------------------------------------- GN_OPS: a deterministic patch
# Each operation says how something should be, so that a second time changes nothing, unless the patch removes what it needed itself.


class PatchTarget(Part):
    """What the patch works on. It must be there, unless `ensure_target` may create it."""

    object_name: Name = Field(description="Object whose modifier holds the tree.")
    modifier_name: Name = Field(description="Its geometry-nodes modifier.")
    node_group_name: Name | None = optional(
        "The node group; left out: the one that the modifier uses, or one named after it."
    )


class NamedSocket(Part):
    """A socket of a node."""

    node_id: NodeId
    socket_name: SocketKey


class EnsureTarget(Part):
    """See that the target is there. What is not allowed to be created must exist."""

    op: Literal["ensure_target"]
    allow_create_modifier: bool = Field(default=False, description="Create a missing modifier and its node group.")
    allow_create_object: bool = Field(default=False, description="Create a missing object, with an empty mesh.")


class EnsureSingleGroupIO(Part):
    """See that there is one group input and one group output: links of others move to the first, and the others go."""

    op: Literal["ensure_single_group_io"]


class AddNode(Part):
    """See that there is a node of this id and type, here, with these properties; others keep their values."""

    op: Literal["add_node"]
    id: NodeId
    bl_idname: TypeName
    x: Coordinate | None = optional("Place in the editor; left out: where it is, or 0.")
    y: Coordinate | None = optional("Place in the editor; left out: where it is, or 0.")
    properties: Annotated[dict[PropertyName, PropertyValue], Field(max_length=100)] = Field(
        default={}, description="Properties by name, as in set_property of NODE_TREE."
    )


class RemoveNode(Part):
    """See that there is no node of this id."""

    op: Literal["remove_node"]
    node_id: NodeId


class PatchLink(LinkOf[NamedSocket]):
    """See that an output is linked to an input."""


class PatchUnlink(UnlinkOf[NamedSocket]):
    """See that two sockets are not linked; with one side left out, that the other has no link at all."""


class SetInput(Part):
    """See that an input holds this value."""

    op: Literal["set_input"]
    node_id: NodeId
    socket_name: SocketKey
    value: Annotated[SocketValue, PERHAPS_A_NAME] = Field(
        description="Number, text, list of numbers, name of a datablock or menu item, or null."
    )


class CleanupUnused(Part):
    """Remove the nodes that do not lead to an output of the group; frames that hold any other node stay."""

    op: Literal["cleanup_unused"]


PatchOperation = Annotated[
    EnsureTarget | EnsureSingleGroupIO | AddNode | RemoveNode | PatchLink | PatchUnlink | SetInput | CleanupUnused,
    Field(discriminator="op"),
]


class GnOpsPayload(Part):
    """A patch of a tree. All of it is applied, or nothing; applied twice, it gives the same tree, or is refused where it
    removed what it needs itself."""

    v: Literal[1] = Field(description="Version of the patch format.")
    target: PatchTarget = Field(description="Object, modifier and, where it matters, node group.")
    ops: Annotated[list[PatchOperation], Field(max_length=MOST_OPERATIONS)] = Field(
        description="What is done, in this order."
    )


# What changes the tree, of both payloads; `EnsureTarget` is about the target alone.
TreeOperation = (
    CreateNode | DeleteNode | SetInputDefault | SetProperty | Link | Unlink | SetGroupIO
    | EnsureSingleGroupIO | AddNode | RemoveNode | PatchLink | PatchUnlink | SetInput | CleanupUnused
)  # fmt: skip
# What names a socket.
AnySocket = Socket | SetInputDefault | NamedSocket | SetInput
