"""Merges: which lines were joined under which request. Each is written before the first commit of it."""

from __future__ import annotations

from blendwright.journal.store import Store, utc_now
from blendwright.records.branches import Merge

_ALL = "SELECT request_id, source, base, ours, theirs FROM merges"


def record(store: Store, merge: Merge) -> None:
    values = (merge.request_id, merge.source, merge.base, merge.ours, merge.theirs, store.fence, utc_now())
    with store.transaction("merge"):
        store.change("INSERT INTO merges VALUES (?, ?, ?, ?, ?, ?, ?)", values)


def all_merges(store: Store) -> dict[str, Merge]:
    """By request; also those of which nothing was kept in the end."""
    return {row[0]: Merge(*row) for row in store.rows(_ALL)}
