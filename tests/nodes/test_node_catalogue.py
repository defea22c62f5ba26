"""The catalogue is what Blender says, loads fast, and finds what is meant."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from blendwright.nodes.catalogue.load import VERSIONS, catalogue, catalogue_for
from blendwright.nodes.catalogue.search import search, suggest_node_type

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_stored_catalogue_is_what_this_blender_says() -> None:
    ran = subprocess.run(
        [sys.executable, "scripts/generate_nodes.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(("blender", "most"), [("5.0", 321), ("4.5", 297), ("4.2", 256)])
def test_every_version_has_its_nodes_and_every_node_can_be_read(blender: str, most: int) -> None:
    known = catalogue(blender)
    assert most - 10 < len(known) <= most
    for node in known.all():
        assert node.layouts_for(node.defaults()), node.bl_idname
        assert len(node.layouts_for(node.defaults())) == 1, node.bl_idname
        for prop in node.properties.values():
            assert prop.type != "ENUM" or prop.items, (node.bl_idname, prop.name)


def test_sockets_have_identifier_name_type_default_range_and_whether_they_take_several_links() -> None:
    cube = catalogue().find("GeometryNodeMeshCube")
    assert cube is not None
    vertices = cube.layouts[0].inputs[1]
    found = vertices.identifier, vertices.name, vertices.type, vertices.kind, vertices.default
    assert found == ("Vertices X", "Vertices X", "NodeSocketInt", "INT", 2)
    assert (vertices.soft_min, vertices.soft_max, vertices.multi) == (2, 1000, False)
    join = catalogue().find("GeometryNodeJoinGeometry")
    assert join is not None
    assert join.layouts[0].inputs[0].multi


def test_properties_decide_which_sockets_there_are() -> None:
    mix = catalogue().find("ShaderNodeMix")
    assert mix is not None
    for data_type, keys in (
        ("FLOAT", ["Factor_Float", "A_Float", "B_Float"]),
        ("RGBA", ["Factor_Float", "A_Color", "B_Color"]),
    ):
        (layout,) = mix.layouts_for({"data_type": data_type, "factor_mode": "UNIFORM"})
        assert [socket.identifier for socket in layout.inputs] == keys
        assert [socket.name for socket in layout.outputs] == ["Result"]


def test_what_an_enum_takes_can_depend_on_another() -> None:
    compare = catalogue().find("FunctionNodeCompare")
    assert compare is not None
    assert "BRIGHTER" in compare.choices("operation", {"data_type": "RGBA"})
    assert "BRIGHTER" not in compare.choices("operation", {"data_type": "FLOAT"})


def test_zones_know_both_their_ends_and_the_sockets_of_their_items() -> None:
    known = catalogue()
    ends = {node.bl_idname: node.zone_output for node in known.all() if node.zone_output}
    assert ends["GeometryNodeRepeatInput"] == "GeometryNodeRepeatOutput"
    assert {"GeometryNodeSimulationInput", "GeometryNodeForeachGeometryElementInput"} <= ends.keys()
    repeat = known.find("GeometryNodeRepeatOutput")
    assert repeat is not None
    items = repeat.items["repeat_items"]
    assert items.types["VECTOR"] == "NodeSocketVector"
    assert {(socket.on, socket.side) for socket in items.sockets} == {
        (on, side) for on in ("self", "partner") for side in ("inputs", "outputs")
    }


def test_conversions_are_those_of_blender() -> None:
    known = catalogue()
    assert known.converts("INT", "VECTOR")
    assert known.converts("ROTATION", "MATRIX")
    assert not known.converts("VALUE", "GEOMETRY")
    assert not known.converts("STRING", "VALUE")


def test_a_search_finds_the_name_before_the_description() -> None:
    found = [node.bl_idname for node in search(catalogue(), "noise")]
    assert found[:2] == ["ShaderNodeTexNoise", "ShaderNodeTexWhiteNoise"]
    assert search(catalogue(), "set position")[0].bl_idname == "GeometryNodeSetPosition"
    assert search(catalogue(), "qwxyz") == []


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("GeometryNodeMeshCub", "GeometryNodeMeshCube"),
        ("GeometryNodeNoiseTexture", "ShaderNodeTexNoise"),
        ("Set Position", "GeometryNodeSetPosition"),
    ],
)
def test_a_wrong_name_is_answered_by_the_one_that_was_meant(said: str, meant: str) -> None:
    assert f"Did you mean '{meant}'" in suggest_node_type(catalogue(), said)


def test_a_catalogue_is_found_by_version() -> None:
    assert [catalogue(name).blender for name in VERSIONS] == list(VERSIONS)
    found = catalogue_for((4, 5, 15))
    assert found is not None and found.blender == "4.5"
    assert catalogue_for((4, 4, 0)) is None
