"""Peculiar behaviour of curve.create; what holds for all tools is in the conformance suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

if TYPE_CHECKING:
    from support.stage.stage import Stage

POINTS = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [2, 1, 0]]


def curve(name: str) -> Any:
    blocks: Any = bpy.data.curves
    return blocks[name]


def test_a_poly_curve_goes_through_its_points(stage: Stage) -> None:
    stage.do("curve.create", {"name": "Path", "kind": "POLY", "points": POINTS, "cyclic": True})
    (spline,) = curve("Path").splines
    assert [list(point.co[:3]) for point in spline.points] == POINTS
    assert (spline.type, spline.use_cyclic_u) == ("POLY", True)


def test_automatic_handles_are_placed_at_once_and_stay(stage: Stage) -> None:
    stage.do("curve.create", {"name": "Arc", "kind": "BEZIER", "points": POINTS})
    before = [tuple(point.handle_right) for point in curve("Arc").splines[0].bezier_points]
    assert all(handle != tuple(point) for handle, point in zip(before, POINTS, strict=True))
    bpy.context.view_layer.update()
    assert [tuple(point.handle_right) for point in curve("Arc").splines[0].bezier_points] == before
    assert stage.state.root() == stage.state.full_root()


def test_given_handles_are_kept(stage: Stage) -> None:
    left, right = [[-2, 0, 1], [0, 0, 1]], [[0, 0, -1], [2, 0, -1]]
    args = {
        "name": "Arc",
        "kind": "BEZIER",
        "points": [[-1, 0, 0], [1, 0, 0]],
        "handles_left": left,
        "handles_right": right,
    }
    stage.do("curve.create", args)
    points = curve("Arc").splines[0].bezier_points
    assert [list(point.handle_left) for point in points] == left
    assert [list(point.handle_right) for point in points] == right


def test_a_bevel_makes_a_tube_with_faces(stage: Stage) -> None:
    stage.do("curve.create", {"name": "Pipe", "kind": "POLY", "points": POINTS, "bevel_depth": 0.1, "fill_caps": True})
    objects: Any = bpy.data.objects
    mesh = objects["Pipe"].evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    assert len(mesh.polygons) > 50
    assert min(vertex.co.z for vertex in mesh.vertices) == pytest.approx(-0.1, abs=1e-4)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"points": [[0, 0, 0]]}, "/points"),
        ({"dimensions": "2D", "points": [[0, 0, 0], [0, 0, 1]]}, "/points"),
        ({"handles": "AUTO"}, "/handles"),
        ({"kind": "BEZIER", "handles_left": POINTS}, "/handles_right"),
        ({"kind": "BEZIER", "handles_left": POINTS[:2], "handles_right": POINTS}, "/handles_left"),
    ],
)
def test_contradictory_arguments_are_invalid(stage: Stage, change: dict[str, Any], pointer: str) -> None:
    found = stage.invalid("curve.create", {"name": "Path", "kind": "POLY", "points": POINTS, **change})
    assert pointer in found


def test_another_curve_under_the_name_is_a_conflict(stage: Stage) -> None:
    stage.do("curve.create", {"name": "Path", "kind": "BEZIER", "points": POINTS})
    assert stage.do("curve.create", {"name": "Path", "kind": "BEZIER", "points": POINTS})["created"] is False
    moved = [*POINTS[:3], [2, 1, 1]]
    findings = stage.refusal("curve.create", {"name": "Path", "kind": "BEZIER", "points": moved})
    assert [finding["pointer"] for finding in findings] == ["/name", "/points"]
    findings = stage.refusal("curve.create", {"name": "Path", "kind": "BEZIER", "points": POINTS, "handles": "VECTOR"})
    assert findings[1]["pointer"] == "/handles"
