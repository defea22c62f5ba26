"""The history of datablocks: each one followed through the changes of commits, from the first on, under all its
names.

This module uses receipts only. A datablock that came with a file, or that an adopted file may have changed, is
`taken_in`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from blendwright.records.changes import Change, CommitChanges

OBJECTS = "objects"
# A membership in a collection is not a datablock.
MEMBER = "member"
# Kinds of object data.
DATA = ("meshes", "curves", "lights", "cameras", "armatures", "lattices", "metaballs", "volumes", "grease_pencils")

TouchKind = Literal["created", "changed", "renamed", "removed", "taken_in"]
Key = tuple[str, str]


class Touch(NamedTuple):
    """The effect of one commit on a datablock. `name` is its name afterwards, or its last name."""

    commit: int
    kind: str
    name: str
    change: TouchKind


@dataclass(eq=False, slots=True)
class Followed:
    """A datablock through its life. `data` is the data of an object, if one commit created only these two."""

    kind: str
    name: str
    touches: list[Touch] = field(default_factory=list[Touch])
    data: Followed | None = None
    alive: bool = True

    def touch(self, commit: int, change: TouchKind) -> None:
        self.touches.append(Touch(commit, self.kind, self.name, change))

    @property
    def all_touches(self) -> list[Touch]:
        """The touches of the datablock and its data, oldest first. If one commit touched both, only the
        datablock's own counts.
        """
        by_commit: dict[int, Touch] = {}
        if self.data is not None:
            by_commit |= {touch.commit: touch for touch in self.data.touches}
        by_commit |= {touch.commit: touch for touch in self.touches}
        return [by_commit[commit] for commit in sorted(by_commit)]


class Follower:
    """A map from names to datablocks. It reads the changes of commits in their order."""

    def __init__(self, commits: Iterable[CommitChanges]) -> None:
        self._by_name: dict[Key, Followed] = {}
        self._origins: list[int] = []
        self.incomplete: list[int] = []
        """Commits whose receipts do not list all their changes."""
        for commit in commits:
            self._take(commit)

    def find(self, kind: str, name: str) -> Followed | None:
        """Return the datablock with this name, or the last one that had it, or None."""
        return self._by_name.get((kind, name))

    def living(self, kind: str) -> list[Followed]:
        """Return the existing datablocks of a kind that a commit has touched, by name."""
        living = [block for (block_kind, _), block in self._by_name.items() if block_kind == kind and block.alive]
        return sorted(living, key=lambda block: block.name)

    @property
    def origin(self) -> int | None:
        """The last commit that adopted a whole scene, or None. Datablocks without a touch came with it."""
        if self._origins:
            return self._origins[-1]
        return None

    def _take(self, commit: CommitChanges) -> None:
        changes = [change for change in commit.changes if change.kind != MEMBER]
        if commit.kind != "operation":
            self._take_in(commit, changes)
        elif not commit.complete:
            self.incomplete.append(commit.number)

        renamed = _renames(commit, changes)
        for old, new in renamed.items():
            block = self._present(old)
            self._by_name.pop(old, None)
            block.name = new[1]
            self._by_name[new] = block
            block.touch(commit.number, "renamed")

        removed = {(change.kind, change.name) for change in changes if change.change == "removed"}
        created: list[Followed] = []
        for change in changes:
            key = (change.kind, change.name)
            if change.change == "created" and key not in renamed.values():
                if key in removed:
                    self._present(key).touch(commit.number, "changed")
                else:
                    created.append(self._create(key, commit.number))
            elif change.change == "changed":
                self._present(key).touch(commit.number, "changed")

        created_keys = {(change.kind, change.name) for change in changes if change.change == "created"}
        for key in removed - renamed.keys() - created_keys:
            block = self._present(key)
            block.touch(commit.number, "removed")
            block.alive = False
        _join(created)

    def _take_in(self, commit: CommitChanges, changes: Sequence[Change]) -> None:
        """Record an adopted scene. An adopted file may have changed anything; an edit in a window lists its
        changes.
        """
        self._origins.append(commit.number)
        if commit.kind == "adopt" and not changes:
            for block in self._by_name.values():
                if block.alive:
                    block.touch(commit.number, "taken_in")

    def _present(self, key: Key) -> Followed:
        """Return the existing datablock with this name. If no commit has touched it yet, it came with the scene."""
        block = self._by_name.get(key)
        if block is None or not block.alive:
            block = self._by_name[key] = Followed(*key)
            if self._origins:
                block.touch(self._origins[-1], "taken_in")
        return block

    def _create(self, key: Key, commit: int) -> Followed:
        block = self._by_name[key] = Followed(*key)
        block.touch(commit, "created")
        return block


def _renames(commit: CommitChanges, changes: Sequence[Change]) -> dict[Key, Key]:
    """Return the new key of each datablock that a rename call changed.

    A rename call removes one datablock of a kind and creates one of the same kind, which is the same datablock.
    """
    if not commit.tool.endswith(".rename"):
        return {}
    renames: dict[Key, Key] = {}
    for kind in {change.kind for change in changes}:
        removed = [change.name for change in changes if change.kind == kind and change.change == "removed"]
        created = [change.name for change in changes if change.kind == kind and change.change == "created"]
        if len(removed) == len(created) == 1 and removed != created:
            renames[kind, removed[0]] = (kind, created[0])
    return renames


def _join(created: Sequence[Followed]) -> None:
    """Connect an object with its data, if one commit created only these two."""
    objects = [block for block in created if block.kind == OBJECTS]
    data = [block for block in created if block.kind in DATA]
    if len(objects) == len(data) == 1:
        objects[0].data = data[0]
