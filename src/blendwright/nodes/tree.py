"""A whole tree as a value: what `geonodes.inspect` exports, and what a NODE_TREE payload builds again.

Sockets are named by their identifier, except those that come from the group's interface or from a node's list of items: Blender
gives these a new identifier in every tree, so they go by name (`Name#2` for the second of a name). Properties hold everything else
that a node knows, lists of items, node groups, the frame around it and the other end of its zone included. Input values are those
of all inputs that hold one, linked or not. Nothing that only concerns the look of the editor is kept, apart from places and labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, field_validator

from blendwright.nodes import payloads
from blendwright.nodes.payloads import GIVEN_IDS, GROUP_INPUT, GROUP_OUTPUT, InterfaceSocket, Part
from blendwright.nodes.tree_payloads import ApplyTreePayload, NodesTarget
from blendwright.nodes.tree_sorts import ACTIVE_OUTPUT, OUTPUT, TreeSort

GEOMETRY = "NodeSocketGeometry"
# Properties that are set when all nodes have the rest of theirs: they name another node, or have as many numbers as another one says.
LATE = ("paired_output", "parent", "vector")
# Properties that are set before the rest: they say what others may be (a colour can be BRIGHTER, a number cannot).
EARLY = ("data_type",)

InputValues = dict[str, payloads.SocketValue]


class TreeNode(Part):
    """A node with all that it holds."""

    id: payloads.NodeId
    bl_idname: payloads.TypeName
    location: payloads.Location
    properties: dict[str, payloads.PropertyValue] = Field(default={}, description="By Blender's names.")
    inputs: InputValues = Field(default={}, description="Values by identifier, or by name (see the module).")


class TreeLink(Part):
    """A link; the order of links is the order in multi-input sockets."""

    source: payloads.Socket = Field(alias="from")
    target: payloads.Socket = Field(alias="to")


class Interface(Part):
    """The sockets of the group, in order."""

    inputs: Annotated[tuple[InterfaceSocket, ...], Field(strict=False)] = ()
    outputs: Annotated[tuple[InterfaceSocket, ...], Field(strict=False)] = ()


class Tree(Part):
    """A tree. The first group input and output go by their given ids and come first, the other nodes in Blender's order."""

    interface: Interface
    nodes: Annotated[tuple[TreeNode, ...], Field(strict=False)]
    links: Annotated[tuple[TreeLink, ...], Field(strict=False)]

    @field_validator("nodes")
    @classmethod
    def _group_nodes_first(cls, nodes: tuple[TreeNode, ...]) -> tuple[TreeNode, ...]:
        return tuple(sorted(nodes, key=lambda node: GIVEN_IDS.index(node.id) if node.id in GIVEN_IDS else 2))

    def node(self, node_id: str) -> TreeNode | None:
        return next((node for node in self.nodes if node.id == node_id), None)


def new_tree() -> Tree:
    """How every new tree starts: what comes in goes out."""
    geometry = InterfaceSocket(name="Geometry", socket_type=GEOMETRY)
    ends = (
        TreeNode(id=GROUP_INPUT, bl_idname="NodeGroupInput", location=(-200.0, 0.0)),
        TreeNode(id=GROUP_OUTPUT, bl_idname="NodeGroupOutput", location=(200.0, 0.0)),
    )
    pass_through = TreeLink.model_validate(
        {
            "from": {"node_id": GROUP_INPUT, "socket": geometry.name},
            "to": {"node_id": GROUP_OUTPUT, "socket": geometry.name},
        }
    )
    return Tree(interface=Interface(inputs=(geometry,), outputs=(geometry,)), nodes=ends, links=(pass_through,))


def to_payload(tree: Tree, target: payloads.TreeTarget) -> payloads.NodeTreePayload:
    """The payload that builds this tree in a new node group.

    Nodes come first, then properties (they decide which sockets there are), then values, then links.
    """
    (pass_through,) = new_tree().links
    operations: list[dict[str, Any]] = [
        {"op": "unlink", **pass_through.model_dump()},
        {"op": "set_group_io", "replace": True, **tree.interface.model_dump(mode="json")},
        *_operations(tree, GIVEN_IDS),
    ]
    return payloads.NodeTreePayload.model_validate({"target": target.model_dump(), "operations": operations})


def to_apply_payload(tree: Tree, target: NodesTarget, sort: TreeSort) -> ApplyTreePayload:
    """The payload of nodes.apply_tree that builds this tree, whatever was there before."""
    operations: list[dict[str, Any]] = []
    if sort.has_interface:
        operations.append({"op": "set_group_io", "replace": True, **tree.interface.model_dump(mode="json")})
    operations += _operations(tree, tuple(sort.given))
    if sum(node.bl_idname == sort.output_type for node in tree.nodes) > 1:
        if OUTPUT in sort.given:
            active = OUTPUT
        else:
            active = GROUP_OUTPUT
        operations.append(_property(active, ACTIVE_OUTPUT, True))
    fields = {"target": target.model_dump(), "clear": True, "operations": operations}
    return ApplyTreePayload.model_validate(fields)


def _operations(tree: Tree, given: Sequence[str]) -> list[dict[str, Any]]:
    """What builds the nodes and links of a tree where only the given nodes are."""
    ids = {node.id for node in tree.nodes}
    operations: list[dict[str, Any]] = [
        {"op": "delete_node", "node_id": node_id} for node_id in given if node_id not in ids
    ]
    for node in tree.nodes:
        location = list(node.location)
        if node.id in given:
            operations.append(_property(node.id, "location", location))
        else:
            operation = {"op": "create_node", "node_id": node.id, "bl_idname": node.bl_idname, "location": location}
            operations.append(operation)
    properties = [(node.id, name, value) for node in tree.nodes for name, value in node.properties.items()]
    operations += [
        _property(*each) for each in sorted(properties, key=lambda each: (each[1] in LATE, each[1] not in EARLY))
    ]
    operations += [
        {"op": "set_input_default", "node_id": node.id, "socket": socket, "value": value}
        for node in tree.nodes
        for socket, value in node.inputs.items()
    ]
    operations += [{"op": "link", **link.model_dump()} for link in tree.links]
    return operations


def _property(node_id: str, name: str, value: Any) -> dict[str, Any]:
    return {"op": "set_property", "node_id": node_id, "property": name, "value": value}
