"""What can be said of the audit chain of a workspace to somebody who does not take our word for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blendwright.values.errors import JournalError
from blendwright.workspace.policy_files import load_policy
from blendwright.workspace.reading import read_journal
from blendwright.workspace.settings import heads_directory

SHOWN = 12


def verify_workspace(workspace: str | Path) -> dict[str, Any]:
    """Whether the whole chain holds, where it ends, and its last records, newest first."""
    directory = Path(workspace).resolve()
    with read_journal(directory) as journal:
        report = journal.audit.verify(heads_outside=heads_directory(load_policy(directory).policy))
        try:
            last = journal.audit.records(after=max(0, report.head.sequence - SHOWN), limit=SHOWN)
        except JournalError:
            last = ()  # one of them was edited, as the problems say
    return {
        "ok": report.ok,
        "records": report.records,
        "head": {"sequence": report.head.sequence, "hash": report.head.hash},
        "problems": list(report.problems),
        "not_covered": report.not_covered,
        "last": [{"sequence": one.sequence, "hash": one.hash, **one.record} for one in reversed(last)],
    }
