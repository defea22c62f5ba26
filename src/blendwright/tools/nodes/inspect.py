"""nodes.inspect"""

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
    target: NodesTarget = Field(description="The tree to look at.")
    formats: list[Literal["tree", "payload", "mermaid"]] = Field(
        default=["tree"],
        min_length=1,
        max_length=3,
        description="The tree as a value, as a payload of nodes.apply_tree that builds it again, as a Mermaid diagram.",
    )


class AnyTreeInspected(Result):
    """A tree."""

    kind: str = Field(description="Kind of its nodes: geometry, shader or compositor.")
    node_group: str | None = optional("Name of the node group, where the tree is one.")
    users: list[str] = Field(description="What uses that node group, as kind/name.")
    tree: Tree | None = optional("The tree; what a new node has anyway is left out.")
    payload: ApplyTreePayload | None = optional("A payload of nodes.apply_tree that builds it again.")
    mermaid: str | None = optional("The tree as a Mermaid flow chart.")


class InspectAnyTree(Reads[InspectAnyTreeArgs, AnyTreeInspected]):
    """Look at the node tree of a material, world, light or compositor, or a node group; as JSON that builds it again, or a diagram."""

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
        found = tree_target.find_tree(scene, args.target)
        assert found is not None
        sort = tree_target.sort_in(scene, args.target)
        tree = export_tree(scene, found, sort)
        is_group = not found.is_embedded_data
        return AnyTreeInspected(
            kind=sort.kind,
            node_group=found.name if is_group else None,
            users=[f"{scene.kind_of(user).value}/{user.name}" for user in scene.users(found)] if is_group else [],
            tree=tree if "tree" in args.formats else None,
            payload=to_apply_payload(tree, args.target, sort) if "payload" in args.formats else None,
            mermaid=diagram(tree) if "mermaid" in args.formats else None,
        )
