"""Consistency checks of commits, moves of HEAD, branch events, merges and checkpoints against each other.

The rows come from the journal of a workspace or from the lines of a bundle, in the order of the journal. The checks
keep only the position of each commit in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple


class _Position(NamedTuple):
    parent: int | None
    generation: int
    scene_hash: str


_NO_POSITION = _Position(None, -1, "")


class HistoryCheck:
    """A check of all rows in order; feed all commits first. Its methods yield problems as sentences.

    They raise TypeError when a row has another type than a number where it needs a number.
    """

    def __init__(self) -> None:
        self._commits: dict[int, _Position] = {}
        self._branches: dict[str, tuple[str, int | None]] = {}
        self.entered: dict[str, None] = {}
        """The branch that HEAD is on after the moves so far. A sound journal never has more than one."""
        self._at: int | None = None
        self._left: dict[int, int] = {}
        """For each commit that HEAD left by checkout, the lowest generation that HEAD went to from there."""
        self._undone: set[int] = set()
        self._moved_to = 0
        self.rolled_back: dict[int, int] = {}
        """Commits that a rollback removed, with the move that removed them."""

    def commit(self, number: int, parent: int | None, generation: int, before: str, after: str) -> Iterator[str]:
        last = len(self._commits)
        if number != last + 1:
            yield f"commit {number} follows commit {last}: commits between them are missing"
        if parent is None:
            parent_position = _Position(None, -1, after)
        else:
            parent_position = self._commits.get(parent)
        if parent_position is None or (parent is None) != (last == 0):
            yield f"commit {number} follows commit {parent}, which is not before it"
        elif before != parent_position.scene_hash or generation != parent_position.generation + 1:
            yield f"commit {number} starts from another scene than commit {parent} left"
        self._commits[number] = _Position(parent, generation, after)

    def move(self, id: int, kind: str, origin: int | None, target: int) -> Iterator[str]:
        if origin != self._at or target not in self._commits or not self._leads(id, kind, origin, target):
            yield f"move {id} of HEAD, from commit {origin} to {target}, does not follow the one before it"
        self._at = target

    def _leads(self, id: int, kind: str, origin: int | None, target: int) -> bool:
        """Return whether a move of this kind may lead from one commit to the other, and remember the move."""
        if kind == "commit":
            return self._commits_lead(origin, target)
        if origin is None:
            return False
        if kind == "rollback":
            return self._roll_back(id, origin, target)
        origin_generation = self._position(origin).generation
        target_generation = self._position(target).generation
        if kind == "checkout":
            self._left[origin] = min(target_generation, self._left.get(origin, target_generation))
            return True
        if kind == "undo":
            self._undone.add(origin)
            # Undo goes back on the line, or to the scene before a plan that replaced another one.
            return (
                target_generation < origin_generation or self._left.get(target, origin_generation) < origin_generation
            )
        return kind == "redo" and target in self._undone

    def _commits_lead(self, origin: int | None, target: int) -> bool:
        """Return whether the commits after the last known one, up to `target`, form a chain that starts at `origin`."""
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
        before, last_number = self._branches.get(name, ("deleted", None))
        exists, is_current = before != "deleted", before == "entered"
        if number is not None and number not in self._commits:
            yield f"the branch {name} leads to commit {number}, which does not exist"
        elif not (
            (kind == "created" and not exists)
            or (kind == "entered" and exists and not self.entered and number == last_number)
            or (kind == "left" and is_current)
            or (kind == "deleted" and exists and not is_current and number == last_number)
        ):
            yield f"the branch {name} was {kind}, which does not fit its earlier events"
        self._branches[name] = (kind, number)
        self.entered.pop(name, None)
        if kind == "entered":
            self.entered[name] = None

    def merge(self, request_id: str, base: int, ours: int, theirs: int) -> Iterator[str]:
        if not {base, ours, theirs} <= self._commits.keys():
            yield f"the merge {request_id} names commits that do not exist"

    def checkpoint(self, number: int, scene_hash: str) -> Iterator[str]:
        if number not in self._commits or self._commits[number].scene_hash != scene_hash:
            yield f"the checkpoint of commit {number} has another scene"

    def tag(self, name: str, number: int) -> Iterator[str]:
        if number not in self._commits:
            yield f"the tag {name} leads to commit {number}, which does not exist"

    def end(self) -> Iterator[str]:
        """Yield a problem if no move of HEAD led to the last commit. Call it after all moves."""
        if self._moved_to < len(self._commits):
            yield f"no move of HEAD leads to commit {len(self._commits)}"

    def _position(self, number: int) -> _Position:
        return self._commits.get(number, _NO_POSITION)


class LineCheck:
    """A check of line numbers.

    A commit continues the line of its parent, or starts a new line if another commit already did.
    """

    def __init__(self) -> None:
        self._positions: dict[int, tuple[int, int]] = {}
        self._tops: dict[int, int] = {}
        self._forks: dict[int, tuple[int | None, int]] = {}

    def commit(self, number: int, parent: int | None, line: int, generation: int) -> Iterator[str]:
        parent_line, fork = None, -1
        if parent is not None:
            parent_line, fork = self._positions.get(parent, (None, -1))
        if parent_line is not None and self._tops[parent_line] == fork:
            expected = parent_line
        else:
            expected = len(self._forks) + 1
            self._forks[expected] = (parent_line, fork)
        if line != expected:
            yield f"commit {number} is on line {line} instead of {expected}"
        self._positions[number] = (expected, generation)
        self._tops[expected] = generation

    def end(self, lines: Iterator[tuple[Any, ...]]) -> Iterator[str]:
        """Yield a problem if `lines` differ from the lines that the commits form.

        Each row has the id, the parent line and the generation.
        """
        if {id: (parent, generation) for id, parent, generation in lines} != self._forks:
            yield "the stored lines of commits differ from the lines that the commits form"
