"""scene.find: the right objects, page by page."""

from __future__ import annotations

from typing import Any

import pytest

from support.stage.stage import Stage


@pytest.fixture
def row(stage: Stage) -> Stage:
    """Three cubes of 2 m along X, five metres apart, and an empty."""
    import bpy

    blocks: Any = bpy.data
    for number in range(3):
        stage.do("mesh.create_primitive", {"kind": "cube", "name": f"Box{number}", "location": [5 * number, 0, 0]})
    stage.do("object.create_empty", {"name": "Pivot", "location": [5, 0, 0]})
    blocks.objects["Box1"].data.materials.append(blocks.materials.new("Red"))
    blocks.objects["Box1"]["rank"] = 2
    blocks.objects["Box2"]["rank"] = True
    blocks.objects["Pivot"]["rank"] = "high"
    stage.state.refresh()
    return stage


def names(stage: Stage, **filters: Any) -> list[str]:
    return [entry["name"] for entry in stage.do("scene.find", filters, verify=True)["objects"]]


def test_without_filters_everything_is_found_with_its_world_position(row: Stage) -> None:
    import bpy

    blocks: Any = bpy.data
    blocks.objects["Pivot"].parent = blocks.objects["Box2"]
    row.state.refresh()
    found = row.do("scene.find", {})
    assert found["total"] == 4
    assert found["objects"][3] == {"name": "Pivot", "type": "EMPTY", "position": [15.0, 0.0, 0.0]}


def test_filters_hold_together(row: Stage) -> None:
    assert names(row, name="Box*") == ["Box0", "Box1", "Box2"]
    assert names(row, name="Box[12]") == []
    assert names(row, type="EMPTY") == ["Pivot"]
    assert names(row, material="Red") == ["Box1"]
    assert names(row, material="Red", name="*2") == []


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("a*a*b?c", ["aXab.c", "aaab\\c"]),
        ("*b?c", ["aXab.c", "aaab\\c"]),
        ("a\\", []),
        ("*\\*", ["aaab\\c"]),
        ("[!a]*", ["[!a]]"]),
        ("*]", ["[!a]]"]),
        ("?????", ["[!a]]"]),
    ],
)
def test_only_stars_and_question_marks_are_wildcards(stage: Stage, pattern: str, found: list[str]) -> None:
    for name in ("aXab.c", "aaab\\c", "[!a]]"):
        stage.do("object.create_empty", {"name": name})
    assert names(stage, name=pattern) == found


def test_no_pattern_keeps_the_worker_busy(stage: Stage) -> None:
    stage.do("object.create_empty", {"name": "a" * 60})
    # Trying every way to share the name out among the stars would take longer than the time limit of the test.
    assert names(stage, name="a*" * 30 + "b") == []
    assert names(stage, name="a*" * 30 + "a") == ["a" * 60]


def test_custom_properties_are_found_by_key_and_value(row: Stage) -> None:
    assert names(row, property={"key": "rank"}) == ["Box1", "Box2", "Pivot"]
    assert names(row, property={"key": "rank", "equals": 2}) == ["Box1"]
    assert names(row, property={"key": "rank", "equals": True}) == ["Box2"]
    assert names(row, property={"key": "rank", "equals": "high"}) == ["Pivot"]
    assert names(row, property={"key": "location"}) == []


@pytest.mark.parametrize(
    ("test", "expected"),
    [("origin", ["Box1", "Pivot"]), ("overlaps", ["Box1", "Box2", "Pivot"]), ("inside", ["Pivot"])],
)
def test_a_box_holds_origins_or_bounds(row: Stage, test: str, expected: list[str]) -> None:
    assert names(row, box={"min": [4.5, -2, -2], "max": [9.5, 2, 2], "test": test}) == expected


def test_bounds_follow_the_world_matrix(row: Stage) -> None:
    row.do("object.create_empty", {"name": "Far", "location": [0, 50, 0], "scale": [3, 3, 3]})
    import bpy

    blocks: Any = bpy.data
    blocks.objects["Box0"].parent = blocks.objects["Far"]
    row.state.refresh()
    assert names(row, box={"min": [-3, 47, -3], "max": [3, 53, 3], "test": "inside"}, type="MESH") == ["Box0"]
    assert names(row, box={"min": [-2, 40, -2], "max": [2, 60, 2], "test": "inside"}, type="MESH") == []


def test_pages_lead_on(row: Stage) -> None:
    first = row.do("scene.find", {"limit": 3})
    assert (len(first["objects"]), first["next_offset"], first["total"]) == (3, 3, 4)
    last = row.do("scene.find", {"limit": 3, "offset": 3})
    assert ([entry["name"] for entry in last["objects"]], last["next_offset"]) == (["Pivot"], None)


def test_unknown_names_and_bad_boxes_are_refused(row: Stage) -> None:
    (finding,) = row.refusal("scene.find", {"material": "Rad"})
    assert (finding["code"], finding["pointer"], finding["cure"]) == (
        "TARGET_NOT_FOUND",
        "/material",
        "Did you mean 'Red'?",
    )
    assert row.invalid("scene.find", {"box": {"min": [1, 0, 0], "max": [0, 1, 1]}}) == ["/box"]
    assert row.invalid("scene.find", {"type": "CUBE"})
