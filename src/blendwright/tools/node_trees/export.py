"""A tree as a value: everything that building it again needs, and nothing that a new node has anyway. Reads only."""

from __future__ import annotations

from typing import Any

from blendwright.nodes.payloads.parts import GROUP_INPUT, GROUP_OUTPUT
from blendwright.nodes.tree import Tree
from blendwright.tool_api.effects import Kind
from blendwright.tool_api.scene import Block, Scene
from blendwright.tools.geonodes.modifier_target import TREE
from blendwright.tools.node_trees import interface, properties
from blendwright.tools.node_trees.editor import links_in_order
from blendwright.tools.node_trees.graph import active_output, first_input
from blendwright.tools.node_trees.sockets import available_sockets, socket_key
from blendwright.tools.node_trees.values import has_value, to_json

# What a new node holds: its properties, and its inputs by identifier.
Fresh = tuple[dict[str, Any], dict[str, Any]]
# Types that bring a datablock along, the built-in font: none is made to look at, and all that they hold is told.
BRINGING = frozenset({"GeometryNodeStringToCurves"})
_nodes: dict[str, Fresh] = {}
_sockets: dict[str, dict[str, Any]] = {}


def export_tree(scene: Scene, tree: Block) -> Tree:
    """The tree, in the order of its nodes' ids."""
    _learn(scene, tree)
    ids = node_ids(tree)
    nodes = sorted(tree.nodes, key=lambda node: ids[node.name])
    return Tree.model_validate(
        {
            "interface": {
                "inputs": interface.read_interface(tree, "INPUT", _sockets),
                "outputs": interface.read_interface(tree, "OUTPUT", _sockets),
            },
            "nodes": [_node(node, ids) for node in nodes],
            "links": [link for node in nodes for link in _links_into(node, ids)],
        }
    )


def node_ids(tree: Block) -> dict[str, str]:
    """The id of each node by its name: the name, except that the group's own nodes have given ids."""
    ids: dict[str, str] = {node.name: node.name for node in tree.nodes}
    for given, node in ((GROUP_INPUT, first_input(tree)), (GROUP_OUTPUT, active_output(tree))):
        if node is not None:
            ids[node.name] = given
    return ids


def _node(node: Block, ids: dict[str, str]) -> dict[str, Any]:
    fresh_properties, fresh_inputs = _nodes[node.bl_idname]
    held = properties.read_properties(node, ids)
    usable = available_sockets(node.inputs)
    inputs = {
        socket_key(socket, usable): to_json(socket.default_value)
        for socket in node.inputs
        if has_value(socket) and not _is_fresh(socket, fresh_inputs)
    }
    return {
        "id": ids[node.name],
        "bl_idname": node.bl_idname,
        "location": to_json(node.location),
        "properties": {name: value for name, value in held.items() if fresh_properties.get(name) != value},
        "inputs": inputs,
    }


def _is_fresh(socket: Block, fresh: dict[str, Any]) -> bool:
    # A menu without items holds nothing that could be given to it.
    if socket.type == "MENU" and not socket.default_value:
        return True
    identifier = socket.identifier
    return identifier in fresh and fresh[identifier] == to_json(socket.default_value)


def _links_into(node: Block, ids: dict[str, str]) -> list[dict[str, Any]]:
    usable = available_sockets(node.inputs)
    found: list[dict[str, Any]] = []
    for socket in usable:
        if not socket.is_linked:
            continue
        for link in links_in_order(socket):
            source = link.from_socket
            others = available_sockets(link.from_node.outputs)
            if source in others:
                start = {"node_id": ids[link.from_node.name], "socket": socket_key(source, others)}
                found.append({"from": start, "to": {"node_id": ids[node.name], "socket": socket_key(socket, usable)}})
    return found


def _learn(scene: Scene, tree: Block) -> None:
    """See what new nodes and sockets of these types hold, by making one of each; once for the life of the process."""
    kinds = {node.bl_idname for node in tree.nodes} - _nodes.keys()
    sockets = {item.socket_type for item in tree.interface.items_tree if item.item_type == "SOCKET"} - _sockets.keys()
    if not kinds and not sockets:
        return
    with scene.temporary(Kind.NODE_GROUP, TREE) as scratch:
        for kind in sorted(kinds):
            if kind in BRINGING:
                _nodes[kind] = {}, {}
                continue
            node = scratch.nodes.new(kind)
            values = {socket.identifier: to_json(socket.default_value) for socket in node.inputs if has_value(socket)}
            _nodes[kind] = properties.read_properties(node, {}), values
        for kind in sorted(sockets):
            _sockets[kind] = interface.read_socket(
                scratch.interface.new_socket("new", in_out="INPUT", socket_type=kind)
            )
