"""Sorts of node trees: trees of geometry modifiers, materials, worlds, lights, the compositor, and groups of each kind.

A sort records the differences: the kind of its catalogue, and the nodes that every such tree has under a fixed id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from blendwright.nodes.catalogue.model import TreeKind

Owner = Literal["material", "world", "light", "compositor", "group"]
GROUP_INPUT, GROUP_OUTPUT, OUTPUT = "group_input", "group_output", "output"
TREE_TYPES: dict[TreeKind, str] = {
    "geometry": "GeometryNodeTree",
    "shader": "ShaderNodeTree",
    "compositor": "CompositorNodeTree",
}
GROUP_NODES: dict[TreeKind, str] = {
    "geometry": "GeometryNodeGroup",
    "shader": "ShaderNodeGroup",
    "compositor": "CompositorNodeGroup",
}
# The first version in which the compositor of a scene is a node group. Earlier, the scene itself held the tree.
GROUP_COMPOSITOR = (5, 0)
OUTPUT_IMAGE = "Image"
# Property that marks the active one of several outputs.
ACTIVE_OUTPUT = "is_active_output"


@dataclass(frozen=True, slots=True)
class TreeSort:
    """A sort of tree. `given` maps the ids of the nodes that every tree of this sort has to their types."""

    kind: TreeKind
    owner: Owner
    given: Mapping[str, str]

    @property
    def tree_type(self) -> str:
        return TREE_TYPES[self.kind]

    @property
    def has_interface(self) -> bool:
        """True if a payload can set the sockets of the tree itself."""
        return self.owner == "group"

    @property
    def output_type(self) -> str:
        if OUTPUT in self.given:
            return self.given[OUTPUT]
        return self.given[GROUP_OUTPUT]

    def is_given(self, node_id: str, bl_idname: str) -> bool:
        """Return True if creating this node means the output that the tree already has.

        Payloads never create the ends of a group, so for them the answer is False.
        """
        return node_id == OUTPUT and self.given.get(node_id) == bl_idname

    @property
    def label(self) -> str:
        if self.owner == "group":
            return f"{self.kind} group"
        return self.owner


_GROUP_ENDS = {GROUP_INPUT: "NodeGroupInput", GROUP_OUTPUT: "NodeGroupOutput"}
GROUPS: dict[TreeKind, TreeSort] = {kind: TreeSort(kind, "group", _GROUP_ENDS) for kind in TREE_TYPES}
GEOMETRY_GROUP = GROUPS["geometry"]
MATERIAL = TreeSort("shader", "material", {OUTPUT: "ShaderNodeOutputMaterial"})
WORLD = TreeSort("shader", "world", {OUTPUT: "ShaderNodeOutputWorld"})
LIGHT = TreeSort("shader", "light", {OUTPUT: "ShaderNodeOutputLight"})
COMPOSITOR = TreeSort("compositor", "compositor", {OUTPUT: "NodeGroupOutput"})
SCENE_COMPOSITOR = TreeSort("compositor", "compositor", {OUTPUT: "CompositorNodeComposite"})


def sort_of(owner: Owner, kind: TreeKind | None, blender: Sequence[int] | None) -> TreeSort:
    """Return the sort of an owner's tree; `kind` is the kind of a group.

    Without a version, assume the newest Blender.
    """
    if owner == "group":
        assert kind is not None
        return GROUPS[kind]
    if owner == "compositor":
        if blender is None or tuple(blender[:2]) >= GROUP_COMPOSITOR:
            return COMPOSITOR
        return SCENE_COMPOSITOR
    return {"material": MATERIAL, "world": WORLD, "light": LIGHT}[owner]
