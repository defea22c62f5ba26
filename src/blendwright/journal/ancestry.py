"""Who descends from whom, answered without walking commits.

Commits lie on lines; a line forks off another at a generation. All ancestors of a commit are, line by line, the commits up to some
generation. Following the forks once gives that table, and each further question is one look into it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from blendwright.journal import rows
from blendwright.journal.store import Row, Store
from blendwright.records.commits import Commit
from blendwright.values.errors import JournalError


@dataclass(slots=True)
class Segment:
    """The part of a line that lies among the ancestors: generations from `low` to `top`."""

    low: int
    top: int


@dataclass(slots=True)
class Ancestors:
    """A commit and all before it. `adopted_at` is the generation of the latest adopted file among them, -1 without one."""

    number: int
    segments: dict[int, Segment]
    adopted_at: int

    def holds(self, line: int, generation: int) -> bool:
        segment = self.segments.get(line)
        return segment is not None and generation <= segment.top

    def advance(self, number: int, line: int, first: int, last: int, adopted_at: int) -> None:
        """Let it be those of a descendant, whose new generations `first` to `last` lie on one line."""
        segment = self.segments.get(line)
        if segment is None:
            self.segments[line] = Segment(first, last)
        else:
            segment.top = last
        self.number = number
        self.adopted_at = max(self.adopted_at, adopted_at)


class Ancestry:
    """Looks ancestors up; remembers those of one commit, which is HEAD nearly always. Commits never change, so it never errs."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._latest: Ancestors | None = None

    def of(self, number: int) -> Ancestors:
        if self._latest is None or self._latest.number != number:
            self._latest = self._earlier(number) or self._read(number)
        return self._latest

    def _earlier(self, number: int) -> Ancestors | None:
        """Those of a commit that is among the remembered ones, as after a rollback: the same without what came later."""
        latest = self._latest
        line, top = position_of(self._store, number)
        if latest is None or not latest.holds(line, top) or latest.adopted_at > top:
            return None
        segments = {
            each: Segment(segment.low, min(segment.top, top))
            for each, segment in latest.segments.items()
            if segment.low <= top
        }
        return Ancestors(number, segments, latest.adopted_at)

    def advanced(self, start: int | None, number: int, line: int, first: int, last: int, *, adopted_at: int) -> None:
        """Commits were added on top of `start`: carry the remembered ancestors along."""
        if self._latest is not None and self._latest.number == start:
            self._latest.advance(number, line, first, last, adopted_at)

    def _read(self, number: int) -> Ancestors:
        line, top = position_of(self._store, number)
        segments: dict[int, Segment] = {}
        while line is not None:
            parent, fork = self._store.one("SELECT parent_line, fork_generation FROM lines WHERE id = ?", (line,))
            segments[line] = Segment(fork + 1, top)
            line, top = parent, fork
        ancestors = Ancestors(number, segments, -1)
        adoptions = "SELECT line, generation FROM commits WHERE kind = 'adopt' ORDER BY generation DESC"
        ancestors.adopted_at = next((g for line, g in self._store.rows(adoptions) if ancestors.holds(line, g)), -1)
        return ancestors


def position_of(store: Store, number: int) -> Row:
    """The line and generation of a commit."""
    position = store.row("SELECT line, generation FROM commits WHERE number = ?", (number,))
    if position is None:
        raise JournalError(f"there is no commit {number}")
    return position


def head_row(store: Store) -> Row | None:
    """HEAD as (number, line, generation, hash_after)."""
    return store.row(
        "SELECT number, line, generation, hash_after FROM commits"
        " WHERE number = (SELECT to_commit FROM head_moves ORDER BY id DESC LIMIT 1)"
    )


def commits_among(
    store: Store, ancestors: Ancestors, *, above: int = -1, below: int | None = None, newest_first: bool = False
) -> Iterator[Commit]:
    """The commits among the ancestors whose generation lies between two others, oldest first unless it is said otherwise."""
    order = "DESC" if newest_first else "ASC"
    sql = f"SELECT {rows.COMMIT} FROM commits WHERE line = ? AND generation BETWEEN ? AND ? ORDER BY generation {order}"
    for line, segment in sorted(ancestors.segments.items(), key=lambda item: item[1].low, reverse=newest_first):
        low = max(segment.low, above + 1)
        top = segment.top if below is None else min(segment.top, below - 1)
        if low <= top:
            yield from map(rows.commit_of, store.rows(sql, (line, low, top)))
