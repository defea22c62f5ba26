"""The whole survey: everything a catalogue holds, for the Blender at hand and one kind of tree."""

from __future__ import annotations

from typing import Any

import bpy

from node_survey.items import item_lists
from node_survey.layouts import combinations, deciding, layout, signature
from node_survey.links import Fields, conversions, interface_types
from node_survey.properties import common_properties, not_kept, own_properties
from node_survey.scratch import Scratch, type_names
from node_survey.sockets import real_sockets

FORMAT = 1
# It is of the type of what is linked to it, and gets other sockets on the way.
REROUTE = "NodeReroute"

# Nodes with nothing but what all nodes have; each kind of tree has one of them.
PLAIN_NODES = ("ShaderNodeValue", "CompositorNodeValue")


def survey(kind: str) -> dict[str, Any]:
    """The catalogue of this Blender for one kind of tree."""
    ops: Any = bpy.ops
    ops.wm.read_factory_settings(use_empty=True)
    scratch = Scratch(kind)
    # Only geometry nodes tell fields from single values.
    fields = Fields(scratch) if kind == "geometry" else None
    names = type_names(scratch)
    plain_node = next(name for name in PLAIN_NODES if name in names)
    with scratch.node(plain_node) as node:
        common = common_properties(node)
    kinds: dict[str, str] = {}
    zones = {name: name.replace("Input", "Output") for name in names if _starts_zone(scratch, name)}
    starts = {end: start for start, end in zones.items()}
    nodes = {name: _node(scratch, fields, name, starts.get(name), kinds) for name in names}
    for start, end in zones.items():
        nodes[start] |= {**_paired(scratch, fields, start, end, kinds), "zone_output": end}
        nodes[end]["zone_input"] = start
    app: Any = bpy.app
    return {
        "format": FORMAT,
        "blender": f"{app.version[0]}.{app.version[1]}",
        **({} if kind == "geometry" else {"kind": kind}),
        "common": common,
        "socket_types": dict(sorted(kinds.items())),
        "interface_types": interface_types(scratch),
        "conversions": conversions(scratch),
        "nodes": nodes,
    }


def _starts_zone(scratch: Scratch, name: str) -> bool:
    with scratch.node(name) as node:
        return hasattr(node, "pair_with_output")


def _node(
    scratch: Scratch, fields: Fields | None, name: str, starts: str | None, kinds: dict[str, str]
) -> dict[str, Any]:
    with scratch.node(name) as node:
        found: dict[str, Any] = {
            "label": node.bl_rna.name,
            "description": node.bl_rna.description,
            "properties": own_properties(node),
        }
        if fixed := not_kept(node):
            found["not_kept"] = fixed
    names = deciding(scratch, name, found["properties"])
    found |= _layouts(scratch, fields, name, names, kinds)
    if names:
        found["deciding"] = names
    items = item_lists(scratch, name, starts)
    if items:
        found["items"] = items
    return found


def _layouts(
    scratch: Scratch, fields: Fields | None, name: str, names: list[str], kinds: dict[str, str]
) -> dict[str, list[Any] | dict[str, Any]]:
    """Sockets, each written once; layouts of them by number; and which settings give which layout."""
    found = Layouts(fields, kinds)
    settings: dict[str, int] = {}
    for combination in combinations(scratch, name, names):
        with scratch.node(name, combination) as node:
            _without_items(node)
            settings["|".join(_word(value) for _, value in combination)] = found.add(node)
    return {**found.data(), "settings": settings} if names else found.data()


def _paired(scratch: Scratch, fields: Fields | None, start: str, end: str, kinds: dict[str, str]) -> dict[str, Any]:
    """The sockets of a zone's input node, which shows all of them only when it has its output node."""
    found = Layouts(fields, kinds)
    with scratch.node(end) as output, scratch.node(start) as node:
        node.pair_with_output(output)
        _without_items(output)
        found.add(node)
    return found.data()


class Layouts:
    """Collects the layouts of one node type."""

    def __init__(self, fields: Fields | None, kinds: dict[str, str]) -> None:
        self._fields = fields
        self._kinds = kinds
        self._sockets: list[dict[str, Any]] = []
        self._layouts: list[dict[str, list[int]]] = []
        self._seen: dict[tuple[Any, ...], int] = {}

    def add(self, node: Any) -> int:
        """The number of the layout that the node has just now."""
        mark = signature(node)
        if mark not in self._seen:
            self._kinds |= {socket.bl_idname: socket.type for socket in real_sockets([*node.inputs, *node.outputs])}
            described = layout(node)
            if self._fields is not None and node.bl_idname != REROUTE:
                _add_fields(self._fields, node, described)
            self._seen[mark] = len(self._layouts)
            self._layouts.append({side: self._numbered(listed) for side, listed in described.items() if listed})
        return self._seen[mark]

    def data(self) -> dict[str, Any]:
        return {"sockets": self._sockets, "layouts": self._layouts}

    def _numbered(self, described: list[dict[str, Any]]) -> list[int]:
        self._sockets += [each for each in described if each not in self._sockets]
        return [self._sockets.index(each) for each in described]


def _without_items(node: Any) -> None:
    """Sockets of items are described with their list."""
    for prop in node.bl_rna.properties:
        items: Any = getattr(node, prop.identifier) if prop.type == "COLLECTION" else None
        if items is not None and hasattr(items, "new") and prop.identifier not in ("inputs", "outputs"):
            while len(items):
                items.remove(items[0])


def _add_fields(fields: Fields, node: Any, described: dict[str, list[dict[str, Any]]]) -> None:
    inputs = {socket.identifier: socket for socket in real_sockets(node.inputs) if not socket.is_unavailable}
    for each in described["inputs"]:
        takes = fields.takes(inputs[each["identifier"]])
        if takes:
            each["takes"] = takes
    bearing = [inputs[each["identifier"]] for each in described["inputs"] if each.get("takes") == "field"]
    for each in described["outputs"]:
        socket = next(socket for socket in node.outputs if socket.identifier == each["identifier"])
        gives = fields.gives(socket, bearing)
        if gives is not None:
            each["gives"] = gives


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
