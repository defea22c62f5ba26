"""Peculiar behaviour of render.animation and camera.turntable. engine/files/test_animation_frames.py has the kept frames."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest

from tools.objects import box, named, place

if TYPE_CHECKING:
    from support.stage.stage import Stage

data: Any = bpy.data


def film(stage: Stage, frames: int = 4) -> None:
    """A red box that turns, in a picture that has no noise."""
    box(stage)
    stage.do("camera.create", {"name": "Eye", "location": [0, -8, 2]})
    stage.do("camera.look_at", {"object": "Eye", "target": "Box"})
    stage.do("camera.set_active", {"object": "Eye"})
    stage.do("scene.set_render", {"engine": "WORKBENCH", "resolution": [64, 48]})
    stage.do("camera.turntable", {"objects": ["Box"], "turn": "OBJECTS", "frames": frames})


def pixels(path: Path) -> Any:
    image = data.images.load(str(path))
    values = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(values)
    data.images.remove(image)
    return values


@pytest.mark.parametrize("ending", ["mp4", "webm"])
def test_a_video_has_the_frames_and_their_colours(stage: Stage, ending: str) -> None:
    film(stage)
    before = stage.state.root()
    video = stage.scratch / f"film.{ending}"
    result = stage.do("render.animation", {"path": f"film.{ending}"}, files={f"film.{ending}": str(video)})
    assert (result["frames"], result["rendered"], result["width"], result["height"]) == (4, 4, 64, 48)
    assert stage.state.full_root() == before and bpy.context.scene.frame_current == 1
    clip = data.images.load(str(video))
    assert (clip.source, clip.frame_duration, tuple(clip.size)) == ("MOVIE", 4, (64, 48))
    data.images.remove(clip)
    first = pixels(stage.scratch / "frames" / "0000001.png")
    assert np.abs(pixels(video) - first).mean() < 0.02, "what was rendered has its colours already"


def test_frames_go_by_the_range_of_the_scene_or_by_the_call(stage: Stage) -> None:
    film(stage)
    stage.do("scene.set_frame_range", {"start": 3, "end": 9, "step": 3})
    result = stage.do("render.animation", {"frames_path": "f_##.png"})
    assert (result["frame_start"], result["frame_end"], result["frame_step"], result["frames"]) == (3, 9, 3, 3)
    assert result["artifact"] is None, "frames are not a video as well unless it is asked for"
    result = stage.do("render.animation", {"frames_path": "f_##.png", "start": 6, "end": 7, "step": 1})
    assert (result["frames"], result["rendered"]) == (2, 1), "one of them is there"


@pytest.mark.parametrize(
    ("args", "pointer"),
    [
        ({"resolution": [63, 48]}, "/resolution"),
        ({"start": 9, "end": 9}, None),
        ({"samples": 4}, "/samples"),
        ({"camera": "Nobody"}, "/camera"),
        ({"end": 6000}, "/end"),
        ({"start": 5}, "/start"),
    ],
)
def test_what_cannot_be_rendered_is_refused_before(stage: Stage, args: dict[str, Any], pointer: str | None) -> None:
    film(stage)
    if pointer is None:
        assert stage.do("render.animation", args)["frames"] == 1
    else:
        assert [finding["pointer"] for finding in stage.refusal("render.animation", args)] == [pointer]


@pytest.mark.parametrize(
    "args",
    [{"path": "a.avi"}, {"frames_path": "a.png"}, {"frames_path": "a_##_##.png"}, {"frames_path": "a_##.exr"},
     {"start": 5, "end": 4}, {"camera": "Eye", "view": "ISO"}, {"artifact": "../a.mp4"}],
)  # fmt: skip
def test_paths_and_ranges_that_cannot_be_are_refused(stage: Stage, args: dict[str, Any]) -> None:
    stage.invalid("render.animation", args)


# ---------------------------------------------------------------------- camera.turntable


def test_a_camera_goes_round_evenly_and_ends_where_it_began(stage: Stage) -> None:
    box(stage, location=[3, 0, 0])
    stage.do("camera.create", {"name": "Eye", "location": [3, -6, 2]})
    before = [3, -6, 2]
    made = stage.do("camera.turntable", {"object": "Eye", "objects": ["Box"], "frames": 8, "start": 1})
    assert made["followers"] == ["Eye"] and made["center"] == [3, 0, 0]
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (1, 8)
    places: list[list[float]] = []
    for frame in range(1, 11):
        stage.do("animation.set_frame", {"frame": frame})
        places.append(list(place("Eye")))
    assert places[0] == pytest.approx(before, abs=1e-5) and places[8] == pytest.approx(before, abs=1e-5)
    angles = [math.atan2(y, x - 3) for x, y, _ in places]
    turned = [(second - first) % math.tau for first, second in pairwise(angles)]
    assert turned == pytest.approx([math.tau / 8] * 9, abs=1e-5), "evenly, and on after the last key"
    assert {round(math.hypot(x - 3, y), 4) for x, y, _ in places} == {6.0}


def test_objects_turn_together_and_what_follows_something_else_is_refused(stage: Stage) -> None:
    box(stage, "One", location=[1, 0, 0])
    box(stage, "Two", location=[-1, 0, 0])
    box(stage, "Child", location=[0, 0, 3], parent="One")
    args = {"objects": ["One", "Two"], "turn": "OBJECTS", "frames": 4, "clockwise": True}
    (finding,) = stage.refusal("camera.turntable", {**args, "objects": ["Two", "Child"]})
    assert finding["pointer"] == "/objects/1" and "parent" in finding["cure"]
    stage.do("camera.turntable", args)
    stage.do("animation.set_frame", {"frame": 2})
    assert list(place("One")) == pytest.approx([0, -1, 0], abs=1e-5)
    assert list(place("Two")) == pytest.approx([0, 1, 0], abs=1e-5)
    assert named("Child").parent == named("One")
    (finding,) = stage.refusal("camera.turntable", {"object": "Nobody", "name": "Other"})
    assert finding["pointer"] == "/object"
    assert {one["pointer"] for one in stage.refusal("camera.turntable", args)} >= {"/name"}
