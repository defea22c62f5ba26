"""What pictures cost, and what is made of the time that there is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from blendwright.server.answers.picture_text import LookPicture, TimeNeeded, comparison_of, description_of
from blendwright.server.pictures.quality import SMALLEST_WIDTH, LookPace, LookQuality
from blendwright.values.outcome import Outcome

PLAIN = LookQuality("WORKBENCH", 640, 480, 16)
SHADED = LookQuality("CYCLES", 640, 480, 16)
HEAD = b"\x89PNG\r\n\x1a\n" + bytes(8)
NEEDED = TimeNeeded(seconds=55.0, allowed=10.0, most=480.0)


def test_a_look_is_as_good_as_its_time_allows() -> None:
    pace = LookPace()
    for wanted in (replace(PLAIN, width=1600, height=1200), SHADED, replace(SHADED, show="NAMES")):
        assert pace.fitting(wanted, 1000.0) == wanted
        made = [pace.fitting(wanted, seconds) for seconds in (4.0, 1.0, 0.3, 0.0, -5.0)]
        costs = [pace.seconds_for(each) for each in made]
        assert costs == sorted(costs, reverse=True) and costs[0] <= 4.0
        assert all(each.width >= SMALLEST_WIDTH and abs(each.width / each.height - 4 / 3) < 0.02 for each in made)
    # Pixels are the last to go where there are samples.
    fewer = pace.fitting(SHADED, 6.0)
    assert (fewer.width, fewer.height) == (640, 480) and 2 <= fewer.samples < 16
    assert pace.seconds_for(fewer) <= 6.0 < pace.seconds_for(replace(fewer, samples=fewer.samples + 1))


def test_a_slow_look_makes_the_next_one_smaller_and_quick_ones_make_it_better_again() -> None:
    pace = LookPace()
    assert pace.fitting(PLAIN, 10.0) == PLAIN
    pace.measured(PLAIN, 60.0)
    assert pace.fitting(PLAIN, 10.0) != PLAIN
    for _ in range(8):
        pace.measured(PLAIN, 0.4)
    assert pace.fitting(PLAIN, 10.0) == PLAIN


def test_a_tiny_picture_is_not_made_smaller_still() -> None:
    tiny = LookQuality("WORKBENCH", 64, 64, 1)
    made = LookPace().fitting(tiny, 0.0)
    assert (made.width, made.height) == (64, 64)


def test_the_first_picture_of_a_blender_tells_little_of_the_next_ones() -> None:
    """It loads shaders: six pictures at half a second each have room in ten seconds."""
    pace = LookPace()
    pace.measured(PLAIN, 3.4, blender=7)
    assert pace.fitting(PLAIN, (10 - 3.4) / 5) == PLAIN
    pace.measured(PLAIN, 0.5, blender=7)
    pace.measured(PLAIN, 3.4, blender=8)
    assert pace.fitting(PLAIN, 1.0) == PLAIN, "another one begins anew"
    pace.measured(PLAIN, 3.4, blender=8)
    assert pace.fitting(PLAIN, 1.0) != PLAIN, "the second is as slow as it says"
    heavy = LookPace()
    heavy.measured(PLAIN, 60.0, blender=7)
    assert heavy.fitting(PLAIN, 10.0) != PLAIN, "nothing that is loaded takes that long"


def test_small_pictures_do_not_make_pixels_seem_slow() -> None:
    """Most of what a small one takes it would take at any size."""
    pace = LookPace()
    small = replace(PLAIN, width=256, height=192, smooth=False)
    for _ in range(12):
        pace.measured(small, 0.5)
    assert pace.fitting(PLAIN, 10 / 6) == PLAIN


def test_nothing_is_saved_where_it_is_the_scene_that_takes_long() -> None:
    pace = LookPace()
    quality = PLAIN
    for _ in range(8):
        quality = pace.fitting(PLAIN, 1.0)
        pace.measured(quality, 4.0 + 0.3 * quality.work)
    assert quality.width == 640, "a picture of 256 pixels would take four seconds too"


def test_a_closer_look_does_not_slow_down_plain_ones() -> None:
    pace = LookPace()
    before = pace.seconds_for(PLAIN)
    for show in ("NAMES", "MASK"):
        pace.measured(replace(PLAIN, show=show), 9.0)
    assert pace.seconds_for(PLAIN) == before
    # Masks are the same in both engines, and have no samples.
    assert pace.seconds_for(replace(SHADED, show="MASK")) == pace.seconds_for(replace(PLAIN, show="MASK")) > 5.0


@pytest.mark.parametrize(("denoising", "sample"), [(1.4, 0.1), (1.4, 0.7), (4.0, 2.0)])
def test_samples_and_what_is_beside_them_are_told_apart(denoising: float, sample: float) -> None:
    pace = LookPace()
    wanted = replace(SHADED, samples=32)
    for _ in range(4):
        made = pace.fitting(wanted, 9.5)
        pixels = made.width * made.height / (640 * 480)
        pace.measured(made, 0.2 + (denoising + sample * made.samples) * pixels)
    assert pace.seconds_for(wanted) == pytest.approx(0.2 + denoising + 32 * sample, rel=0.3)
    # Samples may be taken until there is just time for the rest.
    assert 0.6 * 9.5 <= pace.sampling_seconds(wanted, 9.5) < 9.5


def picture(
    made: LookQuality, *, size: tuple[int, int] | None = None, caption: str = "iso", **result: Any
) -> LookPicture:
    width, height = size or (made.width, made.height)
    data = HEAD + width.to_bytes(4) + height.to_bytes(4)
    return LookPicture(caption, made, Outcome("render.preview", 1, result=result), data)


def test_what_was_lowered_is_told_with_what_all_of_it_takes() -> None:
    wanted = LookQuality("CYCLES", 1280, 720, 32)
    made = replace(wanted, width=640, height=360, samples=14)
    told = description_of([picture(made)], wanted, NEEDED)
    assert told["reduced"] == "samples 14 of 32, size 640x360 of 1280x720: for full quality pass seconds: 70"
    assert (told["samples"], told["each"]) == (14, [640, 360])
    rough = description_of([picture(replace(PLAIN, smooth=False))], PLAIN, replace(NEEDED, seconds=3.1))
    assert rough["reduced"] == "edges not smooth: call again for full quality", "it had to wait for its turn"
    never = description_of([picture(made)], wanted, replace(NEEDED, seconds=900.0))
    assert "about 1130 s, longer than a look may" in never["reduced"]
    shaped = description_of(
        [picture(replace(PLAIN, width=320, height=240, smooth=False), size=(370, 208))], PLAIN, NEEDED
    )
    assert shaped["reduced"].startswith("size 370x208 of 740x416, edges not smooth")


@pytest.mark.parametrize(("samples", "is_told"), [(32, False), (29, False), (28, True), (3, True)])
def test_a_loss_that_nobody_sees_is_not_told(samples: int, is_told: bool) -> None:
    wanted = LookQuality("CYCLES", 640, 480, 32)
    told = description_of([picture(replace(wanted, samples=samples))], wanted, NEEDED)
    assert ("reduced" in told) == is_told and told["samples"] == samples


def test_a_picture_that_ended_early_tells_the_samples_that_it_has_and_no_note_says_it_again() -> None:
    made = LookQuality("CYCLES", 64, 48, 21)
    early = picture(made, samples=5, notes=["Time ran out after 5 of 21 samples.", "The scene has no light."])
    told = description_of([picture(made), early], made, NEEDED)
    assert (told["samples"], told["notes"]) == (5, ["The scene has no light."])
    assert told["reduced"].startswith("samples 5 of 21:")
    assert "reduced" not in description_of([picture(made)], made, NEEDED)


def seen(number: int) -> dict[str, Any]:
    return {
        "object": f"Cylinder.{number:03}",
        "share": 0.05 / 3**number,
        "box": [2, 4, 60, 80],
        "nearest": 4.25,
        "color": "#102030",
    }


def test_names_are_told_with_their_shares_alone_and_a_mask_with_boxes_of_its_panel() -> None:
    wanted = replace(PLAIN, show="NAMES")
    found: dict[str, Any] = {"seen": [seen(number) for number in range(15)], "unseen": ["Floor"], "depths": [1.0, 2.0]}
    views = ("front", "top", "iso")
    told = description_of([picture(wanted, caption=view, **found) for view in views], wanted, NEEDED)["seen"]
    assert list(told) == list(views) and told["top"]["unseen"] == ["Floor"]
    assert told["top"]["objects"].startswith("Cylinder.000 5.0%, Cylinder.001 1.7%, Cylinder.002 0.6%, ")
    assert told["top"]["objects"].endswith("Cylinder.014 <0.1%")
    masks = [replace(PLAIN, show="MASK"), replace(PLAIN, show="MASK", width=320, height=240)]
    shrunk = description_of([picture(made, caption=str(made.width), **found) for made in masks], masks[0], NEEDED)
    assert shrunk["each"] == [320, 240]
    assert shrunk["seen"]["640"]["objects"]["Cylinder.000"] == ["5.0%", [1, 2, 30, 40], "#102030"]
    assert shrunk["seen"]["320"]["objects"]["Cylinder.000"] == ["5.0%", [2, 4, 60, 80], "#102030"]
    depths = replace(PLAIN, show="DEPTH")
    told = description_of([picture(depths, **found)], depths, NEEDED)["seen"]["iso"]
    assert told["objects"]["Cylinder.000"] == ["5.0%", [2, 4, 60, 80], 4.25] and told["depths_m"] == [1.0, 2.0]


def test_figures_of_a_comparison_say_what_they_mean() -> None:
    one = Outcome(
        "render.compare", 1, result={"ok": True, "difference": 0.1, "differing": 0.2, "width": 9, "notes": ["dark"]}
    )
    alone = comparison_of({"iso": one})
    assert (alone["difference"], alone["differing"], alone["notes"]) == (0.1, 0.2, ["dark"]) and "width" not in alone
    assert all(word in alone["meaning"] for word in ("difference: ", "differing: ", "silhouette_iou: "))
    back = Outcome(
        "render.compare", 1, result={"before": 3, "after": 5, "difference": 0.0, "differing": 0.0, "notes": []}
    )
    both = comparison_of({"iso": back, "top": back})
    assert both["compared"]["top"] == {"difference": 0.0, "differing": 0.0} and (both["before"], both["after"]) == (
        3,
        5,
    )
    assert "notes" not in both
