"""One step as the core asks for it and as the worker answers: the words of the wire between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from blendwright.values.findings import Finding


class StepRequest(TypedDict):
    """One operation to be run inside Blender. Arguments are canonical already: the core has checked them."""

    tool: str
    version: int
    args: Mapping[str, Any]
    # The `mcp_call_id`, for what the worker writes into its log.
    call: NotRequired[str]
    # Where the worker finds or leaves the files that path arguments name.
    files: NotRequired[Mapping[str, str]]
    # Ask `verify` of a read-only tool too; writing tools always verify.
    verify: NotRequired[bool]
    # Apply, then take back by this way and prove it: a rehearsal that leaves the scene as it was.
    rehearse: NotRequired[str]
    # The steps that a core sends without waiting share an epoch: once one of them has failed, the worker refuses the rest.
    epoch: NotRequired[int]
    # Answer before the next request is looked at; otherwise a kept step may be hashed together with those behind it.
    prompt: NotRequired[bool]
    # Compare the incremental hash with a full recomputation before answering.
    cross_check: NotRequired[bool]


class StepAnswer(TypedDict):
    """What became of a step."""

    ok: bool
    fault: str | None
    message: str
    findings: list[dict[str, Any]]
    result: dict[str, Any] | None
    changes: list[list[str]]
    before: str
    after: str
    # Where code ran: that its file holds the same as before, down to what no hash covers.
    unchanged: NotRequired[bool]
    # How the step was taken back: None when it was kept, "failed" when the scene is not as before and must be rebuilt.
    reverted_by: str | None
    artifacts: list[str]
    plan_ms: float | None
    execute_ms: float | None
    verify_ms: float | None


CHANGE_LENGTHS = frozenset({3, 4})
REVERT_FAILED = "failed"
# Fields that no worker may send: the core alone can know them.
ADDED_BY_CORE = frozenset({"unchanged"})
# The error code of a step whose epoch ended with an earlier failure.
EPOCH_CLOSED = "epoch_closed"


def is_consistent(answer: StepAnswer) -> bool:
    """Whether the values agree: a failed step has findings that can be read, a kept one has none, and every change has its words."""
    # Whoever reads of a failure looks for its first finding, and keeps a step that has none.
    findings = answer["findings"]
    if answer["ok"] is bool(findings) or (findings and not all(map(_is_finding, findings))):
        return False
    # Kind, name and what became of it; of a membership the two names.
    return CHANGE_LENGTHS.issuperset(map(len, answer["changes"]))


def _is_finding(data: Any) -> bool:
    try:
        finding = Finding.from_json(data)
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    optional = (finding.cure, finding.rule)
    return type(finding.message) is type(finding.pointer) is str and all(
        type(it) in (str, type(None)) for it in optional
    )
