"""Straight sides are drawn without perspective: sizes, right angles and alignment can be read from them, in every form of picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest

from blendwright.blender.looking.png_files import read_picture
from blendwright.tools.render.viewpoint import DIRECTIONS, IN_PERSPECTIVE
from tools.objects import box

if TYPE_CHECKING:
    from support.stage.stage import Stage

SIZE = {"width": 160, "height": 120}
STRAIGHT = sorted(set(DIRECTIONS) - IN_PERSPECTIVE)


def look(stage: Stage, view: str, show: str = "MASK", **args: Any) -> dict[str, Any]:
    return stage.do("render.preview", {"view": view, "show": show, "artifact": "look.png", **SIZE, **args})


def sizes(told: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Width and height in pixels of everything that is seen."""
    boxes = {one["object"]: one["box"] for one in told["seen"]}
    return {name: (right - left + 1, low - high + 1) for name, (left, high, right, low) in boxes.items()}


def picture(stage: Stage) -> Any:
    """Red, green and blue from 0 to 1, rows from the top."""
    found = read_picture(str(stage.scratch / "look.png"))
    assert found is not None
    return found[..., :3]


@pytest.fixture
def two(stage: Stage) -> Stage:
    """Two boxes of the same size, apart along each axis: on every side one is nearer."""
    box(stage, "One", location=[0, 0, 0])
    box(stage, "Other", location=[-5, 6, 3])
    return stage


@pytest.mark.parametrize("view", STRAIGHT)
def test_what_is_of_one_size_is_seen_so_however_far_it_is(two: Stage, view: str) -> None:
    told = look(two, view)
    found = sizes(told)
    assert set(found) == {"One", "Other"}
    for one, other in zip(found["One"], found["Other"], strict=True):
        assert one == pytest.approx(other, abs=1)
    # All of it is in the frame, and fills it one way but for the margins.
    edges = np.array([one["box"] for one in told["seen"]])
    across = (edges[:, 2].max() - edges[:, 0].min() + 1) / SIZE["width"]
    along = (edges[:, 3].max() - edges[:, 1].min() + 1) / SIZE["height"]
    assert max(across, along) == pytest.approx(0.9, abs=0.02) and min(across, along) < 0.9


@pytest.mark.parametrize("view", sorted(IN_PERSPECTIVE))
def test_from_a_corner_there_is_perspective(two: Stage, view: str) -> None:
    found = sizes(look(two, view))
    assert found["One"][0] > 1.1 * found["Other"][0], "the nearer one is larger"


@pytest.mark.parametrize("engine", ["WORKBENCH", "CYCLES"])
def test_both_engines_show_what_a_mask_shows(two: Stage, engine: str) -> None:
    two.do("scene.set_world", {"color": [1, 1, 1]})
    two.do("material.ensure_principled", {"name": "Red", "base_color": [0.9, 0.02, 0.02]})
    two.do("material.assign", {"object": "Other", "material": "Red"})
    told = look(two, "FRONT")
    (left, top, right, low) = next(one["box"] for one in told["seen"] if one["object"] == "Other")
    look(two, "FRONT", "SHADED", engine=engine, samples=1, denoise=False)
    seen = picture(two)
    rows, columns = np.nonzero((seen[..., 0] > 2 * seen[..., 1]) & (seen[..., 0] > 0.1))
    edges = (columns.min(), rows.min(), columns.max(), rows.max())
    assert edges == tuple(pytest.approx(edge, abs=1) for edge in (left, top, right, low))
    film = {"view": "FRONT", "resolution": [160, 120], "samples": 1, "denoise": False, "artifact": "look.png"}
    two.do("scene.set_render", {"engine": engine})
    two.do("render.still", film if engine == "CYCLES" else {**film, "samples": None})
    seen = picture(two)
    _, columns = np.nonzero((seen[..., 0] > 2 * seen[..., 1]) & (seen[..., 0] > 0.1))
    assert (columns.min(), columns.max()) == (pytest.approx(left, abs=1), pytest.approx(right, abs=1))


def test_depths_are_from_the_plane_of_the_camera(two: Stage) -> None:
    """Also at the edge of the picture, where a line of sight from one point would be longer."""
    told = look(two, "FRONT", "DEPTH")
    nearest = {one["object"]: one["nearest"] for one in told["seen"]}
    assert nearest["Other"] - nearest["One"] == pytest.approx(6, abs=2e-3)
    assert told["depths"] == [pytest.approx(nearest["One"], abs=1e-3), pytest.approx(nearest["Other"], abs=1e-3)]
    grey = picture(two)[..., 0]
    for one in told["seen"]:
        left, top, right, low = one["box"]
        assert len(np.unique(grey[top + 1 : low, left + 1 : right])) == 1, (
            "a face towards the camera is all at one depth"
        )


def test_straight_from_a_side_a_table_differs_from_its_floor_by_its_outline(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "plane", "name": "Floor", "size": 3})
    box(stage, "Table", location=[0, 0, 1])
    before = stage.state.full_root()
    look(stage, "TOP", "SHADED")
    grey = picture(stage)[..., 0]
    middle, edge, floor = grey[60, 80], grey[60, 40:60].min(), grey[60, 35]
    assert middle == pytest.approx(floor, abs=0.02) and edge < 0.95 * middle
    assert stage.state.full_root() == before


def test_what_is_huge_flat_or_tiny_is_seen_too(stage: Stage) -> None:
    for size in (1e5, 1e-3):
        stage.do("mesh.create_primitive", {"kind": "plane", "name": "Sheet", "size": size})
        (one,) = look(stage, "TOP")["seen"]
        assert one["share"] == pytest.approx(0.81 * 120 / 160, abs=0.02)
        stage.do("object.delete", {"object": "Sheet"})


def test_what_comes_nearer_in_a_film_stays_before_the_camera(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "plane", "name": "Sheet", "rotation_euler_deg": [90, 0, 0]})
    for frame, y in ((1, 0.0), (2, -2.0)):
        key = {"object": "Sheet", "channel": "location", "frame": frame, "value": [0, y, 0]}
        stage.do("animation.set_keyframe", key)
    stage.do("scene.set_render", {"engine": "WORKBENCH"})
    stage.do(
        "render.animation", {"view": "FRONT", "start": 1, "end": 2, "resolution": [32, 24], "frames_path": "f_#.png"}
    )
    shown = [read_picture(str(file)) for file in sorted(stage.scratch.rglob("*.png"))]
    assert len(shown) == 2 and all(frame is not None and frame[12, 16, 0] > 0.1 for frame in shown)


def test_a_view_leaves_no_camera_of_its_kind(two: Stage) -> None:
    before = two.state.full_root()
    for view in ("TOP", "ISO"):
        look(two, view, "NAMES")
    assert two.state.full_root() == before and not list(bpy.data.cameras)
