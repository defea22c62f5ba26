"""A picture says how large it is before Blender has to make room for it: read in every format as Blender wrote it, and refused in time."""

from __future__ import annotations

import struct
import zlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.blender.scene.pictures.images import Images
from blendwright.tools.image.formats import MAX_PIXELS, READABLE
from blendwright.tools.image.picture_size import declared_size
from blendwright.values.faults import Fault

if TYPE_CHECKING:
    from support.stage.stage import Stage

SIDE = 20_000
assert SIDE * SIDE > MAX_PIXELS


def written(stage: Stage, folder: Path, form: str, **settings: Any) -> Path:
    """A picture of 24 by 10 pixels, as Blender writes it."""
    stage.do("image.create", {"name": "A", "size": [24, 10], "float": form in ("OPEN_EXR", "HDR")})
    data: Any = bpy.data
    scene: Any = bpy.context.scene
    file = folder / f"a.{form.lower()}"
    output = scene.render.image_settings
    output.file_format = form
    for name, value in settings.items():
        setattr(output, name, value)
    data.images["A"].save_render(str(file), scene=scene)
    return file


@pytest.mark.parametrize("form", sorted(set(READABLE.values())))
def test_the_size_is_what_blender_wrote(stage: Stage, tmp_path: Path, form: str) -> None:
    assert declared_size(written(stage, tmp_path, form), form) == (24, 10)


@pytest.mark.parametrize("form", sorted(set(READABLE.values())))
def test_what_is_broken_off_says_nothing_and_raises_nothing(stage: Stage, tmp_path: Path, form: str) -> None:
    content = written(stage, tmp_path, form).read_bytes()
    torn = tmp_path / "torn"
    for length in (0, 1, 7, 13, 17, 23, 29, 60, 120):
        torn.write_bytes(content[:length])
        assert declared_size(torn, form) in (None, (24, 10))
    torn.write_bytes(content[:8] + bytes(range(256)) * 4)
    declared_size(torn, form)


@cache
def bomb_png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", SIDE, SIDE, 1, 0, 0, 0, 0)
    pixels = zlib.compress(bytes(SIDE // 8 + 1) * SIDE, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


BOMBS: dict[str, bytes] = {
    "bomb.jpg": b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x0b\x08" + struct.pack(">HH", SIDE, SIDE) + b"\x01\x01\x11\0",
    "bomb.tga": struct.pack("<BBBHHBHHHHBB", 0, 0, 2, 0, 0, 0, 0, 0, SIDE, SIDE, 32, 0),
    "bomb.bmp": b"BM" + bytes(12) + struct.pack("<Iii", 40, SIDE, -SIDE),
    "bomb.hdr": b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y %d +X %d\n" % (SIDE, SIDE),
    "bomb.webp": b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + (SIDE - 1).to_bytes(3, "little") * 2,
    "bomb.tif": b"II*\0\x08\0\0\0\x02\0" + struct.pack("<HHII", 256, 4, 1, SIDE) + struct.pack("<HHII", 257, 4, 1, SIDE) + bytes(4),
    "bomb.exr": b"\x76\x2f\x31\x01\x02\0\0\0dataWindow\0box2i\0" + struct.pack("<iiiii", 16, 0, 0, SIDE - 1, SIDE - 1) + b"\0",
}  # fmt: skip


NAMES = ("bomb.png", *BOMBS)


def bomb(name: str) -> bytes:
    return BOMBS.get(name) or bomb_png()


@pytest.mark.parametrize("name", NAMES)
def test_a_small_file_with_more_pixels_than_there_is_memory_is_not_opened(
    stage: Stage, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / name
    file.write_bytes(bomb(name))
    assert file.stat().st_size < 100_000

    def open_picture(*_: object, **__: object) -> None:
        raise AssertionError("Blender was given the picture")

    monkeypatch.setattr(Images, "load_image", open_picture)
    (finding,) = stage.refusal("image.load", {"name": "B", "path": name}, files={name: str(file)})
    assert finding["code"] == Fault.LIMIT_EXCEEDED and finding["pointer"] == "/path"
    assert f"{SIDE} by {SIDE} pixels" in finding["message"]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "bomb.tga"])
def test_a_bomb_under_another_name_is_not_opened(stage: Stage, tmp_path: Path, name: str) -> None:
    """Blender opens a file by its content: as .tga, which has no mark, anything would say it is small."""
    for other in {*NAMES} - {name}:
        (tmp_path / other).write_bytes(bomb(name)[:12] + (bomb(name)[12:] if name == "bomb.tif" else bytes(30)))
        (finding,) = stage.refusal("image.load", {"name": "B", "path": other}, files={other: str(tmp_path / other)})
        assert finding["code"] == Fault.ARGS_INVALID and "file is empty, or no" in finding["message"]


def test_the_larger_of_two_parts_counts(tmp_path: Path) -> None:
    window = b"dataWindow\0box2i\0" + struct.pack("<i", 16)
    small, large = struct.pack("<iiii", 0, 0, 3, 3), struct.pack("<iiii", -5, -5, SIDE, SIDE)
    file = tmp_path / "parts.exr"
    file.write_bytes(
        b"\x76\x2f\x31\x01" + struct.pack("<I", 0x1002) + window + small + b"\0" + window + large + b"\0\0"
    )
    assert declared_size(file, "OPEN_EXR") == (SIDE + 6, SIDE + 6)
