"""The changes of datablocks by the commits of a line, read from the receipts without their other fields."""

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
    """Yield the changes of each commit with a higher generation than `above`, oldest first."""
    for part in reversed(ancestors.between(above + 1, NO_END)):
        yield from map(_changes_of, store.rows(_CHANGES, part))


def _changes_of(row: Row) -> CommitChanges:
    number, kind, tool, version, args, request, operation, replayable, scene_changed, changes_text, handles_text = row
    changes = [_change(entry) for entry in from_json(f"the receipt of commit {number}", changes_text or "[]")]
    complete = kind == "operation" and bool(changes or not scene_changed)
    if len(changes) >= MOST_CHANGES:
        handles: list[dict[str, str]] = from_json(f"the receipt of commit {number}", handles_text or "[]")
        known_names = {(change.kind, change.name) for change in changes}
        for handle in handles:
            if (handle["kind"], handle["name"]) not in known_names:
                changes.append(Change(handle["kind"], handle["name"], "changed"))
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
        tuple(changes),
        complete,
    )


def _change(entry: Any) -> Change:
    """Return one change of a receipt. Receipts of calls have objects; receipts of edits in a window have lists."""
    if isinstance(entry, dict):
        return Change(entry["kind"], entry["name"], entry["change"])
    kind, *names, change = entry
    return Change(kind, " / ".join(names), change)
