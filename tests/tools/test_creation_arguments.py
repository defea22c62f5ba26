"""What creating tools take beside a place: material, parent, shading, dimensions and a bevel; and moving to a collection."""

from __future__ import annotations

from typing import Any

import pytest

from stage import Stage

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
