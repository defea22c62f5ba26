"""Whether operations that are about to run have run before: on this line, elsewhere, or under the same ids with other arguments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import orjson

from blendwright.journal import rows
from blendwright.journal.lines.ancestry import Ancestors, Ancestry, head_row
from blendwright.journal.store import Store, from_json
from blendwright.records.commits import HistoryPosition, MatchedCommit, OperationMatch, OperationQuery, Reading

# One statement for all operations of a request: a statement for each costs five times as much.
_NAMED = "request_id = ? AND operation_id IN (SELECT value FROM json_each(?))"
_COMMITS = f"SELECT {rows.DONE} FROM commits WHERE {_NAMED} ORDER BY number DESC"
_READINGS = f"SELECT {rows.READING} FROM readings WHERE {_NAMED} ORDER BY id DESC"
# Most requests are new: asking that first takes a tenth of looking for their operations.
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

# Of several commits of one key the one with the lowest rank answers.
_RANK: dict[HistoryPosition, int] = {"ancestor": 0, "before_adopt": 1, "elsewhere": 2, "rolled_back": 3}


def find_many(
    store: Store, ancestry: Ancestry, queries: Sequence[OperationQuery], scene_hash: str | None = None
) -> tuple[OperationMatch, ...]:
    """An operation key is made of request id, operation id and args: its commits are among those of the two ids."""
    with store.snapshot():
        head = head_row(store)
        if head is None:
            return tuple(OperationMatch("nowhere") for _ in queries)
        ancestors = ancestry.of(head[0])
        if scene_hash is None:
            at = head[3]
        else:
            at = scene_hash
        intents: dict[str, int] = dict(store.rows(_INDETERMINATE))
        stored = _stored_under(store, queries)
        return tuple(
            _find(store, ancestors, one, same_ids, at, intents.get(one.operation_key))
            if (same_ids := stored.get((one.request_id, one.operation_id)))
            else OperationMatch("nowhere", intent=intents.get(one.operation_key))
            for one in queries
        )


def knows_request(store: Store, request_id: str) -> bool:
    """Whether anything was done, read or begun under this id: otherwise there is nothing to look up of its operations."""
    return bool(store.one(_IS_KNOWN, (request_id,))[0])


def arguments_of(store: Store, stored: MatchedCommit | Reading) -> Any:
    """The arguments of a commit or of a reading, as they were written down."""
    if isinstance(stored, MatchedCommit):
        (written,) = store.one(_ARGS_OF_COMMIT, (stored.number,))
    else:
        (written,) = store.one(_ARGS_OF_READING, (stored.request_id, stored.operation_id, stored.operation_key))
    return from_json("the arguments of an operation", written)


def _stored_under(store: Store, queries: Sequence[OperationQuery]) -> _ByName:
    """All commits and readings under the ids of the queries, newest first."""
    requests: dict[str, set[str]] = defaultdict(set)
    for one in queries:
        requests[one.request_id].add(one.operation_id)
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
        # What most operations are that are asked for again.
        return OperationMatch(_position(store, ancestors, stored[0]), stored[0], intent=intent)
    where: HistoryPosition = "nowhere"
    best: MatchedCommit | None = None
    reading: Reading | None = None
    earlier: Reading | None = None
    clash: MatchedCommit | Reading | None = None
    for one in stored:
        position = "elsewhere"
        if isinstance(one, MatchedCommit):
            position = _position(store, ancestors, one)
            if one.operation_key == query.operation_key and (best is None or _RANK[position] < _RANK[where]):
                where, best = position, one
        elif one.operation_key == query.operation_key:
            earlier = earlier or one
            if reading is None and one.scene_hash == scene_hash:
                reading = one
        if clash is None and position != "rolled_back" and not _is_same_operation(one, query):
            clash = one
    if reading is not None and where in ("nowhere", "rolled_back"):
        where, best = "reading", None
    return OperationMatch(where, best, reading, clash, intent, earlier)


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
