"""The GN_OPS payload: a deterministic patch. Each operation says how something should be, so that a second time changes nothing,
unless the patch removes what it needed itself."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from blendwright.nodes.payloads.parts import (
    MOST_OPERATIONS,
    Coordinate,
    LinkOf,
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
    value: SocketValue = Field(description="Number, text, list of numbers, name of a datablock or menu item, or null.")


class CleanupUnused(Part):
    """Remove the nodes that do not lead to an output of the group; frames that hold any other node stay."""

    op: Literal["cleanup_unused"]


# What changes the tree; `EnsureTarget` is about the target alone.
TreeOperation = EnsureSingleGroupIO | AddNode | RemoveNode | PatchLink | PatchUnlink | SetInput | CleanupUnused
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
