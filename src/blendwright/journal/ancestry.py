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

# In one statement: a statement for each line takes ten times as long.
_LINES_BEHIND = """
WITH RECURSIVE behind (id, parent_line, fork_generation) AS (
    SELECT id, parent_line, fork_generation FROM lines WHERE id = ?
    UNION ALL
    SELECT lines.id, lines.parent_line, lines.fork_generation FROM behind JOIN lines ON lines.id = behind.parent_line
)
SELECT id, fork_generation FROM behind
"""
NO_END = 2**63 - 1


@dataclass(slots=True)
class Segment:
    """The part of a line that lies among the ancestors: generations from `low` to `top`."""

    low: int
    top: int


@dataclass(slots=True)
class Ancestors:
    """A commit and all before it: segments by line, oldest first, of which there is one more for every plan that was taken back.
    `adopted_at` is the generation of the latest adopted file among them, -1 without one."""

    number: int
    segments: dict[int, Segment]
    adopted_at: int

    def holds(self, line: int, generation: int) -> bool:
        segment = self.segments.get(line)
        return segment is not None and generation <= segment.top

    def between(self, low: int, top: int) -> list[tuple[int, int, int]]:
        """Line, first and last generation of what lies between two generations, newest first; segments outside are not looked at."""
        found: list[tuple[int, int, int]] = []
        for line, segment in reversed(self.segments.items()):
            if segment.top < low:
                break
            if segment.low <= top:
                found.append((line, max(segment.low, low), min(segment.top, top)))
        return found

    def rewind(self, number: int, top: int) -> None:
        """Let it be those of the ancestor `number` of generation `top`."""
        while True:
            line, segment = self.segments.popitem()
            if segment.low <= top:
                self.segments[line] = Segment(segment.low, top)
                self.number = number
                return

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

    def _read(self, number: int) -> Ancestors:
        line, top = position_of(self._store, number)
        segments: dict[int, Segment] = {}
        for each, fork in self._store.rows(_LINES_BEHIND, (line,)):
            segments[each] = Segment(fork + 1, top)
            top = fork
        segments = dict(reversed(segments.items()))
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
    parts = ancestors.between(above + 1, NO_END if below is None else below - 1)
    for part in parts if newest_first else reversed(parts):
        yield from map(rows.commit_of, store.rows(sql, part))
