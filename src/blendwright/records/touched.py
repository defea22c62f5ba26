"""Who touched what: datablocks followed through the changes of commits, from the first on, under whatever names they had.

Pure: it knows what receipts say. Something that came with a file, or that a file which was adopted may have changed, is `taken_in`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from blendwright.records.changes import Change, CommitChanges

OBJECTS = "objects"
# What is in a collection is no datablock.
MEMBER = "member"
# What an object may be made of.
DATA = ("meshes", "curves", "lights", "cameras", "armatures", "lattices", "metaballs", "volumes", "grease_pencils")

TouchKind = Literal["created", "changed", "renamed", "removed", "taken_in"]
Key = tuple[str, str]


class Touch(NamedTuple):
    """What one commit did to a datablock, which had this name afterwards, or until then."""

    commit: int
    kind: str
    name: str
    change: TouchKind


@dataclass(eq=False, slots=True)
class Followed:
    """One datablock through its life. `data` is what an object was made with, where a commit made just the two."""

    kind: str
    name: str
    touches: list[Touch] = field(default_factory=list[Touch])
    data: Followed | None = None
    alive: bool = True

    def touch(self, commit: int, change: TouchKind) -> None:
        self.touches.append(Touch(commit, self.kind, self.name, change))

    @property
    def all_touches(self) -> list[Touch]:
        """Its own and those of its data, oldest first; of a commit that touched both, its own."""
        if self.data is None:
            found = {}
        else:
            found = {touch.commit: touch for touch in self.data.touches}
        found |= {touch.commit: touch for touch in self.touches}
        return [found[commit] for commit in sorted(found)]


class Follower:
    """Takes the changes of commits in their order, and knows at any time which datablock has which name."""

    def __init__(self, commits: Iterable[CommitChanges]) -> None:
        self._named: dict[Key, Followed] = {}
        self._origins: list[int] = []
        self.incomplete: list[int] = []
        """Commits whose receipts do not list all that they touched."""
        for commit in commits:
            self._take(commit)

    def find(self, kind: str, name: str) -> Followed | None:
        """The one that has this name now; else the last one that had it."""
        return self._named.get((kind, name))

    def living(self, kind: str) -> list[Followed]:
        """By name, as far as a commit has touched them."""
        found = [one for (block, _), one in self._named.items() if block == kind and one.alive]
        return sorted(found, key=lambda one: one.name)

    @property
    def origin(self) -> int | None:
        """The commit that took a whole scene in last: what no commit has touched came with it."""
        if self._origins:
            return self._origins[-1]
        return None

    def _take(self, commit: CommitChanges) -> None:
        changes = [one for one in commit.changes if one.kind != MEMBER]
        if commit.kind != "operation":
            self._take_in(commit, changes)
        elif not commit.complete:
            self.incomplete.append(commit.number)
        renamed = _renames(commit, changes)
        gone = {(one.kind, one.name) for one in changes if one.change == "removed"}
        made: list[Followed] = []
        for old, new in renamed.items():
            one = self._present(old)
            self._named.pop(old, None)
            one.name = new[1]
            self._named[new] = one
            one.touch(commit.number, "renamed")
        for one in changes:
            key = (one.kind, one.name)
            if one.change == "created" and key not in renamed.values():
                if key in gone:
                    self._present(key).touch(commit.number, "changed")
                else:
                    made.append(self._create(key, commit.number))
            elif one.change == "changed":
                self._present(key).touch(commit.number, "changed")
        for key in gone - renamed.keys():
            if not any(new.change == "created" and (new.kind, new.name) == key for new in changes):
                one = self._present(key)
                one.touch(commit.number, "removed")
                one.alive = False
        _join(made)

    def _take_in(self, commit: CommitChanges, changes: Sequence[Change]) -> None:
        """A file that was adopted may have changed anything; an edit in a window says what it changed."""
        self._origins.append(commit.number)
        if commit.kind == "adopt" and not changes:
            for one in self._named.values():
                if one.alive:
                    one.touch(commit.number, "taken_in")

    def _present(self, key: Key) -> Followed:
        """The one of that name; where no commit has touched it yet, it came with the scene."""
        found = self._named.get(key)
        if found is None or not found.alive:
            found = self._named[key] = Followed(*key)
            if self._origins:
                found.touch(self._origins[-1], "taken_in")
        return found

    def _create(self, key: Key, commit: int) -> Followed:
        found = self._named[key] = Followed(*key)
        found.touch(commit, "created")
        return found


def _renames(commit: CommitChanges, changes: Sequence[Change]) -> dict[Key, Key]:
    """Of a call that renames: one of a kind is gone and one has come, which is the same."""
    if not commit.tool.endswith(".rename"):
        return {}
    found: dict[Key, Key] = {}
    for kind in {one.kind for one in changes}:
        gone = [one.name for one in changes if one.kind == kind and one.change == "removed"]
        come = [one.name for one in changes if one.kind == kind and one.change == "created"]
        if len(gone) == len(come) == 1 and gone != come:
            found[kind, gone[0]] = (kind, come[0])
    return found


def _join(made: Sequence[Followed]) -> None:
    """An object and its data, where they alone were made together."""
    objects = [one for one in made if one.kind == OBJECTS]
    data = [one for one in made if one.kind in DATA]
    if len(objects) == len(data) == 1:
        objects[0].data = data[0]
