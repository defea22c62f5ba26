"""The payloads of `nodes.*`: the operations of NODE_TREE and GN_OPS, on a tree of any kind that its target names."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.nodes import payloads
from blendwright.nodes.catalogue.model import TreeKind
from blendwright.nodes.payloads import MOST_OPERATIONS, Operation, Optional, Part
from blendwright.nodes.tree_sorts import Owner
from blendwright.tool_api.arguments import Name, optional

OWNERS: tuple[Owner, ...] = ("material", "world", "light", "compositor", "group")


class NodesTarget(Part):
    """Which tree is meant: exactly one of these."""

    material: Optional[Name] = optional("A material.")
    world: Optional[Name] = optional("A world.")
    light: Optional[Name] = optional("Its datablock.")
    compositor: Optional[Name] = optional("A scene.")
    group: Optional[Name] = optional("Needs kind.")
    kind: Optional[TreeKind] = optional("Of a group.")

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = [owner for owner in OWNERS if getattr(self, owner) is not None]
        if len(given) != 1:
            listed = ", ".join(OWNERS)
            raise PydanticCustomError("one_target", "a target has exactly one of: {listed}", {"listed": listed})
        if (self.kind is not None) != (self.group is not None):
            raise PydanticCustomError("group_kind", "'group' and 'kind' (geometry, shader, compositor) go together")
        return self

    @property
    def owner(self) -> Owner:
        return next(owner for owner in OWNERS if getattr(self, owner) is not None)

    @property
    def name(self) -> str:
        return getattr(self, self.owner)


class ApplyTreePayload(Part):
    """A tree and what is to be done to it. All of it is done, or nothing."""

    target: NodesTarget = Field(
        description="The tree: {material: name}, {compositor: scene}, {group: name, kind: shader} …"
    )
    clear: bool = Field(default=False, description="Begin without nodes, but for the tree's output (or group ends).")
    operations: Annotated[list[Operation], Field(max_length=MOST_OPERATIONS)] = Field(
        description="What is done, in this order; as in NODE_TREE of geometry nodes."
    )


class EnsureTree(Part):
    """See that the target is there: a material, world, compositor or group that is missing is created."""

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
    """A patch of a tree. All of it is applied, or nothing."""

    v: Literal[1] = Field(default=1, description="Version of the patch format.")
    target: NodesTarget = Field(
        description="The tree: {material: name}, {compositor: scene}, {group: name, kind: shader} …"
    )
    ops: Annotated[list[TreePatchOperation], Field(max_length=MOST_OPERATIONS)] = Field(
        description="What is done, in this order; as in GN_OPS of geometry nodes."
    )
