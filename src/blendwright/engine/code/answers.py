"""What the core says of a run of foreign code: its answer as that of a step, and why it failed or is not taken.

What a process says that ran such code is data, believed as far as that it failed.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from blendwright.engine.code.determinism import contradiction
from blendwright.engine.failures import finding_of
from blendwright.engine.invocation import Invocation
from blendwright.values.errors import WorkerError, WorkerFault
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire.methods import ActiveItem, StepAnswer

LONGEST_MESSAGE = 2000
MOST_NAMED = 5
CURE = "Correct the code; the scene is as before."


def code_answer(
    before: str,
    *,
    findings: tuple[Finding, ...] = (),
    ran: Mapping[str, Any] | None = None,
    result: dict[str, Any] | None = None,
    after: str | None = None,
    changes: list[list[str]] | None = None,
    reverted_by: str | None = None,
    unchanged: bool = False,
    printed: str | None = None,
) -> StepAnswer:
    spent = (ran or {}).get("execute_ms")
    answer: StepAnswer = {
        "ok": not findings,
        "fault": findings[0].fault.value if findings else None,
        "message": "; ".join(finding.message for finding in findings),
        "findings": [finding.to_json() for finding in findings],
        "result": result,
        "changes": changes or [],
        "before": before,
        "after": after or before,
        "unchanged": unchanged,
        "reverted_by": reverted_by,
        "artifacts": [],
        "plan_ms": None,
        "execute_ms": float(spent) if isinstance(spent, int | float) and 0 <= spent < 1e9 else None,
        "verify_ms": None,
    }
    if printed is not None:
        answer["printed"] = printed
    return answer


def broken_off(error: WorkerError) -> Finding:
    found = finding_of(error)
    if found.fault is Fault.INTERNAL_ERROR:
        found = replace(found, fault=Fault.EXECUTION_FAILED, cure=CURE)
    return replace(found, message=f"the code broke off: {error.message}"[:LONGEST_MESSAGE], pointer="/code")


def failed_again(answer: StepAnswer) -> StepAnswer:
    """A run that failed after one that did not: a contradiction, unless time or room ran out."""
    if answer["fault"] != Fault.EXECUTION_FAILED:
        return answer
    finding = contradiction(f"the first time it ended well, and then {answer['message']}")
    answer["fault"], answer["message"], answer["findings"] = finding.fault.value, finding.message, [finding.to_json()]
    return answer


def failure_of(answer: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Why the code failed, in the words of its own process: believed as far as that it failed."""
    if answer["ok"]:
        return ()
    message = answer["message"] or "the code failed"
    return (Finding(Fault.EXECUTION_FAILED, message[:LONGEST_MESSAGE], "/code", CURE),)


def result_of(call: Invocation, answer: Mapping[str, Any]) -> tuple[dict[str, Any], Finding | None]:
    try:
        result = call.tool.result_model.model_validate(answer["result"]).model_dump(mode="json")
    except ValidationError:
        return {}, Finding(Fault.EXECUTION_FAILED, "the code left an answer that makes no sense", "/code", CURE)
    return result, None


def forbidden_content(unexpected: Sequence[ActiveItem]) -> Finding:
    named = [f"{item['what']} {item['name']} {item['where']}".strip() for item in unexpected[:MOST_NAMED]]
    if len(unexpected) > len(named):
        more = f" and {len(unexpected) - len(named)} more"
    else:
        more = ""
    message = f"the code left behind what safe code may not: {', '.join(named)}{more}"
    cure = "Leave no registered texts, scripted drivers, scripts, linked libraries or paths of files in the scene."
    return Finding(Fault.POLICY_BLOCKED, message[:LONGEST_MESSAGE], "/code", cure)


def hidden_driver_left(error: WorkerFault) -> Finding:
    """Return the finding for code whose scene has a driver outside of `animation_data.drivers`."""
    message = f"the code left behind what safe code may not: {error.message}"
    cure = "Leave drivers where driver_add puts them; the scene is as before."
    return Finding(Fault.POLICY_BLOCKED, message[:LONGEST_MESSAGE], "/code", cure)


def without_paths(answer: StepAnswer, scratch_roots: Collection[Path]) -> StepAnswer:
    """The answer without the paths of where the code ran."""
    places = {*map(str, scratch_roots), sys.prefix, sys.base_prefix, str(Path.home())} - {"/"}
    paths = sorted(places, key=len, reverse=True)

    def hidden(value: Any) -> Any:
        for path in paths if isinstance(value, str) else ():
            value = value.replace(path, "…")
        return value

    answer["message"] = hidden(answer["message"])
    if "printed" in answer:
        answer["printed"] = hidden(answer["printed"])
    answer["findings"] = [{name: hidden(value) for name, value in finding.items()} for finding in answer["findings"]]
    if answer["result"] is not None:
        answer["result"] = {name: hidden(value) for name, value in answer["result"].items()}
    return answer
