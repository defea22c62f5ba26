"""The audit chain as values: its records, its end, and the result of its verification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from blendwright.values.approval import Approval

Status = Literal["succeeded", "failed", "rolled_back", "skipped_idempotent"]
# A plan replaces an earlier one. The record has the request id of the new plan, and the last commit of the old
# plan as operation id.
REPLACE = "plan.replace"
# Acts of a person. Each gets its own audit record, because it makes no commit.
ACTS = (
    "history.bisect", "history.checkout", "history.fork", "history.merge", "history.redo", "history.switch", "history.tag", "history.undo",
    REPLACE, "plan.run_again",
)  # fmt: skip


class AuditDetails(NamedTuple):
    """The fields of an audit record beyond the operation itself. `timestamp` None means the moment of the write."""

    mcp_call_id: str
    safety_level: str
    blender_mutation_id: str | None = None
    timestamp: str | None = None
    error_code: str | None = None
    # Microseconds inside Blender for plan, execute and verify; None for a phase that did not run.
    phases_us: tuple[int | None, int | None, int | None] = (None, None, None)
    approval: Approval | None = None
    """The answer of a person, or None when no approval was necessary."""


class AuditHead(NamedTuple):
    """The end of the audit chain: the number and the hash of its last record. Number 0 means a chain without
    records.
    """

    sequence: int
    hash: str


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """A record of the audit chain.

    `record` has the fields of the minimum audit record, `error_code`, the durations of the phases, `sequence`, and
    `prev`, the hash of the previous record.
    """

    sequence: int
    hash: str
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The result of a verification. `problems` name records by their sequence number; the chain holds when there
    are none.

    `not_covered` counts the commits and readings of older versions, whose records do not cover arguments and
    receipts.
    """

    head: AuditHead
    records: int
    problems: tuple[str, ...] = field(default=())
    not_covered: int = 0

    @property
    def ok(self) -> bool:
        return not self.problems
