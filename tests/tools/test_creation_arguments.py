"""What creating tools take beside a place: material, parent, shading, dimensions and a bevel; and moving to a collection."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from support.stage.stage import Stage

RED = {"name": "Red", "base_color": [0.8, 0.05, 0.05]}
TOP = {
    "kind": "cube",
    "name": "Top",
    "dimensions": [1.2, 0.8, 0.04],
    "bevel": 0.01,
    "material": "Red",
    "parent": "Table",
}
SURFACES: dict[str, dict[str, Any]] = {
    "mesh.create_primitive": {"kind": "plane"},
    "mesh.create": {"vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "faces": [[0, 1, 2]]},
    "curve.create": {"kind": "POLY", "points": [[0, 0, 0], [1, 0, 0]]},
    "text.create": {"body": "A"},
}


def inspected(stage: Stage, name: str) -> dict[str, Any]:
    return stage.do("object.inspect", {"object": name})


def test_one_call_makes_a_box_of_its_size_with_material_parent_and_bevel(stage: Stage) -> None:
    stage.do("material.ensure_principled", RED)
    stage.do("object.create_empty", {"name": "Table", "location": [2, 0, 1]})
    assert stage.do("mesh.create_primitive", TOP)["created"]
    about = inspected(stage, "Top")
    assert about["materials"] == ["Red"] and about["parent"] == "Table"
    (bevel,) = about["modifiers"]
    assert bevel["type"] == "BEVEL" and bevel["settings"]["width"] == pytest.approx(0.01)
    measured = stage.do("mesh.measure", {"object": "Top"})
    assert measured["dimensions"] == pytest.approx([1.2, 0.8, 0.04], abs=1e-5)
    assert measured["bounds_min"] == pytest.approx([1.4, -0.4, 0.98], abs=1e-5)
    again = stage.call("mesh.create_primitive", TOP)
    assert again["ok"] and again["before"] == again["after"]


@pytest.mark.parametrize(("origin", "low", "high"), [("bottom", 0.0, 0.7), ("center", -0.35, 0.35), ("top", -0.7, 0.0)])
@pytest.mark.parametrize("shape", [{"kind": "cylinder", "depth": 0.7}, {"kind": "cube", "dimensions": [1, 1, 0.7]}])
def test_the_origin_is_at_an_end_of_a_shape_or_in_its_middle(
    stage: Stage, shape: dict[str, Any], origin: str, low: float, high: float
) -> None:
    args = {**shape, "name": "Leg", "origin": origin, "location": [0, 0, 2]}
    stage.do("mesh.create_primitive", args)
    measured = stage.do("mesh.measure", {"object": "Leg"})
    assert (measured["bounds_min"][2], measured["bounds_max"][2]) == pytest.approx((2 + low, 2 + high), abs=1e-5)
    assert inspected(stage, "Leg")["location"] == pytest.approx([0, 0, 2])
    other = "center" if origin == "bottom" else "bottom"
    refusals = stage.refusal("mesh.create_primitive", {**args, "origin": other})
    assert "/kind" in [finding["pointer"] for finding in refusals]


@pytest.mark.parametrize(
    "change",
    [{"material": "Blue"}, {"parent": None}, {"bevel": 0.02}, {"dimensions": [1, 1, 1]}, {"shading": "smooth"}],
)
def test_an_object_that_is_otherwise_is_not_taken_for_the_same(stage: Stage, change: dict[str, Any]) -> None:
    for material in (RED, {**RED, "name": "Blue"}):
        stage.do("material.ensure_principled", material)
    stage.do("object.create_empty", {"name": "Table"})
    stage.do("mesh.create_primitive", TOP)
    (argument,) = change
    pointers = [finding["pointer"] for finding in stage.refusal("mesh.create_primitive", TOP | change)]
    assert f"/{'kind' if argument == 'dimensions' else argument}" in pointers


def test_what_is_not_there_is_named(stage: Stage) -> None:
    pointers = [finding["pointer"] for finding in stage.refusal("mesh.create_primitive", TOP)]
    assert pointers == ["/parent", "/material"]


@pytest.mark.parametrize("tool", SURFACES)
def test_everything_with_a_surface_takes_a_material(stage: Stage, tool: str) -> None:
    stage.do("material.ensure_principled", RED)
    stage.do(tool, {**SURFACES[tool], "name": "Thing", "material": "Red"})
    assert inspected(stage, "Thing")["materials"] == ["Red"]


def test_a_bevel_of_nothing_is_none(stage: Stage) -> None:
    for kind in ("cube", "plane"):
        stage.do("mesh.create_primitive", {"kind": kind, "name": kind, "bevel": 0})
        assert stage.do("object.inspect", {"object": kind})["modifiers"] == []


BLOCK: dict[str, Any] = {
    "name": "Block",
    "vertices": [[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)],
    "faces": [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]],
}


def test_edges_of_an_explicit_mesh_are_rounded_as_those_of_a_box(stage: Stage) -> None:
    round_block = {**BLOCK, "bevel": 0.1, "bevel_segments": 2}
    assert stage.do("mesh.create", round_block)["notes"] == []
    (bevel,) = inspected(stage, "Block")["modifiers"]
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box", "bevel": 0.1, "bevel_segments": 2})
    assert inspected(stage, "Box")["modifiers"] == [bevel]
    assert stage.do("mesh.measure", {"object": "Block"})["volume"] < 0.99
    again = stage.call("mesh.create", round_block)
    assert again["ok"] and again["before"] == again["after"]
    assert [one["pointer"] for one in stage.refusal("mesh.create", {**round_block, "bevel": 0.2})][-1] == "/bevel"
    line = {"name": "Line", "vertices": [[0, 0, 0], [1, 0, 0]], "edges": [[0, 1]]}
    assert stage.invalid("mesh.create", {**line, "bevel": 0.1}) == [""]
    stage.do("mesh.create", {**line, "bevel": 0})


def test_a_closed_mesh_whose_faces_look_inward_says_so_and_is_mended_by_what_it_names(stage: Stage) -> None:
    inward = [face[::-1] for face in BLOCK["faces"]]
    far = [[x + 5000, y, z] for x, y, z in BLOCK["vertices"]]
    (note,) = stage.do("mesh.create", {**BLOCK, "faces": inward, "vertices": far})["notes"]
    assert note.startswith("'Block' has normals that point inward: ") and "mesh.clean" in note
    assert len(stage.do("scene.audit", {"rules": ["inside_out"]})["findings"]) == 1
    stage.do("mesh.clean", {"object": "Block"})
    assert not stage.do("scene.audit", {"rules": ["inside_out"]})["findings"]
    mixed = [*inward[:1], *BLOCK["faces"][1:]]
    (note,) = stage.do("mesh.create", {**BLOCK, "name": "Mixed", "faces": mixed})["notes"]
    assert "and others that point outward" in note
    assert stage.do("mesh.create", {**BLOCK, "name": "Open", "faces": inward[1:]})["notes"] == []
    flat = {"vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "faces": [[0, 2, 1]]}
    assert stage.do("mesh.create", {**flat, "name": "Flat"})["notes"] == []


@pytest.mark.parametrize("args", [{"kind": "uv_sphere", "dimensions": [1, 1, 1]}, {"kind": "plane", "bevel": 0.1}])
def test_measures_belong_to_their_shapes(stage: Stage, args: dict[str, Any]) -> None:
    assert stage.invalid("mesh.create_primitive", {**args, "name": "Thing"}) == [f"/{list(args)[1]}"]


def test_shading_is_that_of_the_faces(stage: Stage) -> None:
    ball = {"kind": "uv_sphere", "name": "Ball", "shading": "smooth"}
    stage.do("mesh.create_primitive", ball)
    assert stage.do("mesh.shade", {"object": "Ball", "shading": "smooth"})["changed"] is False
    assert stage.do("mesh.create_primitive", ball)["created"] is False
    stage.do("mesh.shade", {"object": "Ball", "shading": "flat"})
    assert [finding["pointer"] for finding in stage.refusal("mesh.create_primitive", ball)][-1] == "/shading"


def test_every_creating_tool_takes_a_parent(stage: Stage) -> None:
    stage.do("object.create_empty", {"name": "Table", "location": [0, 0, 5]})
    for tool, args in {
        **SURFACES,
        "camera.create": {},
        "light.create": {"type": "POINT"},
        "object.create_empty": {},
    }.items():
        name = f"Child of {tool}"
        stage.do(tool, {**args, "name": name, "parent": "Table", "location": [1, 0, 0]})
        assert inspected(stage, name)["parent"] == "Table"
        (found,) = stage.do("scene.find", {"name": name})["objects"]
        assert found["position"] == pytest.approx([1, 0, 5])


def test_moving_to_a_collection_leaves_no_other(stage: Stage) -> None:
    for name in ("Props", "Old"):
        stage.do("collection.create", {"name": name})
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box", "collection": "Old"})
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Lid"})
    stage.do("collection.link_object", {"object": "Lid", "collection": "Old"})
    moved = stage.do("collection.move_objects", {"objects": ["Box", "Lid"], "collection": "Props"})
    assert moved == {"objects": ["Box", "Lid"], "collection": "Props", "changed": True}
    assert inspected(stage, "Box")["collections"] == inspected(stage, "Lid")["collections"] == ["Props"]
    assert stage.do("collection.move_objects", {"objects": ["Lid"], "collection": "Props"})["changed"] is False
    findings = stage.refusal("collection.move_objects", {"objects": ["Box", "Boxx"], "collection": "Prop"})
    assert [finding["pointer"] for finding in findings] == ["/objects/1", "/collection"]


def test_the_scenes_own_collection_has_one_name(stage: Stage) -> None:
    stage.do("collection.create", {"name": "Props"})
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box", "collection": "Props"})
    for name in (None, "Scene Collection", "scene:Scene"):
        stage.do("collection.move_objects", {"objects": ["Box"], "collection": "Props"})
        assert (
            stage.do("collection.move_objects", {"objects": ["Box"], "collection": name})["collection"]
            == "Scene Collection"
        )
        (shown,) = stage.do("scene.snapshot", {"include": ["objects"]})["objects"]["items"]
        assert shown["collections"] == inspected(stage, "Box")["collections"] == ["Scene Collection"]
    (root,) = stage.do("scene.snapshot", {"include": ["collections"]})["collections"]["items"]
    assert root["name"] == "Scene Collection"


@pytest.mark.parametrize("target", ["Box", [2, 1, 3]])
@pytest.mark.parametrize("tool", [("camera.create", {}), ("light.create", {"type": "SPOT"})])
def test_what_is_made_looking_at_something_stands_as_if_it_was_aimed_later(
    stage: Stage, tool: tuple[str, dict[str, Any]], target: Any
) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box", "location": [2, 1, 3]})
    stage.do("object.create_empty", {"name": "Arm", "location": [1, 2, 0], "rotation_euler_deg": [20, 30, 40]})
    for number, place in enumerate(({}, {"parent": "Arm"}, {"parent": "Arm", "location": [0, 0, 4]})):
        asked = {"location": [5, -4, 1], **place, **tool[1]}
        made, later = f"Made{number}", f"Later{number}"
        assert stage.do(tool[0], {**asked, "name": made, "look_at": target})["created"]
        stage.do(tool[0], {**asked, "name": later})
        stage.do("camera.look_at", {"object": later, "target" if target == "Box" else "point": target})
        one, other = (inspected(stage, name)["rotation_euler_deg"] for name in (made, later))
        assert one == pytest.approx(other, abs=1e-3)
        again = stage.call(tool[0], {**asked, "name": made, "look_at": target})
        assert again["ok"] and again["before"] == again["after"]


def test_what_cannot_be_looked_at_is_said(stage: Stage) -> None:
    eye = {"name": "Eye", "location": [1, 1, 1]}
    [missing] = stage.refusal("camera.create", {**eye, "look_at": "Nobody"})
    assert (missing["code"], missing["pointer"]) == ("TARGET_NOT_FOUND", "/look_at")
    [here] = stage.refusal("camera.create", {**eye, "look_at": [1, 1, 1]})
    assert (here["code"], here["pointer"]) == ("SCENE_CONFLICT", "/look_at")
    assert stage.invalid(
        "light.create", {**eye, "type": "SUN", "look_at": [0, 0, 0], "rotation_euler_deg": [1, 0, 0]}
    ) == ["/look_at"]
    for name, scale in (("Flat", [1, 1, 5]), ("Mirror", [-1, 1, 1])):
        stage.do("object.create_empty", {"name": name, "scale": scale, "rotation_euler_deg": [30, 20, 0]})
        [askew] = stage.refusal("camera.create", {**eye, "name": "Askew", "parent": name, "look_at": [4, 0, 0]})
        assert askew["pointer"] == "/look_at" and "object.set_parent" in askew["cure"]
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    stage.do("camera.create", {**eye, "look_at": "Box"})
    stage.do("object.transform", {"object": "Box", "location": [0, 5, 0]})
    findings = stage.refusal("camera.create", {**eye, "look_at": "Box"})
    assert "/rotation_euler_deg" in [one["pointer"] for one in findings], "it looks where the box was"


FLAP: dict[str, Any] = {
    "name": "Flap",
    "vertices": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 2, 1], [0, 2, 1]],
    "faces": [[0, 1, 2, 3], [3, 2, 4, 5]],
}
UVS = [[[0, 0], [0.5, 0], [0.5, 0.5], [0, 0.5]], [[0, 0.5], [0.5, 0.5], [0.5, 1], [0, 1]]]


def test_a_mesh_is_made_with_its_uvs_seams_and_sharp_edges(stage: Stage) -> None:
    args = {**FLAP, "uvs": UVS, "seams": [[3, 2]], "sharp": [[2, 3], [0, 1]], "shading": "smooth"}
    assert stage.do("mesh.create", args)["created"]
    mesh: Any = bpy.data.meshes["Flap"]
    assert [tuple(one.vector) for one in mesh.uv_layers["UVMap"].uv] == [tuple(uv) for face in UVS for uv in face]
    marks = {tuple(sorted(edge.vertices)): (edge.use_seam, edge.use_edge_sharp) for edge in mesh.edges}
    assert {pair: mark for pair, mark in marks.items() if any(mark)} == {(2, 3): (True, True), (0, 1): (False, True)}
    again = stage.call("mesh.create", args)
    assert again["ok"] and again["before"] == again["after"]
    for field, value in (("uvs", UVS[::-1]), ("seams", [[0, 1]]), ("sharp", [])):
        pointers = [one["pointer"] for one in stage.refusal("mesh.create", {**args, field: value})]
        assert f"/{field}" in pointers


def test_uvs_and_marks_that_do_not_fit_the_faces_are_named(stage: Stage) -> None:
    def pointers(**more: Any) -> list[str]:
        return [one["pointer"] for one in stage.refusal("mesh.create", {**FLAP, **more})]

    assert pointers(uvs=UVS[:1]) == ["/uvs"]
    assert pointers(uvs=[UVS[0], UVS[1][:3]]) == ["/uvs/1"]
    assert pointers(seams=[[2, 3], [0, 4]], sharp=[[0, 99]]) == ["/seams/1", "/sharp/0"]
