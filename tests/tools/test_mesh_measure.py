"""mesh.measure: in which space and of which mesh it measures, and what it counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

if TYPE_CHECKING:
    from support.stage.stage import Stage

TETRAHEDRON: dict[str, Any] = {
    "name": "Tetra",
    "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "faces": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
}


def test_measures_are_taken_in_the_space_and_of_the_mesh_that_was_asked_for(stage: Stage) -> None:
    stage.do(
        "mesh.create_primitive", {"kind": "cube", "name": "Box", "size": 1, "scale": [2, 3, 4], "location": [5, 0, 0]}
    )
    settings = {"type": "ARRAY", "count": 2, "constant_offset": [1.5, 0, 0]}
    stage.do("modifier.add", {"object": "Box", "name": "Row", "settings": settings})
    world = stage.do("mesh.measure", {"object": "Box"})
    assert world["bounds_min"] == pytest.approx([4, -1.5, -2])
    assert world["dimensions"] == pytest.approx([5, 3, 4])
    assert world["volume"] == pytest.approx(48)
    assert world["area"] == pytest.approx(2 * 2 * (6 + 8 + 12))
    base = stage.do("mesh.measure", {"object": "Box", "evaluated": False})
    assert base["volume"] == pytest.approx(24)
    local = stage.do("mesh.measure", {"object": "Box", "evaluated": False, "space": "local"})
    assert (local["bounds_min"], local["volume"], local["faces"]) == ([-0.5, -0.5, -0.5], pytest.approx(1), 6)


def test_a_mirrored_object_still_looks_outward_and_an_inside_out_one_does_not(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box", "scale": [-1, 1, 1]})
    found = stage.do("mesh.measure", {"object": "Box"})
    assert (found["volume"], found["outward"]) == (pytest.approx(8), True)
    inside_out = [list(reversed(face)) for face in TETRAHEDRON["faces"]]
    stage.do("mesh.create", {**TETRAHEDRON, "faces": inside_out})
    found = stage.do("mesh.measure", {"object": "Tetra"})
    assert (found["volume"], found["outward"]) == (pytest.approx(1 / 6), False)


def test_volume_far_from_the_origin_keeps_its_digits(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box", "size": 2, "location": [8192, 8192, 8192]})
    assert stage.do("mesh.measure", {"object": "Box"})["volume"] == pytest.approx(8, rel=1e-5)


def test_open_crowded_and_flipped_edges_are_counted(stage: Stage) -> None:
    vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1]]
    stage.do("mesh.create", {"name": "Fan", "vertices": vertices, "faces": [[0, 1, 2], [1, 0, 3], [0, 1, 4]]})
    fan = stage.do("mesh.measure", {"object": "Fan"})
    assert (fan["open_edges"], fan["crowded_edges"], fan["manifold"], fan["volume"]) == (6, 1, False, None)
    flipped = [[0, 1, 2], *TETRAHEDRON["faces"][1:]]
    stage.do("mesh.create", {**TETRAHEDRON, "faces": flipped})
    tetra = stage.do("mesh.measure", {"object": "Tetra"})
    assert (tetra["flipped_edges"], tetra["manifold"], tetra["volume"]) == (3, True, None)


def test_measuring_changes_nothing_and_wants_a_surface(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    meshes = len(bpy.data.meshes)
    assert stage.call("mesh.measure", {"object": "Box"})["changes"] == []
    assert len(bpy.data.meshes) == meshes
    stage.do("object.create_empty", {"name": "Tip"})
    (finding,) = stage.refusal("mesh.measure", {"object": "Tip"})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/object")


def test_texts_and_curves_are_measured_when_there_is_something_of_them(stage: Stage) -> None:
    text: Any = bpy.data.curves.new("Text", "FONT")
    text.body, text.extrude = "HH", 0.25
    for data in (text, bpy.data.curves.new("Nothing", "CURVE")):
        bpy.context.scene.collection.objects.link(bpy.data.objects.new(data.name, data))
    stage.state.refresh()
    assert stage.do("mesh.measure", {"object": "Text"})["dimensions"][2] == pytest.approx(0.5)
    (finding,) = stage.refusal("mesh.measure", {"object": "Nothing"})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/object")


def test_what_is_not_evaluated_is_not_measured_as_if_it_were(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    bpy.data.objects["Box"].hide_viewport = True
    stage.state.refresh()
    (finding,) = stage.refusal("mesh.measure", {"object": "Box"})
    assert finding["code"] == "SCENE_CONFLICT"
    assert stage.do("mesh.measure", {"object": "Box", "evaluated": False})["volume"] == pytest.approx(8)
