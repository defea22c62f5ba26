"""Plans for tests: small valid ones of real tools, in all dialects."""

from __future__ import annotations

from typing import Any

from blendwright.dialects import operations, steps
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.session_contract import ContractTerms
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


TARGET = {"object_name": "Plane", "modifier_name": "GeometryNodes"}


def tree_step(id: str, *listed: dict[str, Any], **target: Any) -> dict[str, Any]:
    """A NODE_TREE step on the tree of `Plane`."""
    payload = {"target": {**TARGET, "node_group_name": "GN_Tree", **target}, "operations": list(listed)}
    return {"id": id, "type": "NODE_TREE", "description": "Build the tree", "payload": payload}


def patch_step(id: str, *listed: dict[str, Any], **target: Any) -> dict[str, Any]:
    """A GN_OPS step on the same tree."""
    payload = {"v": 1, "target": {**TARGET, **target}, "ops": list(listed) or [{"op": "cleanup_unused"}]}
    return {"id": id, "type": "GN_OPS", "description": "Patch the tree", "payload": payload}


def python_step(id: str, **payload: Any) -> dict[str, Any]:
    return {"id": id, "type": "PYTHON", "description": "Say something", "payload": {"code": "print('hello')"} | payload}


def geonodes_plan(*listed: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A document of the geonodes protocol that is done after its steps."""
    document = {"version": "1.0", "steps": list(listed), "done": True, "final_message": "Made."}
    return {**document, "meta": {"requires_gate_verification": True}, **fields}


def of_operations(*listed: dict[str, Any], **fields: Any) -> Plan:
    return operations.DIALECT.parse({"request_id": "request", "operations": list(listed)} | fields)


def of_steps(*listed: dict[str, Any]) -> Plan:
    return steps.DIALECT.parse({"steps": list(listed)})


def checked(plan: Plan, terms: ContractTerms | None = None) -> ValidPlan | tuple[Finding, ...]:
    return validate(plan, catalog.tools(), terms or ContractTerms())


def findings(plan: Plan, terms: ContractTerms | None = None) -> tuple[Finding, ...]:
    found = checked(plan, terms)
    return () if isinstance(found, ValidPlan) else found


def codes(plan: Plan, terms: ContractTerms | None = None) -> list[tuple[str, str]]:
    """Code and pointer of everything that is found."""
    return [(finding.fault.value, finding.pointer) for finding in findings(plan, terms)]


def valid(plan: Plan) -> ValidPlan:
    found = checked(plan)
    assert isinstance(found, ValidPlan), found
    return found


# The example of the geonodes protocol, its code with real line breaks.
GEONODES_EXAMPLE: dict[str, Any] = {
    "version": "1.0",
    "steps": [
        {
            "id": "step_1",
            "type": "NODE_TREE",
            "description": "Create a simple scatter setup",
            "payload": {
                "target": {
                    "object_name": "Plane",
                    "modifier_name": "GeometryNodes",
                    "node_group_name": "GN_Scatter",
                },
                "operations": [],
            },
        },
        {
            "id": "step_2",
            "type": "GN_OPS",
            "description": "Apply deterministic graph cleanup and final link checks",
            "payload": {
                "v": 1,
                "target": {"object_name": "Plane", "modifier_name": "GeometryNodes"},
                "ops": [{"op": "cleanup_unused"}],
            },
        },
        {
            "id": "step_3",
            "type": "PYTHON",
            "description": "Frame viewport on target object",
            "payload": {
                "mode": "safe",
                "timeout_ms": 3000,
                "code": "import bpy\nobj=bpy.data.objects.get('Plane')\nprint(obj.name if obj else 'missing')",
            },
        },
    ],
    "done": True,
    "final_message": "Created scatter graph scaffold, normalized links, and ran scene helper script.",
    "meta": {"requires_gate_verification": True},
}
