"""Loading of the catalogue of a Blender version and a kind of tree on first use; each node type is parsed when first
needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from blendwright.nodes.catalogue.model import ItemList, ItemSocket, Layout, NodeType, Property, SocketType, TreeKind

# The Blender versions that have a catalogue, newest first. Checks without a Blender use the newest.
VERSIONS = ("5.2", "5.1", "5.0", "4.5", "4.2")
NEWEST = VERSIONS[0]
TREE_KINDS: tuple[TreeKind, ...] = ("geometry", "shader", "compositor")
SIDES = ("inputs", "outputs", "off")


class Catalogue:
    """The node types of one Blender version, for one kind of tree."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.blender: str = data["blender"]
        self.tree_kind: TreeKind = data.get("kind", "geometry")
        self.interface_types: tuple[str, ...] = tuple(data["interface_types"])
        self._nodes: dict[str, Any] = data["nodes"]
        self._kinds: dict[str, str] = data["socket_types"]
        self._conversions: dict[str, list[str]] = data["conversions"]
        # Properties of every node.
        self.common: Mapping[str, Property] = _properties(data["common"])
        self._parsed: dict[str, NodeType] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def find(self, bl_idname: str) -> NodeType | None:
        """Return the node type of that name, or None."""
        if bl_idname not in self._parsed and bl_idname in self._nodes:
            self._parsed[bl_idname] = self._node(bl_idname, self._nodes[bl_idname])
        return self._parsed.get(bl_idname)

    def all(self) -> Iterator[NodeType]:
        return filter(None, map(self.find, self._nodes))

    def kind(self, socket_type: str) -> str:
        """Return the kind of value of a socket type: NodeSocketFloatFactor holds a VALUE."""
        return self._kinds[socket_type]

    def converts(self, source: str, target: str) -> bool:
        """Return True if a link may lead from one kind of value to the other."""
        return target in self.converted_to(source)

    def converted_to(self, source: str) -> Sequence[str]:
        """Return the kinds that a kind of value converts to; a kind without a rule only converts to itself."""
        return self._conversions.get(source, (source,))

    def _node(self, bl_idname: str, data: Mapping[str, Any]) -> NodeType:
        sockets: list[SocketType] = []
        for socket in data["sockets"]:
            sockets.append(SocketType(kind=self._kinds[socket["type"]], **_fields(socket)))

        properties = _properties(data["properties"])
        not_kept = data.get("not_kept", ())
        for name, prop in self.common.items():
            if name not in not_kept:
                properties[name] = prop

        items: dict[str, ItemList] = {}
        for name, item_list in data.get("items", {}).items():
            items[name] = _item_list(name, item_list)
        settings: dict[tuple[str, ...], int] = {}
        for words, number in data.get("settings", {}).items():
            settings[tuple(words.split("|"))] = number

        return NodeType(
            bl_idname,
            data["label"],
            data["description"],
            properties,
            items,
            tuple(data.get("deciding", ())),
            tuple(_layout(sockets, layout) for layout in data["layouts"]),
            settings,
            data.get("zone_output"),
            data.get("zone_input"),
        )


def _layout(sockets: Sequence[SocketType], numbers: Mapping[str, list[int]]) -> Layout:
    def side(name: str) -> tuple[SocketType, ...]:
        return tuple(sockets[number] for number in numbers.get(name, []))

    return Layout(side("inputs"), side("outputs"), side("off"))


def _properties(data: Mapping[str, dict[str, Any]]) -> dict[str, Property]:
    return {name: Property(name, **_fields(fields)) for name, fields in data.items()}


def _fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a socket or a property, with JSON lists as tuples."""
    fields = dict(data)
    for name in ("items", "gives"):
        if isinstance(fields.get(name), list):
            fields[name] = tuple(fields[name])
    if "fields" in fields:
        fields["fields"] = _properties(fields["fields"])
    return fields


def _item_list(name: str, data: Mapping[str, Any]) -> ItemList:
    return ItemList(
        name,
        data["named"],
        tuple(ItemSocket(**socket) for socket in data["sockets"]),
        _properties(data["properties"]),
        tuple(data["default"]),
        data.get("type_key"),
        data.get("types", {}),
    )


@cache
def catalogue(blender: str = NEWEST, kind: TreeKind = "geometry") -> Catalogue:
    """Return the catalogue of a version in `VERSIONS`."""
    if kind == "geometry":
        name = blender
    else:
        name = f"{kind}-{blender}"
    text = files("blendwright.nodes.catalogue").joinpath(f"{name}.json").read_bytes()
    return Catalogue(json.loads(text))


def find_node_type(name: str, blender: str = NEWEST) -> NodeType | None:
    """Return a node type from the first kind of tree in `TREE_KINDS` that has it, or None."""
    for kind in TREE_KINDS:
        node_type = catalogue(blender, kind).find(name)
        if node_type:
            return node_type
    return None


def catalogue_for(version: Sequence[int] | None, kind: TreeKind = "geometry") -> Catalogue | None:
    """Return the catalogue of a Blender version, or None if it has none. Without a version, return the newest."""
    if version is None:
        return catalogue(NEWEST, kind)
    name = f"{version[0]}.{version[1]}"
    if name in VERSIONS:
        return catalogue(name, kind)
    return None
