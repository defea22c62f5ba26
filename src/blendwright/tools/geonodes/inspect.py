"""Tool geonodes.inspect"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from blendwright.nodes.payloads import NodeTreePayload, TreeTarget
from blendwright.nodes.tree import Tree, to_payload
from blendwright.tool_api.arguments import Result, optional
from blendwright.tool_api.promises import READ_ONLY
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Example, Findings, Reads
from blendwright.tools.geonodes.examples import OF_CUBE, SIZED_CUBE
from blendwright.tools.geonodes.modifier_target import NodesModifierArgs, nodes_modifier, tree_problems
from blendwright.tools.modifier import inputs, stored_inputs
from blendwright.tools.node_trees.export import export_tree
from blendwright.tools.node_trees.mermaid import diagram
from blendwright.tools.node_trees.values import to_json


class InspectTreeArgs(NodesModifierArgs):
    formats: list[Literal["tree", "payload", "mermaid"]] = Field(
        default=["tree"],
        min_length=1,
        max_length=3,
        description="tree: the tree as JSON. payload: a NODE_TREE payload that rebuilds it. mermaid: a Mermaid "
        "diagram.",
    )


class ModifierInput(Result):
    """An input of the modifier."""

    identifier: str = Field(description="Key of the input, unique in the tree.")
    name: str = Field(description="Name of the input.")
    socket_type: str = Field(description="Socket type of the input.")
    value: Any = Field(description="Its value; datablocks by name.")
    attribute: str | None = Field(description="Name of the attribute that replaces the value, or null.")


class TreeInspected(Result):
    """A geometry-nodes tree with its modifier."""

    object: str = Field(description="Name of the object.")
    modifier: str = Field(description="Name of the modifier.")
    node_group: str = Field(description="Name of the node group.")
    users: list[str] = Field(description="Other users of the node group, as kind/name.")
    inputs: list[ModifierInput] = Field(description="The inputs of the modifier with their values.")
    tree: Tree | None = optional("The tree, without values that equal the defaults of a new node.")
    payload: NodeTreePayload | None = optional("A NODE_TREE payload that rebuilds the tree.")
    mermaid: str | None = optional("The tree as a Mermaid flow chart.")


class InspectTree(Reads[InspectTreeArgs, TreeInspected]):
    """Read a geometry-nodes tree: nodes, links, group sockets and modifier inputs, as JSON, as a payload that rebuilds
    it, or as a diagram.
    """

    name = "geonodes.inspect"
    promises = READ_ONLY.needs("scene_read")
    examples = (
        Example({"object": "Cube"}, *SIZED_CUBE),
        Example({**OF_CUBE, "formats": ["payload", "mermaid"]}, *SIZED_CUBE),
    )

    def check(self, scene: Scene, args: InspectTreeArgs) -> Findings:
        yield from tree_problems(scene, args.object, args.modifier)

    def apply(self, scene: Scene, args: InspectTreeArgs) -> TreeInspected:
        modifier = nodes_modifier(scene, args.object, args.modifier)
        obj, group = modifier.id_data, modifier.node_group
        tree = export_tree(scene, group)
        target = TreeTarget(object_name=obj.name, modifier_name=modifier.name, node_group_name=group.name)
        other_users = [user for user in scene.users(group) if user != obj]
        contents: dict[str, Any] = {}
        if "tree" in args.formats:
            contents["tree"] = tree
        if "payload" in args.formats:
            contents["payload"] = to_payload(tree, target)
        if "mermaid" in args.formats:
            contents["mermaid"] = diagram(tree)
        return TreeInspected(
            object=obj.name,
            modifier=modifier.name,
            node_group=group.name,
            users=[f"{scene.kind_of(user).value}/{user.name}" for user in other_users],
            inputs=[_input(modifier, socket) for socket in inputs.sockets_of(group)],
            **contents,
        )


def _input(modifier: Block, socket: Block) -> ModifierInput:
    identifier: str = socket.identifier
    return ModifierInput(
        identifier=identifier,
        name=socket.name,
        socket_type=socket.socket_type,
        value=to_json(stored_inputs.value_of(modifier, identifier)),
        attribute=stored_inputs.attribute_of(modifier, identifier),
    )
