"""Intrinsics and extrinsics of render.annotations against Blender's own projection, and against what is rendered."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tools.annotated import Taken, annotate, category, projected
from tools.objects import box, empty, named

if TYPE_CHECKING:
    from support.stage.stage import Stage

world_to_camera_view: Any = import_module("bpy_extras.object_utils").world_to_camera_view

POINTS = [(0.0, 0.0, 0.0), (1.0, 0.5, 0.25), (-1.5, 1.0, 0.5), (0.3, -2.0, 1.0), (2.0, 3.0, -1.0), (5.0, 1.0, 4.0)]
AIM: dict[str, Any] = {"name": "Eye", "location": [3, -7, 4], "look_at": [0.4, 0, 0.3]}
CAMERAS: dict[str, dict[str, Any]] = {
    "plain": {},
    "wide": {"lens_mm": 18},
    "shift": {"shift": [0.12, -0.2]},
    "fit across": {"sensor_fit": "HORIZONTAL", "sensor_width_mm": 24, "sensor_height_mm": 30},
    "fit along": {"sensor_fit": "VERTICAL", "sensor_width_mm": 24, "sensor_height_mm": 20},
    "fit along, shift": {"sensor_fit": "VERTICAL", "shift": [-0.1, 0.3], "lens_mm": 35},
    "scaled": {"scale": [3, 2, 0.5]},
}
RENDERS: dict[str, dict[str, Any]] = {
    "across": {"resolution": [96, 72]},
    "along": {"resolution": [60, 100]},
    "odd part": {"resolution": [201, 101], "percentage": 33},
    "flat pixels": {"resolution": [80, 60], "pixel_aspect": [2.0, 1.0]},
    "high pixels": {"resolution": [60, 80], "pixel_aspect": [1.0, 1.6]},
}


def set_up(stage: Stage, camera: dict[str, Any], render: dict[str, Any]) -> None:
    stage.do("camera.create", {**AIM, **camera})
    given = dict(render)
    aspect = given.pop("pixel_aspect", None)
    stage.do("scene.set_render", given)
    if aspect:
        bpy.context.scene.render.pixel_aspect_x, bpy.context.scene.render.pixel_aspect_y = aspect
        stage.state.refresh()


def taken_here(stage: Stage, *categories: dict[str, Any]) -> Taken:
    return annotate(stage, *categories, resolution=None)


# Every camera with every shape of picture would say little more.
PAIRS = [*(("plain", render) for render in RENDERS), *zip(list(CAMERAS)[1:], [*RENDERS, "flat pixels"], strict=True)]


@pytest.mark.parametrize(("camera", "render"), PAIRS)
def test_points_come_where_blenders_own_projection_has_them(stage: Stage, camera: str, render: str) -> None:
    set_up(stage, CAMERAS[camera], RENDERS[render])
    taken = taken_here(stage, category("nothing"))
    eye = named("Eye")
    width, height = taken.picture["width"], taken.picture["height"]
    # Where a part of the resolution is rounded, the picture has the shape that it has.
    scene: Any = bpy.context.scene
    shape = scene.render
    shape.resolution_x, shape.resolution_y, shape.resolution_percentage = width, height, 100
    for point in POINTS:
        x, y, depth = world_to_camera_view(scene, eye, Vector(point))
        told = projected(taken.camera, point)
        assert told == (
            pytest.approx(x * width, abs=2e-2),
            pytest.approx((1 - y) * height, abs=2e-2),
            pytest.approx(depth, abs=1e-3),
        )
    rotation = np.array(taken.camera["world_to_camera"])[:3, :3]
    assert np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-5) and np.linalg.det(rotation) == pytest.approx(1.0)
    # The two conventions say the same: Blender's camera looks along -Z with Y up.
    both = np.array(taken.camera["world_to_camera"]) @ np.array(taken.camera["matrix_world"])
    assert np.allclose(both, np.diag([1, -1, -1, 1]), atol=1e-4)


@pytest.mark.parametrize(
    ("camera", "render"), [("plain", "odd part"), ("fit across", "high pixels"), ("shift", "along")]
)
def test_what_is_rendered_is_where_points_come_to(stage: Stage, camera: str, render: str) -> None:
    set_up(stage, CAMERAS[camera], RENDERS[render])
    empty(stage, "Pivot", location=[0.4, 0, 0.3], rotation_euler_deg=[20, 0, 30])
    box(stage, "Box", size=1.2, parent="Pivot")
    taken = taken_here(stage, category("box", "Box"))
    told = taken.of("Box")
    corners = [projected(taken.camera, named("Box").matrix_world @ vertex.co) for vertex in named("Box").data.vertices]
    xs, ys, _ = zip(*corners, strict=True)
    left, top, wide, high = told["box_visible"]
    assert not told["truncated"]
    # A pixel is seen by its middle, so a thin corner may be missed by a little more than half a pixel.
    assert (left, left + wide) == (pytest.approx(min(xs), abs=1.0), pytest.approx(max(xs), abs=1.0))
    assert (top, top + high) == (pytest.approx(min(ys), abs=1.0), pytest.approx(max(ys), abs=1.0))
    # A point of a face comes back from its pixel by K and the depth.
    rows, columns = np.nonzero(taken.numbers("instances"))
    K, away = np.array(taken.camera["K"]), taken.depths[rows, columns]
    seen = np.stack([(columns - K[0, 2]) / K[0, 0] * away, (rows - K[1, 2]) / K[1, 1] * away, away, np.ones(len(away))])
    inside = np.linalg.inv(np.array(told["object_to_camera"])) @ seen
    assert np.abs(np.abs(inside[:3]).max(axis=0) - 0.6).max() < 2e-3, "all of them lie on a face of the box"
