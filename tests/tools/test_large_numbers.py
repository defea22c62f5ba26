"""Numbers that single precision cannot hold: refused as arguments, told as null, and never a reason to fall over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tools.objects import box, empty, named

if TYPE_CHECKING:
    from support.stage.stage import Stage

HUGE = 1e39


@pytest.mark.parametrize(
    ("tool", "args", "pointer"),
    [
        ("mesh.create_primitive", {"kind": "cube", "name": "A", "size": HUGE}, "/size"),
        ("mesh.create_primitive", {"kind": "cone", "name": "A", "radius_top": HUGE}, "/radius_top"),
        ("mesh.create", {"name": "A", "vertices": [[0, 0, -HUGE]]}, "/vertices/0/2"),
        ("curve.create", {"name": "A", "kind": "POLY", "points": [[0, 0, 0], [HUGE, 0, 0]]}, "/points/1/0"),
        ("object.transform", {"object": "A", "scale": [1, 1e30, 1]}, "/scale/1"),
        ("object.transform", {"object": "A", "rotation_quaternion": [HUGE, 0, 0, 0]}, "/rotation_quaternion/0"),
        ("object.duplicate_grid", {"object": "A", "prefix": "T", "gap": [HUGE, 0, 0]}, "/gap/0"),
        ("place.align", {"objects": ["A"], "axis": "X", "value": HUGE}, "/value"),
        ("place.distribute", {"objects": ["A", "B"], "axis": "X", "spacing": "gaps", "gap": HUGE}, "/gap"),
        ("light.create", {"name": "A", "type": "AREA", "size": HUGE}, "/size"),
        ("text.create", {"name": "A", "body": "a", "size": 1e5}, "/size"),
        ("modifier.add", {"object": "A", "name": "M", "settings": {"type": "SOLIDIFY", "thickness": -HUGE}}, "/settings/thickness"),
        ("animation.set_keyframe", {"object": "A", "channel": "location", "frame": 1, "value": [HUGE, 0, 0]}, ""),
    ],
)  # fmt: skip
def test_numbers_that_would_overflow_are_no_arguments(
    stage: Stage, tool: str, args: dict[str, Any], pointer: str
) -> None:
    assert stage.invalid(tool, args) == [pointer]


def test_at_the_limit_everything_can_still_be_measured(stage: Stage) -> None:
    box(stage, size=1e9)
    assert stage.do("mesh.measure", {"object": "Box"})["area"] == pytest.approx(6e18)
    stage.do("object.transform", {"object": "Box", "scale": [1e9, 1e9, 1e9]})
    assert stage.do("object.inspect", {"object": "Box"})["dimensions"] == pytest.approx([1e18] * 3)
    stage.do("camera.create", {"name": "Camera"})
    stage.do("camera.frame_objects", {"object": "Camera", "objects": ["Box"], "view": "FRONT"})


def test_a_box_to_search_in_may_be_larger_than_anything_in_it(stage: Stage) -> None:
    box(stage)
    everywhere = {"min": [-1e300] * 3, "max": [1e300] * 3, "test": "inside"}
    assert stage.do("scene.find", {"box": everywhere})["total"] == 1


@pytest.fixture
def endless(stage: Stage) -> Stage:
    """A cube that reaches to infinity, as code or a file may bring one, a camera and a light."""
    box(stage, "Endless")
    box(stage, "Tilted")
    stage.do("camera.create", {"name": "Camera", "location": [0, -9, 0]})
    stage.do("light.create", {"name": "Lamp", "type": "POINT", "location": [0, 0, 5]})
    named("Endless").data.attributes["position"].data.foreach_set("vector", [float("inf")] * 24)
    named("Tilted").scale = (3e38, 3e38, 3e38)
    stage.state.refresh()
    return stage


@pytest.mark.parametrize("name", ["Endless", "Tilted"])
def test_what_is_not_finite_is_told_as_null(endless: Stage, name: str) -> None:
    told = endless.do("object.inspect", {"object": name})
    assert None in (*told["dimensions"], *told["bounds"]["maximum"])
    measured = endless.do("mesh.measure", {"object": name})
    assert measured["area"] is None
    endless.do("scene.snapshot", {})
    endless.do("scene.find", {"box": {"min": [-1, -1, -1], "max": [1, 1, 1]}})
    tree = {"object_name": name, "modifier_name": "G", "node_group_name": f"{name} tree"}
    endless.do("geonodes.node_tree", {"target": tree, "operations": []})
    gates = endless.do("geonodes.gates", {"object_name": name, "gates": [{"gate": "MAX_SIZE", "value": [9, 9, 9]}]})
    assert gates["geometry"] is not None


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("camera.frame_objects", {"object": "Camera", "objects": ["Endless"]}),
        ("light.expose", {"object": "Lamp", "targets": ["Endless"]}),
        ("place.around", {"object": "Lamp", "targets": ["Endless"]}),
        ("place.align", {"objects": ["Endless"], "axis": "X", "value": 0}),
        ("object.duplicate_grid", {"object": "Endless", "prefix": "E"}),
        ("mesh.create_backdrop", {"name": "Backdrop", "targets": ["Endless"]}),
    ],
)
def test_what_reaches_to_infinity_cannot_be_placed_or_framed(endless: Stage, tool: str, args: dict[str, Any]) -> None:
    [finding] = endless.refusal(tool, args)
    assert (finding["code"], finding["cure"]) == ("SCENE_CONFLICT", "Make it smaller, or delete it.")
    assert "'Endless' is too large" in finding["message"]


def test_pictures_of_everything_leave_out_what_reaches_to_infinity(endless: Stage) -> None:
    box(endless, "Near", location=[0, 0, 3])
    named("Tilted").hide_render = True
    endless.state.refresh()
    endless.do("camera.frame_objects", {"object": "Camera", "view": "FRONT"})
    assert abs(named("Camera").location.y) < 20


def test_a_result_that_cannot_be_told_says_where_and_never_how_it_was_written(stage: Stage) -> None:
    empty(stage, "Parent", scale=[1e9, 1e9, 1e9])
    empty(stage, "Child", location=[1e9, 0, 0])
    named("Parent").scale = (3e38, 3e38, 3e38)
    stage.state.refresh()
    [finding] = stage.refusal("object.set_parent", {"object": "Child", "parent": "Parent", "keep_transform": False})
    assert finding["code"] == "EXECUTION_FAILED"
    assert "/matrix_world/0/3" in finding["message"] and "pydantic" not in finding["message"]
