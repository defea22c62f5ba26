"""The tools of meshes: what they make, measure and refuse."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.tools.mesh.primitive_shapes import BUILDERS

if TYPE_CHECKING:
    from support.stage.stage import Stage

# Kind, other arguments, (vertices, edges, faces), closed, size along X, Y and Z.
PRIMITIVES: list[tuple[str, dict[str, Any], tuple[int, int, int], bool, tuple[float, float, float]]] = [
    ("cube", {"size": 3}, (8, 12, 6), True, (3, 3, 3)),
    ("plane", {"size": 3}, (4, 4, 1), False, (3, 3, 0)),
    ("grid", {"size": 2, "cells": 4}, (25, 40, 16), False, (2, 2, 0)),
    ("grid", {"size": 2, "cells": 1}, (4, 4, 1), False, (2, 2, 0)),
    ("circle", {"segments": 4}, (4, 4, 1), False, (2, 2, 0)),
    ("circle", {"segments": 4, "fill": False}, (4, 4, 0), False, (2, 2, 0)),
    ("uv_sphere", {"segments": 8, "rings": 4, "radius": 2}, (26, 56, 32), True, (4, 4, 4)),
    ("uv_sphere", {"segments": 3, "rings": 3}, (8, 15, 9), True, (1.299038, 1.5, 2)),
    ("ico_sphere", {"subdivisions": 1}, (12, 30, 20), True, (1.701302, 1.701302, 1.701302)),
    ("ico_sphere", {"subdivisions": 3}, (162, 480, 320), True, (2, 2, 2)),
    ("cylinder", {"segments": 4, "depth": 5}, (8, 12, 6), True, (2, 2, 5)),
    ("cylinder", {"segments": 4, "fill": False}, (8, 12, 4), False, (2, 2, 2)),
    ("cone", {"segments": 4, "depth": 3}, (5, 8, 5), True, (2, 2, 3)),
    ("cone", {"segments": 4, "radius_top": 0.5}, (8, 12, 6), True, (2, 2, 2)),
    ("cone", {"segments": 4, "fill": False}, (5, 8, 4), False, (2, 2, 2)),
    ("torus", {"segments": 8, "rings": 4, "tube_radius": 0.5}, (32, 64, 32), True, (3, 3, 1)),
]


@pytest.mark.parametrize(("kind", "more", "counts", "closed", "size"), PRIMITIVES)
def test_a_primitive_has_its_counts_and_size_and_looks_outward(
    stage: Stage,
    kind: str,
    more: dict[str, Any],
    counts: tuple[int, int, int],
    closed: bool,
    size: tuple[float, float, float],
) -> None:
    stage.do("mesh.create_primitive", {"kind": kind, "name": "It", **more})
    found = stage.do("mesh.measure", {"object": "It"})
    assert (found["vertices"], found["edges"], found["faces"]) == counts
    assert found["manifold"] is closed
    assert (found["volume"] is not None) is closed
    assert found["outward"] is (True if closed else None)
    assert found["flipped_edges"] == 0
    assert found["dimensions"] == pytest.approx(size, abs=1e-5)
    mesh = bpy.data.meshes["It"]
    assert not mesh.validate(verbose=False)
    assert not any(face.use_smooth for face in mesh.polygons)


def test_every_kind_of_primitive_is_tested() -> None:
    assert {kind for kind, *_ in PRIMITIVES} == set(BUILDERS)


def test_open_primitives_look_up(stage: Stage) -> None:
    for kind in ("plane", "grid", "circle"):
        stage.do("mesh.create_primitive", {"kind": kind, "name": kind})
        assert all(face.normal.z > 0.99 for face in bpy.data.meshes[kind].polygons)


def test_round_primitives_approach_the_volume_of_the_true_shape(stage: Stage) -> None:
    fine = {"segments": 256, "rings": 128, "subdivisions": 6}
    volumes = {
        "uv_sphere": 4 / 3 * math.pi,
        "ico_sphere": 4 / 3 * math.pi,
        "cylinder": 2 * math.pi,
        "cone": 2 / 3 * math.pi,
        "torus": 2 * math.pi**2 * 0.25**2,
    }
    for kind, volume in volumes.items():
        stage.do("mesh.create_primitive", {"kind": kind, "name": kind, **fine})
        assert stage.do("mesh.measure", {"object": kind})["volume"] == pytest.approx(volume, rel=2e-3)


def test_a_primitive_is_placed_and_made_once(stage: Stage) -> None:
    args = {"kind": "cube", "name": "Box", "location": [1, 2, 3], "rotation_euler_deg": [0, 0, 90], "scale": [1, 2, 1]}
    assert stage.do("mesh.create_primitive", args)["created"]
    assert not stage.do("mesh.create_primitive", args)["created"]
    found = stage.do("mesh.measure", {"object": "Box"})
    assert found["bounds_min"] == pytest.approx([-1, 1, 2], abs=1e-5)
    assert found["dimensions"] == pytest.approx([4, 2, 2], abs=1e-5)
    codes = {finding["code"] for finding in stage.refusal("mesh.create_primitive", {**args, "size": 1})}
    assert codes == {"SCENE_CONFLICT"}


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"kind": "pyramid"}, "/kind"),
        ({"size": 0}, "/size"),
        ({"size": float("nan")}, "/size"),
        ({"size": float("inf")}, "/size"),
        ({"segments": 2}, "/segments"),
        ({"segments": 1025}, "/segments"),
        ({"segments": 8.5}, "/segments"),
        ({"subdivisions": 8}, "/subdivisions"),
        ({"cells": 0}, "/cells"),
        ({"radius_top": -1}, "/radius_top"),
        ({"location": [0, 0]}, "/location"),
        ({"colour": 1}, "/colour"),
        ({"name": ""}, "/name"),
    ],
)
def test_a_primitive_with_wrong_measures_is_refused(stage: Stage, wrong: dict[str, Any], pointer: str) -> None:
    assert pointer in stage.invalid("mesh.create_primitive", {"kind": "cube", "name": "Box", **wrong})


# ---------------------------------------------------------------------- mesh.create

TETRAHEDRON: dict[str, Any] = {
    "name": "Tetra",
    "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "faces": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
}


def test_a_mesh_is_made_from_vertices_edges_and_faces(stage: Stage) -> None:
    stage.do(
        "mesh.create", {**TETRAHEDRON, "vertices": [*TETRAHEDRON["vertices"], [2, 2, 2]], "edges": [[3, 4], [0, 1]]}
    )
    mesh = bpy.data.meshes["Tetra"]
    assert [tuple(vertex.co) for vertex in mesh.vertices][4] == (2, 2, 2)
    assert [tuple(face.vertices) for face in mesh.polygons] == [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]
    assert len(mesh.edges) == 7
    assert not mesh.validate(verbose=False)
    assert stage.do("mesh.measure", {"object": "Tetra"})["loose_edges"] == 1


def test_an_equal_mesh_is_found_and_another_one_is_a_conflict(stage: Stage) -> None:
    path = {"name": "Path", "vertices": [[0, 0, 0], [1, 0, 0], [2, 0, 0]], "edges": [[0, 1], [1, 2]]}
    assert stage.do("mesh.create", path)["created"]
    assert not stage.do("mesh.create", path)["created"]
    others: list[dict[str, Any]] = [
        {"edges": [[0, 1], [0, 2]]},
        {"vertices": [[0, 0, 0], [1, 0, 0], [2, 0, 1]]},
        {"edges": []},
    ]
    for other in others:
        findings = stage.refusal("mesh.create", {**path, **other})
        assert findings[0]["pointer"] == "/name"


@pytest.mark.parametrize(
    ("wrong", "pointers"),
    [
        ({"faces": [[0, 2, 1], [0, 1, 4]]}, ["/faces/1/2"]),
        ({"faces": [[0, 2, 2]]}, ["/faces/0/2"]),
        ({"faces": [[0, 1, 9, 9]]}, ["/faces/0/2", "/faces/0/3"]),
        ({"faces": [[0, 2, 1], [0, 1, 3], [1, 2, 0]]}, ["/faces/2"]),
        ({"edges": [[0, 4]]}, ["/edges/0/1"]),
        ({"edges": [[1, 1]]}, ["/edges/0/1"]),
        ({"edges": [[0, 1], [1, 0]]}, ["/edges/1"]),
    ],
)
def test_indices_that_make_no_mesh_are_pointed_at(stage: Stage, wrong: dict[str, Any], pointers: list[str]) -> None:
    findings = stage.refusal("mesh.create", {**TETRAHEDRON, **wrong})
    assert [finding["pointer"] for finding in findings] == pointers
    assert all(finding["code"] == "ARGS_INVALID" and finding["cure"] for finding in findings)


def test_a_thousand_wrong_indices_become_a_short_list(stage: Stage) -> None:
    faces = [[number, number + 1, number + 2] for number in range(4, 1000)]
    assert len(stage.refusal("mesh.create", {**TETRAHEDRON, "faces": faces})) == 50


def test_a_mesh_needs_vertices_whole_indices_and_faces_of_three(stage: Stage) -> None:
    assert stage.invalid("mesh.create", {**TETRAHEDRON, "vertices": []}) == ["/vertices"]
    assert stage.invalid("mesh.create", {**TETRAHEDRON, "faces": [[0, 1]]}) == ["/faces/0"]
    assert stage.invalid("mesh.create", {**TETRAHEDRON, "faces": [[0, 1, -1]]}) == ["/faces/0/2"]
    assert stage.invalid("mesh.create", {**TETRAHEDRON, "edges": [[0, 1, 2]]}) == ["/edges/0"]
    assert stage.invalid("mesh.create", {**TETRAHEDRON, "vertices": [[0, 0, 0]] * 200_001}) == ["/vertices"]


def test_a_single_vertex_is_a_mesh(stage: Stage) -> None:
    stage.do("mesh.create", {"name": "Dot", "vertices": [[1, 2, 3]]})
    found = stage.do("mesh.measure", {"object": "Dot"})
    assert (found["bounds_min"], found["dimensions"], found["area"]) == ([1, 2, 3], [0, 0, 0], 0)
    assert not found["manifold"]


# ---------------------------------------------------------------------- mesh.shade


def test_shading_goes_to_all_faces_and_back_to_the_same_hash(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    before = stage.state.root()
    assert stage.do("mesh.shade", {"object": "Box", "shading": "smooth"})["changed"]
    assert all(face.use_smooth for face in bpy.data.meshes["Box"].polygons)
    assert not stage.do("mesh.shade", {"object": "Box", "shading": "smooth"})["changed"]
    assert stage.do("mesh.shade", {"object": "Box", "shading": "flat"})["changed"]
    assert stage.state.root() == before


def test_shading_wants_a_mesh(stage: Stage) -> None:
    stage.do("object.create_empty", {"name": "Tip"})
    (finding,) = stage.refusal("mesh.shade", {"object": "Tip", "shading": "flat"})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/object")
    (finding,) = stage.refusal("mesh.shade", {"object": "Tipp", "shading": "flat"})
    assert (finding["code"], finding["cure"]) == ("TARGET_NOT_FOUND", "Did you mean 'Tip'?")


# ---------------------------------------------------------------------- a material per face, and the monkey


def test_a_mesh_can_have_a_material_per_face(stage: Stage) -> None:
    for name in ("Red", "Grey"):
        stage.do("material.ensure_principled", {"name": name})
    corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1]]
    faces = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
    args = {"name": "Tent", "vertices": corners, "faces": faces, "materials": ["Red", "Grey"]}
    stage.do("mesh.create", {**args, "face_materials": [1, 0, 1, 0]})
    mesh = bpy.data.meshes["Tent"]
    assert [one.name for one in mesh.materials] == ["Red", "Grey"]
    assert [face.material_index for face in mesh.polygons] == [1, 0, 1, 0]
    assert not stage.do("mesh.create", {**args, "face_materials": [1, 0, 1, 0]})["created"]
    assert {one["pointer"] for one in stage.refusal("mesh.create", args)} == {"/name", "/face_materials"}
    wrong = stage.refusal("mesh.create", {**args, "name": "New", "face_materials": [0, 2, 0]})
    assert [one["pointer"] for one in wrong] == ["/face_materials", "/face_materials/1"]
    missing = stage.refusal("mesh.create", {**args, "name": "New", "materials": ["Red", "Gray"]})
    assert [one["pointer"] for one in missing] == ["/materials/1"]
    stage.invalid("mesh.create", {**args, "material": "Red"})


def test_the_monkey_is_as_large_as_asked_for_and_the_same_everywhere(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "monkey", "name": "Suzanne", "size": 1.5, "origin": "bottom"})
    found = stage.do("mesh.measure", {"object": "Suzanne"})
    assert (found["vertices"], found["faces"]) == (507, 500)
    assert max(found["dimensions"]) == pytest.approx(1.5) and found["bounds_min"][2] == pytest.approx(0, abs=1e-6)
    positions = [round(value, 5) for vertex in bpy.data.meshes["Suzanne"].vertices for value in vertex.co]
    assert hashlib.sha256(repr(positions).encode()).hexdigest()[:12] == "8f934837647d"
