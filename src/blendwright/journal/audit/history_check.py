"""Checks commits, moves of HEAD and of branches, merges and checkpoints against each other, whatever they are read from: the journal of a
workspace, or the lines of a bundle. Each is taken in the order of the journal, and no more of it is held than its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple


class _Place(NamedTuple):
    parent: int | None
    generation: int
    scene_hash: str


_NOWHERE = _Place(None, -1, "")


class HistoryCheck:
    """All commits come first. What is wrong is told in sentences; what is no number where one must be raises TypeError."""

    def __init__(self) -> None:
        self._commits: dict[int, _Place] = {}
        self._branches: dict[str, tuple[str, int | None]] = {}
        self.entered: dict[str, None] = {}
        """The branch that HEAD is on after the moves so far; never more than one, where all is well."""
        self._at: int | None = None
        self._left: dict[int, int] = {}
        """The commits that HEAD went back from, and the generation of the one that it went to."""
        self._undone: set[int] = set()
        self._moved_to = 0
        self.rolled_back: dict[int, int] = {}
        """Every commit that was taken back, with the move that did it."""

    def commit(self, number: int, parent: int | None, generation: int, before: str, after: str) -> Iterator[str]:
        last = len(self._commits)
        if number != last + 1:
            yield f"commit {number} follows commit {last}: commits between them are missing"
        if parent is None:
            place = _Place(None, -1, after)
        else:
            place = self._commits.get(parent)
        if place is None or (parent is None) != (last == 0):
            yield f"commit {number} follows commit {parent}, which is not before it"
        elif before != place.scene_hash or generation != place.generation + 1:
            yield f"commit {number} starts from another scene than commit {parent} left"
        self._commits[number] = _Place(parent, generation, after)

    def move(self, id: int, kind: str, origin: int | None, target: int) -> Iterator[str]:
        if origin != self._at or target not in self._commits or not self._leads(id, kind, origin, target):
            yield f"move {id} of HEAD, from commit {origin} to {target}, does not follow the one before it"
        self._at = target

    def _leads(self, id: int, kind: str, origin: int | None, target: int) -> bool:
        """Whether a move of this kind leads from one commit to the other."""
        if kind == "commit":
            return self._commits_lead(origin, target)
        if origin is None:
            return False
        if kind == "rollback":
            return self._roll_back(id, origin, target)
        here, there = self._place(origin).generation, self._place(target).generation
        if kind == "checkout":
            self._left[origin] = min(there, self._left.get(origin, there))
            return True
        if kind == "undo":
            self._undone.add(origin)
            # Back, or to what was there before a plan took its place.
            return there < here or self._left.get(target, here) < here
        return kind == "redo" and target in self._undone

    def _commits_lead(self, origin: int | None, target: int) -> bool:
        """Whether the commits that no move has led to yet, up to this one, follow each other from where HEAD was."""
        at = origin
        while self._moved_to < target:
            number = self._moved_to + 1
            if number not in self._commits or self._commits[number].parent != at:
                self._moved_to = target
                return False
            self._moved_to = at = number
        return at == target

    def _roll_back(self, move: int, origin: int, target: int) -> bool:
        at: int | None = origin
        while at is not None and at != target and at in self._commits and at not in self.rolled_back:
            self.rolled_back[at] = move
            at = self._commits[at].parent
        return at == target

    def branch(self, name: str, kind: str, number: int | None) -> Iterator[str]:
        before, at = self._branches.get(name, ("deleted", None))
        is_there, is_current = before != "deleted", before == "entered"
        if number is not None and number not in self._commits:
            yield f"the branch {name} leads to commit {number}, which is not there"
        elif not (
            (kind == "created" and not is_there)
            or (kind == "entered" and is_there and not self.entered and number == at)
            or (kind == "left" and is_current)
            or (kind == "deleted" and is_there and not is_current and number == at)
        ):
            yield f"the branch {name} was {kind}, which does not follow what became of it before"
        self._branches[name] = (kind, number)
        self.entered.pop(name, None)
        if kind == "entered":
            self.entered[name] = None

    def merge(self, request_id: str, base: int, ours: int, theirs: int) -> Iterator[str]:
        if not {base, ours, theirs} <= self._commits.keys():
            yield f"the merge {request_id} is of commits that are not there"

    def checkpoint(self, number: int, scene_hash: str) -> Iterator[str]:
        if number not in self._commits or self._commits[number].scene_hash != scene_hash:
            yield f"the checkpoint of commit {number} is of another scene"

    def tag(self, name: str, number: int) -> Iterator[str]:
        if number not in self._commits:
            yield f"the tag {name} leads to commit {number}, which is not there"

    def end(self) -> Iterator[str]:
        """What no move led to."""
        if self._moved_to < len(self._commits):
            yield f"no move of HEAD leads to commit {len(self._commits)}"

    def _place(self, number: int) -> _Place:
        return self._commits.get(number, _NOWHERE)


class LineCheck:
    """On which lines commits must lie: on that of the parent, unless another commit is there already; then on a new one."""

    def __init__(self) -> None:
        self._places: dict[int, tuple[int, int]] = {}
        self._tops: dict[int, int] = {}
        self._forks: dict[int, tuple[int | None, int]] = {}

    def commit(self, number: int, parent: int | None, line: int, generation: int) -> Iterator[str]:
        parent_line, fork = (None, -1) if parent is None else self._places.get(parent, (None, -1))
        if parent_line is not None and self._tops[parent_line] == fork:
            expected = parent_line
        else:
            expected = len(self._forks) + 1
            self._forks[expected] = (parent_line, fork)
        if line != expected:
            yield f"commit {number} is on line {line}, and not on {expected}"
        self._places[number] = (expected, generation)
        self._tops[expected] = generation

    def end(self, lines: Iterator[tuple[Any, ...]]) -> Iterator[str]:
        """`lines` as the journal has them: id, the line that it forks off from, and the generation."""
        if {id: (parent, generation) for id, parent, generation in lines} != self._forks:
            yield "the lines of commits are not those that the commits make"
