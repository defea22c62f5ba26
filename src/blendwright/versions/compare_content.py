"""Compares the content of two scenes in two Blenders: what parts, and apart from that, what is not the same by design.

A property that a type has in one of the Blenders only, a socket that a node has in one only, and what `BY_DESIGN` lists are no
differences of the scenes. Everything else that is not equal, but for rounding, is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from blendwright.versions.content_files import TOLERANCE, Content, Key, Struct, array_difference, close, is_array

# Types of structs whose entries are there or not, whatever the Blender; see `blender/content`.
FREE, LINKS, SOCKET = "properties", "links", "NodeSocket "
IDENTIFIER, PRESENT = "identifier", "present"
EVALUATED = "evaluated"
# What modifiers make of rounded numbers is rounded further.
EVALUATED_TOLERANCE = 1e-4
_SOCKET_PATH = re.compile(r"^(?P<node>.*)\.(?P<side>inputs|outputs)\[(?P<label>[^\[\]]*)\]$")

_FIRST_NAME = re.compile(r"[^.\[]+")

Side = Literal["old", "new"]

# (type, property) -> why it may differ between Blenders while the scenes are the same.
BY_DESIGN: Mapping[tuple[str, str], str] = {
    (
        "ColorManagedViewSettings",
        "white_balance_whitepoint",
    ): "computed from the temperature and the tint, which are compared",
}
# Of every node, whatever its type.
NODES_BY_DESIGN: Mapping[str, str] = {"width": "how wide the node is drawn"}
_NODE_PATH = re.compile(r"(^|\.)nodes\[[^\[\]]*\]$")
# (type, property) -> values that another Blender spells differently.
RENAMED_VALUES: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("RenderSettings", "engine"): {"BLENDER_EEVEE_NEXT": "BLENDER_EEVEE"},
}


@dataclass(frozen=True, slots=True)
class PropertyPart:
    """A place where two scenes part. `property` is empty for the datablock as a whole. None stands for what is not there, "present" for
    what is and has properties of its own."""

    kind: str
    name: str
    property: str
    old: Any
    new: Any

    def place(self) -> tuple[str, str, str]:
        return (self.kind, self.name, self.property)


@dataclass(frozen=True, slots=True)
class DesignNote:
    """Something that is not the same by the design of the Blenders: `what` says in what way, `example` is a value that was met."""

    type: str
    property: str
    what: str
    example: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class ContentDifference:
    """`notes` counts how often each thing was met."""

    parts: tuple[PropertyPart, ...]
    notes: Mapping[DesignNote, int]


def compare_content(old: Content, new: Content) -> ContentDifference:
    """Of the datablocks that are in the one or the other."""
    return _Comparison(old, new).run()


@dataclass
class _Comparison:
    old: Content
    new: Content
    parts: list[PropertyPart] = field(default_factory=list[PropertyPart])
    notes: dict[DesignNote, int] = field(default_factory=dict[DesignNote, int])

    def run(self) -> ContentDifference:
        ours, theirs = self.old.blocks, self.new.blocks
        for key in sorted(ours.keys() | theirs.keys()):
            if key not in ours or key not in theirs:
                self._part(key, "", *((None, PRESENT) if key not in ours else (PRESENT, None)))
            else:
                self._block(key, ours[key], theirs[key])
        return ContentDifference(tuple(self.parts), self.notes)

    def _part(self, key: Key, property: str, old: Any, new: Any) -> None:
        self.parts.append(PropertyPart(key[0], key[1], property, old, new))

    def _note(self, type: str, property: str, what: str, example: Any) -> None:
        note = DesignNote(type, property, what, _short(example))
        self.notes[note] = self.notes.get(note, 0) + 1

    def _block(self, key: Key, old: Mapping[str, Struct], new: Mapping[str, Struct]) -> None:
        for path, ours, theirs in self._pairs(key, old, new):
            if ours.type == LINKS and theirs.type == LINKS:
                self._links(key, path, ours.values["links"], theirs.values["links"])
            else:
                self._struct(key, path, ours, theirs)

    def _pairs(
        self, key: Key, old: Mapping[str, Struct], new: Mapping[str, Struct]
    ) -> Iterator[tuple[str, Struct, Struct]]:
        """Structs of the same place. Sockets also by their identifier, where their name was changed."""
        both = [path for path in old if path in new]
        yield from ((path, old[path], new[path]) for path in both)
        ours = {path: part for path, part in old.items() if path not in new}
        theirs = {path: part for path, part in new.items() if path not in old}
        by_identifier = {identity: path for path, part in theirs.items() if (identity := _socket_identity(path, part))}
        for path, part in list(ours.items()):
            renamed = by_identifier.get(_socket_identity(path, part) or ("", "", ""))
            if renamed is not None:
                label, new_label = path.rpartition(".")[2], renamed.rpartition(".")[2]
                self._note(part.type, label, f"is called {new_label} in the new one", "")
                yield path, part, theirs.pop(renamed)
                del ours[path]
        for path, part in ours.items():
            if not _is_covered(path, ours, old, new):
                self._absent(key, path, part, old, "old")
        for path, part in theirs.items():
            if not _is_covered(path, theirs, new, old):
                self._absent(key, path, part, new, "new")

    def _absent(self, key: Key, path: str, part: Struct, block: Mapping[str, Struct], side: Side) -> None:
        """A struct that the other one does not have."""
        if part.type.startswith(SOCKET):
            socket = _SOCKET_PATH.match(path)
        else:
            socket = None
        if socket is not None:
            # Which sockets a node has follows from its type and its settings, which are compared.
            node = block.get(socket["node"])
            label = f"{socket['side']}[{socket['label']}]"
            self._note(node.type if node else part.type, label, _only(side), part.values.get("default_value"))
        elif part.type == FREE:
            for name, value in part.values.items():
                old, new = (value, None) if side == "old" else (None, value)
                self._part(key, _joined(path, name), _shown(old), _shown(new))
        else:
            self._part(key, path, *((PRESENT, None) if side == "old" else (None, PRESENT)))

    def _struct(self, key: Key, path: str, old: Struct, new: Struct) -> None:
        if old.type != new.type:
            self._part(key, _joined(path, "type"), old.type, new.type)
            return
        if path == EVALUATED:
            tolerance = EVALUATED_TOLERANCE
        else:
            tolerance = TOLERANCE
        for name in sorted(old.values.keys() | new.values.keys()):
            if name == IDENTIFIER and old.type.startswith(SOCKET):
                continue
            if name in old.values and name in new.values:
                self._value(key, path, old.type, name, old.values[name], new.values[name], tolerance)
            elif old.type == FREE:
                self._part(key, _joined(path, name), _shown(old.values.get(name)), _shown(new.values.get(name)))
            else:
                side: Side
                if name in old.values:
                    side = "old"
                else:
                    side = "new"
                value = (old if side == "old" else new).values[name]
                if not _is_nothing(value):
                    self._note(old.type, name, _only(side), value)

    def _value(self, key: Key, path: str, type: str, name: str, old: Any, new: Any, tolerance: float) -> None:
        if is_array(old) and is_array(new):
            difference = array_difference(old, new, self.old.numbers, self.new.numbers)
            if difference is not None:
                self._part(key, _joined(path, name), difference.old, difference.new)
        elif not same_value(old, new, tolerance):
            reason = BY_DESIGN.get((type, name)) or (NODES_BY_DESIGN.get(name) if _NODE_PATH.search(path) else None)
            if reason is not None:
                self._note(type, name, reason, new)
            elif isinstance(old, str) and RENAMED_VALUES.get((type, name), {}).get(old) == new:
                self._note(type, name, f"'{old}' is called '{new}' in the new one", "")
            else:
                self._part(key, _joined(path, name), old, new)

    def _links(self, key: Key, path: str, old: list[list[Any]], new: list[list[Any]]) -> None:
        waiting = list(new)
        for link in old:
            match = next((other for other in waiting if _same_link(link, other)), None)
            if match is None:
                self._part(key, f"{path}[{_link_text(link)}]", "linked", "not linked")
            else:
                waiting.remove(match)
        for link in waiting:
            self._part(key, f"{path}[{_link_text(link)}]", "not linked", "linked")


def same_value(old: Any, new: Any, tolerance: float = TOLERANCE) -> bool:
    """Equal but for rounding."""
    if isinstance(old, list) and isinstance(new, list):
        ours, theirs = cast("list[Any]", old), cast("list[Any]", new)
        return len(ours) == len(theirs) and all(same_value(a, b, tolerance) for a, b in zip(ours, theirs, strict=True))
    if isinstance(old, float) and isinstance(new, float | int):
        return close(old, float(new), tolerance)
    return old == new


def total(notes: Iterable[Mapping[DesignNote, int]]) -> dict[DesignNote, int]:
    """Notes of several comparisons, each with the most that one of them met: the same thing is met again at every one."""
    counts: dict[DesignNote, int] = {}
    for each in notes:
        for note, count in each.items():
            counts[note] = max(counts.get(note, 0), count)
    return counts


def _same_link(one: list[Any], other: list[Any]) -> bool:
    """Whether two links join the same: nodes by name, sockets by name or identifier."""
    if one[0] != other[0] or one[3] != other[3] or one[6] != other[6]:
        return False
    return all(one[end + 1] == other[end + 1] or one[end + 2] == other[end + 2] for end in (0, 3))


def _link_text(link: list[Any]) -> str:
    return f"{link[0]}.{link[1]} → {link[3]}.{link[4]}"


def _socket_identity(path: str, part: Struct) -> tuple[str, str, str] | None:
    """What tells a socket besides its name: its node, its side, its identifier."""
    if part.type.startswith(SOCKET):
        match = _SOCKET_PATH.match(path)
    else:
        match = None
    if match is None:
        return None
    return (match["node"], match["side"], str(part.values.get(IDENTIFIER)))


def _is_covered(
    path: str, alone: Mapping[str, Struct], here: Mapping[str, Struct], there: Mapping[str, Struct]
) -> bool:
    """Whether something else says already that a struct is in one of the scenes only: the struct that it is in, or the property of its
    owner that leads to it."""
    owners = [each for each in here if each != path and (not each or path.startswith((f"{each}.", f"{each}[")))]
    if any(each in alone and not alone[each].type.startswith(SOCKET) for each in owners):
        return True
    owner = max((each for each in owners if each in there), key=len, default=None)
    if owner is None:
        return False
    name = _FIRST_NAME.match(path[len(owner) :].lstrip("."))
    if name is None or name[0] not in here[owner].values:
        return False
    # Only one Blender has such a property, or it is empty in one of the scenes: both are said of the owner.
    return there[owner].values.get(name[0]) is None


def _only(side: Side) -> str:
    return f"only in the {side} one"


def _is_nothing(value: Any) -> bool:
    """Whether a property that only one Blender knows says nothing there."""
    return value is None or value in ([], "")


def _joined(path: str, name: str) -> str:
    if path:
        return f"{path}.{name}"
    return name


def _shown(value: Any) -> Any:
    if is_array(value):
        return f"{value['count'] // value['width']} elements"
    return value


def _short(value: Any) -> str:
    text = str(_shown(value))
    if len(text) <= 60:
        return text
    return text[:59] + "…"
