"""Who descends from whom, answered without walking commits.

Commits lie on lines; a line forks off another at a generation. All ancestors of a commit are, line by line, the commits up to some
generation. Following the forks once gives that table, and each further question is one look into it.
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

# In one statement: a statement for each line takes ten times as long.
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
    """A commit and all before it: of each line the generations from `lows` to `tops`, oldest first. There is one more for every plan that
    was taken back, so they are held as plain numbers. `adopted_at` is the generation of the latest adopted file among them, -1
    without one."""

    number: int
    lines: array[int]
    """In order: a line is numbered when it forks off, and so later than the one that it forks off from."""
    lows: array[int]
    tops: array[int]
    adopted_at: int = -1

    def holds(self, line: int, generation: int) -> bool:
        at = bisect_left(self.lines, line)
        return at < len(self.lines) and self.lines[at] == line and generation <= self.tops[at]

    def between(self, low: int, top: int) -> list[tuple[int, int, int]]:
        """Line, first and last generation of what lies between two generations, newest first; lines outside are not looked at."""
        found: list[tuple[int, int, int]] = []
        for at in reversed(range(len(self.lines))):
            if self.tops[at] < low:
                break
            if self.lows[at] <= top:
                found.append((self.lines[at], max(self.lows[at], low), min(self.tops[at], top)))
        return found

    def rewind(self, number: int, top: int) -> None:
        """Let it be those of the ancestor `number` of generation `top`."""
        while self.lows[-1] > top:
            for numbers in (self.lines, self.lows, self.tops):
                numbers.pop()
        self.tops[-1] = top
        self.number = number

    def advance(self, number: int, line: int, first: int, last: int, adopted_at: int) -> None:
        """Let it be those of a descendant, whose new generations `first` to `last` lie on one line."""
        if self.lines and self.lines[-1] == line:
            self.tops[-1] = last
        else:
            self.lines.append(line)
            self.lows.append(first)
            self.tops.append(last)
        self.number = number
        self.adopted_at = max(self.adopted_at, adopted_at)


class Ancestry:
    """Looks ancestors up; remembers those of one commit, which is HEAD nearly always. Commits never change, so it never errs."""

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
        """Whether the remembered ones are now those of a commit that is among them, as after a rollback."""
        line, top = position_of(self._store, number)
        if not latest.holds(line, top) or latest.adopted_at > top:
            return False
        latest.rewind(number, top)
        return True

    def advanced(self, start: int | None, number: int, line: int, first: int, last: int, *, adopted_at: int) -> None:
        """Commits were added on top of `start`: carry the remembered ancestors along."""
        if self._latest is not None and self._latest.number == start:
            self._latest.advance(number, line, first, last, adopted_at)

    def common(self, one: int, other: int) -> int:
        """The nearest commit that is an ancestor of both, or is one of them."""
        ours, theirs = self._read(one), self._read(other)
        shared = [
            (min(top, theirs.tops[at]), line)
            for line, top in zip(ours.lines, ours.tops, strict=True)
            if (at := bisect_left(theirs.lines, line)) < len(theirs.lines) and theirs.lines[at] == line
        ]
        if not shared:
            raise JournalError(
                f"commits {one} and {other} have no common ancestor in journal.db: somebody has edited it",
                cure=TAMPERED,
            )
        generation, line = max(shared)
        sql = "SELECT number FROM commits WHERE line = ? AND generation = ?"
        return self._store.one(sql, (line, generation))[0]

    def _read(self, number: int) -> Ancestors:
        line, top = position_of(self._store, number)
        lines, lows, tops = array("q"), array("q"), array("q")
        for each, fork in self._store.rows(_LINES_BEHIND, (line,)):
            lines.append(each)
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
    if newest_first:
        order = "DESC"
    else:
        order = "ASC"
    sql = f"SELECT {rows.COMMIT} FROM commits WHERE line = ? AND generation BETWEEN ? AND ? ORDER BY generation {order}"
    parts = ancestors.between(above + 1, NO_END if below is None else below - 1)
    for part in parts if newest_first else reversed(parts):
        yield from map(rows.commit_of, store.rows(sql, part))
