"""Names, depths, masks and comparison: what they tell is what is there, and the scene stays as it was."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest
from PIL import Image

from blendwright.blender.looking.labels import Label, placed
from blendwright.blender.looking.lettering import lettering
from blendwright.blender.looking.png_files import read_picture, resized, write_png
from tools.objects import box

if TYPE_CHECKING:
    from pathlib import Path

    from support.stage.stage import Stage

SIZE = {"width": 96, "height": 72}
# Along Y, ten metres away: a metre is as wide in the picture wherever it stands across.
EYE = {
    "name": "Eye",
    "location": [0, -10, 0],
    "rotation_euler_deg": [90, 0, 0],
    "projection": "ORTHO",
    "ortho_scale": 8,
}


def shot(stage: Stage, show: str, **args: Any) -> dict[str, Any]:
    return stage.do("render.preview", {"camera": "Eye", "show": show, "artifact": f"{show}.png", **SIZE, **args})


def bytes_of(stage: Stage, name: str) -> Any:
    found = read_picture(str(stage.scratch / name))
    assert found is not None
    return np.rint(found[..., :3] * 255).astype(int)


@pytest.fixture
def three(stage: Stage) -> Stage:
    """A box at the left, a box of the same size behind it farther up, and one that nobody sees."""
    stage.do("camera.create", EYE)
    box(stage, "Near", location=[-2, 0, 0])
    box(stage, "Far", location=[1, 5, 1])
    box(stage, "Behind", location=[1, 9, 1], scale=[0.5, 0.5, 0.5])
    return stage


def test_a_mask_has_the_colour_that_is_told_of_each_object_where_the_object_is(three: Stage) -> None:
    before = three.state.full_root()
    told = shot(three, "MASK")
    picture = bytes_of(three, "MASK.png")
    assert [one["object"] for one in told["seen"]] == ["Far", "Near"] and told["unseen"] == ["Behind"]
    for one, left, top in zip(told["seen"], (48, 24 - 12), (12, 24), strict=True):
        # Two metres of eight are 24 of 96 pixels.
        assert one["box"] == [pytest.approx(each, abs=1) for each in (left, top, left + 23, top + 23)]
        color = [int(one["color"][at : at + 2], 16) for at in (1, 3, 5)]
        inside = (picture == color).all(axis=2)
        assert inside.mean() == pytest.approx(one["share"], abs=1e-3) == pytest.approx(24 * 24 / (96 * 72), abs=0.004)
        assert inside[top + 12, left + 12]
    assert not picture[2, 2].any(), "what is nothing is black"
    assert three.state.full_root() == before and {obj.pass_index for obj in bpy.data.objects} == {0}


def test_depths_are_metres_from_the_camera_and_near_is_white(three: Stage) -> None:
    told = shot(three, "DEPTH")
    assert told["depths"] == [pytest.approx(9, abs=1e-3), pytest.approx(14, abs=1e-3)]
    assert {one["object"]: one["nearest"] for one in told["seen"]} == {
        "Near": pytest.approx(9),
        "Far": pytest.approx(14),
    }
    picture = bytes_of(three, "DEPTH.png")
    assert (picture[36, 24, 0], picture[24, 60, 0], picture[2, 2, 0]) == (255, 40, 0)


def test_names_are_drawn_over_the_shaded_picture_and_leave_no_font(three: Stage) -> None:
    fonts = list(bpy.data.fonts)
    shot(three, "SHADED", width=320, height=240)
    told = shot(three, "NAMES", width=320, height=240)
    plain, named = bytes_of(three, "SHADED.png"), bytes_of(three, "NAMES.png")
    changed = (plain != named).any(axis=2)
    assert 0.01 < changed.mean() < 0.2
    assert (named[changed] == 255).all(axis=1).any(), "white letters"
    assert list(bpy.data.fonts) == fonts and not [each for each in bpy.data.curves if each.name != "Eye"]
    assert len(told["seen"]) == 2


def test_pass_indices_of_the_scene_are_put_back_and_what_is_not_for_renders_is_not_seen(three: Stage) -> None:
    far: Any = bpy.data.objects["Far"]
    far.pass_index = 7
    three.state.refresh()
    before = three.state.full_root()
    three.do("object.set_visibility", {"object": "Near", "render": False})
    hidden = three.state.full_root()
    told = shot(three, "MASK")
    assert [one["object"] for one in told["seen"]] == ["Far"] and told["unseen"] == ["Behind"]
    assert far.pass_index == 7 and three.state.full_root() == hidden != before


def test_labels_keep_clear_of_each_other_while_there_is_room_and_stay_in_the_picture() -> None:
    at = [(160 + 3 * number % 7, 120 - number % 5) for number in range(12)]
    labels = [Label(f"Name {number}", place, (*place, *place), (255, 0, 0)) for number, place in enumerate(at)]
    boxes = placed(labels, [(60, 18)] * 12, (320, 240))
    assert not [pair for pair in combinations(boxes, 2) if pair[0].meets(pair[1])]
    corner = Label("Corner", (0, 0), (0, 0, 2, 2), (255, 0, 0))
    crowded = placed([corner] * 80, [(60, 18)] * 80, (320, 240))
    assert all(0 <= each.left <= 260 and 0 <= each.top <= 222 for each in crowded), "some cover others, none is cut off"


def test_letters_of_every_script_have_a_shape_and_the_size_that_is_asked_for() -> None:
    with lettering() as letters:
        wide = letters.line("WWW", 20)
        assert wide.shape[0] == 20 and letters.line("WWW", 40).shape[1] == pytest.approx(2 * wide.shape[1], abs=2)
        assert 0.1 < wide.mean() < 0.8 and letters.line("椅子", 20).sum() > 20
        assert letters.line("", 20).sum() == 0 and letters.line("a\nb", 20).shape[0] == 20


def compare(stage: Stage, reference: Path, **args: Any) -> dict[str, Any]:
    given = {"reference": str(reference), "camera": "Eye", "width": 96, **args}
    return stage.do("render.compare", given, files={str(reference): str(reference)})


def outline(left: int, right: int) -> Any:
    """72 rows of 96 pixels with a block from row 24 to 48."""
    pixels = np.full((72, 96, 3), 30, np.uint8)
    pixels[24:48, left:right] = 200
    return pixels


@pytest.mark.parametrize(("left", "right", "iou"), [(12, 36, 1.0), (24, 48, 1 / 3), (60, 84, 0.0)])
def test_outlines_agree_as_far_as_they_cover_each_other(
    three: Stage, tmp_path: Path, left: int, right: int, iou: float
) -> None:
    reference = tmp_path / "wanted.png"
    write_png(str(reference), outline(left, right))
    before = three.state.full_root()
    found = compare(three, reference, objects=["Near"])
    assert found["silhouette_from"] == "background" and found["silhouette_iou"] == pytest.approx(iou, abs=0.05)
    assert found["reference_box"] == [
        pytest.approx(each, abs=1e-4) for each in (left / 96, 24 / 72, right / 96, 48 / 72)
    ]
    assert found["scene_box"][0] == pytest.approx(12 / 96, abs=0.02)
    assert three.state.full_root() == before
    sheet = bytes_of(three, "compared.png")
    assert sheet.shape[1] == 2 * 96 + 4 and (sheet.shape[1], sheet.shape[0]) == (found["width"], found["height"])
    if iou == 1.0:
        everything = compare(three, reference)
        assert everything["silhouette_iou"] == pytest.approx(0.5, abs=0.05), "with Far, which the reference has not"


def test_where_a_reference_can_be_seen_through_it_has_its_outline_whatever_its_colours(
    three: Stage, tmp_path: Path
) -> None:
    pixels = np.random.default_rng(3).integers(0, 255, (72, 96, 4)).astype(np.uint8)
    pixels[..., 3] = 0
    pixels[24:48, 12:36, 3] = 255
    reference = tmp_path / "cut out.png"
    Image.fromarray(pixels).save(reference)
    found = compare(three, reference, objects=["Near"])
    assert found["silhouette_from"] == "alpha" and found["silhouette_iou"] == pytest.approx(1.0, abs=0.05)


def test_the_scenes_own_picture_differs_in_nothing_and_another_one_does(three: Stage) -> None:
    shot(three, "SHADED")
    same = three.scratch / "same.png"
    (three.scratch / "SHADED.png").rename(same)
    found = compare(three, same, panels=["SCENE", "DIFFERENCE"])
    assert found["difference"] == found["differing"] == 0.0 and found["silhouette_iou"] == 1.0
    three.do("object.transform", {"object": "Near", "location": [-2, 0, -1.5]})
    moved = compare(three, same)
    assert moved["difference"] > 0.01 and moved["differing"] > 0.02 and moved["silhouette_iou"] < 0.9


def test_a_picture_without_a_background_has_no_outline_and_one_that_cannot_be_read_is_refused(
    three: Stage, tmp_path: Path
) -> None:
    busy = tmp_path / "busy.png"
    write_png(str(busy), np.random.default_rng(1).integers(0, 255, (72, 96, 3)).astype(np.uint8))
    found = compare(three, busy)
    assert (found["silhouette_iou"], found["silhouette_from"], found["reference_box"]) == (None, "none", None)
    broken = tmp_path / "broken.png"
    broken.write_bytes(busy.read_bytes()[:60])
    text = tmp_path / "text.png"
    text.write_text("no picture at all")
    for file in (broken, text):
        args = {"reference": str(file), "camera": "Eye"}
        (finding,) = three.refusal("render.compare", args, files={str(file): str(file)})
        assert finding["pointer"] == "/reference" and finding["cure"]
    assert three.invalid("render.compare", {"reference": "a.txt"}) == ["/reference"]
    assert three.invalid("render.compare", {"reference": "a.png", "view": "ISO", "camera": "Eye"}) == ["/camera"]


def test_a_picture_keeps_its_mean_when_it_shrinks_and_its_pixels_when_it_grows() -> None:
    pixels = np.random.default_rng(2).random((30, 50, 4))
    assert resized(pixels, 10, 6).mean() == pytest.approx(pixels.mean())
    assert (resized(resized(pixels, 100, 60), 50, 30) == pixels).all()
