"""Resting on surfaces, and shapes that change as they are placed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.tool_api.promises import Idempotence
from blendwright.tools.catalog import tools
from tools.objects import bounds, box, place

if TYPE_CHECKING:
    from support.stage.stage import Stage


# ---------------------------------------------------------------------- place.on_surface


def test_an_object_comes_to_rest_on_another(stage: Stage) -> None:
    box(stage, "Table", location=[0, 0, 1])
    box(stage, "Cup", 0.5, location=[0.3, 0.4, 7], rotation_euler_deg=[45, 0, 0])
    result = stage.do("place.on_surface", {"object": "Cup", "target": "Table"})
    assert result["moved"]
    assert result["point"] == pytest.approx([0.3, 0.4, 2])
    assert result["normal"] == pytest.approx([0, 0, 1])
    assert bounds(stage, "Cup")[0][2] == pytest.approx(2)
    assert result["location"] == pytest.approx([0.3, 0.4, 2 + 0.25 * math.sqrt(2)])
    assert list(bpy.data.objects["Cup"].rotation_euler) == pytest.approx([math.pi / 4, 0, 0], abs=1e-7)
    assert not stage.do("place.on_surface", {"object": "Cup", "target": "Table"})["moved"]


def test_the_surface_is_the_evaluated_one(stage: Stage) -> None:
    box(stage, "Table")
    box(stage, "Cup", 1)
    settings = {"type": "ARRAY", "count": 3, "constant_offset": [0, 0, 4]}
    stage.do("modifier.add", {"object": "Table", "name": "Floors", "settings": settings})
    stage.do("place.on_surface", {"object": "Cup", "target": "Table"})
    assert place("Cup").z == pytest.approx(9.5)


def test_an_object_hangs_below_and_keeps_a_gap(stage: Stage) -> None:
    box(stage, "Ceiling", location=[0, 0, 5])
    box(stage, "Lamp", 1)
    stage.do(
        "place.on_surface", {"object": "Lamp", "target": "Ceiling", "side": "bottom", "gap": 0.25, "at": [0.5, -0.5]}
    )
    assert tuple(place("Lamp")) == pytest.approx((0.5, -0.5, 3.25))


def test_contact_is_made_by_mesh_bounds_or_origin(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "plane", "name": "Floor", "size": 20})
    ball = {"kind": "ico_sphere", "subdivisions": 4, "name": "Ball", "rotation_euler_deg": [45, 0, 0]}
    stage.do("mesh.create_primitive", ball)
    heights: dict[str, float] = {}
    for contact in ("mesh", "bounds", "origin"):
        stage.do("place.on_surface", {"object": "Ball", "target": "Floor", "contact": contact})
        heights[contact] = place("Ball").z
    assert heights["mesh"] == pytest.approx(1, abs=0.01)
    assert heights["bounds"] == pytest.approx(math.sqrt(2), abs=0.01)
    assert heights["origin"] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("scale", [[1, 1, 1], [-1, 2, 1]])
def test_an_aligned_object_stands_upright_on_a_slope(stage: Stage, scale: list[float]) -> None:
    stage.do(
        "mesh.create_primitive",
        {"kind": "plane", "name": "Slope", "size": 20, "rotation_euler_deg": [30, 0, 0], "scale": scale},
    )
    box(stage, "Box", 1, rotation_euler_deg=[0, 0, 20], scale=[1, 2, 3])
    args = {"object": "Box", "target": "Slope", "at": [1, 1], "align_to_normal": True}
    assert stage.call("place.on_surface", args, rehearse="inverse")["reverted_by"] == "inverse"
    result = stage.do("place.on_surface", args)
    normal = (0, -math.sin(math.radians(30)), math.cos(math.radians(30)))
    assert result["normal"] == pytest.approx(normal, abs=1e-5)
    matrix = bpy.data.objects["Box"].matrix_world
    assert tuple(matrix.col[2].xyz.normalized()) == pytest.approx(normal, abs=1e-5)
    assert tuple(matrix.to_scale()) == pytest.approx((1, 2, 3), abs=1e-5)
    middle = [point + 1.5 * part for point, part in zip(result["point"], normal, strict=True)]
    assert tuple(matrix.translation) == pytest.approx(middle, abs=1e-4)
    assert not stage.do("place.on_surface", args)["moved"]


def test_repetition_is_promised_where_the_place_is_fixed() -> None:
    tool = tools()["place.on_surface"]
    args: dict[str, Any] = {"object": "A", "target": "B"}

    def promise(**more: Any) -> Idempotence:
        return tool.idempotence_for(tool.args_model.model_validate({**args, **more}))

    assert promise() is Idempotence.IDEMPOTENT
    assert promise(align_to_normal=True, at=[0, 0]) is Idempotence.IDEMPOTENT
    assert promise(align_to_normal=True) is Idempotence.ACCUMULATING


def test_a_child_is_moved_in_the_world_whatever_its_parent(stage: Stage) -> None:
    box(stage, "Table", location=[0, 0, 1])
    stage.do(
        "object.create_empty",
        {"name": "Pivot", "location": [3, 1, 0], "rotation_euler_deg": [0, 0, 90], "scale": [2, 2, 2]},
    )
    box(stage, "Cup", 0.5, location=[0, 0, 3])
    bpy.data.objects["Cup"].parent = bpy.data.objects["Pivot"]
    stage.state.refresh()
    stage.do("place.on_surface", {"object": "Cup", "target": "Table", "at": [0.5, 0.25]})
    assert tuple(place("Cup")) == pytest.approx((0.5, 0.25, 2.5), abs=1e-5)


def test_what_cannot_rest_is_refused(stage: Stage) -> None:
    box(stage, "Table")
    box(stage, "Cup", location=[9, 0, 0])
    stage.do("object.create_empty", {"name": "Tip"})
    bpy.data.objects["Tip"].parent = bpy.data.objects["Cup"]
    child = bpy.data.objects.new("Tray", bpy.data.meshes["Table"])
    bpy.context.scene.collection.objects.link(child)
    child.parent = bpy.data.objects["Cup"]
    stage.state.refresh()
    cases = [
        ({"object": "Cup", "target": "Table"}, "SCENE_CONFLICT", "/object"),
        ({"object": "Cup", "target": "Table", "at": [1.5, 0]}, "SCENE_CONFLICT", "/at"),
        ({"object": "Cup", "target": "Cup"}, "SCENE_CONFLICT", "/target"),
        ({"object": "Cup", "target": "Tray"}, "SCENE_CONFLICT", "/target"),
        ({"object": "Cup", "target": "Tip"}, "SCENE_CONFLICT", "/target"),
        ({"object": "Cpu", "target": "Table"}, "TARGET_NOT_FOUND", "/object"),
        ({"object": "Cup", "target": "Tabel"}, "TARGET_NOT_FOUND", "/target"),
    ]
    for args, code, pointer in cases:
        finding = stage.refusal("place.on_surface", args)[0]
        assert (finding["code"], finding["pointer"]) == (code, pointer), args
        assert finding["cure"]


def test_what_has_no_surface_rests_on_its_origin(stage: Stage) -> None:
    box(stage, "Table")
    stage.do("object.create_empty", {"name": "Tip", "location": [0, 0, 9]})
    stage.do("place.on_surface", {"object": "Tip", "target": "Table"})
    assert tuple(place("Tip")) == pytest.approx((0, 0, 1))


# ---------------------------------------------------------------------- shapes that depend on their place


def cut(stage: Stage, name: str, cutter: str) -> None:
    settings = {"type": "BOOLEAN", "operation": "DIFFERENCE", "object": cutter}
    stage.do("modifier.add", {"object": name, "name": "Cut", "settings": settings})


def test_an_object_that_another_one_cuts_is_aligned_by_what_is_left_of_it(stage: Stage) -> None:
    box(stage, "Wall")
    box(stage, "Cutter", 4, location=[0, 0, 2.5])
    cut(stage, "Wall", "Cutter")
    assert bounds(stage, "Wall")[1][2] == pytest.approx(0.5)
    stage.do("place.align", {"objects": ["Wall"], "axis": "Z", "edge": "max", "value": 0.2})
    assert bounds(stage, "Wall")[1][2] == pytest.approx(0.2, abs=1e-5)


def test_an_object_that_is_cut_rests_on_what_is_left_of_it(stage: Stage) -> None:
    box(stage, "Table", location=[0, 0, -1.3])
    box(stage, "Foot")
    box(stage, "Cutter", 4, location=[0, 0, -2.5])
    cut(stage, "Foot", "Cutter")
    assert bounds(stage, "Foot")[0][2] == pytest.approx(-0.5)
    stage.do("place.on_surface", {"object": "Foot", "target": "Table"})
    assert bounds(stage, "Foot")[0][2] == pytest.approx(-0.3, abs=1e-5)


def test_a_shape_that_never_comes_to_rest_is_said_to_depend_on_its_place(stage: Stage) -> None:
    """The cutter takes away all that reaches the place to align to."""
    box(stage, "Wall")
    box(stage, "Cutter", 4, location=[0, 0, 2.5])
    cut(stage, "Wall", "Cutter")
    found = stage.refusal("place.align", {"objects": ["Wall"], "axis": "Z", "edge": "max", "value": 0.9})
    assert "changes with its position" in found[0]["message"] and found[0]["pointer"] == "/objects/0"
