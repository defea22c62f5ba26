"""Checks the audit chain from end to end, and that what commits and readings say of it is so.

An edit shows in the record's own hash; a removal or a swap in its neighbours; a cut-off end in the head that the journal keeps, and,
when that was adjusted too, in the receipts, which name the record they belong to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from blendwright.journal.audit_log import APPROVED_KEYS, FIRST_KEYS, KEYS, read_head
from blendwright.journal.schema import genesis
from blendwright.journal.store import Store, as_json
from blendwright.records.audit import ACTS, AuditHead, AuditRecord, AuditReport

# The columns of a commit or reading that its record repeats, under the record's names.
_REPEATED = ("request_id", "operation_id", "tool_name", "scene_hash_before", "scene_hash_after")
_OWNERS = """
SELECT 'commit ' || c.number, c.audit_sequence, a.hash, a.record, c.receipt,
       c.request_id, c.operation_id, c.tool, c.hash_before, c.hash_after
FROM commits c LEFT JOIN audit a ON a.sequence = c.audit_sequence
UNION ALL
SELECT 'reading ' || r.id, r.audit_sequence, a.hash, a.record, r.receipt,
       r.request_id, r.operation_id, r.tool, r.scene_hash, r.scene_hash
FROM readings r LEFT JOIN audit a ON a.sequence = r.audit_sequence
"""

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
        return tuple(AuditRecord(s, h, orjson.loads(record)) for s, h, record in found)


def verify(store: Store, known_heads: Sequence[AuditHead]) -> AuditReport:
    with store.snapshot():
        head = read_head(store)
        problems = [*_chain(store, head), *_owners(store), *_ownerless(store), *_contradicted_heads(store, known_heads)]
        count = store.one("SELECT count(*) FROM audit")[0]
    return AuditReport(head, count, tuple(problems))


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
    if record.keys() not in (KEYS, APPROVED_KEYS, FIRST_KEYS) or as_json("a record", record) != text:
        yield f"record {sequence} was edited: it is not a record in canonical form"
        return
    if hashlib.sha256(text.encode()).hexdigest() != hash:
        yield f"record {sequence} was edited: its content does not have its hash"
    if record["sequence"] != sequence:
        yield f"record {sequence} was moved: it says it is record {record['sequence']}"
    elif previous is not None and record["prev"] != previous.hash:
        yield f"record {sequence} does not follow record {previous.sequence}: one of them was replaced"


def _owners(store: Store) -> Iterator[str]:
    """Every commit and reading against the record that its receipt names."""
    for owner, sequence, hash, text, receipt, *repeated in store.rows(_OWNERS):
        if hash is None:
            yield f"record {sequence} is missing: the receipt of {owner} names it"
            continue
        if _parsed(receipt).get("audit") != {"sequence": sequence, "hash": hash}:
            yield f"record {sequence} is not the one that the receipt of {owner} names"
        record = _parsed(text)
        if [record.get(name) for name in _REPEATED] != repeated:
            yield f"record {sequence} and {owner} disagree"


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
    return f"record {first} is missing" if first == last else f"records {first} to {last} are missing"
