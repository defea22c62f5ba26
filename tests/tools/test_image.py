"""Images: made, loaded and written as asked; pixels are in the fingerprint, and survive saving, undo and another process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from support.stage.pictures import png

if TYPE_CHECKING:
    from support.stage.stage import Stage

DATA = {"color_space": "Non-Color"}


def image(name: str) -> Any:
    images: Any = bpy.data.images
    return images[name]


def corner(name: str) -> Any:
    """The lowest left pixel."""
    return pytest.approx(tuple(image(name).pixels[:4]), abs=0.003)


def files(folder: Path, *names: str) -> dict[str, str]:
    return {name: str(folder / name) for name in names}


@pytest.mark.parametrize(
    ("settings", "stored"),
    [
        ({}, (0.735, 0.537, 0.0)),
        ({"float": True}, (0.5, 0.25, 0.0)),
        (DATA, (0.5, 0.25, 0.0)),
        ({"float": True, **DATA}, (0.5, 0.25, 0.0)),
    ],
    ids=["bytes", "float", "data", "float data"],
)
@pytest.mark.parametrize("fill", [{"color": [0.5, 0.25, 0]}, {"rows": [[[0.5, 0.25, 0]]]}], ids=["color", "rows"])
def test_colours_are_linear_and_stored_as_the_image_has_them(
    stage: Stage, settings: dict[str, Any], stored: tuple[float, ...], fill: dict[str, Any]
) -> None:
    stage.do("image.create", {"name": "A", "size": [4, 2], **settings, **fill})
    assert (*stored, 1.0) == corner("A")
    assert tuple(image("A").size) == (4, 2)


def test_rows_run_from_the_top_down_and_blend(stage: Stage) -> None:
    rows = [[[1, 0, 0], [0, 1, 0]], [[0, 0, 1], [0, 0, 0]]]
    stage.do("image.create", {"name": "A", "size": [64, 64], "rows": rows, "float": True})
    pixels = image("A").pixels

    def at(x: int, y: int) -> Any:
        start = 4 * (64 * y + x)
        return pytest.approx(tuple(pixels[start : start + 3]), abs=1e-6)

    assert at(0, 63) == (1, 0, 0)
    assert at(63, 63) == (0, 1, 0)
    assert at(0, 0) == (0, 0, 1)
    assert at(31, 63) == (0.515625, 0.484375, 0)


def test_other_pixels_are_another_scene_and_an_equal_image_is_left_alone(stage: Stage) -> None:
    args = {"name": "A", "size": [4, 4], "rows": [[[0.1, 0.2, 0.3]]]}
    first = stage.call("image.create", args)["after"]
    assert stage.do("image.create", args)["created"] is False
    (finding,) = stage.refusal("image.create", args | {"rows": [[[0.1, 0.2, 0.5]]]})
    assert finding["pointer"] == "/name"
    stage.state.reset()
    assert stage.call("image.create", args | {"rows": [[[0.1, 0.2, 0.5]]]})["after"] != first


@pytest.mark.parametrize(
    ("args", "pointer"),
    [
        ({"size": [16384, 16384]}, ""),
        ({"color": [2, 0, 0]}, ""),
        ({"rows": [[[0, 0, 0]], [[0, 0, 0], [1, 1, 1]]]}, ""),
        ({"rows": [[[0, 0, 0]]], "type": "UV_GRID"}, ""),
        ({"color": [1, 0]}, "/color"),
    ],
)
def test_what_cannot_be_an_image_is_refused(stage: Stage, args: dict[str, Any], pointer: str) -> None:
    assert stage.invalid("image.create", {"name": "A", **args}) == [pointer]


def test_a_colour_space_that_this_blender_does_not_know_is_refused_with_those_near(stage: Stage) -> None:
    (finding,) = stage.refusal("image.create", {"name": "A", "color_space": "Non-Colour"})
    assert finding["pointer"] == "/color_space"
    assert "Non-Color" in finding["cure"]


@pytest.mark.parametrize(
    ("ending", "options", "off"),
    [
        ("png", {}, 0.5 / 255),
        ("png", {"depth": 16}, 0.5 / 65535),
        ("exr", {}, 1e-3),
        ("exr", {"depth": 32, "codec": "PIZ"}, 1e-6),
        ("hdr", {}, 0.01),
        ("webp", {"quality": 100}, 0.01),
        ("jpg", {"quality": 95}, 0.01),
    ],
)
@pytest.mark.parametrize("color_space", ["Non-Color", "Linear Rec.709"])
def test_what_is_saved_is_what_is_loaded(
    stage: Stage, tmp_path: Path, ending: str, options: dict[str, Any], off: float, color_space: str
) -> None:
    color = [0.1, 0.2, 0.7]
    stage.do("image.create", {"name": "A", "size": [8, 8], "float": True, "color": color, "color_space": color_space})
    path = f"a.{ending}"
    before = stage.state.full_root()
    saved = stage.do("image.save", {"name": "A", "path": path, **options}, files=files(tmp_path, path))
    assert stage.state.full_root() == before
    assert saved["bytes"] == (tmp_path / path).stat().st_size
    # Colours of formats without linear values come back encoded.
    is_data = color_space == "Non-Color"
    loading = {"name": "B", "path": path, **({"color_space": "Non-Color"} if is_data else {})}
    stage.do("image.load", loading, files=files(tmp_path, path))
    loaded: Any = image("B")
    wanted = color
    if not is_data and not loaded.is_float:
        wanted = [1.055 * value ** (1 / 2.4) - 0.055 for value in color]
    assert tuple(loaded.pixels[:3]) == pytest.approx(wanted, abs=3 * off + 1e-6)


def test_bits_that_a_format_does_not_have_are_refused(stage: Stage) -> None:
    args = {"name": "A", "path": "a.png"}
    assert stage.invalid("image.save", args | {"depth": 32}) == ["/depth"]
    assert stage.invalid("image.save", args | {"codec": "ZIP"}) == ["/codec"]
    assert stage.invalid("image.save", args | {"quality": 50}) == ["/quality"]
    assert stage.invalid("image.save", args | {"path": "a.mp4"}) == ["/path"]


def test_a_file_is_packed_with_its_path_and_may_change_afterwards(stage: Stage, tmp_path: Path) -> None:
    png(tmp_path / "red.png", (255, 0, 0))
    result = stage.do("image.load", {"name": "Red", "path": "red.png"}, files=files(tmp_path, "red.png"))
    assert result == {"image": "Red", "size": [4, 4], "color_space": "sRGB", "float": False, "packed": True}
    root = stage.state.root()
    png(tmp_path / "red.png", (0, 0, 255))
    stage.state.save(tmp_path / "scene.blend")
    stage.state.open(tmp_path / "scene.blend")
    assert stage.state.root() == root
    assert corner("Red") == (1, 0, 0, 1)
    assert image("Red").filepath == "red.png"


def test_an_image_that_is_not_packed_names_its_file(stage: Stage, tmp_path: Path) -> None:
    png(tmp_path / "red.png", (255, 0, 0))
    where = files(tmp_path, "red.png")
    assert stage.do("image.load", {"name": "Red", "path": "red.png", "pack": False}, files=where)["packed"] is False
    assert image("Red").packed_file is None
    assert image("Red").filepath == "red.png"


@pytest.mark.parametrize(
    ("content", "fault"),
    [(b"", "ARGS_INVALID"), (b"GIF89a....", "ARGS_INVALID"), (b"\x89PNG\r\n\x1a\n....", "EXECUTION_FAILED")],
    ids=["empty", "foreign", "torn"],
)
def test_a_file_that_is_no_picture_leaves_nothing(stage: Stage, tmp_path: Path, content: bytes, fault: str) -> None:
    (tmp_path / "a.png").write_bytes(content)
    (finding,) = stage.refusal("image.load", {"name": "A", "path": "a.png"}, files=files(tmp_path, "a.png"))
    assert (finding["code"], finding["pointer"]) == (fault, "/path")
    assert "A" not in bpy.data.images
