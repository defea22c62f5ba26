"""geonodes.inspect"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from blendwright.nodes.payloads.node_tree import NodeTreePayload, TreeTarget
from blendwright.nodes.tree import Tree, to_payload
from blendwright.tool_api.arguments import Args, Name, Result
from blendwright.tool_api.effects import Determinism, Idempotence, Kind, Revert, SafetyLevel, SafetyMode
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Example, Requires, Tool
from blendwright.tools.geonodes.modifier_target import TREE
from blendwright.tools.modifier import inputs
from blendwright.tools.modifier.blender_settings import missing_modifier
from blendwright.tools.node_trees.export import export_tree
from blendwright.tools.node_trees.mermaid import diagram
from blendwright.tools.node_trees.values import to_json
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Cube"})
MADE = (
    "geonodes.node_tree",
    {
        "target": {"object_name": "Cube", "modifier_name": "GeometryNodes", "node_group_name": "GN_Cube"},
        "operations": [
            {
                "op": "set_group_io",
                "inputs": [{"name": "Size", "socket_type": "NodeSocketFloat", "default": 2.0, "min": 0.0}],
            },
            {"op": "create_node", "node_id": "box", "bl_idname": "GeometryNodeMeshCube"},
            {
                "op": "link",
                "from": {"node_id": "group_input", "socket": "Size"},
                "to": {"node_id": "box", "socket": "Size"},
            },
            {
                "op": "link",
                "from": {"node_id": "box", "socket": "Mesh"},
                "to": {"node_id": "group_output", "socket": "Geometry"},
            },
        ],
    },
)


class InspectTreeArgs(Args):
    object_name: Name = Field(description="Object whose modifier holds the tree.")
    modifier_name: Name | None = Field(
        default=None, description="Its geometry-nodes modifier; the only one when left out."
    )
    formats: list[Literal["tree", "payload", "mermaid"]] = Field(
        default=["tree"],
        min_length=1,
        max_length=3,
        description="The tree as a value, as a NODE_TREE payload that builds it again, as a Mermaid diagram.",
    )


class ModifierInput(Result):
    """An input of the modifier."""

    identifier: str = Field(description="Key of the input, unique in the tree.")
    name: str = Field(description="Its name.")
    socket_type: str = Field(description="Its type.")
    value: Any = Field(description="What it holds; datablocks by name.")
    attribute: str | None = Field(description="The attribute that is used in place of the value.")


class TreeInspected(Result):
    """A tree and its modifier."""

    object: str = Field(description="Name of the object.")
    modifier: str = Field(description="Name of the modifier.")
    node_group: str = Field(description="Name of the node group.")
    users: list[str] = Field(description="What else uses the node group, as kind/name.")
    inputs: list[ModifierInput] = Field(description="The inputs of the modifier with their values.")
    tree: Tree | None = Field(default=None, description="The tree; what a new node has anyway is left out.")
    payload: NodeTreePayload | None = Field(default=None, description="A NODE_TREE payload that builds it again.")
    mermaid: str | None = Field(default=None, description="The tree as a Mermaid flow chart.")


class InspectTree(Tool[InspectTreeArgs, TreeInspected]):
    """Look at a geometry-nodes tree: nodes, links, group sockets, modifier inputs; as JSON that builds it again, or as a diagram."""

    name = "geonodes.inspect"
    version = 1
    safety_level = SafetyLevel.READ_ONLY
    safety_mode = SafetyMode.HEADLESS_SAFE
    determinism = Determinism.DETERMINISTIC
    idempotence = Idempotence.IDEMPOTENT
    writes = ()
    revert = Revert.NOTHING
    replayable = True
    requires = Requires(blender_min=(4, 2, 0), capabilities=("scene_read",))
    examples = (
        Example({"object_name": "Cube"}, (CUBE, MADE)),
        Example(
            {"object_name": "Cube", "modifier_name": "GeometryNodes", "formats": ["payload", "mermaid"]}, (CUBE, MADE)
        ),
    )

    def check(self, scene: Scene, args: InspectTreeArgs) -> Iterator[Finding]:
        yield from no_tree(scene, args.object_name, args.modifier_name)

    def apply(self, scene: Scene, args: InspectTreeArgs) -> TreeInspected:
        obj = scene.require(Kind.OBJECT, args.object_name, "/object_name")
        modifier = modifier_of(obj, args.modifier_name)
        group = modifier.node_group
        tree = export_tree(scene, group)
        target = TreeTarget(object_name=obj.name, modifier_name=modifier.name, node_group_name=group.name)
        others = [user for user in scene.users(group) if user != obj]
        return TreeInspected(
            object=obj.name,
            modifier=modifier.name,
            node_group=group.name,
            users=[f"{scene.kind_of(user).value}/{user.name}" for user in others],
            inputs=[_input(modifier, socket) for socket in inputs.sockets_of(group)],
            tree=tree if "tree" in args.formats else None,
            payload=to_payload(tree, target) if "payload" in args.formats else None,
            mermaid=diagram(tree) if "mermaid" in args.formats else None,
        )

    def verify(self, scene: Scene, args: InspectTreeArgs, result: TreeInspected) -> Iterator[Finding]:
        return iter(())


def no_tree(scene: Scene, object_name: str, modifier_name: str | None) -> Iterator[Finding]:
    """What speaks against there being a tree on that object."""
    obj = scene.find(Kind.OBJECT, object_name)
    if obj is None:
        yield from scene.missing(Kind.OBJECT, object_name, "/object_name")
        return
    nodes = [modifier for modifier in obj.modifiers if modifier.type == "NODES"]
    if modifier_name is None:
        if len(nodes) != 1:
            message = f"'{object_name}' has {len(nodes) or 'no'} geometry-nodes modifiers"
            cure = f"Name one: {', '.join(one.name for one in nodes)}." if nodes else "Build a tree on it first."
            fault = Fault.ARGS_INVALID if nodes else Fault.TARGET_NOT_FOUND
            yield Finding(fault, message, "/modifier_name", cure)
            return
    elif modifier_name not in [one.name for one in nodes]:
        there = obj.modifiers.get(modifier_name)
        if there is None:
            yield from missing_modifier(obj, modifier_name, "/modifier_name")
        else:
            message = f"modifier '{modifier_name}' is of type {there.type}, not NODES"
            yield Finding(Fault.SCENE_CONFLICT, message, "/modifier_name", "Name a geometry-nodes modifier.")
        return
    group = modifier_of(obj, modifier_name).node_group
    if group is None or group.bl_idname != TREE:
        message = "the modifier has no node group"
        yield Finding(Fault.TARGET_NOT_FOUND, message, "/modifier_name", "Give it one with geonodes.node_tree.")


def modifier_of(obj: Block, name: str | None) -> Block:
    """The modifier of that name, or the only one with nodes."""
    if name is not None:
        return obj.modifiers[name]
    return next(modifier for modifier in obj.modifiers if modifier.type == "NODES")


def _input(modifier: Block, socket: Block) -> ModifierInput:
    identifier: str = socket.identifier
    by_attribute = bool(modifier.get(f"{identifier}_use_attribute", False))
    return ModifierInput(
        identifier=identifier,
        name=socket.name,
        socket_type=socket.socket_type,
        value=to_json(modifier.get(identifier)),
        attribute=modifier.get(f"{identifier}_attribute_name") if by_attribute else None,
    )
