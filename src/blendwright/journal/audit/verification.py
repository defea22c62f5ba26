"""Checks the audit chain from end to end, that commits and readings are what it says, and that moves and marks fit the commits.

An edit of a record shows in the record's own hash; a removal or a swap in its neighbours; a cut-off end in the head that the journal
keeps, and, when that was adjusted too, in the receipts, which name the record they belong to. An edit of a commit or reading shows in the
hash that its record has of it; records of older programs have none, and how many those are is told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from blendwright.journal.audit.history_check import HistoryCheck, LineCheck
from blendwright.journal.audit.log import (
    COMMIT_FIELDS,
    ENTRY_HASH,
    READING_FIELDS,
    SHAPES,
    entry_hash,
    read_head,
    without_record,
)
from blendwright.journal.schema import genesis
from blendwright.journal.store import Store, as_json, object_in
from blendwright.records.audit import ACTS, AuditHead, AuditRecord, AuditReport

# The columns of a commit or reading that its record repeats, under the record's names.
_REPEATED = ("request_id", "operation_id", "tool_name", "scene_hash_before", "scene_hash_after")
_SHARED = "o.audit_sequence, a.hash, a.record, o.args, o.receipt, o.request_id, o.operation_id, o.tool"
_COMMITS = f"""
SELECT o.line, o.{", o.".join(COMMIT_FIELDS)}, {_SHARED}, o.hash_before, o.hash_after
FROM commits o LEFT JOIN audit a ON a.sequence = o.audit_sequence ORDER BY o.number
"""
_READINGS = f"""
SELECT o.id, o.{", o.".join(READING_FIELDS)}, {_SHARED}, o.scene_hash, o.scene_hash
FROM readings o LEFT JOIN audit a ON a.sequence = o.audit_sequence ORDER BY o.id
"""
_NUMBER, _PARENT, _GENERATION = map(COMMIT_FIELDS.index, ("number", "parent", "generation"))

_OWNERLESS = f"""
SELECT sequence FROM audit
WHERE json_valid(record) AND record ->> 'status' = 'succeeded' AND record ->> 'tool_name' NOT IN {ACTS}
  AND sequence NOT IN (SELECT audit_sequence FROM commits UNION ALL SELECT audit_sequence FROM readings)
ORDER BY sequence
"""


def records(store: Store, after: int, limit: int, fields: Mapping[str, str]) -> tuple[AuditRecord, ...]:
    """In order; `fields` are names of fields of records with the values that they must have."""
    wanted = "".join(f" AND record ->> '{name}' = ?" for name in fields)
    sql = f"SELECT sequence, hash, record FROM audit WHERE sequence > ?{wanted} ORDER BY sequence LIMIT ?"
    with store.snapshot():
        found = store.rows(sql, (after, *fields.values(), limit))
        return tuple(AuditRecord(s, h, object_in(f"record {s} of the audit chain", record)) for s, h, record in found)


def verify(store: Store, known_heads: Sequence[AuditHead]) -> AuditReport:
    with store.snapshot():
        head = read_head(store)
        owners = _Owners(store)
        problems = [
            *_chain(store, head), *owners.commits(), *owners.readings(), *_ownerless(store), *owners.moves(),
            *_contradicted_heads(store, known_heads),
        ]  # fmt: skip
        count = store.one("SELECT count(*) FROM audit")[0]
    return AuditReport(head, count, tuple(problems), owners.not_covered)


def _chain(store: Store, head: AuditHead) -> Iterator[str]:
    previous = AuditHead(0, genesis(store.identity))
    for sequence, hash, text in store.rows("SELECT sequence, hash, record FROM audit ORDER BY sequence"):
        if sequence != previous.sequence + 1:
            yield _missing(previous.sequence + 1, sequence - 1)
        yield from record_problems(sequence, hash, text, previous if sequence == previous.sequence + 1 else None)
        previous = AuditHead(sequence, hash)
    if previous.sequence < head.sequence:
        yield f"{_missing(previous.sequence + 1, head.sequence)}: the chain was cut off at its end"
    elif previous != head:
        yield f"record {previous.sequence} is not the head that the journal keeps (record {head.sequence})"


def record_problems(sequence: int, hash: str, text: str, previous: AuditHead | None) -> Iterator[str]:
    """What is wrong with the record of a number, by itself and as the one after `previous`."""
    record = _parsed(text)
    if record.keys() not in SHAPES or as_json("a record", record) != text:
        yield f"record {sequence} was edited: it is not a record in canonical form"
        return
    if hashlib.sha256(text.encode()).hexdigest() != hash:
        yield f"record {sequence} was edited: its content does not have its hash"
    if record["sequence"] != sequence:
        yield f"record {sequence} was moved: it says it is record {record['sequence']}"
    elif previous is not None and record["prev"] != previous.hash:
        yield f"record {sequence} does not follow record {previous.sequence}: one of them was replaced"


class _Owners:
    """Commits and readings against the records that their receipts name, and everything that names commits against those."""

    def __init__(self, store: Store) -> None:
        self.not_covered = 0
        self._store = store
        self._history = HistoryCheck()
        self._lines = LineCheck()

    def commits(self) -> Iterator[str]:
        for line, *row in self._store.rows(_COMMITS):
            fields, shared = row[: len(COMMIT_FIELDS)], row[len(COMMIT_FIELDS) :]
            number, parent, generation = fields[_NUMBER], fields[_PARENT], fields[_GENERATION]
            owner = f"commit {number}"
            yield from _told(owner, self._history.commit(number, parent, generation, *shared[-2:]))
            yield from _told(owner, self._lines.commit(number, parent, line, generation))
            yield from _told(owner, self._owner(owner, fields, *shared))
        yield from self._lines.end(self._store.rows("SELECT id, parent_line, fork_generation FROM lines ORDER BY id"))

    def readings(self) -> Iterator[str]:
        for id, *row in self._store.rows(_READINGS):
            owner = f"reading {id}"
            yield from _told(owner, self._owner(owner, row[: len(READING_FIELDS)], *row[len(READING_FIELDS) :]))

    def _owner(
        self,
        owner: str,
        fields: Sequence[Any],
        sequence: int,
        hash: str | None,
        text: str,
        args: str,
        receipt: str,
        *repeated: Any,
    ) -> Iterator[str]:
        if hash is None:
            yield f"record {sequence} is missing: the receipt of {owner} names it"
            return
        record = _parsed(text)
        if [record.get(name) for name in _REPEATED] != [*repeated]:
            yield f"record {sequence} and {owner} disagree"
        if ENTRY_HASH not in record:
            self.not_covered += 1
            if _parsed(receipt).get("audit") != {"sequence": sequence, "hash": hash}:
                yield f"record {sequence} is not the one that the receipt of {owner} names"
            return
        written = without_record(receipt, AuditHead(sequence, hash))
        if written is None:
            yield f"record {sequence} is not the one that the receipt of {owner} names"
        elif entry_hash(fields, args, written) != record[ENTRY_HASH]:
            yield f"{owner} was edited: it is not what record {sequence} says that it is"

    def moves(self) -> Iterator[str]:
        """After all commits."""
        store, history = self._store, self._history
        for row in store.rows("SELECT id, kind, from_commit, to_commit FROM head_moves ORDER BY id"):
            yield from _told(f"move {row[0]} of HEAD", history.move(*row))
        yield from history.end()
        if dict(store.rows("SELECT number, move FROM rolled_back")) != history.rolled_back:
            yield "the commits that are marked as taken back are not those that moves of HEAD took back"
        for row in store.rows("SELECT branch, kind, number FROM branch_moves ORDER BY id"):
            yield from _told(f"the branch {row[0]}", history.branch(*row))
        for row in store.rows("SELECT request_id, base, ours, theirs FROM merges ORDER BY request_id"):
            yield from _told(f"the merge {row[0]}", history.merge(*row))
        for row in store.rows("SELECT number, scene_hash FROM checkpoints ORDER BY id"):
            yield from _told(f"the checkpoint of commit {row[0]}", history.checkpoint(*row))
        for row in store.rows("SELECT name, number FROM tags ORDER BY name"):
            yield from _told(f"the tag {row[0]}", history.tag(*row))


def _told(what: str, problems: Iterator[str]) -> Iterator[str]:
    """The problems of a row, whatever somebody has put into its columns."""
    try:
        yield from problems
    except (TypeError, AttributeError, ValueError):
        yield f"{what} was edited: it has what no journal has"


def _ownerless(store: Store) -> Iterator[str]:
    """Success is recorded together with its commit or reading: without one, that was removed."""
    for (sequence,) in store.rows(_OWNERLESS):
        yield f"record {sequence} reports a success of which there is no commit and no reading"


def _contradicted_heads(store: Store, known_heads: Sequence[AuditHead]) -> Iterator[str]:
    for head in known_heads:
        row = store.row("SELECT hash FROM audit WHERE sequence = ?", (head.sequence,))
        if row is None:
            yield f"record {head.sequence} is missing: a receipt outside the journal names it"
        elif row[0] != head.hash:
            yield f"record {head.sequence} is not the one that a receipt outside the journal names"


def _parsed(text: str) -> dict[str, Any]:
    """The object; an empty one for anything else, which no check takes for what it should be."""
    try:
        value: Any = orjson.loads(text)
        return dict(value)
    except (TypeError, ValueError):
        return {}


def _missing(first: int, last: int) -> str:
    if first == last:
        return f"record {first} is missing"
    return f"records {first} to {last} are missing"
