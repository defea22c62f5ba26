"""Values of the catalogue: node types with their properties, sockets and lists of items.

Some properties (`deciding`) determine the sockets of a node: each combination of their values has a layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Side = Literal["inputs", "outputs"]
TreeKind = Literal["geometry", "shader", "compositor"]
# Kinds of sockets that hold no value when nothing is linked.
VALUELESS = ("GEOMETRY", "MATRIX", "SHADER", "BUNDLE", "CLOSURE", "TEXTURE")


@dataclass(frozen=True, slots=True)
class SocketType:
    """A socket that a node can have.

    The soft range is the range that the editor offers; Blender accepts values outside it.

    `takes` names the values that an input accepts: "single" values only, a "field" as well, or "other" (a grid or a
    list). `gives` names the output's value: "single", "field", "implicit" (a field unless its inputs are linked),
    "other", or the inputs whose fields it follows. None: fields do not matter, or their role is unknown.
    """

    identifier: str
    name: str
    type: str
    kind: str
    default: Any = None
    soft_min: float | None = None
    soft_max: float | None = None
    min: float | None = None
    max: float | None = None
    items: tuple[str, ...] | None = None
    multi: bool = False
    takes: str | None = None
    gives: str | tuple[str, ...] | None = None
    # True for sockets of a group's interface or of a list of items, whose identifiers differ between trees.
    by_name: bool = False

    @property
    def key(self) -> str:
        """The key of the socket in payloads: its name, or else its identifier."""
        if self.by_name:
            return self.name
        return self.identifier


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a node or of an item:

    BOOLEAN, INT, FLOAT, STRING, ENUM, DATABLOCK, NODE, COLOR_RAMP or CURVE_MAPPING.

    MENU takes a name that only the file defines: an item of the menu behind the node, or a render layer. PART is an
    object whose properties are `fields`.
    """

    name: str
    type: str
    default: Any = None
    items: tuple[str, ...] = ()
    several: bool = False
    min: float | None = None
    max: float | None = None
    size: int | None = None
    kind: str | None = None
    # Name of the property that decides how many numbers this one has, if that varies.
    sized_by: str | None = None
    fields: Mapping[str, Property] | None = None


@dataclass(frozen=True, slots=True)
class ItemSocket:
    """A socket that each item adds to the node itself or to the zone's input node.

    Its type is a fixed one, or "item" for the item's type, or "data_type" for the node's.
    """

    on: Literal["self", "partner"]
    side: Side
    type: str


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list of items that a node keeps. `types` maps each value of `type_key` to a type of socket."""

    name: str
    named: bool
    sockets: tuple[ItemSocket, ...]
    properties: Mapping[str, Property]
    default: tuple[Mapping[str, Any], ...]
    type_key: str | None = None
    types: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Layout:
    """The available sockets. `off` holds inputs that a payload can set, although Blender neither shows nor links them."""

    inputs: tuple[SocketType, ...]
    outputs: tuple[SocketType, ...]
    off: tuple[SocketType, ...]

    def side(self, side: Side) -> tuple[SocketType, ...]:
        if side == "inputs":
            return self.inputs
        return self.outputs


@dataclass(frozen=True, slots=True)
class NodeType:
    """A node type of the catalogue."""

    bl_idname: str
    label: str
    description: str
    properties: Mapping[str, Property]
    items: Mapping[str, ItemList]
    deciding: tuple[str, ...]
    layouts: tuple[Layout, ...]
    settings: Mapping[tuple[str, ...], int]
    zone_output: str | None = None
    zone_input: str | None = None

    def layouts_for(self, values: Mapping[str, Any]) -> list[Layout]:
        """Return the layouts that fit these values of the deciding properties; a property without a value may have any."""
        if not self.deciding:
            return list(self.layouts)
        numbers = {number for words, number in self.settings.items() if _agree(self.deciding, words, values)}
        return [self.layouts[number] for number in sorted(numbers)]

    def choices(self, name: str, values: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the choices of an enum when the properties before it have these values."""
        if name not in self.deciding:
            return self.properties[name].items

        position = self.deciding.index(name)
        earlier: dict[str, Any] = {}
        for prop in self.deciding[:position]:
            if prop in values:
                earlier[prop] = values[prop]
        choices: dict[str, None] = {}
        for words in self.settings:
            if _agree(self.deciding, words, earlier):
                choices[words[position]] = None
        return tuple(choices)

    def in_order(self, names: Iterable[str]) -> list[str]:
        """Return the names in the order for setting: deciding properties first, then the remaining ones by name."""
        unordered = set(names)
        first = [name for name in self.deciding if name in unordered]
        return [*first, *sorted(unordered.difference(first))]

    def defaults(self) -> dict[str, Any]:
        """Return the default values of the deciding properties."""
        return {name: self.properties[name].default for name in self.deciding}


def word(value: Any) -> str:
    """Return a value as the catalogue's settings spell it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _agree(names: tuple[str, ...], words: tuple[str, ...], values: Mapping[str, Any]) -> bool:
    """Return True if each given value equals the word for its property."""
    return all(word(values[name]) == expected for name, expected in zip(names, words, strict=True) if name in values)
