"""Payloads of `nodes.*`: the operations of NODE_TREE and GN_OPS on a tree of any kind that the target names."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.nodes import payloads
from blendwright.nodes.catalogue.model import TreeKind
from blendwright.nodes.payloads import MAX_OPERATIONS, Operation, Optional, Part
from blendwright.nodes.tree_sorts import Owner
from blendwright.tool_api.arguments import Name, optional

OWNERS: tuple[Owner, ...] = ("material", "world", "light", "compositor", "group")


class NodesTarget(Part):
    """The tree to change: give exactly one of these fields, plus 'kind' with 'group'."""

    material: Optional[Name] = optional("A material.")
    world: Optional[Name] = optional("A world.")
    light: Optional[Name] = optional("Its datablock.")
    compositor: Optional[Name] = optional("A scene.")
    group: Optional[Name] = optional("Needs kind.")
    kind: Optional[TreeKind] = optional("Of a group.")

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if len(self._owners()) != 1:
            owners = ", ".join(OWNERS)
            raise PydanticCustomError("one_target", "a target has exactly one of: {listed}", {"listed": owners})
        if (self.kind is not None) != (self.group is not None):
            raise PydanticCustomError("group_kind", "'group' and 'kind' (geometry, shader, compositor) go together")
        return self

    @property
    def owner(self) -> Owner:
        return self._owners()[0]

    def _owners(self) -> list[Owner]:
        return [owner for owner in OWNERS if getattr(self, owner) is not None]

    @property
    def name(self) -> str:
        return getattr(self, self.owner)


class ApplyTreePayload(Part):
    """A tree and the operations to apply to it: all of them, or none."""

    target: NodesTarget = Field(
        description="The tree: {material: name}, {compositor: scene}, {group: name, kind: shader} …"
    )
    clear: bool = Field(default=False, description="First remove all nodes except the tree's output (or group ends).")
    operations: Annotated[list[Operation], Field(max_length=MAX_OPERATIONS)] = Field(
        description="Operations to apply in this order, as in NODE_TREE of geometry nodes."
    )


class EnsureTree(Part):
    """Create the target if the material, world, compositor or group is missing."""

    op: Literal["ensure_target"]


TreePatchOperation = Annotated[
    EnsureTree
    | payloads.EnsureSingleGroupIO
    | payloads.AddNode
    | payloads.RemoveNode
    | payloads.PatchLink
    | payloads.PatchUnlink
    | payloads.SetInput
    | payloads.CleanupUnused,
    Field(discriminator="op"),
]


class PatchTreePayload(Part):
    """A patch of a tree: Blendwright applies all of it, or nothing."""

    v: Literal[1] = Field(default=1, description="Version of the patch format.")
    target: NodesTarget = Field(
        description="The tree: {material: name}, {compositor: scene}, {group: name, kind: shader} …"
    )
    ops: Annotated[list[TreePatchOperation], Field(max_length=MAX_OPERATIONS)] = Field(
        description="Operations to apply in this order, as in GN_OPS of geometry nodes."
    )
