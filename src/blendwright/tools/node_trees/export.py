"""Export of a node tree as a value with everything that rebuilding needs, without the defaults of new nodes. Reads only."""

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

# The defaults of a new node: its properties, and its inputs by identifier.
Defaults = tuple[dict[str, Any], dict[str, Any]]
# Creating these types would add a datablock, the built-in font. Their defaults stay unknown, so all their values are exported.
WITHOUT_DEFAULTS = frozenset({"GeometryNodeStringToCurves", "GeometryNodeInputFont"})
# Keys: type of the tree, and type of the node or socket.
_node_defaults: dict[tuple[str, str], Defaults] = {}
_socket_defaults: dict[str, dict[str, dict[str, Any]]] = {}


def export_tree(scene: Scene, tree: Block, sort: TreeSort = GEOMETRY_GROUP) -> Tree:
    """Return the tree as a value, with its nodes sorted by id."""
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
    """Return the id of each node by its name. Ids are names, except for the reserved ids of the sort of tree."""
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


def _free_id(used_id: str, ids: dict[str, str]) -> str:
    candidates = (f"{used_id} {number}" for number in count(2))
    return next(candidate for candidate in candidates if candidate not in ids)


def _node(node: Block, ids: dict[str, str]) -> dict[str, Any]:
    default_properties, default_inputs = _node_defaults[node.id_data.bl_idname, node.bl_idname]
    usable = available_sockets(node.inputs)

    values: dict[str, Any] = {}
    for name, value in properties.read_properties(node, ids).items():
        if default_properties.get(name) != value:
            values[name] = value

    inputs: dict[str, Any] = {}
    for socket in node.inputs:
        if has_value(socket) and not _is_default(socket, default_inputs):
            inputs[socket_key(socket, usable)] = to_json(socket.default_value)

    return {
        "id": ids[node.name],
        "bl_idname": node.bl_idname,
        "location": to_json(node.location),
        "properties": values,
        "inputs": inputs,
    }


def _is_default(socket: Block, defaults: dict[str, Any]) -> bool:
    # A menu without items has no value that a caller could set.
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
            outputs = available_sockets(link.from_node.outputs)
            if source in outputs:
                start = {"node_id": ids[link.from_node.name], "socket": socket_key(source, outputs)}
                links.append({"from": start, "to": {"node_id": ids[node.name], "socket": socket_key(socket, usable)}})
    return links


def _read_defaults(scene: Scene, tree: Block) -> None:
    """Create one node and socket of each new type and store its defaults, once per process."""
    tree_type: str = tree.bl_idname
    known_sockets = _socket_defaults.setdefault(tree_type, {})
    kinds = {node.bl_idname for node in tree.nodes if (tree_type, node.bl_idname) not in _node_defaults}
    sockets = {item.socket_type for item in tree.interface.items_tree if item.item_type == "SOCKET"}
    sockets -= known_sockets.keys()
    if not kinds and not sockets:
        return
    with scene.temporary(Kind.NODE_GROUP, tree_type) as scratch:
        for kind in sorted(kinds):
            node = None
            if kind not in WITHOUT_DEFAULTS:
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
    """Return a new node, or None if a group allows no node of this type: before 5.0 some are only for scene compositors."""
    try:
        return tree.nodes.new(kind)
    except RuntimeError:
        return None
