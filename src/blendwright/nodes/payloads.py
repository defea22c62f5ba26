"""Payloads that change a node tree: NODE_TREE and GN_OPS, and the parts that both share.

Field names that the protocol prints stay exactly as printed. This project defines the fields that the protocol only
mentions; docs/geonodes.md lists them. This module checks the form of a payload; `nodes.checks` checks its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Generic, Literal, Self, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import INNER_BYTES, NAME_BYTES, Args, Name, name_of, optional
from blendwright.tool_api.mentions import PERHAPS_A_NAME

# Limits of one payload: its operations, the characters and parts of one value, and the sockets of one list.
MAX_OPERATIONS = 10_000
MAX_VALUE_PARTS = 10_000
MAX_SOCKETS = 500
# Ids of the nodes that every tree already has.
GROUP_INPUT, GROUP_OUTPUT = "group_input", "group_output"
GIVEN_IDS = (GROUP_INPUT, GROUP_OUTPUT)

# The id becomes the name of its node. The field precedes the function, so that the schema shows its description.
NodeId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=INNER_BYTES,
        pattern=r"^[^\x00-\x1f\x7f]+$",
        description="Id of a node in this tree; 'group_input' and 'group_output' already exist.",
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

# Value of an unlinked socket: a number, string, vector or colour, the name of a datablock or menu item, or null for none.
SocketValue = (
    bool
    | int
    | float
    | Annotated[str, Field(max_length=MAX_VALUE_PARTS)]
    | Annotated[list[float], Field(min_length=2, max_length=16)]
    | None
)


def positions_named(names: Sequence[str], key: str) -> list[int]:
    """Return the positions that a key means: all sockets with that name, or else the one that its number selects.

    For 'Value#2', that is the second socket named 'Value'.
    """
    positions = [position for position, name in enumerate(names) if name == key]
    numbered = NUMBERED.match(key)
    if positions or numbered is None:
        return positions
    number = int(numbered[2])
    return positions_named(names, numbered[1])[number - 1 : number]


def _not_too_much(value: JsonValue) -> JsonValue:
    if _size(value) > MAX_VALUE_PARTS:
        raise PydanticCustomError(
            "value_too_large", "a property's value has at most {most} parts", {"most": MAX_VALUE_PARTS}
        )
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
    """Base of the objects in payloads. Fields whose names are Python keywords use the published name as an alias."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=False, validate_by_alias=True)


class LinkOf(Part, Generic[SocketT]):
    """A link whose sockets have the form of one payload."""

    op: Literal["link"]
    source: SocketT = Field(alias="from", description="The output.")
    target: SocketT = Field(alias="to", description="The input.")


class UnlinkOf(Part, Generic[SocketT]):
    """Removal of links; one side may be left out."""

    op: Literal["unlink"]
    source: SocketT | None = Field(alias="from", default=None, description="The output; left out: any.")
    target: SocketT | None = Field(alias="to", default=None, description="The input; left out: any.")

    @model_validator(mode="after")
    def _some_side(self) -> Self:
        if self.source is None and self.target is None:
            raise PydanticCustomError("unlink_nothing", "unlink needs 'from', 'to' or both")
        return self


# Dumps leave out null, because it is never a value here and would fill most of a tree with fifty sockets.
Optional = Annotated[T | None, Field(exclude_if=lambda value: value is None)]


class InterfaceSocket(Part):
    """A socket of the group's interface. Omitted fields keep their values; a new socket gets Blender's defaults."""

    name: Name = Field(description="Name of the socket; an existing one is changed.")
    socket_type: Annotated[str, Field(min_length=1, max_length=64)] = Field(
        description="Type, like NodeSocketFloat or NodeSocketGeometry."
    )
    default: Annotated[Optional[SocketValue], PERHAPS_A_NAME] = optional("Value used when no other is set.")
    min: Optional[float] = optional("Smallest value, for numbers and vectors.")
    max: Optional[float] = optional("Largest value, for numbers and vectors.")
    description: Optional[Annotated[str, Field(max_length=1023)]] = optional("Shown as a tooltip.")
    subtype: Optional[Annotated[str, Field(max_length=64)]] = optional(
        "Meaning of the value, like DISTANCE, ANGLE, FACTOR or PERCENTAGE."
    )
    dimensions: Optional[Annotated[int, Field(ge=2, le=4)]] = optional("Numbers of a vector (from Blender 5.0).")
    default_attribute_name: Optional[Annotated[str, Field(max_length=NAME_BYTES), name_of(NAME_BYTES)]] = optional(
        "Attribute to read or write by default."
    )
    attribute_domain: Optional[Annotated[str, Field(max_length=64)]] = optional(
        "Domain of an output's attribute, like POINT or FACE."
    )
    default_input: Optional[Annotated[str, Field(max_length=64)]] = optional(
        "Value of an unlinked input, like VALUE, INDEX, POSITION or NORMAL."
    )
    structure_type: Optional[Annotated[str, Field(max_length=64)]] = optional(
        "AUTO, SINGLE, DYNAMIC, FIELD or GRID (from Blender 5.0)."
    )
    hide_value: Optional[bool] = optional("Do not show the value.")
    hide_in_modifier: Optional[bool] = optional("Do not show it in the modifier.")
    panel: Optional[Annotated[list[Name], Field(max_length=8)]] = optional(
        "Names of the panels around it, outermost first."
    )


InterfaceSockets = Annotated[list[InterfaceSocket], Field(max_length=MAX_SOCKETS)]


# ---------------------------------------------------------------------- NODE_TREE: operations in sequence


class TreeTarget(Part):
    """The modifier and node group to change, created if missing; a missing object only if allowed."""

    object_name: Name = Field(description="Object whose modifier holds the tree.")
    modifier_name: Name = Field(description="Its geometry-nodes modifier.")
    node_group_name: Name = Field(description="The node group; the modifier will use it.")
    allow_create_object: bool = Field(default=False, description="Create a missing object, with an empty mesh.")


class Socket(Part):
    """A socket of a node."""

    node_id: NodeId
    socket: SocketKey


class CreateNode(Part):
    """Add a node under an unused id."""

    op: Literal["create_node"]
    node_id: NodeId
    bl_idname: TypeName
    location: Location = Field(default=(0.0, 0.0), description="Position in the editor.")


class DeleteNode(Part):
    """Remove a node and its links."""

    op: Literal["delete_node"]
    node_id: NodeId


class SetInputDefault(Part):
    """Set the value of an unlinked input."""

    op: Literal["set_input_default"]
    node_id: NodeId
    socket: SocketKey
    value: Annotated[SocketValue, PERHAPS_A_NAME] = Field(
        description="Number, string, list of numbers, name of a datablock or menu item, or null."
    )


class SetProperty(Part):
    """Set a property of a node by Blender's name."""

    op: Literal["set_property"]
    node_id: NodeId
    property: PropertyName = Field(description="Like data_type, operation, node_tree, paired_output or repeat_items.")
    value: PropertyValue = Field(description="Value; for a datablock its name, for a node its id, for items a list.")


class Link(LinkOf[Socket]):
    """Link an output to an input. Links into a multi-input socket keep the order of their operations."""


class Unlink(UnlinkOf[Socket]):
    """Remove the link between two sockets; with one side left out, all links of the other."""


class SetGroupIO(Part):
    """Add or change the listed sockets of the group, in this order; other sockets stay unchanged.

    With `replace`, each listed side of the group has exactly these sockets.
    """

    op: Literal["set_group_io"]
    inputs: InterfaceSockets | None = optional("Inputs of the group.")
    outputs: InterfaceSockets | None = optional("Outputs of the group.")
    remove_inputs: Annotated[list[SocketKey], Field(max_length=MAX_SOCKETS)] = Field(
        default=[], description="Inputs to remove."
    )
    remove_outputs: Annotated[list[SocketKey], Field(max_length=MAX_SOCKETS)] = Field(
        default=[], description="Outputs to remove."
    )
    replace: bool = Field(default=False, description="Remove unlisted sockets, and use the order of the list.")


Operation = Annotated[
    CreateNode | DeleteNode | SetInputDefault | SetProperty | Link | Unlink | SetGroupIO, Field(discriminator="op")
]


class NodeTreePayload(Part):
    """A tree and the operations to apply to it: all of them, or none."""

    target: TreeTarget = Field(description="Object, modifier and node group.")
    operations: Annotated[list[Operation], Field(max_length=MAX_OPERATIONS)] = Field(
        description="Operations to apply in this order."
    )


# ---------------------------------------------------------------------- GN_OPS: a deterministic patch
# Each operation describes a result. A second application therefore changes nothing, unless the patch removes what it needs.


class PatchTarget(Part):
    """The tree to patch. It must exist, unless `ensure_target` may create it."""

    object_name: Name = Field(description="Object whose modifier holds the tree.")
    modifier_name: Name = Field(description="Its geometry-nodes modifier.")
    node_group_name: Name | None = optional(
        "The node group; default: the modifier's group, or one named after the modifier."
    )


class NamedSocket(Part):
    """A socket of a node."""

    node_id: NodeId
    socket_name: SocketKey


class EnsureTarget(Part):
    """Ensure that the target exists. Parts that must not be created must exist already."""

    op: Literal["ensure_target"]
    allow_create_modifier: bool = Field(default=False, description="Create a missing modifier and its node group.")
    allow_create_object: bool = Field(default=False, description="Create a missing object, with an empty mesh.")


class EnsureSingleGroupIO(Part):
    """Keep the first group input and the first group output, and move the links of all further ones to them."""

    op: Literal["ensure_single_group_io"]


class AddNode(Part):
    """Ensure that a node of this id and type exists at this position with these properties. Omitted ones stay as they are."""

    op: Literal["add_node"]
    id: NodeId
    bl_idname: TypeName
    x: Coordinate | None = optional("Position in the editor; default: unchanged, or 0.")
    y: Coordinate | None = optional("Position in the editor; default: unchanged, or 0.")
    properties: Annotated[dict[PropertyName, PropertyValue], Field(max_length=100)] = Field(
        default={}, description="Properties by name, as in set_property of NODE_TREE."
    )


class RemoveNode(Part):
    """Ensure that no node has this id."""

    op: Literal["remove_node"]
    node_id: NodeId


class PatchLink(LinkOf[NamedSocket]):
    """Ensure that an output is linked to an input."""


class PatchUnlink(UnlinkOf[NamedSocket]):
    """Ensure that two sockets are not linked; with one side left out, that the other has no links."""


class SetInput(Part):
    """Ensure that an input has this value."""

    op: Literal["set_input"]
    node_id: NodeId
    socket_name: SocketKey
    value: Annotated[SocketValue, PERHAPS_A_NAME] = Field(
        description="Number, string, list of numbers, name of a datablock or menu item, or null."
    )


class CleanupUnused(Part):
    """Remove the nodes that do not lead to an output of the group, except frames that hold other nodes."""

    op: Literal["cleanup_unused"]


PatchOperation = Annotated[
    EnsureTarget | EnsureSingleGroupIO | AddNode | RemoveNode | PatchLink | PatchUnlink | SetInput | CleanupUnused,
    Field(discriminator="op"),
]


class GnOpsPayload(Part):
    """A patch of a tree:

    Blendwright applies all of it, or nothing. Applied twice, it gives the same tree, or is refused if it removed what
    it needs.
    """

    v: Literal[1] = Field(description="Version of the patch format.")
    target: PatchTarget = Field(description="Object, modifier and, if needed, node group.")
    ops: Annotated[list[PatchOperation], Field(max_length=MAX_OPERATIONS)] = Field(
        description="Operations to apply in this order."
    )


# The operations of both payloads that change the tree; `EnsureTarget` concerns only the target.
TreeOperation = (
    CreateNode | DeleteNode | SetInputDefault | SetProperty | Link | Unlink | SetGroupIO
    | EnsureSingleGroupIO | AddNode | RemoveNode | PatchLink | PatchUnlink | SetInput | CleanupUnused
)  # fmt: skip
# The models that name a socket.
AnySocket = Socket | SetInputDefault | NamedSocket | SetInput
