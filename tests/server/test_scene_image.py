"""scene_image: several pictures in one montage, all alike, through the camera and from sides, and compared."""

from __future__ import annotations

import base64
import io
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from blendwright.server.context import ServerContext
from blendwright.server.pictures.pictures import CAPTION
from blendwright.server.pictures.quality import LookPace, LookQuality
from support.hosts.mcp import call, served

SMALL = {"width": 96, "height": 72}
SCENE = """
mesh.create_primitive(kind = "cube", name = "Box", location = [0, 0, 1])
mesh.create_primitive(kind = "cylinder", name = "Post", location = [3, 0, 2], depth = 4)
camera.create(name = "Eye", location = [4, -12, 4], look_at = "Box")
camera.create(name = "Other", location = [-9, -9, 9], look_at = "Box")
camera.set_active(object = "Eye")
scene.set_render(resolution = [320, 160])
"""


class MeasuredPace(LookPace):
    """Pictures seem to take what they are said to take."""

    def __init__(self, *seconds: float) -> None:
        super().__init__()
        self.made: list[LookQuality] = []
        self._seconds = seconds

    def measured(self, quality: LookQuality, seconds: float, blender: int | None = None) -> None:
        assert blender is not None
        super().measured(quality, self._seconds[min(len(self.made), len(self._seconds) - 1)])
        self.made.append(quality)


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerContext]:
    with served(tmp_path_factory.mktemp("looked") / "workspace") as context:
        made = call(context, "2026-07-28", "plan_execute", {"program": SCENE})
        assert not made.is_error, made.structured_content
        yield context


def look(context: ServerContext, **args: Any) -> tuple[dict[str, Any], Image.Image]:
    answer = call(context, "2026-07-28", "scene_image", args)
    assert not answer.is_error, answer.structured_content
    return answer.structured_content["result"], Image.open(io.BytesIO(base64.b64decode(answer.content[1].data)))


def test_all_pictures_of_a_montage_are_made_alike_though_one_takes_longer(
    context: ServerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("blendwright.server.tools.scene_image.perf_counter", lambda: 0.0)
    pace = MeasuredPace(2.5, 0.1, 0.8, 0.1)
    told, picture = look(replace(context, look_pace=pace), views=["iso"], frames=[1, 2, 3, 4, 5, 6])
    assert len(pace.made) == 6 and set(pace.made) == {LookQuality("WORKBENCH", 640, 480, 16)}
    assert (told["each"], picture.size) == ([640, 480], (3 * 640, 2 * (480 + CAPTION))) and "reduced" not in told


def test_a_scene_that_is_too_slow_has_smaller_pictures_from_then_on_and_one_size_is_told(
    context: ServerContext,
) -> None:
    pace = MeasuredPace(400.0)
    told, picture = look(replace(context, look_pace=pace), views=["front", "top", "iso"], seconds=90, show="mask")
    sizes = [made.width for made in pace.made]
    assert sizes[0] == 640 > min(sizes) == told["each"][0] >= 256
    assert picture.size == (2 * told["each"][0], 2 * (told["each"][1] + CAPTION))
    assert told["reduced"].startswith(f"size {told['each'][0]}x{told['each'][1]} of 640x480: full quality would take")
    width, height = told["each"]
    assert all(
        right < width and low < height
        for each in told["seen"].values()
        for _, (_, _, right, low), _ in each["objects"].values()
    )


def test_a_quick_look_is_one_and_its_answer_says_what_it_left_out(context: ServerContext) -> None:
    pace = MeasuredPace(0.2)
    told, picture = look(replace(context, look_pace=pace), views=["iso"], frames=list(range(1, 13)), seconds=0.1)
    assert len(set(pace.made)) == 1 and not pace.made[0].smooth and 256 <= pace.made[0].width < 480
    assert (
        told["reduced"].startswith("size ") and "edges not smooth: for full quality pass seconds: " in told["reduced"]
    )
    assert picture.width == 4 * told["each"][0]


def test_the_camera_is_one_of_the_views_and_all_have_the_shape_of_the_render(context: ServerContext) -> None:
    told, picture = look(context, views=["camera", "front"], seconds=60)
    assert told["views"] == ["camera", "front"] and told["each"] == [784, 392]
    own, _ = look(context, seconds=60)
    assert (own["views"], own["each"]) == (["camera"], [784, 392])
    kept = Image.open(own["pictures"][0]["path"]).convert("RGB")
    whole = Image.open(told["pictures"][0]["path"]).convert("RGB")
    assert picture.size == whole.size == (2 * 784, 392 + CAPTION)
    assert whole.crop((0, CAPTION, 784, CAPTION + 392)).tobytes() == kept.tobytes()
    named, _ = look(context, views=["front", "camera", "front"], camera="Other", **SMALL)
    assert named["views"] == ["Other", "front"], "the camera that is named is the one that is meant"
    assert named["each"] == [118, 59], "as many pixels as were asked for, and still what the render will show"


def test_several_views_are_compared_in_one_call_with_a_row_of_figures_each(context: ServerContext) -> None:
    for view in ("front", "top"):
        _, picture = look(context, views=[view], seconds=60, **SMALL)
        picture.save(context.workspace.parent / f"{view}.png")
    wanted = str(context.workspace.parent / "front.png")
    told, sheet = look(context, compare=wanted, views=["front", "top", "camera"], width=96)
    assert set(told["compared"]) == {"front", "top", "camera"} and "difference: " in told["meaning"]
    figures = {view: row["differing"] for view, row in told["compared"].items()}
    assert figures["front"] < 0.01 < min(figures["top"], figures["camera"])
    assert sheet.width == 2 * (2 * 96 + 4) and Path(told["pictures"][0]["path"]).is_file()
    _, wide = look(context, compare=wanted, views=["front", "top", "camera"])
    assert 1900 < wide.width <= 2048, "wider ones are shrunk by those who look"
    alone, _ = look(context, compare=wanted, views=["front"], width=96)
    assert alone["differing"] == figures["front"] and "compared" not in alone


def test_several_views_of_a_commit_are_compared_in_one_call(context: ServerContext) -> None:
    log = call(context, "2026-07-28", "history_log", {"operations": True}).structured_content["result"]["commits"]
    moved = 'object.transform(object = "Post", location = [3, 0, 5])'
    assert not call(context, "2026-07-28", "plan_execute", {"program": moved}).is_error
    told, sheet = look(context, compare=log[0]["number"], views=["front", "top", "camera"], **SMALL)
    assert list(told["compared"]) == ["front", "top", "camera"] and told["before"] == log[0]["number"]
    figures = {view: row["differing"] for view, row in told["compared"].items()}
    assert figures["front"] > 0.02 and figures["camera"] > 0.02 and figures["top"] < 0.005, "it moved upwards"
    one, single = look(context, compare=log[0]["number"], views=["front"], **SMALL)
    assert one["differing"] == figures["front"]
    assert sheet.size == (single.width, 3 * (single.height + CAPTION))


def test_a_picture_of_a_comparison_that_is_refused_is_told_where_it_was_asked_for(context: ServerContext) -> None:
    answer = call(context, "2026-07-28", "scene_image", {"compare": "/nowhere/a.png", "views": ["front", "top"]})
    assert answer.is_error and answer.structured_content["details"]["findings"][0]["pointer"] == "/compare"
    answer = call(context, "2026-07-28", "scene_image", {"views": ["above"]})
    assert answer.is_error and "CAMERA" in answer.structured_content["message"]
