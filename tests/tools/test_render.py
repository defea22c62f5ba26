"""Peculiar behaviour of the render tools; what holds for all tools is in the conformance suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pathlib import Path

    from stage import Stage

SMALL = {"width": 64, "height": 48}


def pixels(path: Path) -> NDArray[np.float32]:
    """Rows from the bottom, of red, green, blue and alpha."""
    image: Any = bpy.data.images.load(str(path))
    found = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(found)
    shape = (image.size[1], image.size[0], 4)
    images: Any = bpy.data.images
    images.remove(image)
    return found.reshape(shape)


def red_box(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    stage.do("material.ensure_principled", {"name": "Red", "base_color": [0.9, 0.02, 0.02]})
    stage.do("material.assign", {"object": "Box", "material": "Red"})


def names() -> list[str]:
    return [block.name for kind in (bpy.data.objects, bpy.data.cameras) for block in kind]


def test_a_view_shows_all_objects_through_a_camera_that_does_not_stay(stage: Stage) -> None:
    red_box(stage)
    before = names()
    answer = stage.call("render.preview", {"view": "FRONT", **SMALL})
    assert answer["ok"], answer["message"]
    assert (answer["after"], answer["changes"], answer["artifacts"]) == (answer["before"], [], ["preview.png"])
    assert names() == before
    assert bpy.context.scene.camera is None
    picture = pixels(stage.scratch / "preview.png")
    reddish = (picture[:, :, 0] > 2 * picture[:, :, 1]) & (picture[:, :, 0] > 0.1)
    rows, columns = np.nonzero(reddish)
    # The cube fills the height but for the margins, and stands in the middle of the width.
    assert (rows.min(), rows.max()) == (pytest.approx(2, abs=1), pytest.approx(45, abs=1))
    assert columns.min() + columns.max() == pytest.approx(63, abs=1)


def test_settings_of_the_scene_are_as_before(stage: Stage) -> None:
    red_box(stage)
    stage.do(
        "scene.set_render", {"engine": "CYCLES", "samples": 77, "seed": 3, "resolution": [333, 222], "percentage": 50}
    )
    render: Any = bpy.context.scene.render
    render.filepath, render.image_settings.file_format = "//somewhere", "JPEG"
    stage.state.refresh()
    before = stage.state.root()
    for engine in ("WORKBENCH", "CYCLES"):
        stage.do("render.preview", {"view": "ISO", "engine": engine, "samples": 1, **SMALL})
        assert stage.state.full_root() == before
    assert (render.filepath, render.image_settings.file_format) == ("//somewhere", "JPEG")


def test_equal_scenes_and_seeds_give_equal_pixels_and_another_seed_other_noise(stage: Stage) -> None:
    red_box(stage)
    stage.do("light.create", {"name": "Lamp", "type": "POINT", "location": [2, -3, 3], "radius": 1, "energy": 500})
    args = {"view": "ISO", "engine": "CYCLES", "samples": 1, **SMALL}
    one, again, other = (stage.do("render.preview", {**args, "seed": seed})["pixels_sha256"] for seed in (1, 1, 2))
    assert one == again != other
    plain = [stage.do("render.preview", {"view": "ISO", **SMALL})["pixels_sha256"] for _ in range(2)]
    assert plain[0] == plain[1] != one


def test_cycles_sees_the_light(stage: Stage) -> None:
    red_box(stage)
    args = {"view": "ISO", "engine": "CYCLES", "samples": 4, **SMALL}
    stage.do("render.preview", {**args, "artifact": "dark.png"})
    stage.do("light.create", {"name": "Sun", "type": "SUN", "energy": 3, "rotation_euler_deg": [40, 20, 0]})
    stage.do("render.preview", {**args, "artifact": "lit.png"})
    dark, lit = (pixels(stage.scratch / name)[:, :, 0].mean() for name in ("dark.png", "lit.png"))
    assert lit > dark + 0.05


def test_a_preview_needs_an_eye_and_something_to_see(stage: Stage) -> None:
    assert stage.refusal("render.preview", {"view": "ISO"})[0]["pointer"] == "/view"
    red_box(stage)
    (finding,) = stage.refusal("render.preview", {})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/camera")
    assert stage.refusal("render.preview", {"camera": "Box"})[0]["code"] == "SCENE_CONFLICT"
    assert stage.refusal("render.preview", {"camera": "Bux"})[0]["code"] == "TARGET_NOT_FOUND"
    assert stage.invalid("render.preview", {"view": "ISO", "camera": "Camera"}) == ["/camera"]
    assert stage.invalid("render.preview", {"view": "ISO", "width": 2049}) == ["/width"]
    for name in ("../up.png", "a/b.png", ".png", "x.jpg"):
        assert stage.invalid("render.preview", {"view": "ISO", "artifact": name}) == ["/artifact"]


def with_camera(stage: Stage) -> None:
    red_box(stage)
    stage.do("camera.create", {"name": "Camera"})
    stage.do("camera.frame_objects", {"object": "Camera", "objects": ["Box"], "view": "ISO"})
    stage.do("scene.set_render", {"engine": "CYCLES", "samples": 1, "resolution": [60, 40]})


def test_a_still_has_the_scenes_own_size_and_goes_where_it_is_sent(stage: Stage) -> None:
    with_camera(stage)
    stage.do("camera.set_active", {"object": "Camera"})
    result = stage.do("render.still", {})
    assert (result["artifact"], result["width"], result["height"], result["engine"]) == ("still.png", 60, 40, "CYCLES")
    target = stage.scratch / "elsewhere.png"
    result = stage.do("render.still", {"path": "out/p.png", "samples": 2}, files={"out/p.png": str(target)})
    assert (result["artifact"], result["path"]) == (None, "out/p.png")
    assert pixels(target).shape == (40, 60, 4)


def test_a_transparent_film_has_an_empty_background(stage: Stage) -> None:
    with_camera(stage)
    stage.do("scene.set_render", {"engine": "WORKBENCH", "film_transparent": True, "percentage": 50})
    stage.do("render.still", {"camera": "Camera"})
    picture = pixels(stage.scratch / "still.png")
    assert picture.shape == (20, 30, 4)
    assert (picture[0, 0, 3], picture[10, 15, 3]) == pytest.approx((0.0, 1.0), abs=0.01)


def test_a_still_is_refused_without_a_camera_too_large_or_with_settings_of_another_engine(stage: Stage) -> None:
    with_camera(stage)
    assert stage.refusal("render.still", {})[0]["pointer"] == "/camera"
    stage.do("scene.set_render", {"engine": "WORKBENCH", "resolution": [65536, 65536]})
    findings = stage.refusal("render.still", {"camera": "Camera", "samples": 1, "time_limit_s": 1})
    assert [finding["code"] for finding in findings] == ["LIMIT_EXCEEDED", "ARGS_INVALID", "ARGS_INVALID"]
    assert stage.invalid("render.still", {"path": "picture.jpg"}) == ["/path"]
