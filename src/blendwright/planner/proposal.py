"""From a model's answer to a plan: read strictly, under our own request id, with what is committed already.

The request id is one for all attempts, whatever the model writes: by it the operations of an earlier attempt are known again and
skipped. Committed operations that an answer leaves out are put back, behind its own so that pointers into the answer stay true:
they are in the scene, and others may depend on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from blendwright.dialects import registry
from blendwright.values.errors import Refusal
from blendwright.values.findings import Finding
from blendwright.values.json_reader import read_json
from blendwright.values.plan import Boundary, Plan


@dataclass(frozen=True, slots=True)
class PlanProposal:
    """A plan that a model proposes. `document` is what is held to the contract."""

    document: Any
    plan: Plan


def boundary_of(dialect: str) -> Boundary:
    """Operations that can be resumed are kept one by one and skipped next time; in other dialects it is all or nothing."""
    return "plan" if registry.dialect(dialect).resume is None else "operation"


def read_proposal(
    text: str, dialect: str, request_id: str, committed: Sequence[Mapping[str, Any]] = ()
) -> PlanProposal | tuple[Finding, ...]:
    """The proposal, or why the text is none. What is wrong inside a plan is for its validation to say."""
    document, findings = read_json(text)
    if findings:
        return tuple(findings)
    resume = registry.dialect(dialect).resume
    if resume is not None and isinstance(document, dict):
        document = resume(cast("dict[str, Any]", document), request_id, committed)
    try:
        plan = registry.parse_plan(
            document, dialect=dialect, request_id=request_id, boundary=boundary_of(dialect), is_json=True
        )
    except Refusal as refusal:
        return refusal.findings
    return PlanProposal(document, plan)
