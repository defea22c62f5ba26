"""Reading of a model's answer as a plan, and the feedback to the model after a failure.

All attempts use our own request id, whatever the model writes. With it, the engine recognises the operations of an
earlier attempt and skips them. If an answer omits committed operations, `read_proposal` appends them, because they are
in the scene and others may depend on them. Appending keeps pointers into the answer valid.

Feedback puts all text from the scene or from the model into one data block, without shortening it: the engine only
recognises a committed operation in an exact repetition.
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

# Findings in the feedback to a model.
MAX_FINDINGS = 40
# Characters of its last answer that a model sees again.
MAX_ECHO_CHARACTERS = 120_000

STAGE_TEXT: dict[Stage, str] = {
    "reading": "Your answer is not a JSON document with a plan. Nothing was run.",
    "validation": "Your plan breaks its contract. Nothing of it was run.",
    "preview": "Your plan failed on a copy of the scene. The scene itself is unchanged.",
    "execution": "Your plan was run and failed.",
    "gates": "Your plan was run, and its changes are kept. Its result is not done yet.",
}
REPAIR_RULES = """Answer with the whole plan again, as one JSON document and nothing else.
Make the smallest change that fixes this. Keep every operation without a fault unchanged, with the same id.
Operations listed as committed are done: repeat them exactly as listed, and they are skipped.
To change their results, add operations."""

CONTINUE_RULES = """Answer with a plan of further steps, as one JSON document and nothing else. Use ids that you have not used before.
Set done to true only when it is done."""


@dataclass(frozen=True, slots=True)
class PlanProposal:
    """A plan that a model proposes. The contract applies to `document`."""

    document: Any
    plan: Plan


def boundary_of(dialect: str) -> Boundary:
    """Return "operation" for dialects that can resume operations and skip them, or else "plan" for all or nothing."""
    if registry.dialect(dialect).resume is None:
        return "plan"
    return "operation"


def read_proposal(
    text: str, dialect: str, request_id: str, committed: Sequence[Mapping[str, Any]] = ()
) -> PlanProposal | tuple[Finding, ...]:
    """Return the proposal, or findings if the text is not a plan. Validation checks the content of the plan later."""
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
    """The failure of an attempt. `failure` is the failure payload or the gates' envelope of the contract."""

    stage: Stage
    findings: tuple[Finding, ...]
    failure: Any = None

    @property
    def signature(self) -> str:
        """A hash that is equal for equal faults, whatever other differences the plans have."""
        findings = sorted({(finding.fault.value, finding.pointer, finding.message) for finding in self.findings})
        return digest([self.stage, findings or self.failure])

    @property
    def message(self) -> str:
        if not self.findings:
            return STAGE_TEXT.get(self.stage, self.stage)
        first = self.findings[0]
        message = f"{first.fault.value} {first.pointer or '(plan)'}: {first.message}"
        if len(self.findings) > 1:
            message += f" (and {len(self.findings) - 1} more)"
        return message

    def to_json(self) -> dict[str, Any]:
        return {
            "stage": self.stage,
            "findings": [finding.to_json() for finding in self.findings[:MAX_FINDINGS]],
            "left_out": max(0, len(self.findings) - MAX_FINDINGS),
            "failure": self.failure,
        }


def repair_turns(text: str, failure: AttemptFailure, committed: Sequence[Mapping[str, Any]]) -> tuple[Turn, Turn]:
    """Return the model's last answer, and our reply with its failure and the rules for the next answer."""
    rules = REPAIR_RULES
    if failure.stage == "gates":
        rules = CONTINUE_RULES
    document = failure.to_json() | {"committed": list(map(dict, committed))}
    data = fenced("failure", json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False))
    reply = "\n\n".join((STAGE_TEXT[failure.stage], data, rules))
    return Turn("model", text[:MAX_ECHO_CHARACTERS] or "(nothing)"), Turn("user", reply)
