"""Following what another process does in a workspace: what its journal and its records of runs have more than before. Takes no lock."""

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

# Audit records in one step; whoever lags behind takes several.
MOST_RECORDS = 500
MOST_OF_REQUEST = 100_000


@dataclass(frozen=True, slots=True)
class Changes:
    """`records` are new ones of the audit chain, with the commit of each; `state` is where the workspace stands now; `runs` says
    whether a run began or ended."""

    state: Mapping[str, Any]
    records: tuple[Mapping[str, Any], ...]
    runs: bool


class JournalFollower:
    """Not thread-safe. Raises EnvironmentUnfit where there is no workspace."""

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
        """What is new since the last time; None where nothing is."""
        changes, runs, written = self._journal.changes, self._runs_mark(), self._written_at()
        if written != self._written and changes == self._changes:
            # A journal of an older version is read from a copy, which stays as it is when somebody takes the journal along.
            self._journal.close()
            self._journal = JournalView(self._directory)
            self._changes = None
        self._written = written
        ran = runs != self._runs_seen
        self._runs_seen = runs
        if changes == self._changes and not ran and not self._has_expired():
            return None
        self._changes = changes
        records = self._journal.audit.records(after=self._seen, limit=MOST_RECORDS)
        if records:
            self._seen = records[-1].sequence
        if len(records) == MOST_RECORDS:
            self._changes = None  # there may be more
        return Changes(self._state(), tuple(map(_told, records)), ran)

    def close(self) -> None:
        self._journal.close()

    def _state(self) -> dict[str, Any]:
        journal = self._journal
        head = journal.head
        self._expected = frozenset(stored.request.id for stored in journal.approvals.listed())
        return {
            "head": None if head is None else head.number,
            "length": 0 if head is None else head.generation + 1,
            "total": journal.count,
            "redo": journal.redo_target(),
            "approvals": sorted(self._expected),
            "audit": journal.audit.head.sequence,
            "tags": dict(journal.branches.tags()),
            "branches": branch_list(journal),
        }

    def _has_expired(self) -> bool:
        """Whether a question is over without anybody having written anything."""
        return bool(self._expected) and self._expected != frozenset(
            one.request.id for one in self._journal.approvals.listed()
        )

    def _written_at(self) -> int:
        with contextlib.suppress(OSError):
            return (self._directory / f"{JOURNAL}-wal").stat().st_mtime_ns
        return 0

    def _runs_mark(self) -> tuple[Any, ...]:
        """Another value whenever a file of the records is new or longer; the newest two say so."""
        with contextlib.suppress(OSError):
            newest = sorted(self._runs.glob("*.jsonl"))[-2:]
            return tuple((path.name, path.stat().st_size) for path in newest)
        return ()


def audit_of_request(workspace: str | Path, request_id: str) -> list[dict[str, Any]]:
    """What became of the operations of a request so far, in order."""
    with contextlib.closing(JournalView(Path(workspace).resolve())) as journal:
        return [_told(one) for one in journal.audit.records(limit=MOST_OF_REQUEST, request_id=request_id)]


def _told(record: AuditRecord) -> dict[str, Any]:
    """What a graph of a plan needs of a record."""
    fields = record.record
    spent = [fields.get(name) for name in ("plan_us", "execute_us", "verify_us")]
    return {
        "sequence": record.sequence,
        "request": fields["request_id"],
        "operation": fields["operation_id"],
        "tool": fields["tool_name"],
        "status": fields["status"],
        "error": fields.get("error_code"),
        "ms": round(sum(each for each in spent if each is not None) / 1000, 3),
        "time": fields["timestamp"],
    }
