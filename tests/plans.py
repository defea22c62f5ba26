"""Plans for tests: small valid ones of real tools, in both dialects."""

from __future__ import annotations

from typing import Any

from blendwright.contracts.contract import Terms
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


def checked(plan: Plan, terms: Terms | None = None) -> ValidPlan | tuple[Finding, ...]:
    return validate(plan, catalog.tools(), terms or Terms())


def findings(plan: Plan, terms: Terms | None = None) -> tuple[Finding, ...]:
    found = checked(plan, terms)
    return () if isinstance(found, ValidPlan) else found


def codes(plan: Plan, terms: Terms | None = None) -> list[tuple[str, str]]:
    """Code and pointer of everything that is found."""
    return [(finding.fault.value, finding.pointer) for finding in findings(plan, terms)]


def valid(plan: Plan) -> ValidPlan:
    found = checked(plan)
    assert isinstance(found, ValidPlan), found
    return found
