"""Exports a node tree as a value: everything that rebuilding it needs, without what a new node holds anyway. Reads only."""

from __future__ import annotations

from itertools import count
from typing import Any

from blendwright.nodes.node_kinds import INPUT
from blendwright.nodes.tree import Tree
from blendwright.nodes.tree_sorts import GEOMETRY_GROUP, TreeSort
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tools.node_trees import interface, properties
from blendwright.tools.node_trees.editor import links_in_order
from blendwright.tools.node_trees.graph import active_output, first_input
from blendwright.tools.node_trees.sockets import available_sockets, socket_key
from blendwright.tools.node_trees.values import has_value, to_json

# What a new node holds: its properties, and its inputs by identifier.
Defaults = tuple[dict[str, Any], dict[str, Any]]
# Types that bring a datablock along, the built-in font: none is created to read its defaults, so all that they hold is exported.
WITHOUT_DEFAULTS = frozenset({"GeometryNodeStringToCurves", "GeometryNodeInputFont"})
# By type of tree and of node or socket.
_node_defaults: dict[tuple[str, str], Defaults] = {}
_socket_defaults: dict[str, dict[str, dict[str, Any]]] = {}


def export_tree(scene: Scene, tree: Block, sort: TreeSort = GEOMETRY_GROUP) -> Tree:
    """The tree, in the order of its nodes' ids."""
    _read_defaults(scene, tree)
    ids = node_ids(tree, sort)
    socket_defaults = _socket_defaults.get(tree.bl_idname, {})
    nodes = sorted(tree.nodes, key=lambda node: ids[node.name])
    return Tree.model_validate(
        {
            "interface": {
                "inputs": interface.read_interface(tree, "INPUT", socket_defaults),
                "outputs": interface.read_interface(tree, "OUTPUT", socket_defaults),
            },
            "nodes": [_node(node, ids) for node in nodes],
            "links": [link for node in nodes for link in _links_into(node, ids)],
        }
    )


def node_ids(tree: Block, sort: TreeSort = GEOMETRY_GROUP) -> dict[str, str]:
    """The id of each node by its name: the name, except that the tree's own nodes have given ids."""
    ids: dict[str, str] = {node.name: node.name for node in tree.nodes}
    for given_id, bl_idname in sort.given.items():
        if bl_idname == INPUT:
            node = first_input(tree)
        else:
            node = active_output(tree, bl_idname)
        if node is not None:
            if given_id in ids and node.name != given_id:
                ids[given_id] = _free_id(given_id, ids)  # another node has that name
            ids[node.name] = given_id
    return ids


def _free_id(taken: str, ids: dict[str, str]) -> str:
    return next(name for name in (f"{taken} {number}" for number in count(2)) if name not in ids)


def _node(node: Block, ids: dict[str, str]) -> dict[str, Any]:
    default_properties, default_inputs = _node_defaults[node.id_data.bl_idname, node.bl_idname]
    values = properties.read_properties(node, ids)
    usable = available_sockets(node.inputs)
    inputs = {
        socket_key(socket, usable): to_json(socket.default_value)
        for socket in node.inputs
        if has_value(socket) and not _is_default(socket, default_inputs)
    }
    return {
        "id": ids[node.name],
        "bl_idname": node.bl_idname,
        "location": to_json(node.location),
        "properties": {name: value for name, value in values.items() if default_properties.get(name) != value},
        "inputs": inputs,
    }


def _is_default(socket: Block, defaults: dict[str, Any]) -> bool:
    # A menu without items holds nothing that could be given to it.
    if socket.type == "MENU" and not socket.default_value:
        return True
    identifier = socket.identifier
    return identifier in defaults and defaults[identifier] == to_json(socket.default_value)


def _links_into(node: Block, ids: dict[str, str]) -> list[dict[str, Any]]:
    usable = available_sockets(node.inputs)
    links: list[dict[str, Any]] = []
    for socket in usable:
        if not socket.is_linked:
            continue
        for link in links_in_order(socket):
            source = link.from_socket
            others = available_sockets(link.from_node.outputs)
            if source in others:
                start = {"node_id": ids[link.from_node.name], "socket": socket_key(source, others)}
                links.append({"from": start, "to": {"node_id": ids[node.name], "socket": socket_key(socket, usable)}})
    return links


def _read_defaults(scene: Scene, tree: Block) -> None:
    """Read what new nodes and sockets of these types hold, by creating one of each; once for the life of the process."""
    tree_type: str = tree.bl_idname
    known_sockets = _socket_defaults.setdefault(tree_type, {})
    kinds = {node.bl_idname for node in tree.nodes if (tree_type, node.bl_idname) not in _node_defaults}
    sockets = {
        item.socket_type for item in tree.interface.items_tree if item.item_type == "SOCKET"
    } - known_sockets.keys()
    if not kinds and not sockets:
        return
    with scene.temporary(Kind.NODE_GROUP, tree_type) as scratch:
        for kind in sorted(kinds):
            if kind in WITHOUT_DEFAULTS:
                node = None
            else:
                node = _new_node(scratch, kind)
            if node is None:
                _node_defaults[tree_type, kind] = {}, {}
                continue
            values = {socket.identifier: to_json(socket.default_value) for socket in node.inputs if has_value(socket)}
            _node_defaults[tree_type, kind] = properties.read_properties(node, {}), values
        for kind in sorted(sockets):
            known_sockets[kind] = interface.read_socket(
                scratch.interface.new_socket("new", in_out="INPUT", socket_type=kind)
            )


def _new_node(tree: Block, kind: str) -> Block | None:
    """A node; None where a group has none of the type: before Blender 5.0 the scene's compositor has some of its own."""
    try:
        return tree.nodes.new(kind)
    except RuntimeError:
        return None
