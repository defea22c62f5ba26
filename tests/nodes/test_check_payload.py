"""Payloads are judged without Blender: valid trees pass, and one error is found at its place, with a cure."""

from __future__ import annotations

from typing import Any

import pytest

from blendwright.dialects import operations
from blendwright.nodes.catalogue.load import VERSIONS, catalogue
from blendwright.nodes.checks.payload import check_payload, check_payload_for
from blendwright.nodes.payloads import GnOpsPayload, NodeTreePayload
from blendwright.nodes.tree import Tree, new_tree, to_payload
from blendwright.plan.validate import validate
from blendwright.policy.session_contract import ContractTerms
from blendwright.tools.catalog import tools
from blendwright.values.findings import Finding
from nodes.built_trees import from_payload
from support.trees.node_trees import create, link, prop, value
from support.trees.random_trees import random_payload
from support.trees.tree_errors import ERRORS, with_error

TARGET = {"object_name": "Cube", "modifier_name": "GeometryNodes", "node_group_name": "G"}


def of_tree(*listed: dict[str, Any], tree: Tree | None = None, blender: str = "5.0") -> list[Finding]:
    return check_payload(
        NodeTreePayload.model_validate({"target": TARGET, "operations": list(listed)}), catalogue(blender), tree
    )


def of_patch(*listed: dict[str, Any], tree: Tree | None = None) -> list[Finding]:
    target = {"object_name": "Cube", "modifier_name": "GeometryNodes"}
    return check_payload(
        GnOpsPayload.model_validate({"v": 1, "target": target, "ops": list(listed)}), catalogue(), tree
    )


@pytest.mark.parametrize("blender", VERSIONS)
def test_random_valid_trees_have_no_findings(blender: str) -> None:
    known = catalogue(blender)
    for seed in range(40):
        payload = NodeTreePayload.model_validate(random_payload(seed, known))
        assert check_payload(payload, known) == [], seed
        assert check_payload(payload, known, new_tree()) == [], seed


@pytest.mark.parametrize(
    ("blender", "count"), [("5.0", 60), ("4.5", 60), ("4.2", 60), pytest.param("5.0", 300, marks=pytest.mark.slow)]
)
def test_hundreds_of_trees_with_one_error_each_are_refused_at_its_place(blender: str, count: int) -> None:
    known = catalogue(blender)
    kinds: set[str] = set()
    for seed in range(count):
        kind, broken, pointer = with_error(seed, random_payload(seed, known), known)
        found = check_payload(NodeTreePayload.model_validate(broken), known, new_tree())
        assert [finding.pointer for finding in found] == [pointer], (seed, kind, found)
        assert found[0].cure, kind
        kinds.add(kind)
    assert kinds == set(ERRORS)


def test_a_tree_that_is_built_is_a_tree_that_can_be_changed() -> None:
    known = catalogue()
    for seed in range(30):
        operations = random_payload(seed, known)["operations"]
        tree = from_payload(NodeTreePayload.model_validate({"target": TARGET, "operations": operations}))
        again = to_payload(tree, NodeTreePayload.model_validate({"target": TARGET, "operations": []}).target)
        assert check_payload(again, known, new_tree()) == [], seed
        extra = NodeTreePayload.model_validate(
            {"target": TARGET, "operations": [prop(tree.nodes[1].id, "label", "changed"), create("fresh", "NodeFrame")]}
        )
        assert check_payload(extra, known, tree) == [], seed


def test_what_a_payload_did_not_create_is_judged_only_when_the_tree_is_known() -> None:
    unknown = value("older", "Anything", 1)
    assert of_tree(unknown) == []
    assert [found.pointer for found in of_tree(unknown, tree=new_tree())] == ["/operations/0/node_id"]


def test_a_socket_appears_with_the_property_that_brings_it() -> None:
    before = of_tree(create("m", "ShaderNodeMix"), value("m", "A", [1, 2, 3]), prop("m", "data_type", "VECTOR"))
    assert [found.pointer for found in before] == ["/operations/1/value"]
    assert of_tree(create("m", "ShaderNodeMix"), prop("m", "data_type", "VECTOR"), value("m", "A", [1, 2, 3])) == []


def test_a_choice_that_another_property_took_away_makes_nothing_else_wrong() -> None:
    found = of_tree(
        create("c", "FunctionNodeCompare"),
        prop("c", "data_type", "RGBA"),
        prop("c", "operation", "BRIGHTER"),
        prop("c", "data_type", "FLOAT"),
        value("c", "A", 1.0),
    )
    assert found == []


def test_items_of_a_zone_are_sockets_of_both_of_its_nodes() -> None:
    items = [{"name": "Height", "socket_type": "FLOAT"}]
    zone = (
        create("in", "GeometryNodeRepeatInput"),
        create("out", "GeometryNodeRepeatOutput"),
        prop("out", "repeat_items", items),
        prop("in", "paired_output", "out"),
    )
    good = (value("in", "Height", 1.5), link(("in", "Height"), ("out", "Height")))
    assert of_tree(*zone, *good, tree=new_tree()) == []
    (wrong,) = of_tree(*zone, link(("in", "Geometry"), ("out", "Height")), tree=new_tree())
    assert wrong.pointer == "/operations/4/from/socket"
    assert "Height" in (wrong.cure or "")


def test_a_menu_takes_the_items_that_the_switch_lists() -> None:
    switch = (create("s", "GeometryNodeMenuSwitch"), prop("s", "enum_items", [{"name": "Round"}, {"name": "Flat"}]))
    assert of_tree(*switch, value("s", "Menu", "Flat"), link(("group_input", "Geometry"), ("s", "Round"))) == []
    (wrong,) = of_tree(*switch, value("s", "Menu", "Flatt"))
    assert (wrong.pointer, wrong.cure) == ("/operations/2/value", "Did you mean 'Flat'?")


def test_a_second_link_takes_the_place_of_the_first_and_a_cycle_can_be_taken_back() -> None:
    two = (create("a", "ShaderNodeMath"), create("b", "ShaderNodeMath"), link(("a", "Value"), ("b", "Value")))
    back = link(("b", "Value"), ("a", "Value"))
    assert [found.pointer for found in of_tree(*two, back)] == ["/operations/3"]
    assert of_tree(*two, back, {"op": "unlink", **{key: back[key] for key in ("from", "to")}}) == []
    replaced = (create("v", "ShaderNodeValue"), link(("v", "Value"), ("b", "Value")))
    assert of_tree(*two, *replaced, back) == []


def test_what_is_a_field_follows_the_links() -> None:
    nodes = (
        create("m", "ShaderNodeMath"),
        create("cube", "GeometryNodeMeshCube"),
        create("i", "GeometryNodeInputIndex"),
    )
    single = link(("m", "Value"), ("cube", "Vertices X"))
    assert of_tree(*nodes, single) == []
    late = link(("i", "Index"), ("m", "Value_001"))
    assert [found.pointer for found in of_tree(*nodes, single, late)] == ["/operations/3"]
    assert "field" in of_tree(*nodes, single, late)[0].message


def test_sockets_of_one_name_are_told_apart_by_number() -> None:
    twins = [{"name": "Size", "socket_type": kind} for kind in ("NodeSocketFloat", "NodeSocketGeometry")]
    group = {"op": "set_group_io", "inputs": twins, "replace": True}
    (ambiguous,) = of_tree(group, link(("group_input", "Size"), ("group_output", "Geometry")), tree=new_tree())
    assert ambiguous.cure == "Use one of: Size#1, Size#2."
    assert of_tree(group, link(("group_input", "Size#2"), ("group_output", "Geometry")), tree=new_tree()) == []
    (typed,) = of_tree(group, link(("group_input", "Size#1"), ("group_output", "Geometry")), tree=new_tree())
    assert typed.pointer == "/operations/1"


def test_a_patch_is_judged_by_the_same_rules_at_its_own_places() -> None:
    add = {"op": "add_node", "id": "n", "bl_idname": "ShaderNodeMath", "properties": {"operation": "SINE"}}
    assert of_patch(add, add, {"op": "remove_node", "node_id": "gone"}, tree=new_tree()) == []
    other = {**add, "bl_idname": "ShaderNodeMix"}
    assert [found.pointer for found in of_patch(add, other)] == ["/ops/1/bl_idname"]
    wrong = {**add, "properties": {"operation": "SIEN", "use_clmap": True}}
    assert [found.pointer for found in of_patch(wrong)] == [
        "/ops/0/properties/operation",
        "/ops/0/properties/use_clmap",
    ]
    given = {"op": "set_input", "node_id": "n", "socket_name": "Valeu", "value": 1}
    assert [found.pointer for found in of_patch(add, given)] == ["/ops/1/socket_name"]


def test_properties_of_a_patch_are_read_in_the_order_that_works() -> None:
    compare = {"op": "add_node", "id": "c", "bl_idname": "FunctionNodeCompare"}
    assert of_patch({**compare, "properties": {"operation": "BRIGHTER", "data_type": "RGBA"}}) == []


def test_a_long_payload_with_everything_wrong_gives_a_short_answer() -> None:
    assert len(of_tree(*(create(f"n{number}", "Nothing") for number in range(3000)))) == 100


def test_each_blender_is_asked_about_its_own_nodes() -> None:
    combine = create("c", "ShaderNodeCombineRGB")
    assert of_tree(combine, blender="4.5") == []
    assert [found.pointer for found in of_tree(combine)] == ["/operations/0/bl_idname"]
    payload = NodeTreePayload.model_validate({"target": TARGET, "operations": [combine]})
    assert check_payload_for(payload, (4, 5, 15)) == []
    assert check_payload_for(payload, (5, 0, 1)) != []
    # Some supported Blender takes it, so it is not wrong as long as nobody says which one it is for.
    assert check_payload_for(payload, None) == []
    # There is no catalogue of this one: it judges for itself.
    assert check_payload_for(payload, (5, 3, 0)) == []


def test_a_plan_is_refused_for_its_nodes_without_any_blender() -> None:
    args = {"target": TARGET, "operations": [create("n", "GeometryNodeMeshCub")]}
    call: dict[str, Any] = {
        "operation_id": "build",
        "tool_name": "geonodes.node_tree",
        "args": args,
        "depends_on": [],
        "safety_level": "safe_write",
    }
    plan = operations.DIALECT.parse({"request_id": "r", "operations": [call]})
    found = validate(plan, tools(), ContractTerms())
    assert isinstance(found, tuple)
    assert [finding.pointer for finding in found] == ["/operations/0/args/operations/0/bl_idname"]
    assert "GeometryNodeMeshCube" in (found[0].cure or "")
