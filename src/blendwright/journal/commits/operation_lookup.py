"""A lookup of operations that are about to run: committed on this line, elsewhere, or under the same ids with other
arguments.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import orjson

from blendwright.journal import rows
from blendwright.journal.lines.ancestry import Ancestors, Ancestry, head_row
from blendwright.journal.store import Store, from_json
from blendwright.records.commits import HistoryPosition, MatchedCommit, OperationMatch, OperationQuery, Reading

# One statement serves all operations of a request: one statement per operation costs five times as much.
_NAMED = "request_id = ? AND operation_id IN (SELECT value FROM json_each(?))"
_COMMITS = f"SELECT {rows.DONE} FROM commits WHERE {_NAMED} ORDER BY number DESC"
_READINGS = f"SELECT {rows.READING} FROM readings WHERE {_NAMED} ORDER BY id DESC"
# Most requests are new. This check takes a tenth of the time of a lookup of their operations.
_IS_KNOWN = """
SELECT EXISTS (SELECT 1 FROM commits WHERE request_id = ?1) OR EXISTS (SELECT 1 FROM readings WHERE request_id = ?1)
    OR EXISTS (SELECT 1 FROM intents WHERE state IN ('open', 'indeterminate') AND request_id = ?1)
"""
_ARGS_OF_COMMIT = "SELECT args FROM commits WHERE number = ?"
_ARGS_OF_READING = "SELECT args FROM readings WHERE request_id = ? AND operation_id = ? AND operation_key = ?"
_ROLLED_BACK = "SELECT 1 FROM rolled_back WHERE number = ?"
_INDETERMINATE = (
    "SELECT operation_key, id FROM intents WHERE state IN ('open', 'indeterminate') AND state = 'indeterminate'"
)

_ByName = defaultdict[tuple[str, str], list[MatchedCommit | Reading]]

# If several commits have the same key, the match is the one with the lowest rank.
_RANK: dict[HistoryPosition, int] = {"ancestor": 0, "before_adopt": 1, "elsewhere": 2, "rolled_back": 3}


def find_many(
    store: Store, ancestry: Ancestry, queries: Sequence[OperationQuery], scene_hash: str | None = None
) -> tuple[OperationMatch, ...]:
    """Return one match per query, in order, for the scene `scene_hash` or HEAD's scene.

    An operation key contains request id and operation id, so all commits of a key are among the commits of these ids.
    """
    with store.snapshot():
        head = head_row(store)
        if head is None:
            return tuple(OperationMatch("nowhere") for _ in queries)
        ancestors = ancestry.of(head[0])
        if scene_hash is None:
            current_hash = head[3]
        else:
            current_hash = scene_hash

        intents: dict[str, int] = dict(store.rows(_INDETERMINATE))
        stored = _stored_under(store, queries)
        matches: list[OperationMatch] = []
        for query in queries:
            intent = intents.get(query.operation_key)
            same_ids = stored.get((query.request_id, query.operation_id))
            if same_ids:
                matches.append(_find(store, ancestors, query, same_ids, current_hash, intent))
            else:
                matches.append(OperationMatch("nowhere", intent=intent))
        return tuple(matches)


def knows_request(store: Store, request_id: str) -> bool:
    """Return whether any commit, reading or open intent has this request id.

    Without one, no lookup of its operations is needed.
    """
    return bool(store.one(_IS_KNOWN, (request_id,))[0])


def arguments_of(store: Store, stored: MatchedCommit | Reading) -> Any:
    """Return the stored arguments of a commit or a reading."""
    if isinstance(stored, MatchedCommit):
        (written,) = store.one(_ARGS_OF_COMMIT, (stored.number,))
    else:
        (written,) = store.one(_ARGS_OF_READING, (stored.request_id, stored.operation_id, stored.operation_key))
    return from_json("the arguments of an operation", written)


def _stored_under(store: Store, queries: Sequence[OperationQuery]) -> _ByName:
    """Return all commits and readings with the ids of the queries, newest first."""
    requests: dict[str, set[str]] = defaultdict(set)
    for query in queries:
        requests[query.request_id].add(query.operation_id)
    stored: _ByName = defaultdict(list)
    for request, operations in requests.items():
        if not knows_request(store, request):
            continue
        names = orjson.dumps(sorted(operations)).decode()
        for row in store.rows(_COMMITS, (request, names)):
            commit = rows.done_of(row)
            stored[request, commit.operation_id].append(commit)
        for row in store.rows(_READINGS, (request, names)):
            reading = rows.reading_of(row)
            stored[request, reading.operation_id].append(reading)
    return stored


def _find(
    store: Store,
    ancestors: Ancestors,
    query: OperationQuery,
    stored: Sequence[MatchedCommit | Reading],
    scene_hash: str,
    intent: int | None,
) -> OperationMatch:
    if len(stored) == 1 and isinstance(stored[0], MatchedCommit) and _is_same_operation(stored[0], query):
        # The usual case of a repeated operation.
        return OperationMatch(_position(store, ancestors, stored[0]), stored[0], intent=intent)
    best_position: HistoryPosition = "nowhere"
    best_commit: MatchedCommit | None = None
    reading: Reading | None = None
    earlier: Reading | None = None
    clash: MatchedCommit | Reading | None = None
    for candidate in stored:
        position = "elsewhere"
        if isinstance(candidate, MatchedCommit):
            position = _position(store, ancestors, candidate)
            if candidate.operation_key == query.operation_key and (
                best_commit is None or _RANK[position] < _RANK[best_position]
            ):
                best_position, best_commit = position, candidate
        elif candidate.operation_key == query.operation_key:
            earlier = earlier or candidate
            if reading is None and candidate.scene_hash == scene_hash:
                reading = candidate
        if clash is None and position != "rolled_back" and not _is_same_operation(candidate, query):
            clash = candidate
    if reading is not None and best_position in ("nowhere", "rolled_back"):
        best_position, best_commit = "reading", None
    return OperationMatch(best_position, best_commit, reading, clash, intent, earlier)


def _position(store: Store, ancestors: Ancestors, commit: MatchedCommit) -> HistoryPosition:
    if ancestors.holds(commit.line, commit.generation):
        if commit.generation > ancestors.adopted_at:
            return "ancestor"
        return "before_adopt"
    if store.row(_ROLLED_BACK, (commit.number,)):
        return "rolled_back"
    return "elsewhere"


def _is_same_operation(stored: MatchedCommit | Reading, query: OperationQuery) -> bool:
    expected = (query.operation_key, query.tool, query.tool_version)
    return (stored.operation_key, stored.tool, stored.tool_version) == expected
