"""Commits in a row that are of one request, as one: a plan of the history.

Read without arguments and receipts, of which long plans have many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from blendwright.journal.lines.ancestry import NO_END, Ancestors
from blendwright.journal.store import Row, Store
from blendwright.records.commits import PlanSpan

_FIELDS = "request_id, number, tool"
_OF_LINE = f"SELECT {_FIELDS} FROM commits WHERE line = ? AND generation BETWEEN ? AND ? ORDER BY generation DESC"
_OF_ALL = f"SELECT {_FIELDS} FROM commits WHERE number < ? ORDER BY number DESC"


def on_line(store: Store, ancestors: Ancestors, below: int | None) -> Iterator[PlanSpan]:
    """The newest first, from the generation before `below` on."""
    parts = ancestors.between(0, NO_END if below is None else below - 1)
    return _spans(row for part in parts for row in store.rows(_OF_LINE, part))


def on_all_lines(store: Store, below: int | None) -> Iterator[PlanSpan]:
    return _spans(store.rows(_OF_ALL, (NO_END if below is None else below,)))


def _spans(rows: Iterable[Row]) -> Iterator[PlanSpan]:
    for request_id, commits in groupby(rows, key=itemgetter(0)):
        first, last, tools = 0, 0, Counter[str]()
        for _, first, tool in commits:
            last = last or first
            tools[tool] += 1
        yield PlanSpan(request_id, first, last, tools)
