"""Random lines of work, and a model of what they touch that is too simple to be wrong: for merges that are compared with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

Key = tuple[str, str]
Call = tuple[str, dict[str, Any]]
BASE = ("Base 0", "Base 1", "Base 2", "Base 3")
MATERIALS = ("Red", "Blue")
# Few, so that two lines take the same ones now and then.
NAMES = tuple(f"New {n}" for n in range(12))


@dataclass
class Line:
    """One line of work on the base: its calls, and what they have touched in all."""

    chance: Random
    parents: dict[str, str] = field(default_factory=dict[str, str])
    data: dict[str, str] = field(default_factory=lambda: {name: name for name in BASE})
    """The objects, each with the name of its mesh."""
    free: list[str] = field(default_factory=lambda: list(NAMES))
    calls: list[Call] = field(default_factory=list[Call])
    changed: set[Key] = field(default_factory=set[Key])
    used: set[Key] = field(default_factory=set[Key])

    def work(self, count: int) -> None:
        while len(self.calls) < count:
            act = self.chance.choice(
                [
                    self.create,
                    self.move,
                    self.move,
                    self.move,
                    self.rename,
                    self.delete,
                    self.adopt,
                    self.paint,
                    self.copy,
                ]
            )
            act()

    def create(self) -> None:
        name = self._new_name()
        self.data[name] = name
        self._called("mesh.create_primitive", {"kind": "cube", "name": name}, {("object", name), ("mesh", name)})

    def move(self) -> None:
        name = self._object()
        location = [self.chance.randrange(10) for _ in range(3)]
        self._called("object.transform", {"object": name, "location": location}, {("object", name)})

    def rename(self) -> None:
        old, new = self._object(), self._new_name()
        self.data[new] = self.data.pop(old)
        family = self._children(old)
        self.parents = {new if c == old else c: new if p == old else p for c, p in self.parents.items()}
        touched = {("object", name) for name in (old, new, *family)}
        self._called("object.rename", {"object": old, "new_name": new}, touched)

    def delete(self) -> None:
        name = self._object()
        mesh = self.data.pop(name)
        gone = set[Key]() if mesh in self.data.values() else {("mesh", mesh)}
        family = self._children(name)
        self.parents = {c: p for c, p in self.parents.items() if name not in (c, p)}
        touched = {("object", one) for one in (name, *family)} | gone
        self._called("object.delete", {"object": name}, touched)

    def adopt(self) -> None:
        child, parent = self._object(), self._object()
        if child != parent and child not in self.parents and parent not in self.parents:
            self.parents[child] = parent
            self._called(
                "object.set_parent", {"object": child, "parent": parent}, {("object", child)}, {("object", parent)}
            )

    def paint(self) -> None:
        name, material = self._object(), self.chance.choice(MATERIALS)
        args = {"object": name, "material": material}
        self._called("material.assign", args, {("mesh", self.data[name])}, {("object", name), ("material", material)})

    def copy(self) -> None:
        name, new = self._object(), self._new_name()
        self.data[new] = self.data[name]
        args = {"object": name, "new_name": new, "mode": "linked"}
        self._called("object.duplicate", args, {("object", new)}, {("object", name)})

    def _called(
        self, tool: str, args: dict[str, Any], changed: set[Key], used: frozenset[Key] | set[Key] = frozenset()
    ) -> None:
        self.calls.append((tool, args))
        self.changed |= changed
        self.used |= used

    def _object(self) -> str:
        return self.chance.choice(sorted(self.data))

    def _children(self, name: str) -> list[str]:
        return [child for child, parent in self.parents.items() if parent == name]

    def _new_name(self) -> str:
        """Taken once on a line, so that Blender never has to number a mesh."""
        return self.free.pop(self.chance.randrange(len(self.free)))


def in_each_others_way(one: Line, other: Line) -> bool:
    return bool(one.changed & (other.changed | other.used) or one.used & other.changed)
