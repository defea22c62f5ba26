"""A macro called by itself, like a tool: a plan of one operation, and what became of it as the outcome of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from blendwright.macros import Macro
from blendwright.run.clock import Clock
from blendwright.run.executor import CALL
from blendwright.run.keys import new_id
from blendwright.tool_api.effects import Determinism
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, sentence
from blendwright.values.json_reader import non_interoperable_values
from blendwright.values.macro_report import kept_steps, reports_by_caller
from blendwright.values.outcome import Outcome
from blendwright.values.plan import Operation, Places, Plan
from blendwright.values.report import OperationReport, RunReport

# Pointers of a call lead into its arguments, and nowhere else.
NOWHERE = Places(id="", tool="", args="", depends_on="", safety_level="")


def plan_of(macro: Macro, args: Any) -> Plan | tuple[Finding, ...]:
    """The plan, or what is no JSON in the arguments."""
    findings = non_interoperable_values(args)
    if findings:
        return findings
    operation = Operation(CALL, macro.name, args, (), None, 0, "", NOWHERE)
    return Plan("call", new_id(), (operation,), "id", "stop")


def not_rehearsed(macro: Macro) -> Finding:
    message = f"{macro.name} is a macro, whose steps cannot be rehearsed as one call"
    return Finding(Fault.ARGS_INVALID, message, "", "Preview a plan that calls it: blendwright preview PLAN")


def refused_call(macro: Macro, findings: Sequence[Finding], clock: Clock, scene_hash: str | None) -> Outcome:
    """Nothing ran."""
    return Outcome(
        macro.name,
        macro.version,
        fault=findings[0].fault,
        message=sentence(findings),
        findings=tuple(findings),
        fingerprint_before=scene_hash,
        fingerprint_after=scene_hash,
        trace=clock.trace(),
    )


def outcome_of(macro: Macro, args: Mapping[str, Any], report: RunReport, clock: Clock, scene_hash: str) -> Outcome:
    """`scene_hash` is that of the scene afterwards."""
    if report.status == "refused":
        return refused_call(macro, tuple(report.all_findings()), clock, scene_hash)
    (asked,) = reports_by_caller(report.operations)
    for phase, part in (("plan", "plan_ms"), ("execute", "execute_ms"), ("verify", "verify_ms")):
        clock.note(phase, asked.timings.get(part, 0.0))
    before = asked.scene_hash_before or scene_hash
    blank = Outcome(macro.name, macro.version, fingerprint_before=before, fingerprint_after=scene_hash)
    if not asked.done:
        return blank.with_(
            fault=asked.fault or Fault.INTERNAL_ERROR,
            message=asked.message,
            findings=asked.findings,
            reverted_by="rebuild" if any(step.status == "rolled_back" for step in report.operations) else None,
            partial=_partial(report.operations),
            trace=clock.trace(),
        )
    seed = macro.complete(args)[0].get("seed") if macro.determinism is Determinism.SEEDED else None
    return blank.with_(
        result=asked.result,
        handles=tuple(_handles(report.operations)),
        changes=tuple(_changes(report.operations)),
        determinism_class=macro.determinism.value,
        seed=seed,
        trace=clock.trace(),
    )


def _partial(steps: Sequence[OperationReport]) -> dict[str, Any]:
    """Which steps stand and which were taken back, each with what it changed, as far as there is a receipt."""
    return {
        "kept": [_named(step) for step in kept_steps(steps)],
        "taken_back": [_named(step) for step in steps if step.status == "rolled_back"],
        "not_run": [_named(step) for step in steps if step.status == "skipped"],
    }


def _named(step: OperationReport) -> dict[str, Any]:
    assert step.origin is not None
    return {"step": step.origin.step, "title": step.origin.title, "tool": step.tool}


def _handles(steps: Sequence[OperationReport]) -> list[dict[str, str]]:
    found: dict[tuple[str, str], dict[str, str]] = {}
    for step in steps:
        for handle in (step.receipt or {}).get("handles", ()):
            found[handle["kind"], handle["name"]] = dict(handle)
    return list(found.values())


def _changes(steps: Sequence[OperationReport]) -> list[dict[str, str]]:
    """What all steps together changed: what one of them created stays created, however often others changed it."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for step in steps:
        for change in (step.receipt or {}).get("changes", ()):
            known = found.get((change["kind"], change["name"]))
            if known is None or known["change"] != "created" or change["change"] == "removed":
                found[change["kind"], change["name"]] = dict(change)
    return list(found.values())
