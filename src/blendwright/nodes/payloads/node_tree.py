"""The NODE_TREE payload: a target and operations that build or change its tree, one after the other."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from blendwright.nodes.payloads.parts import (
    MOST_OPERATIONS,
    MOST_SOCKETS,
    InterfaceSockets,
    LinkOf,
    Location,
    NodeId,
    Part,
    PropertyName,
    PropertyValue,
    SocketKey,
    SocketValue,
    TypeName,
    UnlinkOf,
)
from blendwright.tool_api.arguments import Name, optional


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
    value: SocketValue = Field(description="Number, text, list of numbers, name of a datablock or menu item, or null.")


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
