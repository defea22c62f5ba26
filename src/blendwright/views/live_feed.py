"""A feed of what other processes do in a workspace: new audit records and changes of run records. It takes no lock."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blendwright.journal import JournalView
from blendwright.journal.store import FILE as JOURNAL
from blendwright.records.audit import AuditRecord
from blendwright.views.timeline import branch_list
from blendwright.workspace.run_records import DIRECTORY as RUNS

# The number of audit records in one step. A reader that lags behind takes several steps.
MAX_RECORDS = 500
# The number of audit records that `audit_of_request` returns at most.
MAX_REQUEST_RECORDS = 100_000


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes since the last poll. `records` are new audit records, each with its commit, and `state` is the
    current state.

    `runs` says whether a run began or ended.
    """

    state: Mapping[str, Any]
    records: tuple[Mapping[str, Any], ...]
    runs: bool


class JournalFollower:
    """A follower of the journal of a workspace.

    It is not thread-safe. Raise EnvironmentUnfit when the workspace does not exist.
    """

    def __init__(self, workspace: str | Path) -> None:
        self._directory = Path(workspace).resolve()
        self._journal = JournalView(self._directory)
        self._runs = self._directory / RUNS
        self._written = self._written_at()
        self._seen = self._journal.audit.head.sequence
        self._changes: int | None = None
        self._runs_seen = self._runs_mark()
        self._expected = frozenset[str]()

    def poll(self) -> Changes | None:
        """Return the changes since the last call, or None if there are none."""
        changes, runs, written = self._journal.changes, self._runs_mark(), self._written_at()
        if written != self._written and changes == self._changes:
            # A journal of an older version is read from a copy in memory, which does not see that another process upgraded the file.
            self._journal.close()
            self._journal = JournalView(self._directory)
            self._changes = None
        self._written = written
        runs_changed = runs != self._runs_seen
        self._runs_seen = runs
        if changes == self._changes and not runs_changed and not self._has_expired():
            return None
        self._changes = changes
        records = self._journal.audit.records(after=self._seen, limit=MAX_RECORDS)
        if records:
            self._seen = records[-1].sequence
        if len(records) == MAX_RECORDS:
            self._changes = None  # read the next page at the next poll
        return Changes(self._state(), tuple(map(_record_json, records)), runs_changed)

    def close(self) -> None:
        self._journal.close()

    def _state(self) -> dict[str, Any]:
        journal = self._journal
        head = journal.head
        self._expected = frozenset(stored.request.id for stored in journal.approvals.listed())
        number, length = None, 0
        if head is not None:
            number, length = head.number, head.generation + 1
        return {
            "head": number,
            "length": length,
            "total": journal.count,
            "redo": journal.redo_target(),
            "approvals": sorted(self._expected),
            "audit": journal.audit.head.sequence,
            "tags": dict(journal.branches.tags()),
            "branches": branch_list(journal),
        }

    def _has_expired(self) -> bool:
        """Return whether a question has expired, which happens without any write."""
        if not self._expected:
            return False
        pending = frozenset(stored.request.id for stored in self._journal.approvals.listed())
        return self._expected != pending

    def _written_at(self) -> int:
        with contextlib.suppress(OSError):
            return (self._directory / f"{JOURNAL}-wal").stat().st_mtime_ns
        return 0

    def _runs_mark(self) -> tuple[Any, ...]:
        """Return a value that changes when a run record is new or grows. The two newest files suffice for that."""
        with contextlib.suppress(OSError):
            newest = sorted(self._runs.glob("*.jsonl"))[-2:]
            return tuple((path.name, path.stat().st_size) for path in newest)
        return ()


def audit_of_request(workspace: str | Path, request_id: str) -> list[dict[str, Any]]:
    """Return the audit records of the operations of a request, in order."""
    with contextlib.closing(JournalView(Path(workspace).resolve())) as journal:
        return [
            _record_json(record) for record in journal.audit.records(limit=MAX_REQUEST_RECORDS, request_id=request_id)
        ]


def _record_json(record: AuditRecord) -> dict[str, Any]:
    """Return the fields of an audit record that the graph of a plan shows. `ms` is the time in Blender in milliseconds."""
    fields = record.record
    total_us = sum(fields.get(name) or 0 for name in ("plan_us", "execute_us", "verify_us"))
    return {
        "sequence": record.sequence,
        "request": fields["request_id"],
        "operation": fields["operation_id"],
        "tool": fields["tool_name"],
        "status": fields["status"],
        "error": fields.get("error_code"),
        "ms": round(total_us / 1000, 3),
        "time": fields["timestamp"],
    }
