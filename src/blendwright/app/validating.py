"""Documents checked as far as that goes without Blender: a plan under the policy of a workspace, or the result of one."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blendwright.app.checking import check
from blendwright.app.plans import parse_plan
from blendwright.dialects import steps
from blendwright.dialects.reading import read_json
from blendwright.dialects.recognise import Dialect
from blendwright.plan.repair import minimal_repair
from blendwright.plan.validate import ValidPlan
from blendwright.policy.session_contract import Proposal
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


@dataclass(frozen=True, slots=True)
class Validation:
    """Everything that is wrong with a document. `about` says what it is, as far as that could be told, and how to repair it."""

    findings: tuple[Finding, ...]
    about: dict[str, Any] = field(default_factory=dict[str, Any])

    def to_json(self) -> dict[str, Any]:
        listed = [finding.to_json() for finding in self.findings]
        return {"ok": not self.findings, "dialect": None, **self.about, "findings": listed}


def validate_plan(
    text: bytes, workspace: str | Path, *, dialect: Dialect | None = None, proposal: Proposal | None = None
) -> Validation:
    """Check a plan. Raises Refusal when the policy or a macro of the workspace is not sound."""
    document, findings = read_json(text)
    if findings:
        return Validation(findings)
    try:
        plan = parse_plan(document, dialect=dialect)
    except Refusal as refusal:
        return Validation(refusal.findings)
    valid = check(plan, workspace, proposal)
    about: dict[str, Any] = {"dialect": plan.dialect}
    if isinstance(valid, ValidPlan):
        about["request_id"], about["operations"] = valid.plan.request_id, len(plan.operations)
        about["warnings"] = [finding.to_json() for finding in valid.failing.values()]
        return Validation((), about)
    about["repair"] = [entry.to_json() for entry in minimal_repair(plan, valid)]
    return Validation(valid, about)


def validate_result(text: bytes, *, dialect: Dialect | None = None) -> Validation:
    """Check the result of a steps plan."""
    document, findings = read_json(text, any_value=True)
    if findings:
        return Validation(findings)
    if dialect not in (None, "steps"):
        message, cure = (
            f"results of {dialect} plans have no validator of their own",
            "Leave --dialect out, or say steps.",
        )
        return Validation((Finding(Fault.SCHEMA_INVALID, message, "", cure),))
    about = {"dialect": "steps", "contract_version": steps.CONTRACT_VERSION}
    return Validation(steps.validate_result(document), about)
