"""Describes one node type as plain data, for the command line and for hosts."""

from __future__ import annotations

from typing import Any

from blendwright.nodes.catalogue.model import NodeType, Property, SocketType

SIDES = ("inputs", "outputs", "unavailable_inputs")


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
    return {**_fields(prop), "items": list(node.choices(prop.name, {}))} if prop.items else _fields(prop)


def _fields(described: SocketType | Property) -> dict[str, Any]:
    """The fields that hold something, and the default in any case."""
    fields = {name: getattr(described, name) for name in type(described).__dataclass_fields__}
    return {name: value for name, value in fields.items() if value not in (None, (), False) or name == "default"}
