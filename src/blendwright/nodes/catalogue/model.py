"""The catalogue as values: node types with their properties, sockets and lists of items.

Which sockets a node has can depend on some of its properties (`deciding`): each combination of their values has a layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Side = Literal["inputs", "outputs"]
TreeKind = Literal["geometry", "shader", "compositor"]
# Types of value that a socket holds when nothing is linked, apart from those that hold none.
VALUELESS = ("GEOMETRY", "MATRIX", "SHADER", "BUNDLE", "CLOSURE", "TEXTURE")


@dataclass(frozen=True, slots=True)
class SocketType:
    """A socket that a node can have. The soft range is what the editor offers: Blender takes values beyond it.

    `takes` says what an input bears: "single" values, a "field" as well, or "other" (a grid or a list). `gives` says what an output
    is: "single", "field", "implicit" (a field unless its inputs are linked), "other", or the inputs whose fields it follows. None:
    fields are no matter, or not known.
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
    # From the group's interface or a list of items: it has another identifier in every tree, and goes by name.
    by_name: bool = False

    @property
    def key(self) -> str:
        """What payloads call it."""
        if self.by_name:
            return self.name
        return self.identifier


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a node, or of an item: BOOLEAN, INT, FLOAT, STRING, ENUM, DATABLOCK, NODE, COLOR_RAMP or CURVE_MAPPING.

    MENU takes a name that only the file knows: an item of the menu that the node leads to, a render layer. PART is an object of
    properties, `fields`."""

    name: str
    type: str
    default: Any = None
    items: tuple[str, ...] = ()
    several: bool = False
    min: float | None = None
    max: float | None = None
    size: int | None = None
    kind: str | None = None
    # The property that says how many numbers there are, where they are not always as many.
    sized_by: str | None = None
    fields: Mapping[str, Property] | None = None


@dataclass(frozen=True, slots=True)
class ItemSocket:
    """A socket that every item brings: on the node itself or on the zone's input node; of the item's type, the node's, or a fixed one."""

    on: Literal["self", "partner"]
    side: Side
    type: str


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list of items that a node keeps. `types` gives the type of socket for each word that `type_key` takes."""

    name: str
    named: bool
    sockets: tuple[ItemSocket, ...]
    properties: Mapping[str, Property]
    default: tuple[Mapping[str, Any], ...]
    type_key: str | None = None
    types: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Layout:
    """The sockets that are available; `off` are inputs that are there, and can be set, but not shown or linked."""

    inputs: tuple[SocketType, ...]
    outputs: tuple[SocketType, ...]
    off: tuple[SocketType, ...]

    def side(self, side: Side) -> tuple[SocketType, ...]:
        if side == "inputs":
            return self.inputs
        return self.outputs


@dataclass(frozen=True, slots=True)
class NodeType:
    """One type of node."""

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
        """The layouts that are possible when the deciding properties have these values; those left out can be anything."""
        if not self.deciding:
            return list(self.layouts)
        numbers = {number for words, number in self.settings.items() if _agree(self.deciding, words, values)}
        return [self.layouts[number] for number in sorted(numbers)]

    def choices(self, name: str, values: Mapping[str, Any]) -> tuple[str, ...]:
        """What an enum takes when the properties that come before it have these values."""
        if name not in self.deciding:
            return self.properties[name].items
        position = self.deciding.index(name)
        earlier = {each: values[each] for each in self.deciding[:position] if each in values}
        choices = (words[position] for words in self.settings if _agree(self.deciding, words, earlier))
        return tuple(dict.fromkeys(choices))

    def in_order(self, names: Iterable[str]) -> list[str]:
        """Properties in the order in which they are set: those first that decide what others take. An object has no order."""
        unordered = set(names)
        first = [name for name in self.deciding if name in unordered]
        return [*first, *sorted(unordered.difference(first))]

    def defaults(self) -> dict[str, Any]:
        """The values that the deciding properties of a new node have."""
        return {name: self.properties[name].default for name in self.deciding}


def word(value: Any) -> str:
    """A value as the catalogue's settings spell it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _agree(names: tuple[str, ...], words: tuple[str, ...], values: Mapping[str, Any]) -> bool:
    return all(word(values[name]) == value for name, value in zip(names, words, strict=True) if name in values)
