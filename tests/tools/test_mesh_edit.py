"""mesh.edit: what each operation does to a mesh, what selectors select, and what is refused where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from tools.objects import box, named

if TYPE_CHECKING:
    from support.stage.stage import Stage

Document = dict[str, Any]
TOP: Document = {"normal": "+Z"}
SIDES: list[Document] = [{"normal": axis} for axis in ("+X", "-X", "+Y", "-Y")]


def edit(stage: Stage, *operations: Document, name: str = "Box") -> Document:
    return stage.do("mesh.edit", {"object": name, "operations": list(operations)})


def measure(stage: Stage, name: str = "Box") -> Document:
    return stage.do("mesh.measure", {"object": name})


def refused(stage: Stage, *operations: Document, name: str = "Box") -> Document:
    """The first finding about a list that cannot be done."""
    [finding, *_] = stage.refusal("mesh.edit", {"object": name, "operations": list(operations)})
    return finding


def pointers(stage: Stage, *operations: Document) -> list[str]:
    """Where arguments are wrong, found without a scene."""
    return stage.invalid("mesh.edit", {"object": "Box", "operations": list(operations)})


# ---------------------------------------------------------------------- operations


def test_extruding_moves_faces_along_their_normals_and_closes_the_sides(stage: Stage) -> None:
    box(stage)
    told = edit(stage, {"op": "extrude", "select": TOP, "distance": 0.5})
    assert told["operations"] == ["extrude 1 of 6 faces: +4 vertices, +8 edges, +4 faces"]
    assert told["open_edges"] == 0
    found = measure(stage)
    assert found["volume"] == pytest.approx(10.0) and found["flipped_edges"] == 0
    edit(stage, {"op": "extrude", "select": SIDES, "distance": 0.5, "name": "out"})
    # Neighbouring faces move apart, each by the distance.
    assert measure(stage)["dimensions"] == pytest.approx([3, 3, 2.5])


def test_an_open_sheet_that_is_extruded_becomes_a_closed_slab_that_looks_outward(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "grid", "name": "Sheet", "cells": 3})
    told = edit(stage, {"op": "extrude", "select": "all", "distance": 0.2}, name="Sheet")
    found = measure(stage, "Sheet")
    assert told["open_edges"] == 0 and found["flipped_edges"] == 0
    assert found["volume"] == pytest.approx(0.8, rel=1e-4)


def test_faces_are_extruded_one_by_one_and_edges_by_a_vector(stage: Stage) -> None:
    box(stage)
    edit(stage, {"op": "extrude", "select": SIDES, "distance": 0.5, "individual": True})
    assert measure(stage)["volume"] == pytest.approx(8 + 4 * 2.0)
    stage.do("mesh.create_primitive", {"kind": "plane", "name": "Strip"})
    rim = {"boundary": True, "box": [[0.9, None, None], [None, None, None]]}
    told = edit(stage, {"op": "extrude", "select": rim, "domain": "edges", "vector": [0, 0, 1]}, name="Strip")
    assert told["after"]["faces"] == 2 and measure(stage, "Strip")["dimensions"] == pytest.approx([2, 2, 1])


def test_what_an_operation_makes_is_selected_by_its_name(stage: Stage) -> None:
    stage.do("material.ensure_principled", {"name": "Red"})
    stage.do("material.ensure_principled", {"name": "Grey"})
    box(stage, material="Grey")
    told = edit(
        stage,
        {"op": "inset", "select": TOP, "thickness": 0.25, "name": "lid"},
        {"op": "extrude", "select": "lid", "distance": -0.5, "name": "well"},
        {"op": "material", "select": ["well", "well.sides"], "material": "Red"},
        {"op": "select", "select": {"material": "Red", "outside": "well"}, "name": "walls"},
        {"op": "transform", "select": "well", "translate": [0, 0, 0.1]},
        {"op": "shade", "select": "lid.sides", "angle_deg": 30},
    )
    assert [line.partition(":")[0] for line in told["operations"]] == [
        "inset 1 of 6 faces", "extrude 1 of 10 faces", "material 5 of 14 faces", "select 4 of 14 faces",
        "transform 4 of 16 vertices", "shade 4 of 14 faces",
    ]  # fmt: skip
    assert measure(stage)["volume"] == pytest.approx(8 - 1.5 * 1.5 * 0.4)
    faces = bpy.data.meshes["Box"].polygons
    assert sum(face.material_index for face in faces) == 5 and sum(face.use_smooth for face in faces) == 4


def test_names_stay_with_what_was_made_while_elements_are_put_in_order(stage: Stage) -> None:
    box(stage)
    each: Document = {"individual": True}
    edit(
        stage,
        {"op": "inset", "select": [*SIDES, TOP], "thickness": 0.25, "name": "panels", **each},
        {"op": "extrude", "select": "panels", "distance": -0.1, "name": "wells", **each},
        {"op": "inset", "select": "wells", "thickness": 0.25, "name": "plates", **each},
        {"op": "extrude", "select": "plates", "distance": 0.05, "name": "plates", **each},
        {"op": "extrude", "select": {"inside": "plates", "normal": "-Y"}, "distance": 0.5, "name": "knob"},
        {"op": "extrude", "select": "knob", "distance": 0.5},
    )
    # Five wells of 1.5 by 1.5, in each a plate of 1 by 1, and one of them drawn out.
    assert measure(stage)["volume"] == pytest.approx(8 - 5 * 2.25 * 0.1 + 5 * 0.05 + 1.0)
    assert measure(stage)["bounds_min"] == pytest.approx([-1, -1.95, -1])


def test_bevels_round_edges_and_corners_and_keep_a_mesh_closed(stage: Stage) -> None:
    box(stage)
    told = edit(stage, {"op": "bevel", "select": {"sharp_deg": 60}, "width": 0.2, "segments": 3, "name": "round"})
    assert told["operations"][0].startswith("bevel 12 of 12 edges") and told["open_edges"] == 0
    assert 7.0 < measure(stage)["volume"] < 8.0
    box(stage, "Cut")
    cut = {"op": "bevel", "select": "all", "domain": "vertices", "width": 0.5}
    assert edit(stage, cut, name="Cut")["after"] == {"vertices": 24, "edges": 36, "faces": 14}


def test_the_outline_of_faces_can_be_bevelled_alone(stage: Stage) -> None:
    box(stage)
    rim = {"normal": "+Z", "outline": True}
    assert edit(stage, {"op": "bevel", "select": rim, "width": 0.1})["operations"][0].startswith("bevel 4 of 12 edges")


def test_cuts_split_or_halve_a_mesh(stage: Stage) -> None:
    box(stage)
    loop: Document = {"op": "cut", "point": [0, 0, 0.5], "normal": "+Z", "name": "loop"}
    told = edit(stage, loop, {"op": "transform", "select": "loop", "scale": [0.5, 0.5, 1]})
    assert told["operations"][1] == "transform 4 of 12 vertices" and told["after"]["faces"] == 10
    box(stage, "Half", location=[0, 0, 5])
    half = {"op": "cut", "point": [0, 0, 5], "normal": "+Z", "space": "world", "remove": "above", "fill": True}
    assert edit(stage, half, name="Half")["open_edges"] == 0
    assert measure(stage, "Half")["volume"] == pytest.approx(4.0)


def test_a_tunnel_is_bridged_and_a_hole_filled(stage: Stage) -> None:
    box(stage)
    tunnel = [
        {"op": "inset", "select": [{"normal": "+X"}, {"normal": "-X"}], "thickness": 0.5, "name": "ends"},
        {"op": "bridge", "select": "ends", "domain": "faces"},
    ]
    assert edit(stage, *tunnel)["open_edges"] == 0
    assert measure(stage)["volume"] == pytest.approx(8 - 2 * 1 * 1)
    box(stage, "Open")
    edit(stage, {"op": "delete", "select": TOP}, name="Open")
    for triangles in (False, True):
        told = edit(stage, {"op": "fill", "select": "boundary", "triangles": triangles, "name": "cap"}, name="Open")
        assert told["open_edges"] == 0 and measure(stage, "Open")["flipped_edges"] == 0
        edit(stage, {"op": "delete", "select": TOP}, name="Open")


def test_subdividing_dissolving_welding_and_triangulating_change_counts_only(stage: Stage) -> None:
    box(stage)
    counts = [
        edit(stage, operation)["after"]
        for operation in (
            {"op": "subdivide", "cuts": 3},
            {"op": "dissolve", "angle_deg": 5},
            {"op": "triangulate"},
            {"op": "dissolve", "angle_deg": 5},
        )
    ]
    assert [count["faces"] for count in counts] == [96, 6, 12, 6]
    assert measure(stage)["volume"] == pytest.approx(8.0)
    told = edit(stage, {"op": "weld", "select": TOP, "distance": 3})
    assert told["after"]["vertices"] == 5


def test_a_part_becomes_an_object_of_the_same_place_and_materials(stage: Stage) -> None:
    stage.do("collection.create", {"name": "Parts"})
    stage.do("material.ensure_principled", {"name": "Red"})
    box(stage, location=[1, 2, 3], collection="Parts", material="Red")
    told = edit(stage, {"op": "separate", "select": TOP, "new_name": "Lid"})
    assert told["separated"] == ["Lid"] and told["after"]["faces"] == 5
    lid = named("Lid")
    assert lid.data.name == "Lid" and lid.users_collection[0].name == "Parts"
    assert [slot.material.name for slot in lid.material_slots] == ["Red"]
    assert measure(stage, "Lid")["bounds_min"] == pytest.approx([0, 1, 4])


def test_normals_are_turned(stage: Stage) -> None:
    box(stage)
    edit(stage, {"op": "normals", "look": "flip", "select": TOP})
    assert measure(stage)["flipped_edges"] == 4
    edit(stage, {"op": "normals"})
    assert measure(stage)["outward"] is True
    edit(stage, {"op": "normals", "look": "inward"})
    assert measure(stage)["outward"] is False


def test_marks_are_found_by_selectors(stage: Stage) -> None:
    box(stage)
    edit(stage, {"op": "mark", "select": TOP, "seam": True, "sharp": True, "crease": 0.75})
    mesh = bpy.data.meshes["Box"]
    assert [sum(edge.use_seam for edge in mesh.edges), sum(edge.use_edge_sharp for edge in mesh.edges)] == [4, 4]
    creases = [one.value for one in mesh.attributes["crease_edge"].data]
    assert sorted(creases)[-5:] == [0, 0.75, 0.75, 0.75, 0.75]
    for mark in ("seam", "sharp", "crease"):
        told = edit(stage, {"op": "mark", "select": {"marked": mark}, "seam": True})
        assert told["operations"] == ["mark 4 of 12 edges"]
    edit(stage, {"op": "mark", "select": "all", "seam": False, "sharp": False, "crease": 0})
    assert refused(stage, {"op": "mark", "select": {"marked": "seam"}, "seam": False})["pointer"]


def test_smooth_shading_leaves_sharp_edges_sharp(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cylinder", "name": "Rod", "segments": 24})
    edit(stage, {"op": "shade", "angle_deg": 40}, name="Rod")
    mesh = bpy.data.meshes["Rod"]
    assert all(face.use_smooth for face in mesh.polygons)
    assert sum(edge.use_edge_sharp for edge in mesh.edges) == 48, "the rims, not the round side"


# ---------------------------------------------------------------------- selectors


def test_space_decides_whose_directions_and_places_count(stage: Stage) -> None:
    box(stage, rotation_euler_deg=[0, 90, 0], location=[0, 0, 10])
    high: Document = {"normal": "+Z", "box": [[None, None, 10.9], [None, None, None]], "space": "world"}
    up: Document = {"op": "select", "select": high}
    assert edit(stage, up)["operations"] == ["select 1 of 6 faces"]
    finding = refused(stage, {"op": "select", "select": {**high, "space": "local"}})
    assert finding["message"] == "selects no faces: of 6 faces, normal fits 1, box fits 0"


def test_attributes_groups_and_face_sets_select(stage: Stage) -> None:
    obj = box(stage)
    values = [True, False, True, False, False, False]
    stage.do(
        "mesh.set_attribute", {"object": "Box", "name": "hot", "type": "BOOLEAN", "domain": "FACE", "values": values}
    )
    group = obj.vertex_groups.new(name="upper")
    group.add([vertex.index for vertex in obj.data.vertices if vertex.co.z > 0], 1.0, "REPLACE")
    sets = obj.data.attributes.new(".sculpt_face_set", "INT", "FACE")
    sets.data[3].value = 7
    stage.state.refresh()
    for selector, domain, count in (
        ({"attribute": "hot"}, "faces", 2),
        ({"vertex_group": "upper"}, "vertices", 4),
        ({"vertex_group": "upper"}, "edges", 4),
        ({"vertex_group": "upper"}, "faces", 1),
        ({"face_set": 7}, "faces", 1),
        ({"sides": 4}, "faces", 6),
    ):
        told = edit(stage, {"op": "select", "select": selector, "domain": domain})
        assert told["operations"][0].startswith(f"select {count} of"), selector
    kept = edit(
        stage,
        {"op": "subdivide", "select": {"vertex_group": "upper"}},
        {"op": "select", "select": {"attribute": "hot"}},
    )
    assert kept["after"]["faces"] > 6
    assert (
        refused(stage, {"op": "delete", "select": {"attribute": "cold"}})["pointer"] == "/operations/0/select/attribute"
    )
    missing = refused(stage, {"op": "delete", "select": {"vertex_group": "lower"}})
    assert (missing["pointer"], missing["cure"]) == ("/operations/0/select/vertex_group", "It has: upper.")


def test_loose_parts_are_selected_and_deleted(stage: Stage) -> None:
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [5, 5, 5], [6, 5, 5]]
    stage.do("mesh.create", {"name": "Box", "vertices": points, "faces": [[0, 1, 2]], "edges": [[3, 4]]})
    told = edit(stage, {"op": "delete", "select": "loose", "domain": "vertices"})
    assert told["after"] == {"vertices": 3, "edges": 3, "faces": 1}


# ---------------------------------------------------------------------- refusals


def test_a_selector_that_selects_nothing_is_told_with_what_was_there(stage: Stage) -> None:
    box(stage)
    good: Document = {"op": "inset", "select": TOP, "thickness": 0.1}
    finding = refused(stage, good, {"op": "delete", "select": {"sharp_deg": 100}, "domain": "edges"})
    assert finding["pointer"] == "/operations/1/select"
    assert finding["message"] == "selects no edges: of 20 edges, sharp_deg fits 0"
    named = refused(
        stage, {**good, "name": "lid"}, {"op": "delete", "select": "lid"}, {"op": "triangulate", "select": "lid"}
    )
    assert named["pointer"] == "/operations/2/select" and "'lid' has 0" in named["message"]


WRONG: list[tuple[list[Document], list[str]]] = [
    ([{"op": "extrude", "select": "lid", "distance": 1}], ["/operations/0/select"]),
    ([{"op": "extrude", "select": "last", "distance": 1}], ["/operations/0/select"]),
    ([{"op": "extrude", "select": TOP}], ["/operations/0"]),
    ([{"op": "extrude", "select": TOP, "distance": 1, "vector": [0, 0, 1]}], ["/operations/0"]),
    ([{"op": "extrude", "select": "boundary", "domain": "edges", "distance": 1}], ["/operations/0"]),
    ([{"op": "inset", "select": {}, "thickness": 1}], ["/operations/0/select"]),
    ([{"op": "inset", "select": TOP}], ["/operations/0"]),
    ([{"op": "bevel", "select": TOP, "width": -1}], ["/operations/0/width"]),
    ([{"op": "mark", "select": TOP}], ["/operations/0"]),
    ([{"op": "smash", "select": TOP}], ["/operations/0/op"]),
    ([{"op": "delete", "select": {"box": [[1, 0, 0], [0, 1, 1]]}}], ["/operations/0/select"]),
    ([{"op": "delete", "select": {"normal": [0, 0, 0]}}], ["/operations/0/select"]),
    ([{"op": "select", "select": TOP, "name": "all"}], ["/operations/0/name"]),
    (
        [{"op": "select", "select": TOP, "name": "a"}, {"op": "delete", "select": "a.sides"}],
        ["/operations/1/select"],
    ),
    (
        [{"op": "select", "select": TOP, "name": "a"}, {"op": "delete", "select": [TOP, {"inside": "b"}]}],
        ["/operations/1/select/1/inside"],
    ),
    (
        [{"op": "separate", "select": TOP, "new_name": "A"}, {"op": "separate", "select": SIDES, "new_name": "A"}],
        ["/operations/1/new_name"],
    ),
]


@pytest.mark.parametrize(("operations", "expected"), WRONG)
def test_what_is_wrong_in_itself_is_found_without_blender(
    stage: Stage, operations: list[Document], expected: list[str]
) -> None:
    found = pointers(stage, *operations)
    assert [one for one in expected if not any(place.startswith(one) for place in found)] == [], found


def test_the_scene_refuses_before_anything_is_done(stage: Stage) -> None:
    obj = box(stage)
    taken = refused(stage, {"op": "separate", "select": TOP, "new_name": "Box"})
    assert taken["pointer"] == "/operations/0/new_name"
    lost = refused(stage, {"op": "material", "select": TOP, "material": "Nothing"})
    assert lost["pointer"] == "/operations/0/material"
    other = refused(stage, {"op": "delete", "select": {"material": "Nothing"}})
    assert other["pointer"] == "/operations/0/select/material"
    obj.shape_key_add(name="Basis")
    stage.state.refresh()
    assert refused(stage, {"op": "triangulate"})["pointer"] == "/object"


def test_operations_that_cannot_be_done_say_which_and_why(stage: Stage) -> None:
    box(stage)
    assert refused(stage, {"op": "fill"})["message"] == "there is no hole to fill: 0 edges of the 12 selected are open"
    assert refused(stage, {"op": "bridge", "select": TOP, "domain": "faces"})["pointer"] == "/operations/0/select"
    assert "leave nothing" in refused(stage, {"op": "separate", "select": "all", "new_name": "All"})["message"]
    huge = [{"op": "subdivide", "cuts": 20}, {"op": "subdivide", "cuts": 100}]
    assert refused(stage, *huge)["pointer"] == "/operations/1"


def test_objects_that_share_the_mesh_change_together_and_a_revert_restores_all(stage: Stage) -> None:
    box(stage)
    stage.do("object.duplicate", {"object": "Box", "new_name": "Twin"})
    args = {"object": "Twin", "operations": [{"op": "subdivide", "cuts": 2}]}
    before = stage.state.full_root()
    assert stage.call("mesh.edit", args, rehearse="inverse")["reverted_by"] == "inverse"
    assert stage.state.full_root() == before
    stage.do("mesh.edit", args)
    assert named("Box").data == named("Twin").data and len(named("Box").data.polygons) == 54
