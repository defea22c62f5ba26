"""The audit chain: its records are those of the contract, and whoever tampers with it is found out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from blendwright.journal import JournalView
from blendwright.journal.audit.log import FIELDS, KEYS, MORE, without_record
from blendwright.journal.store import as_json
from blendwright.records.audit import AuditDetails, AuditHead
from blendwright.values.errors import JournalError
from journal.ledger import audit, begun, chain, raw, reading

SEED_FIELDS = {
    "timestamp",
    "request_id",
    "operation_id",
    "mcp_call_id",
    "blender_mutation_id",
    "tool_name",
    "safety_level",
    "status",
    "scene_hash_before",
    "scene_hash_after",
}


def digest(record: bytes) -> str:
    return hashlib.sha256(record).hexdigest()


@pytest.mark.proves("OPS-AUDIT-01", "OPS-AUDIT-03", "OPS-AUDIT-04")
def test_records_have_the_fields_of_the_contract_and_their_place(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a"])
    journal.commit([reading("look", "scene-a"), audit("bad", "failed", "scene-a", None)])
    records = journal.audit.records(after=1)
    assert set(FIELDS) == SEED_FIELDS
    done, looked, failed = (record.record for record in records)
    assert failed.keys() == SEED_FIELDS | {*MORE, "sequence", "prev"}
    assert done.keys() == looked.keys() == failed.keys() | {"entry_hash"}
    assert (done["status"], done["scene_hash_before"], done["scene_hash_after"]) == ("succeeded", "scene-0", "scene-a")
    assert looked["blender_mutation_id"] is None and looked["safety_level"] == "read_only"
    assert (failed["status"], failed["scene_hash_after"]) == ("failed", None)
    assert done["timestamp"].endswith("Z")
    assert [record.record["prev"] for record in records[1:]] == [record.hash for record in records[:-1]]
    assert all(digest(rfc8785.dumps(dict(record.record))) == record.hash for record in records)
    journal.close()


@given(st.fixed_dictionaries({key: st.none() | st.text() for key in KEYS - {"sequence"}}), st.integers(0, 2**53 - 1))
def test_the_hashed_form_is_rfc_8785(texts: dict[str, Any], sequence: int) -> None:
    record = {**texts, "sequence": sequence}
    assert as_json("a record", record).encode() == rfc8785.dumps(record)


def _edit(db: Any) -> None:
    db.execute("UPDATE audit SET record = replace(record, 'succeeded', 'failed') WHERE sequence = 3")


def _edit_with_its_hash(db: Any) -> None:
    text = db.execute("SELECT record FROM audit WHERE sequence = 3").get.replace("succeeded", "failed")
    db.execute("UPDATE audit SET record = ?, hash = ? WHERE sequence = 3", (text, digest(text.encode())))


def _remove(db: Any) -> None:
    db.execute("DELETE FROM audit WHERE sequence = 3")


def _remove_and_close_the_gap(db: Any) -> None:
    db.execute("DELETE FROM audit WHERE sequence = 3")
    db.execute("UPDATE audit SET sequence = sequence - 1 WHERE sequence > 3")


def _swap(db: Any) -> None:
    db.execute("UPDATE audit SET sequence = -3 WHERE sequence = 3")
    db.execute("UPDATE audit SET sequence = 3 WHERE sequence = 4")
    db.execute("UPDATE audit SET sequence = 4 WHERE sequence = -3")


def _cut_off(db: Any) -> None:
    db.execute("DELETE FROM audit WHERE sequence >= 6")


def _cut_off_with_the_head(db: Any) -> None:
    _cut_off(db)
    db.execute("UPDATE state SET (audit_sequence, audit_hash) = (SELECT sequence, hash FROM audit WHERE sequence = 5)")


def _rewrite_all(db: Any) -> None:
    """Someone who knows the format: one record changed, and every hash after it made to fit."""
    prev = None
    for sequence, text in list(db.execute("SELECT sequence, record FROM audit WHERE sequence >= 3 ORDER BY sequence")):
        record = orjson.loads(text)
        record["prev"] = prev or record["prev"]
        record["status"] = "failed" if sequence == 3 else record["status"]
        text = as_json("a record", record).encode()
        prev = digest(text)
        db.execute("UPDATE audit SET record = ?, hash = ? WHERE sequence = ?", (text.decode(), prev, sequence))
    db.execute("UPDATE state SET audit_hash = ?", (prev,))


def _remove_the_commit(db: Any) -> None:
    db.execute("DELETE FROM commits WHERE number = 6")


def _edit_the_commit(db: Any) -> None:
    db.execute("UPDATE commits SET hash_after = 'forged' WHERE number = 3")


# What somebody edits who leaves the chain as it is. The journal has commits 1 to 4 on one line, of which 4 was taken back, then 5 and 6 on
# another; the reading is of record 6.
EDITS = [
    ("UPDATE commits SET args = '{\"name\":\"FORGED\"}' WHERE number = 3", "commit 3 was edited"),
    ("UPDATE commits SET args = '[[[[' WHERE number = 3", "commit 3 was edited"),
    ("UPDATE commits SET args = x'00ff' WHERE number = 3", "commit 3 was edited"),
    ("UPDATE commits SET receipt = replace(receipt, 'succeeded', 'approved') WHERE number = 3", "commit 3 was edited"),
    ("UPDATE commits SET receipt = replace(receipt, '{', '{ ') WHERE number = 3", "record 3 is not the one"),
    ("UPDATE commits SET receipt = 'nope' WHERE number = 3", "record 3 is not the one"),
    ("UPDATE commits SET receipt = x'00ff' WHERE number = 3", "commit 3 was edited"),
    ("UPDATE commits SET operation_key = 'other' WHERE number = 3", "commit 3 was edited"),
    ("UPDATE commits SET tool_version = 2 WHERE number = 3", "commit 3 was edited"),
    ("UPDATE commits SET replayable = 0 WHERE number = 3", "commit 3 was edited"),
    ("UPDATE commits SET timestamp = '2000-01-01T00:00:00.000000Z' WHERE number = 3", "commit 3 was edited"),
    ("UPDATE commits SET parent = 6 WHERE number = 2", "commit 2 follows commit 6, which is not before it"),
    ("UPDATE commits SET parent = number", "commit 1 follows commit 1, which is not before it"),
    ("UPDATE commits SET parent = 'x' WHERE number = 3", "commit 3 follows commit x, which is not before it"),
    ("UPDATE commits SET parent = NULL WHERE number = 3", "commit 3 follows commit None, which is not before it"),
    ("UPDATE commits SET generation = 9223372036854775807 WHERE number = 3", "commit 3 starts from another scene"),
    ("UPDATE commits SET line = 99", "commit 1 is on line 99 instead of 1"),
    ("UPDATE lines SET parent_line = 2", "the stored lines of commits differ"),
    ("INSERT INTO lines VALUES (3, 1, 0)", "the stored lines of commits differ"),
    ("UPDATE readings SET args = '{\"other\":1}'", "reading 1 was edited"),
    ("UPDATE readings SET receipt = replace(receipt, 'look', 'list')", "reading 1 was edited"),
    ("UPDATE head_moves SET to_commit = 99", "move 1 of HEAD, from commit None to 99, does not follow"),
    ("UPDATE head_moves SET to_commit = 'x'", "move 1 of HEAD, from commit None to x, does not follow"),
    ("UPDATE head_moves SET to_commit = 1 WHERE id = (SELECT max(id) FROM head_moves)", "move 6 of HEAD, from commit 5 to 1"),
    ("DELETE FROM head_moves WHERE id = (SELECT max(id) FROM head_moves)", "no move of HEAD leads to commit 6"),
    ("UPDATE head_moves SET kind = 'checkout' WHERE kind = 'rollback'", "the commits marked as rolled back"),
    ("UPDATE head_moves SET kind = 'redo' WHERE kind = 'undo'", "move 4 of HEAD, from commit 3 to 2"),
    ("DELETE FROM rolled_back", "the commits marked as rolled back"),
    ("INSERT INTO rolled_back VALUES (2, 4)", "the commits marked as rolled back"),
    ("UPDATE branch_moves SET number = 99", "the branch main leads to commit 99, which does not exist"),
    ("UPDATE branch_moves SET kind = 'left' WHERE kind = 'created'", "the branch main was left, which does not fit"),
    ("INSERT INTO branch_moves VALUES (NULL, 'side', 'entered', 2, 1, '')", "the branch side was entered, which does not fit"),
    ("INSERT INTO merges VALUES ('m', 'side', 1, 2, 99, 1, '')", "the merge m names commits that do not exist"),
    ("INSERT INTO checkpoints VALUES (NULL, 2, 'scene-x', '', 0, 1, '')", "the checkpoint of commit 2 has another scene"),
    ("INSERT INTO tags VALUES ('best', 99)", "the tag best leads to commit 99, which does not exist"),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "named"), EDITS)
def test_what_the_chain_says_nothing_of_is_found_too(tmp_path: Path, edit: str, named: str) -> None:
    journal = begun(tmp_path, ["a", "b"])
    journal.commit([audit("bad", "failed", "scene-b", None), reading("look", "scene-b")])
    boundary = journal.recovery.begin_boundary("r")
    journal.commit(chain(["c"], "scene-b"))
    journal.roll_back(boundary)
    journal.move_head("undo", 2)
    journal.commit(chain(["d"], "scene-a"))
    journal.commit(chain(["e"], "scene-d"))
    assert journal.audit.verify().problems == () and journal.audit.verify().not_covered == 0
    journal.close()
    db = raw(tmp_path)
    db.execute("PRAGMA foreign_keys = OFF")
    db.execute("PRAGMA ignore_check_constraints = ON")
    db.execute("DROP INDEX commits_on_line")
    db.execute(edit)
    db.close()
    view = JournalView(tmp_path)
    report = view.audit.verify()
    view.close()
    assert any(problem.startswith(named) for problem in report.problems), report.problems


def test_an_entry_that_was_written_by_an_older_program_is_told_as_not_covered(tmp_path: Path) -> None:
    """As a chain without hashes of entries is: each record with its hash, each receipt with the name of its record."""
    begun(tmp_path, ["a"]).close()
    db = raw(tmp_path)
    prev = ""
    for sequence, text in list(db.execute("SELECT sequence, record FROM audit ORDER BY sequence")):
        record = orjson.loads(text)
        del record["entry_hash"]
        record["prev"] = prev or record["prev"]
        text = as_json("a record", record)
        prev = digest(text.encode())
        db.execute("UPDATE audit SET record = ?, hash = ? WHERE sequence = ?", (text, prev, sequence))
        receipt = orjson.loads(db.execute("SELECT receipt FROM commits WHERE audit_sequence = ?", (sequence,)).get)
        receipt["audit"]["hash"] = prev
        db.execute("UPDATE commits SET receipt = ? WHERE number = ?", (as_json("it", receipt), receipt["commit"]))
    db.execute("UPDATE state SET audit_hash = ?", (prev,))
    db.close()
    (tmp_path / "audit.head").unlink()
    view = JournalView(tmp_path)
    assert (view.audit.verify().problems, view.audit.verify().not_covered) == ((), 2)
    view.close()


@given(
    st.dictionaries(
        st.text(), st.integers(-(2**53), 2**53) | st.text() | st.floats(allow_nan=False, allow_infinity=False)
    ),
    st.integers(1, 2**53),
)
def test_a_receipt_is_hashed_as_it_is_without_the_name_of_its_record(receipt: dict[str, Any], sequence: int) -> None:
    receipt.pop("audit", None)
    text, record = as_json("it", receipt), AuditHead(sequence, "0" * 64)
    named = f'{text[:-1]}{"," if receipt else ""}"audit":{{"hash":"{record.hash}","sequence":{sequence}}}}}'
    assert orjson.loads(named) == {**receipt, "audit": {"hash": record.hash, "sequence": sequence}}
    assert without_record(named, record) == text
    assert without_record(named, AuditHead(sequence, "1" * 64)) is None
    assert without_record(text, record) is None


@pytest.mark.parametrize(
    ("tamper", "named"),
    [
        (_edit, "record 3 was edited"),
        (_edit_with_its_hash, "record 4 does not follow record 3"),
        (_remove, "record 3 is missing"),
        (_remove_and_close_the_gap, "record 3 was moved"),
        (_swap, "record 3 was moved: it has the number 4"),
        (_cut_off, "record 6 is missing: the chain was cut off"),
        (_cut_off_with_the_head, "record 6 is missing: the receipt of commit 6 names it"),
        (_rewrite_all, "record 3 is not the one that the receipt of commit 3 names"),
        (_remove_the_commit, "record 6 reports a success, but its commit"),
        (_edit_the_commit, "record 3 and commit 3 disagree"),
    ],
)
def test_tampering_is_found_and_named(tmp_path: Path, tamper: Callable[[Any], None], named: str) -> None:
    begun(tmp_path, ["a", "b", "c", "d", "e"]).close()
    view = JournalView(tmp_path)
    assert view.audit.verify().ok and view.audit.verify().records == 6
    view.close()
    db = raw(tmp_path)
    db.execute("PRAGMA foreign_keys = OFF")
    tamper(db)
    db.close()
    view = JournalView(tmp_path)
    report = view.audit.verify()
    view.close()
    assert not report.ok
    assert any(problem.startswith(named) for problem in report.problems), report.problems


def test_a_receipt_outside_the_journal_shows_what_the_journal_has_lost(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a"])
    journal.commit([audit("x", "failed", "scene-a", None)])
    head = journal.audit.verify().head
    assert journal.audit.verify([head]).ok
    assert journal.audit.verify([AuditHead(head.sequence, "0" * 64)]).problems
    journal.close()
    db = raw(tmp_path)
    db.execute("DELETE FROM audit WHERE sequence = 3")
    db.execute("UPDATE state SET (audit_sequence, audit_hash) = (SELECT sequence, hash FROM audit WHERE sequence = 2)")
    db.close()
    view = JournalView(tmp_path)
    assert not view.audit.verify().ok, "the workspace's own note of the head tells it too"
    (tmp_path / "audit.head").unlink()
    assert view.audit.verify().ok
    assert view.audit.verify([head]).problems == ("record 3 is missing: a receipt outside the journal names it",)
    view.close()


def test_nothing_is_appended_to_a_chain_that_was_cut_off(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a", "b"])
    db = raw(tmp_path)
    db.execute("PRAGMA foreign_keys = OFF")
    db.execute("DELETE FROM audit WHERE sequence = 3")
    db.close()
    with pytest.raises(JournalError, match="does not end at the record"):
        journal.commit(chain(["c"], "scene-b"))
    journal.close()


def test_a_record_keeps_the_time_that_the_caller_gives(tmp_path: Path) -> None:
    journal = begun(tmp_path)
    ids = AuditDetails("call", "safe_write", "m", "2026-01-02T03:04:05.000000Z")
    journal.commit([replace(chain(["a"])[0], audit=ids)])
    assert journal.audit.records(after=1)[0].record["timestamp"] == ids.timestamp
    journal.close()
