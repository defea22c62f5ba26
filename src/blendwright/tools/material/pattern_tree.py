"""The nodes of a pattern in the tree of a material: built by the editor of node trees, read back, and told from others by their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blendwright.nodes import edits
from blendwright.nodes.tree_sorts import MATERIAL
from blendwright.tool_api import Block, Findings, Scene
from blendwright.tools.checks import conflict, same
from blendwright.tools.material.pattern_parts import PREFIX, Nodes
from blendwright.tools.material.patterns import SURFACE
from blendwright.tools.material.textures import unlink_cure
from blendwright.tools.node_trees.editor import TreeEditor
from blendwright.tools.node_trees.sockets import find_socket
from blendwright.tools.node_trees.values import to_json
from blendwright.tools.settings import Setting, Settings

AT = "/pattern"
# The inputs of the Principled BSDF that are a pattern's business, with their arguments.
ARGUMENTS = {"Base Color": "/color", "Normal": "/bump", "Metallic": "/metallic", "Roughness": "/roughness"}
COLUMN, ROW = 220.0, 260.0


def differences(tree: Block, node: Block, wanted: Nodes) -> Iterator[str]:
    """The nodes that are not as wanted, by name. `node` is the Principled BSDF."""
    names = {PREFIX + name for name in wanted}
    yield from (each.name for each in tree.nodes if _is_own(each) and each.name not in names)
    for name, (kind, inputs, properties) in wanted.items():
        found = tree.nodes.get(PREFIX + name)
        if (
            found is None
            or found.bl_idname != "ShaderNode" + kind
            or found.mute
            or not all(same(value, to_json(getattr(found, key))) for key, value in properties.items())
            or not all(_holds(find_socket(found, found.inputs, key, AT), value) for key, value in inputs.items())
        ):
            yield PREFIX + name
    if not all(_holds(node.inputs[key], value) for key, value in SURFACE.items()):
        yield node.name


def _holds(socket: Block, wanted: Any) -> bool:
    if not isinstance(wanted, str):
        return not socket.is_linked and same(wanted, to_json(socket.default_value))
    return socket.is_linked and wanted == _source(socket.links[0])


def _source(link: Block) -> str:
    return f"{link.from_node.name.removeprefix(PREFIX)}.{link.from_socket.identifier}"


def _is_own(node: Block) -> bool:
    return node.name.startswith(PREFIX)


def foreign_links(tree: Block, node: Block, material: str) -> Findings:
    """Links of others that keep a pattern from being built: into what it is for, and between its nodes and others."""
    for link in tree.links:
        if link.to_node == node:
            into = ARGUMENTS.get(link.to_socket.identifier)
        else:
            into = None
        ours = _is_own(link.from_node)
        if into is not None and not ours:
            message = f"the {link.to_socket.name} of material '{material}' comes from its node '{link.from_node.name}'"
            yield conflict(message, into, unlink_cure(material, link.to_socket))
        elif into is None and ours != _is_own(link.to_node):
            if ours:
                other = link.to_node
            else:
                other = link.from_node
            cure = "Use another name, or remove the link with nodes.patch."
            yield conflict(f"node '{other.name}' of material '{material}' is linked with its pattern", AT, cure)


def value_settings(tree: Block, wanted: Nodes) -> Settings:
    """The values of a pattern's nodes, of those that are there."""
    for name, (kind, inputs, _) in wanted.items():
        found = tree.nodes.get(PREFIX + name)
        if found is not None and found.bl_idname == "ShaderNode" + kind:
            for key, value in inputs.items():
                if not isinstance(value, str):
                    yield Setting(find_socket(found, found.inputs, key, AT, off=True), "default_value", value, AT)


def build(scene: Scene, tree: Block, node: Block, wanted: Nodes) -> None:
    """Give the Principled BSDF this pattern in the place of another one. The tree may be written into freely."""
    TreeEditor(scene, tree, tree, MATERIAL).apply_all(_edits(tree, node, wanted))


def _edits(tree: Block, node: Block, wanted: Nodes) -> Iterator[edits.Edit]:
    for name in [each.name for each in tree.nodes if _is_own(each)]:
        yield edits.RemoveNode(AT, name, missing_ok=False)
    x, y = node.location
    for name, (column, row) in _places(wanted).items():
        kind, _, properties = wanted[name]
        location = (x - COLUMN * column, y - ROW * row)
        yield edits.AddNode(AT, PREFIX + name, AT, "ShaderNode" + kind, location, exist_ok=False, properties=properties)
    for name, (_, inputs, _) in wanted.items():
        for key, value in inputs.items():
            yield _given(_socket(PREFIX + name, key), value)
    for key, value in SURFACE.items():
        yield _given(_socket(node.name, key), value)


def _given(socket: edits.SocketRef, value: Any) -> edits.Edit:
    if not isinstance(value, str):
        return edits.SetInput(AT, socket, value)
    name, _, output = value.rpartition(".")
    return edits.Link(AT, _socket(PREFIX + name, output), socket)


def _socket(node: str, socket: str) -> edits.SocketRef:
    return edits.SocketRef(node, socket, AT, AT)


def _places(wanted: Nodes) -> dict[str, tuple[int, int]]:
    """For each node its column, left of all that take from it, and its row."""
    columns = dict.fromkeys(wanted, 1)
    for name, node in reversed(wanted.items()):
        for value in node.inputs.values():
            if isinstance(value, str):
                source = value.rpartition(".")[0]
                columns[source] = max(columns[source], columns[name] + 1)
    found = list(columns.values())
    return {name: (column, found[:at].count(column)) for at, (name, column) in enumerate(columns.items())}
