"""What the commits of a line did to datablocks, read from their receipts without the rest of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blendwright.journal.lines.ancestry import NO_END, Ancestors
from blendwright.journal.store import Row, Store, from_json
from blendwright.records.changes import MOST_CHANGES, Change, CommitChanges

_CHANGES = """
SELECT number, kind, tool, tool_version, args, request_id, operation_id, replayable, hash_before <> hash_after,
       receipt -> '$.changes', receipt -> '$.handles'
FROM commits WHERE line = ? AND generation BETWEEN ? AND ? ORDER BY generation
"""


def read(store: Store, ancestors: Ancestors, above: int = -1) -> Iterator[CommitChanges]:
    """Oldest first, those of a higher generation than `above`."""
    for part in reversed(ancestors.between(above + 1, NO_END)):
        yield from map(_changes_of, store.rows(_CHANGES, part))


def _changes_of(row: Row) -> CommitChanges:
    number, kind, tool, version, args, request, operation, replayable, changed, listed, handles = row
    found = [_change(one) for one in from_json(f"the receipt of commit {number}", listed or "[]")]
    complete = kind == "operation" and bool(found or not changed)
    if len(found) >= MOST_CHANGES:
        left: list[dict[str, str]] = from_json(f"the receipt of commit {number}", handles or "[]")
        known = {(one.kind, one.name) for one in found}
        found += [Change(h["kind"], h["name"], "changed") for h in left if (h["kind"], h["name"]) not in known]
        complete = False
    return CommitChanges(
        number,
        kind,
        tool,
        version,
        from_json(f"the arguments of commit {number}", args),
        request,
        operation,
        bool(replayable),
        tuple(found),
        complete,
    )


def _change(one: Any) -> Change:
    """Receipts of calls name the parts; those of edits in a window list them."""
    if isinstance(one, dict):
        return Change(one["kind"], one["name"], one["change"])
    kind, *names, change = one
    return Change(kind, " / ".join(names), change)
