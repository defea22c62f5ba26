"""Answers of the core about runs of foreign code: step answers, failures and refusals.

The core treats every statement of a process that ran foreign code as data. It believes only that the code failed.
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

MAX_MESSAGE_CHARACTERS = 2000
MAX_NAMED_ITEMS = 5
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
    """Return a step answer for a run of foreign code. It is a success when there are no findings."""
    reported_ms = (ran or {}).get("execute_ms")
    execute_ms = None
    if isinstance(reported_ms, int | float) and 0 <= reported_ms < 1e9:
        execute_ms = float(reported_ms)
    if findings:
        fault = findings[0].fault.value
    else:
        fault = None

    answer: StepAnswer = {
        "ok": not findings,
        "fault": fault,
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
        "execute_ms": execute_ms,
        "verify_ms": None,
    }
    if printed is not None:
        answer["printed"] = printed
    return answer


def broken_off(error: WorkerError) -> Finding:
    """Return the finding for code whose process failed or was stopped."""
    finding = finding_of(error)
    if finding.fault is Fault.INTERNAL_ERROR:
        finding = replace(finding, fault=Fault.EXECUTION_FAILED, cure=CURE)
    return replace(finding, message=f"the code was stopped: {error.message}"[:MAX_MESSAGE_CHARACTERS], pointer="/code")


def failed_again(answer: StepAnswer) -> StepAnswer:
    """Turn the failure of a second run, after a successful first one, into a contradiction. Timeouts and exceeded
    limits stay as they are.
    """
    if answer["fault"] != Fault.EXECUTION_FAILED:
        return answer
    finding = contradiction(f"the first run succeeded, but the second failed: {answer['message']}")
    answer["fault"] = finding.fault.value
    answer["message"] = finding.message
    answer["findings"] = [finding.to_json()]
    return answer


def failure_of(answer: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Return the reason why the code failed, as its own process reports it, or no finding for a success."""
    if answer["ok"]:
        return ()
    message = answer["message"] or "the code failed"
    return (Finding(Fault.EXECUTION_FAILED, message[:MAX_MESSAGE_CHARACTERS], "/code", CURE),)


def result_of(call: Invocation, answer: Mapping[str, Any]) -> tuple[dict[str, Any], Finding | None]:
    """Return the result of the code, checked against the tool's result model, or a finding if it does not fit."""
    try:
        result = call.tool.result_model.model_validate(answer["result"]).model_dump(mode="json")
    except ValidationError:
        return {}, Finding(Fault.EXECUTION_FAILED, "the result of the code has an invalid form", "/code", CURE)
    return result, None


def forbidden_content(unexpected: Sequence[ActiveItem]) -> Finding:
    """Return the finding for scripts, drivers, links or paths that safe code must not leave in the scene."""
    descriptions = [f"{item['what']} {item['name']} {item['where']}".strip() for item in unexpected[:MAX_NAMED_ITEMS]]
    if len(unexpected) > len(descriptions):
        suffix = f" and {len(unexpected) - len(descriptions)} more"
    else:
        suffix = ""
    message = f"the code left content that safe code may not leave: {', '.join(descriptions)}{suffix}"
    cure = "Leave no registered texts, scripted drivers, scripts, linked libraries or paths of files in the scene."
    return Finding(Fault.POLICY_BLOCKED, message[:MAX_MESSAGE_CHARACTERS], "/code", cure)


def hidden_driver_left(error: WorkerFault) -> Finding:
    """Return the finding for code whose scene has a driver outside of `animation_data.drivers`."""
    message = f"the code left content that safe code may not leave: {error.message}"
    cure = "Leave drivers where driver_add puts them. The scene is as before."
    return Finding(Fault.POLICY_BLOCKED, message[:MAX_MESSAGE_CHARACTERS], "/code", cure)


def without_paths(answer: StepAnswer, scratch_roots: Collection[Path]) -> StepAnswer:
    """Return the answer with the paths of this machine replaced by "…"."""
    roots = {*map(str, scratch_roots), sys.prefix, sys.base_prefix, str(Path.home())} - {"/"}
    paths = sorted(roots, key=len, reverse=True)

    def hidden(value: Any) -> Any:
        if isinstance(value, str):
            for path in paths:
                value = value.replace(path, "…")
        return value

    answer["message"] = hidden(answer["message"])
    if "printed" in answer:
        answer["printed"] = hidden(answer["printed"])
    answer["findings"] = [{name: hidden(value) for name, value in finding.items()} for finding in answer["findings"]]
    if answer["result"] is not None:
        answer["result"] = {name: hidden(value) for name, value in answer["result"].items()}
    return answer
