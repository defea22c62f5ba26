"""The audit chain as values: what a record says, where the chain ends, and what verifying it found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from blendwright.values.approval import Approval

Status = Literal["succeeded", "failed", "rolled_back", "skipped_idempotent"]
# A plan takes the place of the last one. The record has the request of the new one, and as operation the last commit of the old one.
REPLACE = "plan.replace"
# What is done by hand. Such an act is recorded by itself: it makes no commit that could be missed.
ACTS = (
    "history.bisect", "history.checkout", "history.fork", "history.merge", "history.redo", "history.switch", "history.tag", "history.undo",
    REPLACE, "plan.run_again",
)  # fmt: skip


class AuditDetails(NamedTuple):
    """What an audit record says beyond the operation itself. `timestamp` None means the moment of the write."""

    mcp_call_id: str
    safety_level: str
    blender_mutation_id: str | None = None
    timestamp: str | None = None
    error_code: str | None = None
    # Microseconds inside Blender: plan, execute, verify; None for a phase that was not reached.
    phases_us: tuple[int | None, int | None, int | None] = (None, None, None)
    approval: Approval | None = None
    """The answer of the person who was asked, where one was."""


class AuditHead(NamedTuple):
    """Where the audit chain ends: the number and the hash of its last record; number 0 is a chain without records."""

    sequence: int
    hash: str


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """`record` has the fields of the minimum audit record, `error_code`, what the phases took, `sequence`, and `prev`, the hash of
    the record before."""

    sequence: int
    hash: str
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The outcome of a verification; `problems` name records by their sequence, none means that the chain holds.

    `not_covered` is how many commits and readings older programs wrote, whose records do not say what their arguments and receipts are."""

    head: AuditHead
    records: int
    problems: tuple[str, ...] = field(default=())
    not_covered: int = 0

    @property
    def ok(self) -> bool:
        return not self.problems
