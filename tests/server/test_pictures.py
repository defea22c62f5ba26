"""Pictures as they arrive: small enough for a client, with the way to the whole one."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcp.client.client import Client
from PIL import Image

from blendwright.policy.host_profile import HostLimits, HostStatement
from blendwright.server.answers.response import Picture, ToolResponse
from blendwright.server.context import ServerContext
from blendwright.server.pictures.pictures import (
    CAPTION,
    MAX_PICTURE_BYTES,
    MAX_SENT_PICTURES,
    Captioned,
    montage,
    picture_size,
    sendable,
    with_pictures,
)
from blendwright.server.tools.scene_image import montage_columns, store_montage
from blendwright.tool_api.promises import Determinism
from blendwright.values.outcome import Outcome
from support.hosts.mcp import call, cube, operation, plan, talk

SMALL = {"width": 64, "height": 64}
LOCATION = {"channel": "location"}


def png(picture: Image.Image) -> bytes:
    written = io.BytesIO()
    picture.save(written, "PNG")
    return written.getvalue()


def noise(width: int, height: int, mode: str = "RGB") -> bytes:
    """The worst that can be asked for: nothing in it can be compressed."""
    pixels = np.random.default_rng(0).integers(0, 256, (height, width, len(mode)), dtype=np.uint8)
    return png(Image.fromarray(pixels, mode))


def opened(picture: Picture) -> Image.Image:
    return Image.open(io.BytesIO(picture.data))


def sent_form(data: bytes, largest: int = MAX_PICTURE_BYTES) -> Picture:
    sent = sendable(data, largest)
    assert sent is not None
    return sent


def test_a_small_picture_is_sent_as_it_is() -> None:
    flat = png(Image.new("RGB", (640, 480), "red"))
    assert sendable(flat) == Picture(flat, "image/png")


def test_a_large_picture_is_sent_as_jpeg_and_never_too_large() -> None:
    photo = noise(1024, 768)
    assert len(photo) > MAX_PICTURE_BYTES
    sent = sent_form(photo)
    assert (sent.mime_type, opened(sent).size) == ("image/jpeg", (1024, 768))
    assert len(sent.data) <= MAX_PICTURE_BYTES
    # Where the worst quality is not enough, pixels go; its shape stays.
    least = sent_form(photo, 20_000)
    width, height = opened(least).size
    assert len(least.data) <= 20_000 and width < 1024 and abs(width / height - 4 / 3) < 0.02


def test_transparency_survives_where_there_is_some() -> None:
    see_through = sent_form(noise(512, 512, "RGBA"))
    assert see_through.mime_type == "image/webp" and opened(see_through).mode == "RGBA"
    opaque = Image.open(io.BytesIO(noise(512, 512))).convert("RGBA")
    assert sent_form(png(opaque)).mime_type == "image/jpeg"


def test_all_pictures_of_an_answer_arrive_together(tmp_path: Path) -> None:
    paths: list[str] = []
    for number in range(MAX_SENT_PICTURES + 2):
        path = tmp_path / f"{number}.png"
        path.write_bytes(noise(600, 600))
        paths.append(str(path))
    gone = str(tmp_path / "gone.png")
    outcome = Outcome("render.still", 1, result={"a": 1}, artifacts=(*paths, gone, "scene.blend"))
    sent = with_pictures(ToolResponse(outcome, detail="full"), tmp_path)
    assert len(sent.images) == MAX_SENT_PICTURES
    assert sum(len(picture.data) for picture in sent.images) <= MAX_PICTURE_BYTES
    told: Any = (sent.outcome.result or {})["pictures"]
    assert [each["path"] for each in told] == paths
    assert [each["sent"] is not None for each in told] == [False] * 2 + [True] * MAX_SENT_PICTURES
    assert told[-1]["resource"] == f"blendwright://artifacts/{MAX_SENT_PICTURES + 1}.png"
    assert (told[0]["width"], told[0]["height"]) == (600, 600)
    briefly: Any = (with_pictures(ToolResponse(outcome), tmp_path).outcome.result or {})["pictures"]
    assert briefly[0] == {"width": 600, "height": 600, "path": paths[0], "sent": None}
    assert briefly[-1] == {"width": 600, "height": 600, "path": paths[-1]}


def test_layers_in_a_folder_of_artifacts_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "annotations").mkdir()
    for name in ("annotations/0000_instances.png", "seen.png"):
        (tmp_path / name).write_bytes(noise(30, 30))
    paths = [str(tmp_path / name) for name in ("annotations/0000_instances.png", "seen.png")]
    sent = with_pictures(ToolResponse(Outcome("render.annotations", 1, artifacts=tuple(paths))), tmp_path)
    told: Any = (sent.outcome.result or {})["pictures"]
    assert [each["path"] for each in told] == paths[1:] and len(sent.images) == 1


def test_a_picture_that_code_left_is_named_and_not_shown_where_it_is_broken_or_a_bomb(tmp_path: Path) -> None:
    """The call has done its work: its answer must arrive, and the server must not take the memory of 150 million pixels for it."""
    bomb, whole = png(Image.new("1", (15_000, 10_000))), noise(300, 300)
    broken = whole[:1000] + bytes(100_000)
    made = {"bomb.png": bomb, "broken.png": broken, "whole.png": whole}
    for name, data in made.items():
        (tmp_path / name).write_bytes(data)
    outcome = Outcome("python.run", 1, artifacts=tuple(str(tmp_path / name) for name in made))
    response = with_pictures(ToolResponse(outcome, detail="full"), tmp_path)
    assert len(response.images) == 1
    told: Any = (response.outcome.result or {})["pictures"]
    assert [each["sent"] is None for each in told] == [True, True, False]


def test_a_montage_has_one_place_for_each_and_a_caption_above_it() -> None:
    colors = ("red", "lime", "blue")
    pictures = [Captioned(png(Image.new("RGB", (80, 60), color)), color) for color in colors]
    row = Image.open(io.BytesIO(montage(pictures, columns=3)))
    assert row.width == 240
    middles = [row.getpixel((40 + 80 * place, row.height - 30)) for place in range(3)]
    assert middles == [(255, 0, 0), (0, 255, 0), (0, 0, 255)]
    captions = [row.crop((80 * place, 0, 80 * place + 80, row.height - 60)) for place in range(3)]
    assert all(max(caption.convert("L").tobytes()) > 200 for caption in captions), "something is written there"
    smaller = Captioned(png(Image.new("RGB", (40, 30), "white")), "small")
    both = Image.open(io.BytesIO(montage([pictures[0], smaller], columns=2)))
    assert both.size == (80, 30 + CAPTION), "each has the place of the smallest one"
    assert [both.getpixel((x, both.height - 1)) for x in (0, 39, 40, 79)] == [(255, 0, 0)] * 2 + [(255, 255, 255)] * 2
    checks = Image.fromarray(np.kron(np.eye(40, dtype=bool), np.ones((1, 1), bool)).astype(np.uint8) * 255, "L")
    masks = [Captioned(png(checks.convert("RGB")), "mask"), smaller]
    kept = Image.open(io.BytesIO(montage(masks, columns=2, exact=True))).crop((0, CAPTION, 40, CAPTION + 30))
    assert set(kept.convert("L").tobytes()) <= {0, 255}, "no colour that nothing has"


@pytest.mark.parametrize(("width", "size"), [(320, (1600, 258)), (640, (1920, 996))])
def test_a_strip_of_frames_is_one_row_only_where_that_can_be_read(
    tmp_path: Path, width: int, size: tuple[int, int]
) -> None:
    frames = [Captioned(png(Image.new("RGB", (width, width * 3 // 4))), str(number)) for number in range(5)]
    kept = store_montage(frames, tmp_path / "look.png", montage_columns(frames, 5))
    assert picture_size(kept.data) == size


def decoded(content: Any) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(content.data)))


def test_pictures_of_a_plan_come_with_its_answer(context: ServerContext) -> None:
    still = operation("b", "render.preview", {"view": "SIDE", "width": 96, "height": 64}, "a", level="read_only")
    answer = call(
        context, "legacy", "plan_execute", {"plan": plan("rendered", cube("a", "Rendered"), still), "detail": "full"}
    )
    assert not answer.is_error, answer.structured_content
    assert [part.type for part in answer.content] == ["text", "image"]
    assert decoded(answer.content[1]).size == (96, 64)
    (told,) = answer.structured_content["result"]["pictures"]
    assert Path(told["path"]).is_file() and told["sent"]["bytes"] <= told["bytes"]

    async def read(client: Client) -> Any:
        return (await client.read_resource(told["resource"])).contents[0]

    found = talk(context, "legacy", read)
    assert base64.b64decode(found.blob) == Path(told["path"]).read_bytes()


def test_a_large_picture_is_read_as_a_resource_in_a_form_that_arrives(context: ServerContext) -> None:
    context.artifacts.mkdir(exist_ok=True)
    target = context.artifacts / "large.png"
    target.write_bytes(noise(1024, 768))

    async def read(client: Client) -> Any:
        return (await client.read_resource("blendwright://artifacts/large.png")).contents[0]

    try:
        found = talk(context, "legacy", read)
    finally:
        target.unlink()
    assert found.mime_type == "image/jpeg" and len(base64.b64decode(found.blob)) <= MAX_PICTURE_BYTES


def test_frames_are_a_strip_and_views_are_named_in_either_case(context: ServerContext) -> None:
    keys = [
        operation(
            f"k{frame}", "animation.set_keyframe", {"object": "Mover", "frame": frame, **LOCATION, "value": at}, "a"
        )
        for frame, at in ((1, [0, 0, 0]), (20, [9, 0, 0]))
    ]
    made = call(context, "legacy", "plan_execute", {"plan": plan("mover", cube("a", "Mover"), *keys)})
    assert not made.is_error, made.structured_content
    strip = call(context, "legacy", "scene_image", {"views": ["three_quarter"], "frames": [1, 10, 20], **SMALL})
    assert not strip.is_error, strip.structured_content
    result = strip.structured_content["result"]
    assert result["views"] == ["frame 1", "frame 10", "frame 20"]
    assert Path(result["pictures"][0]["path"]).is_file()
    assert decoded(strip.content[1]).width == 3 * 64
    unknown = call(context, "legacy", "scene_image", {"views": ["above"]})
    (finding,) = unknown.structured_content["details"]["findings"]
    assert finding["pointer"] == "/views/0" and "TOP" in unknown.structured_content["message"]


def test_a_contract_that_asks_for_determinism_gets_a_look_without_a_time_limit(context: ServerContext) -> None:
    call(context, "legacy", "plan_execute", {"plan": plan("seeded", cube("a", "Seeded"))})
    strict = replace(context, statements=(HostStatement("flag", HostLimits(determinism=Determinism.SEEDED)),))
    args = {"views": ["iso"], "engine": "CYCLES", "samples": 1, "denoise": False, **SMALL}
    answer = call(strict, "legacy", "scene_image", args)
    assert not answer.is_error, answer.structured_content
    assert [part.type for part in answer.content] == ["text", "image"]
    assert answer.structured_content["determinism_class"] == "seeded"
    loose = call(context, "legacy", "scene_image", args)
    assert loose.structured_content["determinism_class"] == "nondeterministic"


def test_a_look_names_what_is_seen_where_and_compares_with_a_file_and_with_a_commit(context: ServerContext) -> None:
    # Aside of whatever other tests have left.
    aside = operation(
        "a", "mesh.create_primitive", {"kind": "cube", "name": "Closer", "size": 8, "location": [20, 0, 0]}
    )
    made = call(context, "legacy", "plan_execute", {"plan": plan("closer", aside), "detail": "full"})
    assert not made.is_error, made.structured_content
    named = call(context, "legacy", "scene_image", {"views": ["top", "iso"], "show": "mask", **SMALL})
    assert not named.is_error, named.structured_content
    seen = named.structured_content["result"]["seen"]
    assert set(seen) == {"top", "iso"} and re.fullmatch("#[0-9a-f]{6}", seen["iso"]["objects"]["Closer"][2])
    # The journal's own commits are the reference: whatever stands before the cube.
    log = call(context, "legacy", "history_log", {"operations": True}).structured_content["result"]["commits"]
    back = call(context, "legacy", "scene_image", {"compare": str(log[1]["number"]), "views": ["iso"], **SMALL})
    assert not back.is_error, back.structured_content
    told = back.structured_content["result"]
    assert (told["before"], told["after"]) == (log[1]["number"], log[0]["number"]) and told["differing"] > 0.001
    assert [part.type for part in back.content] == ["text", "image"]
    lit = call(context, "legacy", "scene_image", {"compare": str(log[1]["number"]), "engine": "CYCLES", **SMALL})
    assert not lit.is_error and (lit.structured_content["determinism_class"], lit.structured_content["seed"]) == (
        "seeded",
        0,
    )
    outside = call(context, "legacy", "scene_image", {"compare": "/etc/hostname.png", "views": ["iso"]})
    assert outside.is_error and outside.structured_content["details"]["findings"][0]["pointer"] == "/compare"
    lost = call(context, "legacy", "scene_image", {"compare": "99999"})
    assert lost.is_error and "99999" in lost.structured_content["message"]


def test_a_snapshot_and_a_look_are_one_call(context: ServerContext) -> None:
    assert not call(context, "legacy", "plan_execute", {"plan": plan("snapped", cube("a", "Snapped"))}).is_error
    look = {"views": ["iso"], "show": "names", **SMALL}
    both = call(context, "legacy", "scene_snapshot", {"name": "Snapped", "image": look})
    assert not both.is_error and [part.type for part in both.content] == ["text", "image"]
    told = both.structured_content["result"]
    assert told["objects"][0].startswith("Snapped: MESH") and "Snapped" in told["seen"]["iso"]["objects"]
    plain = call(context, "legacy", "scene_snapshot", {"name": "Snapped"})
    assert [part.type for part in plain.content] == ["text"]
    wrong = call(context, "legacy", "scene_snapshot", {"image": {"views": ["sideways"]}})
    assert wrong.is_error and wrong.structured_content["details"]["findings"][0]["pointer"].startswith("/image/views")


def test_a_comparison_with_a_commit_shows_the_frame_that_is_asked_for(context: ServerContext) -> None:
    still = "mesh.create_primitive(kind = 'cube', name = 'Runner', size = 9, location = [0, 30, 0])"
    moved = "animation.set_keyframes(object = 'Runner', keys = ["
    moved += "{'channel': 'location', 'frame': at, 'value': [0, 30, at - 1]} for at in (1, 21)])"
    for program in (still, moved):
        assert not call(context, "legacy", "plan_execute", {"program": program}).is_error
    number = call(context, "legacy", "history_log", {"operations": True}).structured_content["result"]["commits"][1][
        "number"
    ]

    def differing(frame: int) -> float:
        look = {"compare": number, "frames": [frame], "views": ["right"], **SMALL}
        return call(context, "legacy", "scene_image", look).structured_content["result"]["differing"]

    assert differing(1) == 0 and differing(21) > 0.01


def test_a_picture_of_the_workspace_is_compared_with_by_its_commit(context: ServerContext) -> None:
    refused = call(context, "legacy", "scene_image", {"compare": str(context.artifacts / "scene_image.png")})
    (finding,) = refused.structured_content["details"]["findings"]
    assert finding["pointer"] == "/compare" and "commit" in finding["cure"]


def test_what_a_reading_tool_draws_arrives_from_a_plan_too(context: ServerContext) -> None:
    program = "b = mesh.create_primitive(kind = 'cube', name = 'Unwrapped')\nuv.unwrap(object = b)\n"
    program += "uv.check(object = b, artifact = 'uvs.png')"
    answer = call(context, "2026-07-28", "plan_execute", {"program": program})
    [told] = answer.structured_content["result"]["pictures"]
    assert Path(told["path"]).name == "uvs.png" and Path(told["path"]).is_file()
    assert [part.type for part in answer.content] == ["text", "image"]


def test_a_host_is_told_why_a_picture_is_black(context: ServerContext) -> None:
    eye = {"name": "Eye", "location": [4, -6, 4], "rotation_euler_deg": [60, 0, 34]}
    dark = plan(
        "dark",
        cube("a", "Box"),
        operation("b", "camera.create", eye),
        operation("c", "camera.set_active", {"object": "Eye"}),
        operation("d", "scene.set_render", {"engine": "CYCLES", "samples": 1, "resolution": [32, 24]}),
    )
    still = operation("e", "render.still", {"artifact": "made.png"}, "d")

    async def script(client: Client) -> Any:
        previewed = await client.call_tool("plan_preview", {"plan": dark, "image": True})
        ran = await client.call_tool("plan_execute", {"plan": {**dark, "operations": [*dark["operations"], still]}})
        looks = {"engine": "CYCLES", "samples": 1, **SMALL}
        seen = await client.call_tool("scene_image", {**looks, "views": ["iso", "top"]})
        compared = await client.call_tool("scene_image", {**looks, "compare": "2"})
        return previewed, ran, seen, compared

    previewed, ran, seen, compared = (one.structured_content for one in talk(context, "2026-07-28", script))
    for told in (previewed["details"]["notes"], ran["details"]["notes"], seen["result"]["notes"]):
        assert len(told) == 1 and "The scene has no light" in told[0] and "light.create" in told[0], told
    assert "The scene has no light" in compared["result"]["notes"][0]
