"""Search for node types by words of their names, sockets and descriptions, and their description as plain data."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from blendwright.nodes.catalogue.load import Catalogue
from blendwright.nodes.catalogue.model import ItemList, Layout, NodeType, Property, SocketType
from blendwright.values.findings import did_you_mean

# Alternatives to node types that Blendwright excludes or that Blender has removed.
INSTEAD = {
    "CompositorNodeOutputFile": "No plan writes files by nodes: use render.still, or file.export.",
    "ShaderNodeScript": "No plan runs shader code: build it of other nodes.",
    "CompositorNodeComposite": "Link the picture to 'Image' of 'output'.",
}


def search(catalogue: Catalogue, query: str) -> list[NodeType]:
    """Return the node types that contain every word of the query, best match first."""
    words = query.casefold().split()
    ranked: list[tuple[int, str, str, NodeType]] = []
    for node in catalogue.all():
        rank = _rank(node, words)
        if rank:
            ranked.append((rank, node.label, node.bl_idname, node))
    ranked.sort(key=itemgetter(0, 1, 2))
    return [entry[3] for entry in ranked]


def suggest_node_type(catalogue: Catalogue, name: str) -> str:
    """Return a fix for an unknown node type: the type with this label, or similar names."""
    if name in INSTEAD:
        return INSTEAD[name]
    by_label: dict[str, str] = {}
    for node in catalogue.all():
        by_label.setdefault(node.label.casefold().replace(" ", ""), node.bl_idname)
    bare = name.casefold().replace(" ", "").replace("_", "")
    for prefix in ("geometrynode", "shadernode", "compositornode", "functionnode"):
        bare = bare.removeprefix(prefix)
    if bare in by_label:
        return f"Did you mean '{by_label[bare]}'?"
    return did_you_mean(name, catalogue, otherwise="List node types: blendwright nodes")


def _rank(node: NodeType, words: list[str]) -> int:
    """Return 0 if a word does not occur, or else a rank that grows with the distance of the farthest word from the name."""
    names = f"{node.label} {node.bl_idname}".casefold()
    texts = (names, _socket_words(node), node.description.casefold())
    worst = 1
    for word in words:
        ranks = [rank for rank, text in enumerate(texts, 2) if word in text]
        if not ranks:
            return 0
        worst = max(worst, ranks[0])
    if " ".join(words) == node.label.casefold():
        return 1
    return worst


def _socket_words(node: NodeType) -> str:
    words: list[str] = []
    for layout in node.layouts:
        for socket in (*layout.inputs, *layout.outputs):
            words.append(socket.name)
    for prop in node.properties.values():
        if prop.type == "ENUM":
            words += prop.items
    return " ".join(words).casefold()


def describe_node_type(node: NodeType) -> dict[str, Any]:
    """Return the description of a node type as plain data.

    `layouts` lists the sockets of each layout; `settings` lists the values of the deciding properties and their layout's number.
    """
    return {
        "bl_idname": node.bl_idname,
        "label": node.label,
        "description": node.description,
        "properties": [_property(node, prop) for prop in node.properties.values()],
        "items": [_item_list(items) for items in node.items.values()],
        "zone_output": node.zone_output,
        "zone_input": node.zone_input,
        "deciding": list(node.deciding),
        "layouts": [_layout(layout) for layout in node.layouts],
        "settings": [[*words, number] for words, number in node.settings.items()],
    }


def _item_list(items: ItemList) -> dict[str, Any]:
    return {
        "name": items.name,
        "type_key": items.type_key,
        "types": dict(items.types),
        "properties": [_fields(prop) for prop in items.properties.values()],
    }


def _layout(layout: Layout) -> dict[str, Any]:
    return {
        "inputs": list(map(_socket, layout.inputs)),
        "outputs": list(map(_socket, layout.outputs)),
        "unavailable_inputs": list(map(_socket, layout.off)),
    }


def _socket(socket: SocketType) -> dict[str, Any]:
    fields = _fields(socket)
    fields.pop("by_name", None)
    return fields


def _property(node: NodeType, prop: Property) -> dict[str, Any]:
    if prop.items:
        return {**_fields(prop), "items": list(node.choices(prop.name, {}))}
    return _fields(prop)


def _fields(described: SocketType | Property) -> dict[str, Any]:
    """Return the fields that have a value, and the default in any case."""
    fields: dict[str, Any] = {}
    for name in type(described).__dataclass_fields__:
        value = getattr(described, name)
        if value not in (None, (), False) or name == "default":
            fields[name] = value
    return fields
