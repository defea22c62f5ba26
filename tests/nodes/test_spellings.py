"""Names that another Blender has are understood where they mean the same, and told; anything else is refused as before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from blendwright.nodes import edits, spellings
from blendwright.nodes.catalogue.load import VERSIONS, catalogue
from blendwright.nodes.catalogue.model import Side
from blendwright.nodes.checks.payload import check_payload_for
from blendwright.nodes.payloads import NodeTreePayload

TARGET = {"object_name": "Cube", "modifier_name": "Nodes", "node_group_name": "Tree"}


def node(bl_idname: str) -> dict[str, Any]:
    return {"op": "create_node", "node_id": "n", "bl_idname": bl_idname}


def prop(name: str, value: Any) -> dict[str, Any]:
    return {"op": "set_property", "node_id": "n", "property": name, "value": value}


def value_of(socket: str, value: Any) -> dict[str, Any]:
    return {"op": "set_input_default", "node_id": "n", "socket": socket, "value": value}


# Blender at hand, the operations as another one spells them.
UNDERSTOOD: dict[str, tuple[tuple[int, int, int], list[dict[str, Any]]]] = {
    "a number that an identifier lost": (
        (5, 2, 3),
        [node("FunctionNodeRandomValue"), prop("data_type", "FLOAT"), value_of("Max_001", 2.0)],
    ),
    "a type that an identifier lost": (
        (5, 2, 3),
        [node("FunctionNodeCompare"), prop("data_type", "INT"), value_of("A_INT", 3)],
    ),
    "a name where there are numbers": (
        (5, 0, 1),
        [node("FunctionNodeRandomValue"), prop("data_type", "FLOAT"), value_of("Max", 2.0)],
    ),
    "a setting that became an input": ((5, 2, 3), [node("GeometryNodeStringToCurves"), prop("align_x", "CENTER")]),
    "an input that is a setting here": ((5, 0, 1), [node("GeometryNodeStringToCurves"), value_of("Align X", "Center")]),
    "a setting of 4.5": ((5, 2, 3), [node("GeometryNodeResampleCurve"), prop("mode", "LENGTH")]),
    "an input that 4.5 has as a setting": ((4, 5, 15), [node("GeometryNodeResampleCurve"), value_of("Mode", "Length")]),
    "a property of another name": ((5, 2, 3), [node("GeometryNodeListGetItem"), prop("data_type", "INT")]),
    "a property that had another name": ((5, 0, 1), [node("GeometryNodeListGetItem"), prop("socket_type", "INT")]),
}
REFUSED: dict[str, tuple[tuple[int, int, int], list[dict[str, Any]]]] = {
    "a socket that was of another type": (
        (5, 2, 3),
        [node("FunctionNodeRandomValue"), prop("data_type", "INT"), value_of("Max_001", 2.0)],
    ),
    "a choice that there never was": ((5, 2, 3), [node("GeometryNodeResampleCurve"), prop("mode", "WIDTH")]),
    "a list of a type that it cannot have here": (
        (5, 0, 1),
        [node("GeometryNodeListGetItem"), prop("socket_type", "GEOMETRY")],
    ),
}


def payload(operations: list[dict[str, Any]]) -> NodeTreePayload:
    return NodeTreePayload.model_validate({"target": TARGET, "operations": operations})


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_a_name_of_another_blender_is_understood(name: str) -> None:
    blender, operations = UNDERSTOOD[name]
    assert check_payload_for(payload(operations), blender) == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_means_something_else_here_is_refused(name: str) -> None:
    blender, operations = REFUSED[name]
    (finding,) = check_payload_for(payload(operations), blender)
    assert finding.pointer.startswith(f"/operations/{len(operations) - 1}/")


def test_choices_of_settings_that_became_inputs_stand_in_the_same_order() -> None:
    """They are found by their place. UV Unwrap alone has got another choice since, at the end."""
    for bl_idname, settings in spellings.SETTINGS_AS_INPUTS.items():
        types = [found for version in VERSIONS if (found := catalogue(version).find(bl_idname)) is not None]
        for name, key in settings.items():
            choices = {node.properties[name].items for node in types if name in node.properties}
            menus = {s.items or () for node in types for layout in node.layouts for s in layout.inputs if s.name == key}
            assert choices and menus, (bl_idname, name)
            longest = max(menus, key=len)
            assert all(menu == longest[: len(menu)] for menu in menus), (bl_idname, name)
            lengths = {len(items) for items in (*choices, *menus)}
            assert len(lengths) == 1 or bl_idname == "GeometryNodeUVUnwrap", (bl_idname, name)


def test_what_was_respelled_is_told_with_its_place() -> None:
    types: Mapping[str, str] = {"n": "GeometryNodeStringToCurves"}

    def no_sockets(node_id: str, side: Side) -> Mapping[str, str]:
        return {}

    edit = edits.AddNode("/ops/2", "n", "/ops/2/id", types["n"], (None, None), True, {"align_x": "LEFT", "label": "x"})
    found = spellings.respelled(edit, catalogue("5.2"), spellings.Nodes(types.get, no_sockets))
    added, set_input = found.edits
    assert isinstance(added, edits.AddNode) and added.properties == {"label": "x"}
    assert isinstance(set_input, edits.SetInput) and (set_input.socket.socket, set_input.value) == ("Align X", "Left")
    (note,) = found.notes
    assert note.startswith("/ops/2/properties/align_x: ") and "'Align X'" in note and "5.2" in note
