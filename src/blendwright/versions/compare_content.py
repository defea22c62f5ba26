"""Comparison of the content of two scenes in two Blenders. It separates real differences from differences by design.

Differences by design are properties of a type that only one Blender has, sockets that only one Blender has, and the
entries of `BY_DESIGN`. Every other inequality beyond rounding is a difference of the scenes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from blendwright.versions.content_files import TOLERANCE, Content, Key, Struct, array_difference, close, is_array

# Types of structs whose entries do not depend on the version of Blender; see `blender/content`.
FREE, LINKS, SOCKET = "properties", "links", "NodeSocket "
IDENTIFIER, PRESENT = "identifier", "present"
EVALUATED = "evaluated"
# The tolerance for evaluated meshes. Modifiers amplify the rounding of their inputs.
EVALUATED_TOLERANCE = 1e-4
_SOCKET_PATH = re.compile(r"^(?P<node>.*)\.(?P<side>inputs|outputs)\[(?P<label>[^\[\]]*)\]$")

_FIRST_NAME = re.compile(r"[^.\[]+")

Side = Literal["old", "new"]

# (type, property) -> the reason why its values may differ although the scenes are the same.
BY_DESIGN: Mapping[tuple[str, str], str] = {
    (
        "ColorManagedViewSettings",
        "white_balance_whitepoint",
    ): "computed from the temperature and the tint, which are compared",
}
# Properties of every node, whatever its type.
NODES_BY_DESIGN: Mapping[str, str] = {"width": "the drawn width of the node"}
_NODE_PATH = re.compile(r"(^|\.)nodes\[[^\[\]]*\]$")
# (type, property) -> values that another Blender spells differently.
RENAMED_VALUES: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("RenderSettings", "engine"): {"BLENDER_EEVEE_NEXT": "BLENDER_EEVEE"},
}


@dataclass(frozen=True, slots=True)
class PropertyPart:
    """A difference between two scenes. `property` is empty for a whole datablock.

    A value is None if it is missing, and "present" if it exists and has properties of its own.
    """

    kind: str
    name: str
    property: str
    old: Any
    new: Any

    def place(self) -> tuple[str, str, str]:
        return (self.kind, self.name, self.property)


@dataclass(frozen=True, slots=True)
class DesignNote:
    """A difference by the design of the Blenders. `what` describes it, and `example` is one of its values."""

    type: str
    property: str
    what: str
    example: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class ContentDifference:
    """The differences of two scenes. `notes` counts the occurrences of each difference by design."""

    parts: tuple[PropertyPart, ...]
    notes: Mapping[DesignNote, int]


def compare_content(old: Content, new: Content) -> ContentDifference:
    """Compare all datablocks that are in at least one of two scenes."""
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
            if key not in ours:
                self._part(key, "", None, PRESENT)
            elif key not in theirs:
                self._part(key, "", PRESENT, None)
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
        """Yield the structs with the same path, and sockets with the same identifier and another name.

        Report all other structs as absent.
        """
        both = [path for path in old if path in new]
        yield from ((path, old[path], new[path]) for path in both)
        ours = {path: part for path, part in old.items() if path not in new}
        theirs = {path: part for path, part in new.items() if path not in old}
        by_identifier: dict[tuple[str, str, str], str] = {}
        for path, part in theirs.items():
            identity = _socket_identity(path, part)
            if identity is not None:
                by_identifier[identity] = path
        for path, part in list(ours.items()):
            renamed = by_identifier.get(_socket_identity(path, part) or ("", "", ""))
            if renamed is not None:
                label, new_label = path.rpartition(".")[2], renamed.rpartition(".")[2]
                self._note(part.type, label, f"has the name {new_label} in the new one", "")
                yield path, part, theirs.pop(renamed)
                del ours[path]
        for path, part in ours.items():
            if not _is_covered(path, ours, old, new):
                self._absent(key, path, part, old, "old")
        for path, part in theirs.items():
            if not _is_covered(path, theirs, new, old):
                self._absent(key, path, part, new, "new")

    def _absent(self, key: Key, path: str, part: Struct, block: Mapping[str, Struct], side: Side) -> None:
        """Report a struct that the other scene lacks."""
        socket = None
        if part.type.startswith(SOCKET):
            socket = _SOCKET_PATH.match(path)
        if socket is not None:
            # The sockets of a node follow from its type and its settings, which the comparison covers.
            node = block.get(socket["node"]) or part
            label = f"{socket['side']}[{socket['label']}]"
            self._note(node.type, label, _only(side), part.values.get("default_value"))
        elif part.type == FREE:
            for name, value in part.values.items():
                self._one_sided(key, _joined(path, name), _shown(value), side)
        else:
            self._one_sided(key, path, PRESENT, side)

    def _one_sided(self, key: Key, property: str, value: Any, side: Side) -> None:
        """Report a value that only one scene has."""
        if side == "old":
            self._part(key, property, value, None)
        else:
            self._part(key, property, None, value)

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
                side: Side = "new"
                value = new.values.get(name)
                if name in old.values:
                    side = "old"
                    value = old.values[name]
                if not _is_nothing(value):
                    self._note(old.type, name, _only(side), value)

    def _value(self, key: Key, path: str, type: str, name: str, old: Any, new: Any, tolerance: float) -> None:
        if is_array(old) and is_array(new):
            difference = array_difference(old, new, self.old.numbers, self.new.numbers)
            if difference is not None:
                self._part(key, _joined(path, name), difference.old, difference.new)
        elif not same_value(old, new, tolerance):
            reason = BY_DESIGN.get((type, name))
            if reason is None and _NODE_PATH.search(path):
                reason = NODES_BY_DESIGN.get(name)
            if reason is not None:
                self._note(type, name, reason, new)
            elif isinstance(old, str) and RENAMED_VALUES.get((type, name), {}).get(old) == new:
                self._note(type, name, f"'{old}' has the name '{new}' in the new one", "")
            else:
                self._part(key, _joined(path, name), old, new)

    def _links(self, key: Key, path: str, old: list[list[Any]], new: list[list[Any]]) -> None:
        waiting = list(new)
        for link in old:
            match = next((candidate for candidate in waiting if _same_link(link, candidate)), None)
            if match is None:
                self._part(key, f"{path}[{_link_text(link)}]", "linked", "not linked")
            else:
                waiting.remove(match)
        for link in waiting:
            self._part(key, f"{path}[{_link_text(link)}]", "not linked", "linked")


def same_value(old: Any, new: Any, tolerance: float = TOLERANCE) -> bool:
    """Return whether two values are equal except for rounding."""
    if isinstance(old, list) and isinstance(new, list):
        ours, theirs = cast("list[Any]", old), cast("list[Any]", new)
        return len(ours) == len(theirs) and all(same_value(a, b, tolerance) for a, b in zip(ours, theirs, strict=True))
    if isinstance(old, float) and isinstance(new, float | int):
        return close(old, float(new), tolerance)
    return old == new


def total(notes: Iterable[Mapping[DesignNote, int]]) -> dict[DesignNote, int]:
    """Return the notes of several comparisons with the maximum count of each, because every comparison meets the same
    ones again.
    """
    counts: dict[DesignNote, int] = {}
    for comparison_notes in notes:
        for note, count in comparison_notes.items():
            counts[note] = max(counts.get(note, 0), count)
    return counts


def _same_link(first: list[Any], second: list[Any]) -> bool:
    """Return whether two links connect the same sockets: nodes match by name, sockets by name or identifier."""
    if first[0] != second[0] or first[3] != second[3] or first[6] != second[6]:
        return False
    return all(first[end + 1] == second[end + 1] or first[end + 2] == second[end + 2] for end in (0, 3))


def _link_text(link: list[Any]) -> str:
    return f"{link[0]}.{link[1]} → {link[3]}.{link[4]}"


def _socket_identity(path: str, part: Struct) -> tuple[str, str, str] | None:
    """Return node, side and identifier of a socket, or None for a struct that is not a socket."""
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
    """Return whether another report already covers a struct that only one scene has.

    That is the report of the struct that contains it, or of its owner's property that leads to it.
    """
    owners = [
        other_path
        for other_path in here
        if other_path != path and (not other_path or path.startswith((f"{other_path}.", f"{other_path}[")))
    ]
    if any(owner in alone and not alone[owner].type.startswith(SOCKET) for owner in owners):
        return True
    owner = max((candidate for candidate in owners if candidate in there), key=len, default=None)
    if owner is None:
        return False
    name = _FIRST_NAME.match(path[len(owner) :].lstrip("."))
    if name is None or name[0] not in here[owner].values:
        return False
    # Either only one Blender has the property, or it is empty in one of the scenes. The report of the owner covers both.
    return there[owner].values.get(name[0]) is None


def _only(side: Side) -> str:
    return f"only in the {side} one"


def _is_nothing(value: Any) -> bool:
    """Return whether a property that only one Blender has is empty there."""
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
