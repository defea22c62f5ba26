"""From a model's answer to a plan, and what the model is told when that goes wrong: exactly what, what is committed already, and to
change as little as possible.

An answer is read strictly, under our own request id, with what is committed already. The request id is one for all attempts, whatever
the model writes: by it the operations of an earlier attempt are known again and skipped. Committed operations that an answer leaves out
are put back, behind its own so that pointers into the answer stay true: they are in the scene, and others may depend on them.

Everything in feedback that comes from the scene or from the model itself stands in one data block, unshortened: a committed operation is
recognised only when it is repeated exactly.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from blendwright.dialects import registry
from blendwright.planner.port import Turn
from blendwright.planner.prompt_data import fenced
from blendwright.schemas.json_reader import read_json
from blendwright.util.canonical import digest
from blendwright.values.errors import Refusal
from blendwright.values.findings import Finding
from blendwright.values.plan import Boundary, Plan

Stage = Literal["service", "reading", "validation", "preview", "approval", "execution", "gates", "done"]

MOST_FINDINGS = 40
# A model that wrote more than this by mistake need not read it all again.
LONGEST_ECHO = 120_000

STAGE_TEXT: dict[Stage, str] = {
    "reading": "Your answer is not a JSON document that can be read as a plan. Nothing was run.",
    "validation": "Your plan breaks its contract, so that nothing of it was run.",
    "preview": "Your plan was tried on a copy of the scene and failed there. The scene itself is as it was.",
    "execution": "Your plan was run and failed.",
    "gates": "Your plan was run and is kept. It said itself that it is not done.",
}
REPAIR_RULES = """Answer with the whole plan again, as one JSON document and nothing else.
Make the smallest change that cures this. Leave every operation that is not at fault as it is, with the same id.
Operations listed as committed are done: repeat them exactly as they are listed, and they are skipped.
To change what they made, add operations."""

CONTINUE_RULES = """Answer with a plan of further steps, as one JSON document and nothing else. Use ids that you have not used before.
Say that it is done only when it is."""


@dataclass(frozen=True, slots=True)
class PlanProposal:
    """A plan that a model proposes. `document` is what is held to the contract."""

    document: Any
    plan: Plan


def boundary_of(dialect: str) -> Boundary:
    """Operations that can be resumed are kept one by one and skipped next time; in other dialects it is all or nothing."""
    if registry.dialect(dialect).resume is None:
        return "plan"
    return "operation"


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


@dataclass(frozen=True, slots=True)
class AttemptFailure:
    """Why a plan was not carried through. `failure` is the failure payload or the gates' envelope, in the words of the contract."""

    stage: Stage
    findings: tuple[Finding, ...]
    failure: Any = None

    @property
    def signature(self) -> str:
        """Equal for the same fault, wherever else the plans differ."""
        findings = sorted({(finding.fault.value, finding.pointer, finding.message) for finding in self.findings})
        return digest([self.stage, findings or self.failure])

    @property
    def message(self) -> str:
        if not self.findings:
            return STAGE_TEXT.get(self.stage, self.stage)
        first = self.findings[0]
        if len(self.findings) > 1:
            more = f" (and {len(self.findings) - 1} more)"
        else:
            more = ""
        return f"{first.fault.value} {first.pointer or '(plan)'}: {first.message}{more}"

    def to_json(self) -> dict[str, Any]:
        return {
            "stage": self.stage,
            "findings": [finding.to_json() for finding in self.findings[:MOST_FINDINGS]],
            "left_out": max(0, len(self.findings) - MOST_FINDINGS),
            "failure": self.failure,
        }


def repair_turns(text: str, failure: AttemptFailure, committed: Sequence[Mapping[str, Any]]) -> tuple[Turn, Turn]:
    """The model's last answer, and what became of it."""
    document = failure.to_json() | {"committed": [dict(item) for item in committed]}
    parts = (
        STAGE_TEXT[failure.stage],
        fenced("failure", json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)),
        CONTINUE_RULES if failure.stage == "gates" else REPAIR_RULES,
    )
    return Turn("model", text[:LONGEST_ECHO] or "(nothing)"), Turn("user", "\n\n".join(parts))
