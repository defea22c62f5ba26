"""Verification of the audit chain, of commits and readings against it, and of moves, branches and tags against the
commits.

The own hash of a record reveals an edit; the neighbours reveal a removal or a swap. The stored head reveals a cut-off
end. If an attacker adjusted that head, the receipts still name the removed records. A record also holds the hash of its
commit or reading, which reveals an edit there. Records of older versions lack that hash; the report counts them.
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

# The columns of a commit or reading that its record repeats, under the names that the record uses.
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
    """Return records after a sequence number in order. `fields` maps field names of records to required values."""
    conditions = "".join(f" AND record ->> '{name}' = ?" for name in fields)
    sql = f"SELECT sequence, hash, record FROM audit WHERE sequence > ?{conditions} ORDER BY sequence LIMIT ?"
    with store.snapshot():
        rows = store.rows(sql, (after, *fields.values(), limit))
        return tuple(AuditRecord(s, h, object_in(f"record {s} of the audit chain", record)) for s, h, record in rows)


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
        expected_previous: AuditHead | None = previous
        if sequence != previous.sequence + 1:
            yield _missing(previous.sequence + 1, sequence - 1)
            expected_previous = None
        yield from record_problems(sequence, hash, text, expected_previous)
        previous = AuditHead(sequence, hash)
    if previous.sequence < head.sequence:
        yield f"{_missing(previous.sequence + 1, head.sequence)}: the chain was cut off at its end"
    elif previous != head:
        yield f"record {previous.sequence} is not the head that the journal stores (record {head.sequence})"


def record_problems(sequence: int, hash: str, text: str, previous: AuditHead | None) -> Iterator[str]:
    """Yield the problems of one record: in its content, and in its link to `previous` when that is given."""
    record = _parsed(text)
    if record.keys() not in SHAPES or as_json("a record", record) != text:
        yield f"record {sequence} was edited: it is not a record in canonical form"
        return
    if hashlib.sha256(text.encode()).hexdigest() != hash:
        yield f"record {sequence} was edited: its content does not have its hash"
    if record["sequence"] != sequence:
        yield f"record {sequence} was moved: it has the number {record['sequence']}"
    elif previous is not None and record["prev"] != previous.hash:
        yield f"record {sequence} does not follow record {previous.sequence}: one of them was replaced"


class _Owners:
    """A check of commits and readings against the records that their receipts name, and of all references to commits."""

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
            yield from _guarded(owner, self._history.commit(number, parent, generation, *shared[-2:]))
            yield from _guarded(owner, self._lines.commit(number, parent, line, generation))
            yield from _guarded(owner, self._owner(owner, fields, *shared))
        yield from self._lines.end(self._store.rows("SELECT id, parent_line, fork_generation FROM lines ORDER BY id"))

    def readings(self) -> Iterator[str]:
        for id, *row in self._store.rows(_READINGS):
            owner = f"reading {id}"
            yield from _guarded(owner, self._owner(owner, row[: len(READING_FIELDS)], *row[len(READING_FIELDS) :]))

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
            yield f"{owner} was edited: it does not have the content that record {sequence} proves"

    def moves(self) -> Iterator[str]:
        """Yield the problems of moves, branches, merges, checkpoints and tags. Call it after `commits`."""
        store, history = self._store, self._history
        for row in store.rows("SELECT id, kind, from_commit, to_commit FROM head_moves ORDER BY id"):
            yield from _guarded(f"move {row[0]} of HEAD", history.move(*row))
        yield from history.end()
        if dict(store.rows("SELECT number, move FROM rolled_back")) != history.rolled_back:
            yield "the commits marked as rolled back differ from the commits that moves of HEAD rolled back"
        for row in store.rows("SELECT branch, kind, number FROM branch_moves ORDER BY id"):
            yield from _guarded(f"the branch {row[0]}", history.branch(*row))
        for row in store.rows("SELECT request_id, base, ours, theirs FROM merges ORDER BY request_id"):
            yield from _guarded(f"the merge {row[0]}", history.merge(*row))
        for row in store.rows("SELECT number, scene_hash FROM checkpoints ORDER BY id"):
            yield from _guarded(f"the checkpoint of commit {row[0]}", history.checkpoint(*row))
        for row in store.rows("SELECT name, number FROM tags ORDER BY name"):
            yield from _guarded(f"the tag {row[0]}", history.tag(*row))


def _guarded(owner: str, problems: Iterator[str]) -> Iterator[str]:
    """Yield the problems of a row. Report a row with values of impossible types as edited instead of raising."""
    try:
        yield from problems
    except (TypeError, AttributeError, ValueError):
        yield f"{owner} was edited: it contains values that no journal has"


def _ownerless(store: Store) -> Iterator[str]:
    """Yield a problem for each record of a success without a commit or reading.

    The journal always stores both together.
    """
    for (sequence,) in store.rows(_OWNERLESS):
        yield f"record {sequence} reports a success, but its commit or reading is missing"


def _contradicted_heads(store: Store, known_heads: Sequence[AuditHead]) -> Iterator[str]:
    for head in known_heads:
        row = store.row("SELECT hash FROM audit WHERE sequence = ?", (head.sequence,))
        if row is None:
            yield f"record {head.sequence} is missing: a receipt outside the journal names it"
        elif row[0] != head.hash:
            yield f"record {head.sequence} is not the one that a receipt outside the journal names"


def _parsed(text: str) -> dict[str, Any]:
    """Return the JSON object in `text`, or an empty dictionary for anything else, which fails every check."""
    try:
        value: Any = orjson.loads(text)
        return dict(value)
    except (TypeError, ValueError):
        return {}


def _missing(first: int, last: int) -> str:
    if first == last:
        return f"record {first} is missing"
    return f"records {first} to {last} are missing"
