"""Finds node types by words of their names, sockets and descriptions, the best match first, and describes one as plain data."""

from __future__ import annotations

from typing import Any

from blendwright.nodes.catalogue.load import Catalogue
from blendwright.nodes.catalogue.model import NodeType, Property, SocketType
from blendwright.values.findings import did_you_mean

SIDES = ("inputs", "outputs", "unavailable_inputs")
# What to do where a node type is not there on purpose, or not any more.
INSTEAD = {
    "CompositorNodeOutputFile": "No plan writes files by nodes: use render.still, or file.export.",
    "ShaderNodeScript": "No plan runs shader code: build it of other nodes.",
    "CompositorNodeComposite": "Link the picture to 'Image' of 'output'.",
}


def search(catalogue: Catalogue, query: str) -> list[NodeType]:
    """The node types in which every word of the query occurs."""
    words = query.casefold().split()
    ranked = [(rank, node.label, node.bl_idname, node) for node in catalogue.all() if (rank := _rank(node, words))]
    return [node for *_, node in sorted(ranked, key=lambda entry: entry[:3])]


def suggest_node_type(catalogue: Catalogue, name: str) -> str:
    """A cure for a node type that there is not: similar names, or types whose label is meant."""
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
    """0 when a word is nowhere; else how far from the name the farthest of them is."""
    names = f"{node.label} {node.bl_idname}".casefold()
    texts = (names, _socket_words(node), node.description.casefold())
    ranks = [next((number for number, text in enumerate(texts, 2) if word in text), 0) for word in words]
    if not all(ranks):
        return 0
    if " ".join(words) == node.label.casefold():
        return 1
    return max(ranks, default=1)


def _socket_words(node: NodeType) -> str:
    names = [socket.name for layout in node.layouts for socket in (*layout.inputs, *layout.outputs)]
    choices = [item for each in node.properties.values() for item in each.items if each.type == "ENUM"]
    return " ".join((*names, *choices)).casefold()


def describe_node_type(node: NodeType) -> dict[str, Any]:
    """All there is to know of a type. `layouts` say which sockets there are with which values of the deciding properties."""
    layouts = [
        {side: [_socket(socket) for socket in sockets] for side, sockets in zip(SIDES, each, strict=True)}
        for each in ((layout.inputs, layout.outputs, layout.off) for layout in node.layouts)
    ]
    return {
        "bl_idname": node.bl_idname,
        "label": node.label,
        "description": node.description,
        "properties": [_property(node, prop) for prop in node.properties.values()],
        "items": [
            {
                "name": items.name,
                "type_key": items.type_key,
                "types": dict(items.types),
                "properties": [_fields(prop) for prop in items.properties.values()],
            }
            for items in node.items.values()
        ],
        "zone_output": node.zone_output,
        "zone_input": node.zone_input,
        "deciding": list(node.deciding),
        "layouts": layouts,
        "settings": [[*words, number] for words, number in node.settings.items()],
    }


def _socket(socket: SocketType) -> dict[str, Any]:
    return {name: value for name, value in _fields(socket).items() if name != "by_name"}


def _property(node: NodeType, prop: Property) -> dict[str, Any]:
    if prop.items:
        return {**_fields(prop), "items": list(node.choices(prop.name, {}))}
    return _fields(prop)


def _fields(described: SocketType | Property) -> dict[str, Any]:
    """The fields that hold something, and the default in any case."""
    fields = {name: getattr(described, name) for name in type(described).__dataclass_fields__}
    return {name: value for name, value in fields.items() if value not in (None, (), False) or name == "default"}
