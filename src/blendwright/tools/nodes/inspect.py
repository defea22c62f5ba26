"""Tool nodes.inspect"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from blendwright.nodes.tree import Tree, to_apply_payload
from blendwright.nodes.tree_payloads import ApplyTreePayload, NodesTarget
from blendwright.tool_api.arguments import Args, Result, optional
from blendwright.tool_api.mentions import Mention
from blendwright.tool_api.promises import READ_ONLY
from blendwright.tool_api.scene import Scene
from blendwright.tool_api.tool import Example, Findings, Reads
from blendwright.tools.node_trees.export import export_tree
from blendwright.tools.node_trees.mermaid import diagram
from blendwright.tools.nodes import tree_target
from blendwright.tools.nodes.examples import BRICK_TREE, BRICKS


class InspectAnyTreeArgs(Args):
    target: NodesTarget = Field(description="The tree to inspect.")
    formats: list[Literal["tree", "payload", "mermaid"]] = Field(
        default=["tree"],
        min_length=1,
        max_length=3,
        description="tree: the tree as JSON. payload: a payload of nodes.apply_tree that rebuilds it. mermaid: a Mermaid "
        "diagram.",
    )


class AnyTreeInspected(Result):
    """A tree in the requested formats."""

    kind: str = Field(description="Kind of the tree: geometry, shader or compositor.")
    node_group: str | None = optional("Name of the node group, if the tree is one.")
    users: list[str] = Field(description="Datablocks that use the node group, as kind/name.")
    tree: Tree | None = optional("The tree, without values that equal the defaults of new nodes.")
    payload: ApplyTreePayload | None = optional("A payload of nodes.apply_tree that rebuilds the tree.")
    mermaid: str | None = optional("The tree as a Mermaid flow chart.")


class InspectAnyTree(Reads[InspectAnyTreeArgs, AnyTreeInspected]):
    """Return the node tree of a material, world, light or compositor, or a node group: as JSON that can rebuild it, or as a
    diagram.
    """

    name = "nodes.inspect"
    promises = READ_ONLY.needs("scene_read")
    examples = (
        Example({"target": BRICKS}, BRICK_TREE),
        Example({"target": BRICKS, "formats": ["payload", "mermaid"]}, BRICK_TREE),
    )

    def mentions_for(self, args: InspectAnyTreeArgs) -> Iterable[Mention]:
        return tree_target.target_mentions(args.target, creates=False)

    def check(self, scene: Scene, args: InspectAnyTreeArgs) -> Findings:
        yield from tree_target.target_problems(scene, args.target, creates=False)

    def apply(self, scene: Scene, args: InspectAnyTreeArgs) -> AnyTreeInspected:
        block = tree_target.find_tree(scene, args.target)
        assert block is not None
        sort = tree_target.sort_in(scene, args.target)
        exported = export_tree(scene, block, sort)

        node_group: str | None = None
        users: list[str] = []
        if not block.is_embedded_data:
            node_group = block.name
            users = [f"{scene.kind_of(user).value}/{user.name}" for user in scene.users(block)]

        tree: Tree | None = None
        if "tree" in args.formats:
            tree = exported
        payload: ApplyTreePayload | None = None
        if "payload" in args.formats:
            payload = to_apply_payload(exported, args.target, sort)
        mermaid: str | None = None
        if "mermaid" in args.formats:
            mermaid = diagram(exported)
        return AnyTreeInspected(
            kind=sort.kind, node_group=node_group, users=users, tree=tree, payload=payload, mermaid=mermaid
        )
