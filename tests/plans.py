"""Plans for tests: small valid ones of real tools, in both dialects."""

from __future__ import annotations

from typing import Any

from blendwright.contracts.session import Session
from blendwright.dialects import operations, steps
from blendwright.plan.validate import ValidPlan, validate
from blendwright.tools import catalog
from blendwright.values.findings import Finding
from blendwright.values.plan import Plan


def box(id: str, *waits_for: str, **fields: Any) -> dict[str, Any]:
    """An operation that makes a cube."""
    return {
        "operation_id": id,
        "tool_name": "mesh.create_primitive",
        "args": {"kind": "cube", "name": f"Box {id}"},
        "depends_on": list(waits_for),
        "safety_level": "safe_write",
    } | fields


def step(id: str, *waits_for: str, **fields: Any) -> dict[str, Any]:
    """A step that makes a cube."""
    tool = {"name": "mesh.create_primitive", "args": {"kind": "cube", "name": f"Box {id}"}}
    return {"step_id": id, "dependencies": list(waits_for), "tool": tool} | fields


def of_operations(*listed: dict[str, Any], **fields: Any) -> Plan:
    return operations.parse({"request_id": "request", "operations": list(listed)} | fields)


def of_steps(*listed: dict[str, Any]) -> Plan:
    return steps.parse({"steps": list(listed)})


def checked(plan: Plan, session: Session | None = None) -> ValidPlan | tuple[Finding, ...]:
    return validate(plan, catalog.tools(), session or Session())


def findings(plan: Plan, session: Session | None = None) -> tuple[Finding, ...]:
    found = checked(plan, session)
    return () if isinstance(found, ValidPlan) else found


def codes(plan: Plan, session: Session | None = None) -> list[tuple[str, str]]:
    """Code and pointer of everything that is found."""
    return [(finding.fault.value, finding.pointer) for finding in findings(plan, session)]


def valid(plan: Plan) -> ValidPlan:
    found = checked(plan)
    assert isinstance(found, ValidPlan), found
    return found
