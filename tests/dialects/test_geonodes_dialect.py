"""The geonodes dialect without Blender: what is refused and where, what a plan becomes, what its limits are."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from blendwright.dialects import geonodes
from blendwright.dialects.geonodes_models import PythonPayload
from blendwright.plan.repair import refused
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.policy import Limits
from blendwright.policy.session_contract import ContractTerms
from blendwright.schemas.json_reader import read_json
from blendwright.schemas.published import schema
from blendwright.tool_api.arguments import Result
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE, Determinism
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Example, Tool
from blendwright.tools import catalog
from blendwright.values.findings import Finding
from blendwright.values.plan import Plan
from support.plans.documents import GEONODES_EXAMPLE, codes, geonodes_plan, patch_step, python_step, tree_step


# The example of the protocol.
def parsed(*steps: dict[str, Any], **fields: Any) -> Plan:
    return geonodes.DIALECT.parse(geonodes_plan(*steps, **fields))


def told(plan: Plan) -> list[tuple[str, str]]:
    return [(finding.pointer, finding.message) for finding in plan.findings]


@pytest.mark.proves("GN-PLAN-04")
def test_the_example_of_the_protocol_is_a_plan_of_it() -> None:
    plan = geonodes.DIALECT.parse(GEONODES_EXAMPLE)
    assert plan.findings == ()
    assert [operation.tool for operation in plan.operations] == [
        "geonodes.node_tree", "geonodes.patch", "python.run", "geonodes.verify",
    ]  # fmt: skip
    jsonschema_rs.validate(schema("geonodes_plan.v1"), GEONODES_EXAMPLE)


@pytest.mark.proves("GN-STEP-03")
def test_steps_wait_for_each_other_and_the_gates_for_all_of_them() -> None:
    plan = parsed(tree_step("z"), patch_step("a"), patch_step("m", object_name="Other"))
    assert [(operation.id, operation.depends_on) for operation in plan.operations] == [
        ("z", ()), ("a", ("z",)), ("m", ("a",)), ("__gates__", ("m",)),
    ]  # fmt: skip
    assert (plan.tie_break, plan.on_failure) == ("position", "stop")
    named = [(tree["object_name"], tree["modifier_name"]) for tree in plan.operations[-1].args["trees"]]
    assert named == [("Plane", "GeometryNodes"), ("Other", "GeometryNodes")], "each tree once"


def test_the_gates_are_told_which_nodes_the_plan_added() -> None:
    def made(id: str, kind: str = "GeometryNodeMeshCube") -> dict[str, Any]:
        return {"op": "create_node", "node_id": id, "bl_idname": kind}

    plan = parsed(
        tree_step("a", made("one"), made("two"), made("frame", "NodeFrame"), made("look", "GeometryNodeViewer")),
        patch_step("b", {"op": "add_node", "id": "three", "bl_idname": "GeometryNodeMeshCube"}),
        patch_step("c", {"op": "remove_node", "node_id": "two"}),
        tree_step("d", made("inner"), node_group_name="Inner"),
        patch_step("e", object_name="Other"),
    )
    first, other = plan.operations[-1].args["trees"]
    assert first["added"] == [
        {"node_group": "GN_Tree", "nodes": ["one", "three"]},
        {"node_group": "Inner", "nodes": ["inner"]},
    ]
    assert other == {"object_name": "Other", "modifier_name": "GeometryNodes"}, "the key of such a plan is as it was"


@pytest.mark.proves("GN-DONE-03")
@pytest.mark.parametrize(
    ("fields", "required"),
    [
        ({}, True),
        ({"meta": {}}, True),
        ({"done": False}, False),
        ({"meta": {"requires_gate_verification": False}}, False),
    ],
)
def test_done_and_meta_say_whether_the_gates_are_required(fields: dict[str, Any], required: bool) -> None:
    plan = parsed(tree_step("a"), **fields)
    assert plan.operations[-1].args["required"] is required


def test_meta_and_descriptions_may_be_left_out() -> None:
    document = geonodes_plan(tree_step("a"))
    del document["meta"], document["steps"][0]["description"]
    plan = geonodes.DIALECT.parse(document)
    assert plan.findings == () and plan.operations[-1].args["required"] is True


@pytest.mark.parametrize("steps", [(), (python_step("a"),)])
def test_without_a_tree_there_are_no_gates(steps: tuple[dict[str, Any], ...]) -> None:
    plan = parsed(*steps)
    assert plan.findings == () and len(plan.operations) == len(steps)


def test_the_request_id_is_the_hash_of_the_plan_unless_one_is_given() -> None:
    plan = geonodes.DIALECT.parse(GEONODES_EXAMPLE)
    assert len(plan.request_id) == 64
    assert geonodes.DIALECT.parse(copy.deepcopy(GEONODES_EXAMPLE)).request_id == plan.request_id
    assert geonodes.DIALECT.parse({**GEONODES_EXAMPLE, "final_message": "Other."}).request_id != plan.request_id
    assert geonodes.DIALECT.parse(GEONODES_EXAMPLE, request_id="mine").request_id == "mine"


@pytest.mark.proves("GN-PLAN-01", "GN-PLAN-02")
@pytest.mark.parametrize("field", ["version", "steps", "done", "final_message"])
def test_a_missing_field_is_refused_by_name(field: str) -> None:
    document = geonodes_plan(tree_step("a"))
    del document[field]
    assert told(geonodes.DIALECT.parse(document)) == [("", f"'{field}' is missing")]


@pytest.mark.proves("GN-STEP-01")
@pytest.mark.parametrize("field", ["id", "type", "payload"])
def test_a_step_without_a_field_is_refused(field: str) -> None:
    step = tree_step("a")
    del step[field]
    assert ("/steps/0", f"'{field}' is missing") in told(parsed(step))


@pytest.mark.proves("GN-PLAN-03")
@pytest.mark.parametrize(
    "pointer",
    [
        "/extra",
        "/meta/extra",
        "/steps/0/extra",
        "/steps/0/payload/extra",
        "/steps/0/payload/target/extra",
        "/steps/0/payload/operations/0/extra",
        "/steps/0/payload/operations/0/from/extra",
        "/steps/1/payload/extra",
        "/steps/1/payload/target/extra",
        "/steps/1/payload/ops/0/extra",
        "/steps/2/payload/extra",
    ],
)
def test_an_unknown_field_is_refused_where_it_stands(pointer: str) -> None:
    link = {
        "op": "link",
        "from": {"node_id": "group_input", "socket": "Geometry"},
        "to": {"node_id": "group_output", "socket": "Geometry"},
    }
    document: Any = geonodes_plan(tree_step("a", link), patch_step("b"), python_step("c"))
    holder = document
    for part in pointer.split("/")[1:-1]:
        holder = holder[int(part)] if part.isdigit() else holder[part]
    holder["extra"] = 1
    plan = geonodes.DIALECT.parse(document)
    assert told(plan) == [(pointer, "unknown field 'extra'")]
    found = validate(plan, catalog.tools(), ContractTerms())
    assert not isinstance(found, ValidPlan)
    assert [finding.pointer for finding in found if finding.pointer.endswith("extra")] == [pointer], "told once"


@pytest.mark.proves("GN-STEP-02")
def test_an_unknown_step_type_is_refused_with_the_known_ones() -> None:
    plan = parsed({**tree_step("a"), "type": "NODETREE"})
    [finding] = plan.findings
    assert finding.pointer == "/steps/0/type" and finding.cure == "Did you mean 'NODE_TREE'?"
    [finding] = parsed({**tree_step("a"), "type": "SHELL"}).findings
    assert finding.cure == "One of: NODE_TREE, GN_OPS, PYTHON."


@pytest.mark.proves("GN-PLAN-05", "GN-PLAN-06")
@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"version": "1.1"}, "/version"),
        ({"version": 1.0}, "/version"),
        ({"done": "true"}, "/done"),
        ({"final_message": ""}, "/final_message"),
        ({"meta": {"requires_gate_verification": "no"}}, "/meta/requires_gate_verification"),
        ({"steps": {}}, "/steps"),
    ],
)
def test_a_field_of_another_kind_is_refused(fields: dict[str, Any], pointer: str) -> None:
    assert {finding.pointer for finding in parsed(tree_step("a"), **fields).findings} == {pointer}


@pytest.mark.proves("GN-LIMIT-01")
def test_a_plan_has_at_most_25_steps() -> None:
    assert parsed(*(patch_step(f"s{number}") for number in range(25))).findings == ()
    [finding] = parsed(*(patch_step(f"s{number}") for number in range(26))).findings
    assert finding.pointer == "/steps" and "25" in finding.message


@pytest.mark.proves("GN-PYTHON-01", "GN-PY-09")
@pytest.mark.parametrize(
    ("payload", "pointer"),
    [
        ({"mode": "unsafe"}, "/steps/0/payload/mode"),
        ({"timeout_ms": 0}, "/steps/0/payload/timeout_ms"),
        ({"timeout_ms": "4000"}, "/steps/0/payload/timeout_ms"),
        ({"code": ["print()"]}, "/steps/0/payload/code"),
        ({"mode": "safe"}, None),
        ({"mode": "trusted", "timeout_ms": 4000}, None),
    ],
)
def test_python_has_a_mode_code_and_a_timeout(payload: dict[str, Any], pointer: str | None) -> None:
    found = [finding.pointer for finding in parsed(python_step("a", **payload)).findings]
    assert found == ([] if pointer is None else [pointer])
    assert schema("geonodes_plan.v1")["$defs"]["PythonPayload"]["properties"]["mode"]["default"] == "safe"


class Nothing(Result):
    """What the tool below gives."""


class Coding(Tool[PythonPayload, Nothing]):
    """Takes the place of whatever runs code."""

    name = "python.run"
    promises = (
        SAFE_ONE_TIME_WRITE.but(determinism=Determinism.NONDETERMINISTIC, replayable=False)
        .writes_to(Kind.OBJECT)
        .needs()
    )
    examples = (Example({"code": "print()"}),)

    def code_chars_for(self, args: PythonPayload) -> int:
        return len(args.code)

    def check(self, scene: Scene, args: PythonPayload) -> Iterator[Finding]:
        yield from ()

    def apply(self, scene: Scene, args: PythonPayload) -> Nothing:
        return Nothing()

    def verify(self, scene: Scene, args: PythonPayload, result: Nothing) -> Iterator[Finding]:
        yield from ()


@pytest.mark.proves("GN-LIMIT-02")
def test_code_is_as_long_as_the_settings_allow() -> None:
    def told(length: int, terms: ContractTerms) -> list[tuple[str, str]]:
        tools = {**catalog.tools(), "python.run": Coding()}
        found = validate(parsed(python_step("a", code="#" * length)), tools, terms)
        return [] if isinstance(found, ValidPlan) else [(one.fault.value, one.pointer) for one in found]

    refusal = [("LIMIT_EXCEEDED", "/steps/0/payload")]
    assert told(20_000, ContractTerms()) == [] and told(20_001, ContractTerms()) == refusal
    tighter = ContractTerms(limits=Limits(python_code_chars=100))
    assert told(100, tighter) == [] and told(101, tighter) == refusal


def test_an_id_that_is_given_twice_is_told_once_and_one_is_reserved() -> None:
    assert codes(parsed(tree_step("a"), tree_step("a"), tree_step("a"))) == [
        ("SCHEMA_INVALID", "/steps/1/id"),
        ("SCHEMA_INVALID", "/steps/2/id"),
    ]
    assert codes(parsed(tree_step("__gates__"))) == [("SCHEMA_INVALID", "/steps/0/id")]


def test_what_the_nodes_have_against_a_payload_is_told_in_the_plan() -> None:
    wrong = {"op": "create_node", "node_id": "n", "bl_idname": ""}
    assert codes(parsed(tree_step("a"), tree_step("b", wrong))) == [
        ("SCHEMA_INVALID", "/steps/1/payload/operations/0/bl_idname")
    ]


@pytest.mark.proves("GN-STEP-04", "GN-ENVELOPE-01")
def test_a_refused_plan_is_told_by_the_step_that_is_wrong() -> None:
    plan = parsed(tree_step("a"), {**patch_step("b"), "payload": {"v": 2}}, patch_step("c"))
    result = refusal_of(plan)
    assert result["status"] == "refused" and result["done"] is False
    assert result["error"]["step_id"] == "b"
    assert [step["status"] for step in result["steps"]] == ["skipped", "failed", "skipped"]
    assert result["gates"] == {
        "success": False,
        "failed_gates": [],
        "messages": ["The gates were not judged: nothing ran."],
    }


@pytest.mark.parametrize("field", ["done", "final_message"])
def test_a_document_that_says_too_little_has_a_result_without_steps(field: str) -> None:
    document = geonodes_plan(tree_step("a"))
    del document[field]
    plan = geonodes.DIALECT.parse(document)
    result = geonodes.render(refused(plan, plan.findings))
    assert (result["status"], result["done"], result["steps"]) == ("refused", False, [])
    assert result["error"]["code"] == "SCHEMA_INVALID" and result["error"]["problems"]


def refusal_of(plan: Plan) -> dict[str, Any]:
    found = validate(plan, catalog.tools(), ContractTerms())
    assert not isinstance(found, ValidPlan)
    result = geonodes.render(refused(plan, found))
    assert result is not None
    return result


@pytest.mark.proves("GN-PLAN-07")
@pytest.mark.parametrize("text", [b"Here is the plan: {}", b"```json\n{}\n```", b"{} and more"])
def test_words_around_the_plan_are_refused(text: bytes) -> None:
    assert read_json(text)[1]
