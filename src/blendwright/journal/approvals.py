"""Approval requests and their states: pending, approved, declined, used. An approval allows one operation, once,
until it expires.

A person answers in another process than the one that holds the workspace lock. Answering therefore needs no lock: it
changes one pending row. Only the lock holder uses an approval, and the audit record of the operation includes it. No
operation uses a refusal, so the audit gets a record with the answer itself, and the lock holder appends after that
record.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import orjson

from blendwright.journal.audit.head_notes import require_unused
from blendwright.journal.audit.log import AuditAppender
from blendwright.journal.lines.ancestry import head_row
from blendwright.journal.store import FILE, Row, Store, from_json, utc_now
from blendwright.records.audit import AuditDetails
from blendwright.records.commits import NewAudit
from blendwright.records.requests import StoredApproval
from blendwright.values.approval import Approval, ApprovalAnswer, ApprovalRequest
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault

_COLUMNS = "request, state, given_by"
_INSERT = "INSERT INTO approvals VALUES (?, ?, ?, ?, ?, ?, ?)"
# Seconds. An answer is valid from the time of its question, so setting the clock back does not extend an approval. This limits how far
# the clock may be corrected backwards in between.
_CLOCK_SKEW = 60.0
_COUNTS = f"expires > ?1 AND asked <= ?1 + {_CLOCK_SKEW}"
# Seconds after expiry until the writer deletes an unanswered question.
_FORGET_AFTER = 86_400.0
# Prefix of an `operation_hash` that belongs to a session instead of an operation.
SESSION = "session:"
_ALLOWED = f"operation_hash LIKE '{SESSION}%' AND state = 'approved'"


class ApprovalReader:
    """A reader of the approvals of a workspace."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def listed(self, operation_hash: str | None = None) -> tuple[StoredApproval, ...]:
        """Return all questions about one operation, newest first.

        Without an operation hash, return the questions that wait for an answer.
        """
        with self._store.snapshot():
            if operation_hash is None:
                sql = f"SELECT {_COLUMNS} FROM approvals WHERE state = 'pending' AND {_COUNTS} ORDER BY asked, id"
                return tuple(_stored(row) for row in self._store.rows(sql, (time.time(),)))
            sql = f"SELECT {_COLUMNS} FROM approvals WHERE operation_hash = ? ORDER BY asked DESC"
            return tuple(_stored(row) for row in self._store.rows(sql, (operation_hash,)))

    def allowances(self) -> tuple[StoredApproval, ...]:
        """Return the kinds of operation that a person allowed in sessions that may still be open."""
        sql = f"SELECT {_COLUMNS} FROM approvals WHERE {_ALLOWED} AND {_COUNTS} ORDER BY asked, id"
        with self._store.snapshot():
            return tuple(_stored(row) for row in self._store.rows(sql, (time.time(),)))


class ApprovalWriter(ApprovalReader):
    """A reader and writer of the approvals of a workspace, for the holder of its lock."""

    def ask(self, requests: Sequence[ApprovalRequest]) -> tuple[str, ...]:
        """Store the questions and return their ids.

        Where an equal question is already pending, return the id of that one.
        """
        now = time.time()
        ids: list[str] = []
        with self._store.transaction("approval"):
            self._store.change("DELETE FROM approvals WHERE state = 'pending' AND expires < ?", (now - _FORGET_AFTER,))
            for request in requests:
                sql = f"SELECT id FROM approvals WHERE operation_hash = ?2 AND state = 'pending' AND {_COUNTS}"
                waiting = self._store.row(sql, (now, request.operation_hash))
                if waiting is None:
                    self._store.insert(_INSERT, _row(request, "pending", None, now))
                ids.append(request.id if waiting is None else waiting[0])
        return tuple(ids)

    def use(self, operation_hash: str) -> Approval | None:
        """Spend the approval of this operation and return it, or return None if there is no approval or it has
        expired.
        """
        sql = (
            f"SELECT id, given_by FROM approvals WHERE operation_hash = ?2 AND state = 'approved' AND {_COUNTS} LIMIT 1"
        )
        with self._store.transaction("approval"):
            row = self._store.row(sql, (time.time(), operation_hash))
            if row is None:
                return None
            self._store.change("UPDATE approvals SET state = 'used' WHERE id = ?", (row[0],))
        return Approval(row[0], ApprovalAnswer.APPROVED, row[1])

    def give(self, requests: Sequence[ApprovalRequest], by: str) -> None:
        """Store a yes to each operation, to be spent when it runs.

        A yes to a kind of operation stays valid for the session.
        """
        now = time.time()
        with self._store.transaction("approval"):
            for request in requests:
                self._store.insert(_INSERT, _row(request, "approved", by, now))

    def record(self, answered: Iterable[tuple[ApprovalRequest, Approval]]) -> None:
        """Store answers that a person gave while the operation waited: an approval counts as used at once, a refusal
        as declined.
        """
        now = time.time()
        with self._store.transaction("approval"):
            for request, approval in answered:
                if approval.answer is ApprovalAnswer.APPROVED:
                    state = "used"
                else:
                    state = "declined"
                self._store.insert(_INSERT, _row(request, state, approval.by, now))


def end_sessions(store: Store) -> None:
    """End what people allowed in earlier sessions.

    Call it inside a transaction, when a process opens the workspace for writing.
    """
    store.change(f"UPDATE approvals SET state = 'used' WHERE {_ALLOWED}")


def revoke(workspace: Path, id: str, by: str) -> StoredApproval:
    """Withdraw a permission that a person gave for a session. Raise Refusal when no permission has this id."""
    with _opened(workspace, writable=True) as store, store.transaction("answer", checked=False):
        row = store.row(f"SELECT {_COLUMNS} FROM approvals WHERE id = ? AND {_ALLOWED}", (id,))
        if row is None:
            fix = "See what is allowed: blendwright approve"
            raise Refusal.of(Fault.POLICY_BLOCKED, f"no session permission has the id {id}", fix)
        store.change("UPDATE approvals SET state = 'declined', given_by = ? WHERE id = ?", (by, id))
    return StoredApproval(_stored(row).request, "declined", by)


def waiting(workspace: Path, id: str) -> StoredApproval:
    """Return a pending question without answering it. Raise Refusal as `answer` does."""
    with _opened(workspace, writable=False) as store:
        return _answerable(store, id)


def answer(workspace: Path, id: str, reply: ApprovalAnswer, by: str) -> StoredApproval:
    """Answer a pending question. Raise Refusal when no question has this id, or when it is answered or expired."""
    if reply is ApprovalAnswer.APPROVED:
        state = "approved"
    else:
        state = "declined"
    with _opened(workspace, writable=True) as store, store.transaction("answer", checked=False):
        stored = _answerable(store, id)
        store.change("UPDATE approvals SET state = ?, given_by = ? WHERE id = ?", (state, by, id))
        if state == "declined":
            _record_decline(store, stored.request, by)
    return StoredApproval(stored.request, state, by)


def _record_decline(store: Store, request: ApprovalRequest, by: str) -> None:
    """Append an audit record of the operation as failed, with the name of the person who declined.

    Call it inside a transaction.
    """
    head = head_row(store)
    if head is None:
        scene = ""
    else:
        scene = head[3]
    details = AuditDetails(
        str(uuid.uuid4()),
        request.safety_level,
        error_code=Fault.POLICY_BLOCKED.value,
        approval=Approval(request.id, ApprovalAnswer.DECLINED, by),
    )
    audit = AuditAppender(store, utc_now())
    entry = NewAudit(request.request_id, request.operation_id, request.tool, "failed", scene, scene, details)
    audit.append(entry, entry.status, entry.hash_before, entry.hash_after)
    audit.flush()


def _opened(workspace: Path, *, writable: bool) -> AbstractContextManager[Store]:
    if not (workspace / FILE).is_file():
        raise EnvironmentUnfit(
            f"{workspace} is not a workspace", cure="Name the workspace whose operation waits for approval."
        )
    return closing(Store(workspace, writable=writable, before_create=require_unused))


def _answerable(store: Store, id: str) -> StoredApproval:
    row = store.row(f"SELECT {_COLUMNS}, {_COUNTS} FROM approvals WHERE id = ?2", (time.time(), id))
    if row is None:
        stored = None
    else:
        stored = _stored(row[:-1])
    if stored is None:
        message, fix = f"there is no approval {id}", "See what waits: blendwright approve"
    elif stored.state != "pending":
        message, fix = f"approval {id} was already {stored.state}", "Run the operation again to get a new question."
    elif row is not None and not row[-1]:
        message, fix = f"approval {id} has expired", "Run the operation again to get a new question."
    else:
        return stored
    raise Refusal.of(Fault.POLICY_BLOCKED, message, fix)


def _row(
    request: ApprovalRequest, state: Literal["pending", "approved", "used", "declined"], by: str | None, now: float
) -> tuple[Any, ...]:
    fields = asdict(request)
    del fields["needed_grants"]  # only the run that asks needs them
    text = orjson.dumps(fields).decode()
    return (request.id, request.operation_hash, text, state, by, now, request.expires)


def _stored(row: Row) -> StoredApproval:
    request, state, by = row
    fields: dict[str, Any] = from_json("an approval", request)
    fields["why"] = tuple(fields["why"])
    return StoredApproval(ApprovalRequest(**fields), state, by)
