"""Nodes of a pattern in a material's tree: building, comparison, and distinction from other nodes by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blendwright.nodes import edits
from blendwright.nodes.tree_sorts import MATERIAL
from blendwright.tool_api import Block, Findings, Scene
from blendwright.tools.checks import conflict, same
from blendwright.tools.material.pattern_parts import PREFIX, Node, Nodes
from blendwright.tools.material.patterns import SURFACE
from blendwright.tools.material.textures import unlink_fix
from blendwright.tools.node_trees.editor import TreeEditor
from blendwright.tools.node_trees.sockets import find_socket
from blendwright.tools.node_trees.values import to_json
from blendwright.tools.settings import Setting, Settings

AT = "/pattern"
# Input of the Principled BSDF that a pattern sets -> its argument.
ARGUMENTS = {"Base Color": "/color", "Normal": "/bump", "Metallic": "/metallic", "Roughness": "/roughness"}
# Distances of columns and rows in the node editor.
COLUMN, ROW = 220.0, 260.0


def differences(tree: Block, node: Block, wanted: Nodes) -> Iterator[str]:
    """Yield the names of the nodes that differ from the wanted ones. `node` is the Principled BSDF."""
    names = {PREFIX + name for name in wanted}
    yield from (existing.name for existing in tree.nodes if _is_own(existing) and existing.name not in names)
    for name, planned in wanted.items():
        if not _is_as_planned(tree.nodes.get(PREFIX + name), planned):
            yield PREFIX + name
    if not all(_holds(node.inputs[key], value) for key, value in SURFACE.items()):
        yield node.name


def _is_as_planned(node: Block | None, planned: Node) -> bool:
    if node is None or node.bl_idname != "ShaderNode" + planned.kind or node.mute:
        return False
    if not all(same(value, to_json(getattr(node, key))) for key, value in planned.properties.items()):
        return False
    return all(_holds(find_socket(node, node.inputs, key, AT), value) for key, value in planned.inputs.items())


def _holds(socket: Block, wanted: Any) -> bool:
    if not isinstance(wanted, str):
        return not socket.is_linked and same(wanted, to_json(socket.default_value))
    return socket.is_linked and wanted == _source(socket.links[0])


def _source(link: Block) -> str:
    return f"{link.from_node.name.removeprefix(PREFIX)}.{link.from_socket.identifier}"


def _is_own(node: Block) -> bool:
    return node.name.startswith(PREFIX)


def foreign_links(tree: Block, node: Block, material: str) -> Findings:
    """Yield findings for links that prevent building the pattern: into its inputs, or between its nodes and foreign
    nodes.
    """
    for link in tree.links:
        argument = None
        if link.to_node == node:
            argument = ARGUMENTS.get(link.to_socket.identifier)
        is_from_pattern = _is_own(link.from_node)

        if argument is not None and not is_from_pattern:
            message = f"the {link.to_socket.name} of material '{material}' comes from its node '{link.from_node.name}'"
            yield conflict(message, argument, unlink_fix(material, link.to_socket))
        elif argument is None and is_from_pattern != _is_own(link.to_node):
            foreign_node = link.from_node
            if is_from_pattern:
                foreign_node = link.to_node
            message = f"node '{foreign_node.name}' of material '{material}' is linked with its pattern"
            yield conflict(message, AT, "Use another name, or remove the link with nodes.patch.")


def value_settings(tree: Block, wanted: Nodes) -> Settings:
    """Yield the values of a pattern's nodes as settings, for the nodes that exist."""
    for name, (kind, inputs, _) in wanted.items():
        existing = tree.nodes.get(PREFIX + name)
        if existing is not None and existing.bl_idname == "ShaderNode" + kind:
            for key, value in inputs.items():
                if not isinstance(value, str):
                    yield Setting(find_socket(existing, existing.inputs, key, AT, off=True), "default_value", value, AT)


def build(scene: Scene, tree: Block, node: Block, wanted: Nodes) -> None:
    """Replace the pattern of the Principled BSDF. The caller has opened the tree for writing."""
    TreeEditor(scene, tree, tree, MATERIAL).apply_all(_edits(tree, node, wanted))


def _edits(tree: Block, node: Block, wanted: Nodes) -> Iterator[edits.Edit]:
    for name in [existing.name for existing in tree.nodes if _is_own(existing)]:
        yield edits.RemoveNode(AT, name, missing_ok=False)
    x, y = node.location
    for name, (column, row) in _grid_positions(wanted).items():
        kind, _, properties = wanted[name]
        location = (x - COLUMN * column, y - ROW * row)
        yield edits.AddNode(AT, PREFIX + name, AT, "ShaderNode" + kind, location, exist_ok=False, properties=properties)
    for name, (_, inputs, _) in wanted.items():
        for key, value in inputs.items():
            yield _input_edit(_socket(PREFIX + name, key), value)
    for key, value in SURFACE.items():
        yield _input_edit(_socket(node.name, key), value)


def _input_edit(socket: edits.SocketRef, value: Any) -> edits.Edit:
    if not isinstance(value, str):
        return edits.SetInput(AT, socket, value)
    name, _, output = value.rpartition(".")
    return edits.Link(AT, _socket(PREFIX + name, output), socket)


def _socket(node: str, socket: str) -> edits.SocketRef:
    return edits.SocketRef(node, socket, AT, AT)


def _grid_positions(wanted: Nodes) -> dict[str, tuple[int, int]]:
    """Return each node's column, left of all nodes that use its outputs, and its row."""
    columns = dict.fromkeys(wanted, 1)
    for name, node in reversed(wanted.items()):
        for value in node.inputs.values():
            if isinstance(value, str):
                source = value.rpartition(".")[0]
                columns[source] = max(columns[source], columns[name] + 1)
    column_list = list(columns.values())
    return {name: (column, column_list[:at].count(column)) for at, (name, column) in enumerate(columns.items())}
