"""Payloads are strict: what has the wrong form is refused with its place, before anything else looks at it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from blendwright.nodes.payloads import GnOpsPayload, NodeTreePayload

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
BOTH: tuple[tuple[type[BaseModel], dict[str, Any], str], ...] = (
    (NodeTreePayload, NODE_TREE, "operations"),
    (GnOpsPayload, GN_OPS, "ops"),
)


@pytest.mark.proves("GN-PAYLOAD-01", "GN-PAYLOAD-02")
@pytest.mark.parametrize(("model", "payload", "listed"), BOTH)
def test_every_operation_of_the_protocol_is_taken_and_keeps_its_form(
    model: type[BaseModel], payload: dict[str, Any], listed: str
) -> None:
    once = model.model_validate(payload).model_dump(mode="json")
    assert [each["op"] for each in once[listed]] == [each["op"] for each in payload[listed]]
    assert "from" in next(each for each in once[listed] if each["op"] == "link")
    assert model.model_validate(once).model_dump(mode="json") == once


@pytest.mark.proves("GN-STRICT-01")
@pytest.mark.parametrize(("model", "payload", "listed"), BOTH)
def test_an_unknown_field_is_refused_at_every_level(
    model: type[BaseModel], payload: dict[str, Any], listed: str
) -> None:
    for place in [(), ("target",), *((listed, number) for number in range(len(payload[listed])))]:
        broken = copy.deepcopy(payload)
        part: Any = broken
        for step in place:
            part = part[step]
        part["extra"] = 1
        with pytest.raises(ValidationError) as refused:
            model.model_validate(broken)
        assert refused.value.errors()[0]["loc"][-1] == "extra"


@pytest.mark.proves("GN-PAYLOAD-03", "GN-PAYLOAD-04")
@pytest.mark.parametrize(("model", "payload", "listed"), BOTH)
def test_an_unknown_operation_is_refused(model: type[BaseModel], payload: dict[str, Any], listed: str) -> None:
    broken = copy.deepcopy(payload)
    broken[listed].append({"op": "explode"})
    with pytest.raises(ValidationError):
        model.model_validate(broken)


@pytest.mark.parametrize(("model", "payload", "listed"), BOTH)
def test_an_unlink_without_a_side_is_refused(model: type[BaseModel], payload: dict[str, Any], listed: str) -> None:
    broken = copy.deepcopy(payload)
    broken[listed] = [{"op": "unlink"}]
    with pytest.raises(ValidationError, match="unlink needs"):
        model.model_validate(broken)


def test_schemas_have_no_union_at_the_top() -> None:
    for model, _, _ in BOTH:
        schema = model.model_json_schema()
        assert schema["type"] == "object"
        assert not {"oneOf", "anyOf", "allOf"} & schema.keys()
