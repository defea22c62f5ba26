"""A complete tree as a value: `geonodes.inspect` exports it, and a NODE_TREE payload builds it again.

A link or value names a socket by its identifier. Sockets of the group's interface and of a node's list of items go by
name (`Name#2` for the second of a name), because Blender gives them a new identifier in every tree.

Properties hold all other data of a node, including lists of items, node groups, the surrounding frame and the other end
of its zone. Input values include the values of linked inputs. A tree keeps positions and labels, but nothing else of
the editor's look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, field_validator

from blendwright.nodes import payloads
from blendwright.nodes.payloads import GIVEN_IDS, GROUP_INPUT, GROUP_OUTPUT, InterfaceSocket, Part
from blendwright.nodes.tree_payloads import ApplyTreePayload, NodesTarget
from blendwright.nodes.tree_sorts import ACTIVE_OUTPUT, OUTPUT, TreeSort

GEOMETRY = "NodeSocketGeometry"
# Properties to set after all others: they name another node, or another property decides how many numbers they have.
LATE = ("paired_output", "parent", "vector")
# Properties to set before all others: they decide which values others accept (a colour can be BRIGHTER, a number cannot).
EARLY = ("data_type",)

InputValues = dict[str, payloads.SocketValue]


class TreeNode(Part):
    """A node with its properties and input values."""

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
    """The sockets of a group, in order."""

    inputs: Annotated[tuple[InterfaceSocket, ...], Field(strict=False)] = ()
    outputs: Annotated[tuple[InterfaceSocket, ...], Field(strict=False)] = ()


class Tree(Part):
    """A tree of nodes, links and interface sockets.

    The first group input and group output have their fixed ids and come first. The other nodes follow in Blender's
    order.
    """

    interface: Interface
    nodes: Annotated[tuple[TreeNode, ...], Field(strict=False)]
    links: Annotated[tuple[TreeLink, ...], Field(strict=False)]

    @field_validator("nodes")
    @classmethod
    def _group_nodes_first(cls, nodes: tuple[TreeNode, ...]) -> tuple[TreeNode, ...]:
        return tuple(sorted(nodes, key=_rank_of_node))

    def node(self, node_id: str) -> TreeNode | None:
        return next((node for node in self.nodes if node.id == node_id), None)


def _rank_of_node(node: TreeNode) -> int:
    if node.id in GIVEN_IDS:
        return GIVEN_IDS.index(node.id)
    return len(GIVEN_IDS)


def new_tree() -> Tree:
    """Return a new geometry tree: the group input's geometry leads straight to the group output."""
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
    """Return the payload that builds this tree in a new node group.

    Nodes come first, then properties (they decide which sockets exist), then values, then links.
    """
    (pass_through,) = new_tree().links
    operations: list[dict[str, Any]] = [
        {"op": "unlink", **pass_through.model_dump()},
        {"op": "set_group_io", "replace": True, **tree.interface.model_dump(mode="json")},
        *_operations(tree, GIVEN_IDS),
    ]
    return payloads.NodeTreePayload.model_validate({"target": target.model_dump(), "operations": operations})


def to_apply_payload(tree: Tree, target: NodesTarget, sort: TreeSort) -> ApplyTreePayload:
    """Return the payload of nodes.apply_tree that builds this tree and replaces the tree's current content."""
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
    """Return the operations that build the nodes and links of a tree, starting with only the given nodes."""
    ids = {node.id for node in tree.nodes}
    operations: list[dict[str, Any]] = []
    for node_id in given:
        if node_id not in ids:
            operations.append({"op": "delete_node", "node_id": node_id})

    settings: list[dict[str, Any]] = []
    values: list[dict[str, Any]] = []
    for node in tree.nodes:
        location = list(node.location)
        if node.id in given:
            operations.append(_property(node.id, "location", location))
        else:
            operation = {"op": "create_node", "node_id": node.id, "bl_idname": node.bl_idname, "location": location}
            operations.append(operation)
        for name, value in node.properties.items():
            settings.append(_property(node.id, name, value))
        for socket, value in node.inputs.items():
            values.append({"op": "set_input_default", "node_id": node.id, "socket": socket, "value": value})

    operations += sorted(settings, key=_rank_of_property)
    operations += values
    operations += [{"op": "link", **link.model_dump()} for link in tree.links]
    return operations


def _rank_of_property(operation: Mapping[str, Any]) -> tuple[bool, bool]:
    name = operation["property"]
    return name in LATE, name not in EARLY


def _property(node_id: str, name: str, value: Any) -> dict[str, Any]:
    return {"op": "set_property", "node_id": node_id, "property": name, "value": value}
