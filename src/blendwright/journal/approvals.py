"""Approvals that were asked for: pending, given, declined, used. Each is good for one operation, once, until it expires.

A person answers from another process than the one that holds the workspace, so answering needs no lock: it changes one pending row.
Using an approval, which is what counts, is for the holder of the lock, and is in the audit with its operation. A no is used by nobody, so
it is in the audit with the answer itself: whoever holds the workspace goes on behind that record.
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
# An answer counts from its question on: a clock that was set back makes no approval last longer. So far a clock may be put right.
_CLOCK_SKEW = 60.0
_COUNTS = f"expires > ?1 AND asked <= ?1 + {_CLOCK_SKEW}"
# Questions that nobody answered are of no use to anyone a day after.
_FORGET_AFTER = 86_400.0
# What is bound to a session instead of an operation.
SESSION = "session:"
_ALLOWED = f"operation_hash LIKE '{SESSION}%' AND state = 'approved'"


class ApprovalReader:
    """Reads the approvals of a workspace."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def listed(self, operation_hash: str | None = None) -> tuple[StoredApproval, ...]:
        """Return every question about one operation, newest first; without one, the questions that wait for an answer."""
        with self._store.snapshot():
            if operation_hash is None:
                sql = f"SELECT {_COLUMNS} FROM approvals WHERE state = 'pending' AND {_COUNTS} ORDER BY asked, id"
                return tuple(_stored(row) for row in self._store.rows(sql, (time.time(),)))
            sql = f"SELECT {_COLUMNS} FROM approvals WHERE operation_hash = ? ORDER BY asked DESC"
            return tuple(_stored(row) for row in self._store.rows(sql, (operation_hash,)))

    def allowances(self) -> tuple[StoredApproval, ...]:
        """Return the kinds of operation that a person allowed in sessions that may be open."""
        sql = f"SELECT {_COLUMNS} FROM approvals WHERE {_ALLOWED} AND {_COUNTS} ORDER BY asked, id"
        with self._store.snapshot():
            return tuple(_stored(row) for row in self._store.rows(sql, (time.time(),)))


class ApprovalWriter(ApprovalReader):
    """Keeps, gives and spends the approvals of a workspace, for the holder of its lock."""

    def ask(self, requests: Sequence[ApprovalRequest]) -> tuple[str, ...]:
        """Keep the questions for whoever may answer them; returns their ids. One that waits already is not asked twice."""
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
        """Take the approval of this very operation, if someone gave one that has not expired; it is spent from now on."""
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
        """Keep a yes to each of these operations, to be used when it runs; and to a kind of operation, while its session lasts."""
        now = time.time()
        with self._store.transaction("approval"):
            for request in requests:
                self._store.insert(_INSERT, _row(request, "approved", by, now))

    def record(self, answered: Iterable[tuple[ApprovalRequest, Approval]]) -> None:
        """Answers that were given on the spot: they are used, or refuse, in this very moment."""
        now = time.time()
        with self._store.transaction("approval"):
            for request, approval in answered:
                if approval.answer is ApprovalAnswer.APPROVED:
                    state = "used"
                else:
                    state = "declined"
                self._store.insert(_INSERT, _row(request, state, approval.by, now))


def end_sessions(store: Store) -> None:
    """Whoever opens a workspace to write is alone with it: what was allowed in earlier sessions is over. Within a transaction."""
    store.change(f"UPDATE approvals SET state = 'used' WHERE {_ALLOWED}")


def revoke(workspace: Path, id: str, by: str) -> StoredApproval:
    """Take back what was allowed for a session. Raises Refusal when nothing is allowed by this id."""
    with _opened(workspace, writable=True) as store, store.transaction("answer", checked=False):
        row = store.row(f"SELECT {_COLUMNS} FROM approvals WHERE id = ? AND {_ALLOWED}", (id,))
        if row is None:
            cure = "See what is allowed: blendwright approve"
            raise Refusal.of(Fault.POLICY_BLOCKED, f"nothing is allowed for a session by the id {id}", cure)
        store.change("UPDATE approvals SET state = 'declined', given_by = ? WHERE id = ?", (by, id))
    return StoredApproval(_stored(row).request, "declined", by)


def waiting(workspace: Path, id: str) -> StoredApproval:
    """A pending question, to be seen before it is answered. Raises Refusal as `answer` does."""
    with _opened(workspace, writable=False) as store:
        return _answerable(store, id)


def answer(workspace: Path, id: str, reply: ApprovalAnswer, by: str) -> StoredApproval:
    """Answer a pending question. Raises Refusal when there is none by this id, or it cannot be answered any more."""
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
    """The operation in the audit as one that failed, with who said no. Within a transaction."""
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
        raise EnvironmentUnfit(f"{workspace} is not a workspace", cure="Name the workspace that asks.")
    return closing(Store(workspace, writable=writable, before_create=require_unused))


def _answerable(store: Store, id: str) -> StoredApproval:
    row = store.row(f"SELECT {_COLUMNS}, {_COUNTS} FROM approvals WHERE id = ?2", (time.time(), id))
    if row is None:
        stored = None
    else:
        stored = _stored(row[:-1])
    if stored is None:
        message, cure = f"there is no approval {id}", "See what waits: blendwright approve"
    elif stored.state != "pending":
        message, cure = f"approval {id} was {stored.state} already", "Run the operation again to be asked anew."
    elif row is not None and not row[-1]:
        message, cure = f"approval {id} has expired", "Run the operation again to be asked anew."
    else:
        return stored
    raise Refusal.of(Fault.POLICY_BLOCKED, message, cure)


def _row(
    request: ApprovalRequest, state: Literal["pending", "approved", "used", "declined"], by: str | None, now: float
) -> tuple[Any, ...]:
    fields = asdict(request)
    del fields["needed_grants"]  # of use to the run that asks, and to nobody later
    text = orjson.dumps(fields).decode()
    return (request.id, request.operation_hash, text, state, by, now, request.expires)


def _stored(row: Row) -> StoredApproval:
    request, state, by = row
    fields: dict[str, Any] = from_json("an approval", request)
    fields["why"] = tuple(fields["why"])
    return StoredApproval(ApprovalRequest(**fields), state, by)
