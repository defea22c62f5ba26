"""mesh.set_attribute: attributes of every type and domain, and those that cannot be."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import bpy
import pytest

if TYPE_CHECKING:
    from support.stage.stage import Stage


@pytest.mark.parametrize(
    ("kind", "domain", "value", "count"),
    [
        ("FLOAT", "POINT", 0.25, 8),
        ("FLOAT", "POINT", 2, 8),
        ("INT", "EDGE", -7, 12),
        ("BOOLEAN", "FACE", True, 6),
        ("BOOLEAN", "FACE", False, 6),
        ("FLOAT_VECTOR", "CORNER", [1, 2, 3], 24),
        ("FLOAT_COLOR", "POINT", [0.25, 0.5, 0.75, 1], 8),
    ],
)
def test_an_attribute_of_each_type_is_written_as_a_constant_and_as_a_list(
    stage: Stage, kind: str, domain: str, value: Any, count: int
) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    args = {"object": "Box", "name": "it", "type": kind, "domain": domain}
    assert stage.do("mesh.set_attribute", {**args, "value": value}) == {
        "object": "Box",
        "name": "it",
        "count": count,
        "created": True,
    }
    once = stage.state.root()
    assert not stage.do("mesh.set_attribute", {**args, "values": [value] * count})["created"]
    assert stage.state.root() == once
    data: Any = bpy.data.meshes["Box"].attributes["it"].data
    held = {"FLOAT_VECTOR": "vector", "FLOAT_COLOR": "color"}.get(kind, "value")
    last = getattr(data[count - 1], held)
    assert (list(last) if isinstance(value, list) else last) == value


def test_each_element_gets_its_own_value(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    stage.do("mesh.set_attribute", {"object": "Box", "name": "n", "type": "INT", "values": list(range(8))})
    held = array("i", bytes(32))
    data: Any = bpy.data.meshes["Box"].attributes["n"].data
    data.foreach_get("value", held)
    assert list(held) == list(range(8))


def test_new_values_replace_the_old_ones(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    for value in (1, 2):
        stage.do("mesh.set_attribute", {"object": "Box", "name": "it", "type": "INT", "value": value})
    data: Any = bpy.data.meshes["Box"].attributes["it"].data
    assert {element.value for element in data} == {2}


@pytest.mark.parametrize(
    ("args", "pointer"),
    [
        ({"name": "position", "type": "FLOAT_VECTOR", "value": [0, 0, 0]}, "/name"),
        ({"name": ".hidden", "type": "FLOAT", "value": 0}, "/name"),
        ({"name": "crease_edge", "type": "FLOAT", "value": 0}, "/name"),
        ({"name": "it", "type": "FLOAT", "value": True}, "/value"),
        ({"name": "it", "type": "INT", "value": 1.5}, "/value"),
        ({"name": "it", "type": "INT", "value": 2**31}, "/value"),
        ({"name": "it", "type": "FLOAT", "value": 1e39}, "/value"),
        ({"name": "it", "type": "FLOAT_COLOR", "value": [0, 0, 0]}, "/value"),
        ({"name": "it", "type": "BOOLEAN", "values": [True] * 5 + [0] + [True] * 2}, "/values/5"),
        ({"name": "it", "type": "FLOAT", "values": [0.5] * 7}, "/values"),
    ],
)
def test_attributes_that_cannot_be_are_refused(stage: Stage, args: dict[str, Any], pointer: str) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    (finding,) = stage.refusal("mesh.set_attribute", {"object": "Box", **args})
    assert (finding["code"], finding["pointer"]) == ("ARGS_INVALID", pointer)
    assert finding["cure"]


def test_an_attribute_keeps_its_type_and_domain(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    stage.do("mesh.set_attribute", {"object": "Box", "name": "it", "type": "FLOAT", "value": 1})
    for other in ({"type": "INT"}, {"type": "FLOAT", "domain": "FACE"}):
        (finding,) = stage.refusal("mesh.set_attribute", {"object": "Box", "name": "it", "value": 1, **other})
        assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/name")


def test_an_attribute_does_not_take_the_name_of_a_vertex_group(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    bpy.data.objects["Box"].vertex_groups.new(name="Top")
    stage.state.refresh()
    (finding,) = stage.refusal("mesh.set_attribute", {"object": "Box", "name": "Top", "type": "FLOAT", "value": 1})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/name")


def test_a_value_is_given_once(stage: Stage) -> None:
    args = {"object": "Box", "name": "it", "type": "FLOAT"}
    assert stage.invalid("mesh.set_attribute", args)
    assert stage.invalid("mesh.set_attribute", {**args, "value": 1, "values": [1]})
