"""A summary of the audit chain of a workspace for people who want to check it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blendwright.values.errors import JournalError
from blendwright.workspace.policy_files import load_policy
from blendwright.workspace.reading import read_journal
from blendwright.workspace.settings import heads_directory

# The number of records in a summary.
RECORDS_SHOWN = 12


def verify_workspace(workspace: str | Path) -> dict[str, Any]:
    """Return the verification of the whole chain, its head, and its last records, newest first."""
    directory = Path(workspace).resolve()
    with read_journal(directory) as journal:
        report = journal.audit.verify(heads_outside=heads_directory(load_policy(directory).policy))
        try:
            last = journal.audit.records(after=max(0, report.head.sequence - RECORDS_SHOWN), limit=RECORDS_SHOWN)
        except JournalError:
            last = ()  # one of them was edited; the problems of the report name it
    return {
        "ok": report.ok,
        "records": report.records,
        "head": {"sequence": report.head.sequence, "hash": report.head.hash},
        "problems": list(report.problems),
        "not_covered": report.not_covered,
        "last": [{"sequence": record.sequence, "hash": record.hash, **record.record} for record in reversed(last)],
    }
