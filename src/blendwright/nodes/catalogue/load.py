"""Loads the catalogue of a Blender version and a kind of tree on first use, and parses each node type when it is first looked up."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from blendwright.nodes.catalogue.model import ItemList, ItemSocket, Layout, NodeType, Property, SocketType, TreeKind

# The Blenders that have a catalogue, the newest first. The newest is used for plans that are checked without a Blender.
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
        # The properties that every node has.
        self.common: Mapping[str, Property] = _properties(data["common"])
        self._parsed: dict[str, NodeType] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def find(self, bl_idname: str) -> NodeType | None:
        """The node type of that name."""
        if bl_idname not in self._parsed and bl_idname in self._nodes:
            self._parsed[bl_idname] = self._node(bl_idname, self._nodes[bl_idname])
        return self._parsed.get(bl_idname)

    def all(self) -> Iterator[NodeType]:
        return filter(None, map(self.find, self._nodes))

    def kind(self, socket_type: str) -> str:
        """The type of value of a socket type: NodeSocketFloatFactor holds a VALUE."""
        return self._kinds[socket_type]

    def converts(self, source: str, target: str) -> bool:
        """Whether a link from one kind of value to another is valid."""
        return target in self.converted_to(source)

    def converted_to(self, source: str) -> Sequence[str]:
        """What a kind of value can become; one that no group has stays what it is."""
        return self._conversions.get(source, (source,))

    def _node(self, bl_idname: str, data: Mapping[str, Any]) -> NodeType:
        sockets = [SocketType(kind=self._kinds[each["type"]], **_fields(each)) for each in data["sockets"]]
        shared = {name: prop for name, prop in self.common.items() if name not in data.get("not_kept", ())}
        return NodeType(
            bl_idname,
            data["label"],
            data["description"],
            {**_properties(data["properties"]), **shared},
            {name: _item_list(name, each) for name, each in data.get("items", {}).items()},
            tuple(data.get("deciding", ())),
            tuple(_layout(sockets, each) for each in data["layouts"]),
            {tuple(words.split("|")): number for words, number in data.get("settings", {}).items()},
            data.get("zone_output"),
            data.get("zone_input"),
        )


def _layout(sockets: Sequence[SocketType], numbers: Mapping[str, list[int]]) -> Layout:
    inputs, outputs, off = (tuple(sockets[number] for number in numbers.get(side, [])) for side in SIDES)
    return Layout(inputs, outputs, off)


def _properties(data: Mapping[str, dict[str, Any]]) -> dict[str, Property]:
    return {name: Property(name, **_fields(fields)) for name, fields in data.items()}


def _fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a socket or a property; what JSON lists is a tuple."""
    listed: dict[str, Any] = {
        name: tuple(data[name]) for name in ("items", "gives") if isinstance(data.get(name), list)
    }
    if "fields" in data:
        parts = {"fields": _properties(data["fields"])}
    else:
        parts = {}
    return {**data, **listed, **parts}


def _item_list(name: str, data: Mapping[str, Any]) -> ItemList:
    return ItemList(
        name,
        data["named"],
        tuple(ItemSocket(**each) for each in data["sockets"]),
        _properties(data["properties"]),
        tuple(data["default"]),
        data.get("type_key"),
        data.get("types", {}),
    )


@cache
def catalogue(blender: str = NEWEST, kind: TreeKind = "geometry") -> Catalogue:
    """The catalogue of a version in `VERSIONS`."""
    if kind == "geometry":
        name = blender
    else:
        name = f"{kind}-{blender}"
    text = files("blendwright.nodes.catalogue").joinpath(f"{name}.json").read_bytes()
    return Catalogue(json.loads(text))


def find_node_type(name: str, blender: str = NEWEST) -> NodeType | None:
    """A node type of any kind of tree; one that several have is described as in the first of `TREE_KINDS`."""
    return next(filter(None, (catalogue(blender, kind).find(name) for kind in TREE_KINDS)), None)


def catalogue_for(version: Sequence[int] | None, kind: TreeKind = "geometry") -> Catalogue | None:
    """The catalogue of a Blender, by its version; None where we have none. Without a version, the newest."""
    if version is None:
        return catalogue(NEWEST, kind)
    name = f"{version[0]}.{version[1]}"
    if name in VERSIONS:
        return catalogue(name, kind)
    return None
