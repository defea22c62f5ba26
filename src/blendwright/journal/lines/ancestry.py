"""A lookup of ancestors that does not walk commits.

Commits lie on lines, and a line forks off another one at a generation. The ancestors of a commit are therefore, for
each line, the commits up to some generation. Following the forks once gives this table, and each further question is
one look into it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from blendwright.journal import rows
from blendwright.journal.store import TAMPERED, Row, Store
from blendwright.records.commits import Commit
from blendwright.values.errors import JournalError

# One statement for all lines: one statement per line takes ten times as long.
_LINES_BEHIND = """
WITH RECURSIVE behind (id, parent_line, fork_generation) AS (
    SELECT id, parent_line, fork_generation FROM lines WHERE id = ?
    UNION ALL
    SELECT lines.id, lines.parent_line, lines.fork_generation FROM behind JOIN lines ON lines.id = behind.parent_line
    WHERE lines.id < behind.id
)
SELECT id, fork_generation FROM behind
"""
NO_END = 2**63 - 1


@dataclass(slots=True)
class Ancestors:
    """A commit and all its ancestors. `lows` and `tops` have the first and last generation of each line, oldest
    first.

    Every rolled-back plan adds a line, so the table uses plain numbers. `adopted_at` is the generation of the latest
    adopted file among the ancestors, or -1.
    """

    number: int
    lines: array[int]
    """Ascending, because a line gets its number when it forks off, later than its parent line."""
    lows: array[int]
    tops: array[int]
    adopted_at: int = -1

    def holds(self, line: int, generation: int) -> bool:
        index = bisect_left(self.lines, line)
        return index < len(self.lines) and self.lines[index] == line and generation <= self.tops[index]

    def between(self, low: int, top: int) -> list[tuple[int, int, int]]:
        """Return line, first and last generation of the ancestors between two generations, newest first.

        The loop skips lines outside these generations.
        """
        ranges: list[tuple[int, int, int]] = []
        for index in reversed(range(len(self.lines))):
            if self.tops[index] < low:
                break
            if self.lows[index] <= top:
                ranges.append((self.lines[index], max(self.lows[index], low), min(self.tops[index], top)))
        return ranges

    def rewind(self, number: int, top: int) -> None:
        """Change the table to the ancestors of `number`, which is an ancestor of generation `top`."""
        while self.lows[-1] > top:
            for numbers in (self.lines, self.lows, self.tops):
                numbers.pop()
        self.tops[-1] = top
        self.number = number

    def advance(self, number: int, line: int, first: int, last: int, adopted_at: int) -> None:
        """Change the table to the ancestors of a descendant, whose new generations `first` to `last` lie on one line."""
        if self.lines and self.lines[-1] == line:
            self.tops[-1] = last
        else:
            self.lines.append(line)
            self.lows.append(first)
            self.tops.append(last)
        self.number = number
        self.adopted_at = max(self.adopted_at, adopted_at)


class Ancestry:
    """A lookup of ancestors with a cache for one commit, which is nearly always HEAD.

    Commits never change, so the cache stays valid.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._latest: Ancestors | None = None

    def of(self, number: int) -> Ancestors:
        if self._latest is None or self._latest.number != number:
            if self._latest is not None and self._rewound(self._latest, number):
                return self._latest
            self._latest = self._read(number)
        return self._latest

    def _rewound(self, latest: Ancestors, number: int) -> bool:
        """Try to change the cached ancestors to the ancestors of one of them, as after a rollback.

        Return whether that worked.
        """
        line, top = position_of(self._store, number)
        if not latest.holds(line, top) or latest.adopted_at > top:
            return False
        latest.rewind(number, top)
        return True

    def advanced(self, start: int | None, number: int, line: int, first: int, last: int, *, adopted_at: int) -> None:
        """Update the cached ancestors after new commits on top of `start`."""
        if self._latest is not None and self._latest.number == start:
            self._latest.advance(number, line, first, last, adopted_at)

    def common(self, one: int, other: int) -> int:
        """Return the nearest common ancestor of two commits, which can be one of the two."""
        ours, theirs = self._read(one), self._read(other)
        shared: list[tuple[int, int]] = []
        for line, top in zip(ours.lines, ours.tops, strict=True):
            index = bisect_left(theirs.lines, line)
            if index < len(theirs.lines) and theirs.lines[index] == line:
                shared.append((min(top, theirs.tops[index]), line))
        if not shared:
            raise JournalError(
                f"commits {one} and {other} have no common ancestor in journal.db: the file was edited",
                cure=TAMPERED,
            )
        generation, line = max(shared)
        sql = "SELECT number FROM commits WHERE line = ? AND generation = ?"
        return self._store.one(sql, (line, generation))[0]

    def _read(self, number: int) -> Ancestors:
        line, top = position_of(self._store, number)
        lines, lows, tops = array("q"), array("q"), array("q")
        for ancestor_line, fork in self._store.rows(_LINES_BEHIND, (line,)):
            lines.append(ancestor_line)
            lows.append(fork + 1)
            tops.append(top)
            top = fork
        for numbers in (lines, lows, tops):
            numbers.reverse()
        ancestors = Ancestors(number, lines, lows, tops)
        adoptions = "SELECT line, generation FROM commits WHERE kind = 'adopt' ORDER BY generation DESC"
        ancestors.adopted_at = next((g for line, g in self._store.rows(adoptions) if ancestors.holds(line, g)), -1)
        return ancestors


def position_of(store: Store, number: int) -> Row:
    """Return the line and generation of a commit. Raise JournalError when it does not exist."""
    position = store.row("SELECT line, generation FROM commits WHERE number = ?", (number,))
    if position is None:
        raise JournalError(f"there is no commit {number}")
    return position


def head_row(store: Store) -> Row | None:
    """Return HEAD as (number, line, generation, hash_after), or None in a workspace without commits."""
    return store.row(
        "SELECT number, line, generation, hash_after FROM commits"
        " WHERE number = (SELECT to_commit FROM head_moves ORDER BY id DESC LIMIT 1)"
    )


def commits_among(
    store: Store, ancestors: Ancestors, *, above: int = -1, below: int | None = None, newest_first: bool = False
) -> Iterator[Commit]:
    """Yield the ancestors with generations after `above` and before `below`, oldest first unless `newest_first`."""
    top = NO_END
    if below is not None:
        top = below - 1
    parts = ancestors.between(above + 1, top)
    order = "DESC"
    if not newest_first:
        parts.reverse()
        order = "ASC"
    sql = f"SELECT {rows.COMMIT} FROM commits WHERE line = ? AND generation BETWEEN ? AND ? ORDER BY generation {order}"
    for part in parts:
        yield from map(rows.commit_of, store.rows(sql, part))
