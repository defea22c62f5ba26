"""Plans whose boxes are named after the request, so that many of them fit into one scene; and what became of them."""

from __future__ import annotations

from typing import Any

from blendwright.dialects import operations, steps
from blendwright.values.plan import Plan
from blendwright.values.report import RunReport
from support.plans.documents import box, step


def plan_of(request: str, *listed: dict[str, Any], **options: Any) -> Plan:
    """Of operations."""
    named = [item | {"args": item["args"] | {"name": f"{request} {item['operation_id']}"}} if "kind" in item["args"] else item
             for item in listed]  # fmt: skip
    return operations.DIALECT.parse({"request_id": request, "operations": named}, **options)


def steps_of(request: str, *listed: dict[str, Any]) -> Plan:
    for item in listed:
        if "kind" in item["tool"]["args"]:
            item["tool"]["args"]["name"] = f"{request} {item['step_id']}"
    return steps.DIALECT.parse({"steps": list(listed)}, request_id=request)


def trial(id: str, how: str, *waits_for: str) -> dict[str, Any]:
    """An operation that does not behave; how, is for the trial tool to know."""
    return box(id, *waits_for, tool_name="trial.misbehave", args={"how": how, "name": f"trial {id}"})


def trial_step(id: str, how: str, *waits_for: str) -> dict[str, Any]:
    return step(id, *waits_for, tool={"name": "trial.misbehave", "args": {"how": how, "name": f"trial {id}"}})


def statuses(report: RunReport) -> dict[str, str]:
    return {operation.operation_id: operation.status for operation in report.operations}


def hashes(report: RunReport) -> list[str | None]:
    return [operation.scene_hash_after for operation in report.operations]
