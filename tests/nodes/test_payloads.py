"""Payloads are strict: what has the wrong form is refused with its place, before anything else looks at it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from blendwright.nodes.edits import edits_of
from blendwright.plan.validate import validate_arguments
from blendwright.tools.catalog import tools

NODE_TREE: dict[str, Any] = {
    "target": {"object_name": "Cube", "modifier_name": "GeometryNodes", "node_group_name": "GN_Assistant_Group"},
    "operations": [
        {
            "op": "create_node",
            "node_id": "n1",
            "bl_idname": "GeometryNodeSubdivisionSurface",
            "location": [100, 200],
        },
        {"op": "set_input_default", "node_id": "n1", "socket": "Level", "value": 2},
        {
            "op": "link",
            "from": {"node_id": "n1", "socket": "Mesh"},
            "to": {"node_id": "group_output", "socket": "Geometry"},
        },
        {"op": "delete_node", "node_id": "n1"},
        {"op": "set_property", "node_id": "n1", "property": "mode", "value": ["A", {"b": 1}]},
        {"op": "unlink", "to": {"node_id": "group_output", "socket": "Geometry"}},
        {"op": "set_group_io", "inputs": [{"name": "Height", "socket_type": "NodeSocketFloat", "default": 1.5}]},
    ],
}
GN_OPS: dict[str, Any] = {
    "v": 1,
    "target": {"object_name": "Cube", "modifier_name": "GeometryNodes"},
    "ops": [
        {"op": "ensure_target", "allow_create_modifier": True},
        {"op": "ensure_single_group_io"},
        {"op": "add_node", "id": "noise_1", "bl_idname": "ShaderNodeTexNoise", "x": 120, "y": 40},
        {"op": "set_input", "node_id": "noise_1", "socket_name": "Scale", "value": 5.0},
        {
            "op": "link",
            "from": {"node_id": "noise_1", "socket_name": "Fac"},
            "to": {"node_id": "group_output", "socket_name": "Height"},
        },
        {"op": "unlink", "from": {"node_id": "noise_1", "socket_name": "Fac"}},
        {"op": "remove_node", "node_id": "noise_1"},
        {"op": "cleanup_unused"},
    ],
}
BOTH = (("geonodes.node_tree", NODE_TREE, "operations"), ("geonodes.patch", GN_OPS, "ops"))


def pointers(tool: str, payload: dict[str, Any]) -> list[str]:
    """Where something is wrong with the form of a payload."""
    return [finding.pointer for finding in validate_arguments(tools()[tool], payload).findings]


@pytest.mark.proves("GN-PAYLOAD-01", "GN-PAYLOAD-02")
@pytest.mark.parametrize(("tool", "payload", "listed"), BOTH)
def test_every_operation_of_the_protocol_is_taken_and_means_an_edit(
    tool: str, payload: dict[str, Any], listed: str
) -> None:
    kind: Any = tools()[tool].args_model
    model = kind.model_validate(payload)
    asked = [f"/{listed}/{number}" for number, each in enumerate(payload[listed]) if each["op"] != "ensure_target"]
    assert [edit.at for edit in edits_of(model)] == asked
    once = model.model_dump(mode="json")
    assert [each["op"] for each in once[listed]] == [each["op"] for each in payload[listed]]
    assert "from" in next(each for each in once[listed] if each["op"] == "link")
    assert kind.model_validate(once).model_dump(mode="json") == once


@pytest.mark.proves("GN-STRICT-01")
@pytest.mark.parametrize(("tool", "payload", "listed"), BOTH)
def test_an_unknown_field_is_refused_at_every_level(tool: str, payload: dict[str, Any], listed: str) -> None:
    for place in [(), ("target",), *((listed, number) for number in range(len(payload[listed])))]:
        broken = copy.deepcopy(payload)
        part: Any = broken
        for step in place:
            part = part[step]
        part["extra"] = 1
        assert "/".join(["", *map(str, place), "extra"]) in pointers(tool, broken)


@pytest.mark.proves("GN-PAYLOAD-03")
@pytest.mark.parametrize(("tool", "payload", "listed"), BOTH)
def test_an_unknown_operation_is_refused(tool: str, payload: dict[str, Any], listed: str) -> None:
    broken = {**payload, listed: [*payload[listed], {"op": "explode"}]}
    assert pointers(tool, broken) == [f"/{listed}/{len(payload[listed])}/op"]


@pytest.mark.proves("GN-PAYLOAD-04")
def test_another_version_of_a_patch_is_refused() -> None:
    assert pointers("geonodes.patch", {**GN_OPS, "v": 2}) == ["/v"]
    assert pointers("geonodes.patch", {key: GN_OPS[key] for key in ("target", "ops")}) == [""]


@pytest.mark.parametrize(("tool", "payload", "listed"), BOTH)
def test_an_unlink_without_a_side_is_refused(tool: str, payload: dict[str, Any], listed: str) -> None:
    (finding,) = validate_arguments(tools()[tool], {**payload, listed: [{"op": "unlink"}]}).findings
    assert "unlink needs" in finding.message


def test_schemas_have_no_union_at_the_top() -> None:
    for tool, _, _ in BOTH:
        schema = tools()[tool].args_schema()
        assert schema["type"] == "object"
        assert not {"oneOf", "anyOf", "allOf"} & schema.keys()
