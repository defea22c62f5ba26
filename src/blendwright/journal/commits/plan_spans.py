"""Spans of consecutive commits with one request id, which are the plans of the history.

The queries leave out arguments and receipts, which are large in long plans.
"""

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
    """Yield the plans of one line, newest first, from the generation before `below` on."""
    if below is None:
        top = NO_END
    else:
        top = below - 1
    parts = ancestors.between(0, top)
    return _spans(row for part in parts for row in store.rows(_OF_LINE, part))


def on_all_lines(store: Store, below: int | None) -> Iterator[PlanSpan]:
    """Yield the plans of all lines, newest first, from the commit before `below` on."""
    if below is None:
        below = NO_END
    return _spans(store.rows(_OF_ALL, (below,)))


def _spans(rows: Iterable[Row]) -> Iterator[PlanSpan]:
    for request_id, commits in groupby(rows, key=itemgetter(0)):
        first, last, tools = 0, 0, Counter[str]()
        for _, first, tool in commits:
            last = last or first
            tools[tool] += 1
        yield PlanSpan(request_id, first, last, tools)
