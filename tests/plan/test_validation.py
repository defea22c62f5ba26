"""Whether a plan may run: tools, arguments, declared safety, determinism."""

from __future__ import annotations

from typing import Any

import pytest

from blendwright.plan.validate import MOST_FINDINGS
from blendwright.policy.session_contract import Agreed, ContractTerms
from blendwright.tool_api.promises import Determinism
from blendwright.values.faults import Fault
from blendwright.values.plan import Plan
from support.plans.documents import box, codes, findings, of_operations, of_steps, step, valid


@pytest.mark.proves("OPS-ARGS-01")
def test_arguments_are_checked_against_the_tool_at_their_exact_place() -> None:
    plan = of_operations(box("a"), box("b", args={"kind": "cub", "sise": 2}))
    found = {finding.pointer: finding for finding in findings(plan)}
    assert set(found) == {"/operations/1/args", "/operations/1/args/kind", "/operations/1/args/sise"}
    assert all(finding.fault is Fault.ARGS_INVALID for finding in found.values())
    assert found["/operations/1/args/sise"].cure == "Did you mean 'size'?"


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"tool": {"name": "mesh.create_primitive", "args": {"kind": "cub", "name": "B"}}}, "/steps/0/tool/args/kind"),
        ({"tool": "mesh.create_primitive", "args": {"kind": "cub", "name": "B"}}, "/steps/0/args/kind"),
        ({"tool": "object.inspect"}, "/steps/0"),
    ],
)
def test_arguments_of_steps_are_found_where_they_stand(fields: dict[str, object], pointer: str) -> None:
    assert codes(of_steps(step("a", **fields))) == [("ARGS_INVALID", pointer)]


def test_a_valid_plan_holds_canonical_arguments_and_the_safety_level_that_counts() -> None:
    first = valid(of_operations(box("a", safety_level="destructive"))).plan.operations[0]
    assert first.args["size"] == 2.0 and first.args["location"] == [0.0, 0.0, 0.0]
    assert first.safety_level == "destructive"
    assert valid(of_steps(step("a"))).plan.operations[0].safety_level == "safe_write"


@pytest.mark.proves("OPS-TOOL-01")
def test_a_tool_outside_the_contract_rejects_an_operations_plan() -> None:
    (finding,) = findings(of_operations(box("a"), box("b", tool_name="object.transfrom")))
    assert (finding.fault, finding.pointer) == (Fault.TOOL_NOT_ALLOWED, "/operations/1/tool_name")
    assert finding.cure is not None and finding.cure.startswith("Did you mean 'object.transform'")


@pytest.mark.proves("STEPS-TOOL-01")
def test_an_unknown_tool_fails_only_its_own_step() -> None:
    plan = of_steps(step("a"), step("b", tool="no.such"), step("c", tool={"name": "mesh.create", "args": {}}))
    assert {code for code, _ in codes(plan)} == {"ARGS_INVALID"}
    ready = valid(of_steps(step("a"), step("b", tool="no.such"), step("c", "b")))
    assert [operation.id for operation in ready.plan.operations] == ["a", "b", "c"]
    assert list(ready.unrunnable) == ["b"]
    assert (ready.unrunnable["b"].fault, ready.unrunnable["b"].pointer) == (Fault.TOOL_NOT_ALLOWED, "/steps/1/tool")


@pytest.mark.proves("OPS-SAFETY-01")
@pytest.mark.parametrize(
    ("declared", "codes_found"),
    [
        ("read_only", [("POLICY_BLOCKED", "/operations/0/safety_level")]),
        ("safe_write", [("POLICY_BLOCKED", "/operations/0/safety_level")]),
        ("destructive", []),
    ],
)
def test_declaring_less_than_the_tool_is_refused(declared: str, codes_found: list[tuple[str, str]]) -> None:
    plan = of_operations(box("a", tool_name="object.delete", args={"name": "Box"}, safety_level=declared))
    assert codes(plan) == codes_found


@pytest.mark.proves("OPS-SAFETY-01")
def test_the_arguments_decide_what_must_be_declared_where_some_destroy() -> None:
    def export(level: str, **args: Any) -> Plan:
        return of_operations(box("a", tool_name="file.export", args={"path": "a.stl", **args}, safety_level=level))

    assert codes(export("safe_write")) == codes(export("safe_write", overwrite=False)) == []
    assert codes(export("safe_write", overwrite=True)) == [("POLICY_BLOCKED", "/operations/0/safety_level")]
    assert codes(export("destructive", overwrite=True)) == []
    both = codes(export("read_only", overwrite="yes"))
    assert both == [("POLICY_BLOCKED", "/operations/0/safety_level"), ("ARGS_INVALID", "/operations/0/args/overwrite")]
    undeclared = of_steps(step("a", tool={"name": "file.export", "args": {"path": "a.stl", "overwrite": True}}))
    assert valid(undeclared).plan.operations[0].safety_level == "destructive"


def test_calls_that_may_turn_out_otherwise_are_refused_where_the_contract_demands_more_and_only_there() -> None:
    shaky = box("a", tool_name="modifier.apply", safety_level="destructive")
    shaky["args"] = {"object": "Box", "modifier": "Cut", "type": "BOOLEAN"}
    firm = shaky | {"args": {"object": "Box", "modifier": "Row", "type": "ARRAY"}}
    strict = ContractTerms(constraints=Agreed(determinism=Determinism.SEEDED))
    assert codes(of_operations(firm)) == codes(of_operations(firm), strict) == codes(of_operations(shaky)) == []
    assert codes(of_operations(shaky), strict) == [("NONDETERMINISTIC_REFUSED", "/operations/0/args")]


def test_a_session_may_demand_more_determinism_than_a_plan_does() -> None:
    scatter = {"source": "Tree", "target": "Ground", "prefix": "Wood", "count": 3, "seed": 1}
    seeded = of_operations(box("a", tool_name="place.scatter", args=scatter))
    assert codes(seeded) == []
    strict = ContractTerms(constraints=Agreed(determinism=Determinism.DETERMINISTIC))
    assert codes(seeded, strict) == [("NONDETERMINISTIC_REFUSED", "/operations/0/args")]


@pytest.mark.proves("OPS-GRAPH-04")
def test_findings_of_all_kinds_come_together_in_the_order_of_the_document() -> None:
    plan = of_operations(
        box("a", "a"),
        box("b", tool_name="no.such", colour="red"),
        box("c", args=[]),
        box("d", "nobody", safety_level="read_only"),
        box("a", args={}),
        extra=1,
    )
    assert codes(plan) == [
        ("SCHEMA_INVALID", "/extra"),
        ("GRAPH_CYCLE", "/operations/0/depends_on"),
        ("SCHEMA_INVALID", "/operations/1/colour"),
        ("TOOL_NOT_ALLOWED", "/operations/1/tool_name"),
        ("SCHEMA_INVALID", "/operations/2/args"),
        ("DEPENDENCY_MISSING", "/operations/3/depends_on/0"),
        ("POLICY_BLOCKED", "/operations/3/safety_level"),
        ("SCHEMA_INVALID", "/operations/4/operation_id"),
        ("ARGS_INVALID", "/operations/4/args"),
        ("ARGS_INVALID", "/operations/4/args"),
    ]


def test_a_hostile_plan_does_not_become_an_endless_refusal() -> None:
    bad = box("a", args={f"field{number}": 1 for number in range(200)})
    plan = of_operations(*(bad | {"operation_id": f"op{number}"} for number in range(200)))
    assert len(findings(plan)) == MOST_FINDINGS
