"""The picture files that can be read and written: their endings, how each begins, and what can be chosen when one is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationInfo
from pydantic_core import PydanticCustomError

from blendwright.tool_api.tool import Findings
from blendwright.tools.checks import invalid
from blendwright.tools.file.formats import extension_of, known_extension
from blendwright.tools.image.picture_size import declared_size
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

# A picture larger than this takes more memory than a worker has.
MOST_PIXELS = 8192 * 8192

READABLE: Mapping[str, str] = {
    "png": "PNG", "jpg": "JPEG", "jpeg": "JPEG", "exr": "OPEN_EXR", "hdr": "HDR", "tif": "TIFF", "tiff": "TIFF",
    "webp": "WEBP", "tga": "TARGA", "bmp": "BMP",
}  # fmt: skip
# TIFF holds the time of day, and TARGA and BMP nothing that PNG does not hold better.
WRITABLE: Mapping[str, str] = {
    ending: form for ending, form in READABLE.items() if form not in ("TIFF", "TARGA", "BMP")
}
# How a file of each format begins; TARGA has no mark, and is known by what its head can say.
MARKS: Mapping[str, tuple[bytes, ...]] = {
    "PNG": (b"\x89PNG\r\n\x1a\n",),
    "JPEG": (b"\xff\xd8\xff",),
    "OPEN_EXR": (b"\x76\x2f\x31\x01",),
    "HDR": (b"#?RADIANCE", b"#?RGBE"),
    "TIFF": (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
    "WEBP": (b"RIFF",),
    "BMP": (b"BM",),
}
TARGA_COLOR_MAPS, TARGA_TYPES, TARGA_BITS = (0, 1), (1, 2, 3, 9, 10, 11), (8, 15, 16, 24, 32)
TARGA_HEAD = 18
# Bits per channel that each format can be written with, the usual one first.
DEPTHS: Mapping[str, tuple[int, ...]] = {
    "PNG": (8, 16), "JPEG": (8,), "WEBP": (8,), "OPEN_EXR": (16, 32), "HDR": (32,),
}  # fmt: skip
WITHOUT_ALPHA = frozenset({"JPEG", "HDR"})

Codec = Literal["NONE", "ZIP", "ZIPS", "PIZ", "RLE", "PXR24", "DWAA", "DWAB"]


Depth = Literal[8, 16, 32]
DEPTH = "Bits per channel: PNG 8 or 16, EXR 16 (half) or 32 (full)."
CODEC = "Compression of EXR; ZIP when left out. DWAA and DWAB lose a little."
QUALITY = "Quality of JPEG and WEBP; 90 when left out."


def form_of(path: str) -> str:
    """Blender's name for the format that a path ends in."""
    return READABLE[extension_of(path)]


def readable_path(path: str) -> str:
    return known_extension(path, READABLE)


def writable_path(path: str) -> str:
    return known_extension(path, WRITABLE)


def fits_its_format(value: Any, info: ValidationInfo) -> Any:
    """For a validator of `depth`, `codec` or `quality` in arguments that have `path` before them."""
    path = info.data.get("path")
    if value is not None and path is not None:
        problem = encoding_problem(form_of(path), str(info.field_name), value)
        if problem is not None:
            raise PydanticCustomError("encoding", "{problem}", {"problem": problem})
    return value


def encoding_problem(form: str, name: str, value: Any) -> str | None:
    """Why a format cannot be written so, or None."""
    label = form.removeprefix("OPEN_")
    if name == "depth" and value not in DEPTHS[form]:
        return f"{label} has {' or '.join(map(str, DEPTHS[form]))} bits per channel"
    if name == "codec" and form != "OPEN_EXR":
        return f"codec is for EXR; leave it out for {label}"
    if name == "quality" and form not in ("JPEG", "WEBP"):
        return f"quality is for JPEG and WEBP; leave it out for {label}"
    return None


def image_settings(
    form: str, *, alpha: bool, depth: int | None = None, codec: str | None = None, quality: int | None = None
) -> dict[str, Any]:
    """What Blender's settings of a picture file are for this format, in the order in which they are to be written."""
    settings: dict[str, Any] = {
        "file_format": form,
        "color_mode": "RGBA" if alpha and form not in WITHOUT_ALPHA else "RGB",
        "color_depth": str(depth or DEPTHS[form][0]),
    }
    if form == "PNG":
        settings["compression"] = 15
    if form == "OPEN_EXR":
        settings["exr_codec"] = codec or "ZIP"
    if form in ("JPEG", "WEBP"):
        settings["quality"] = quality or 90
    return settings


def foreign_file_problems(file: str, path: str, at: str = "/path") -> Findings:
    """A finding when a file is not of the format that its name says, or holds more pixels than are allowed."""
    form = form_of(path)
    with Path(file).open("rb") as opened:
        begins = opened.read(TARGA_HEAD)
    # Blender opens a file by its content, whatever it is called: its size would be looked for in the wrong place.
    if not (_begins_as_targa(begins) if form == "TARGA" else begins.startswith(MARKS[form])):
        message = f"the file is empty, or no {form.removeprefix('OPEN_')} file"
        yield invalid(message, at, "Name a picture whose name says what it is, or get the file again.")
        return
    # Before Blender is given it: a small file can hold more pixels than there is memory.
    yield from too_many_pixels(declared_size(Path(file), form), at)


def _begins_as_targa(begins: bytes) -> bool:
    return (
        len(begins) == TARGA_HEAD
        and begins[1] in TARGA_COLOR_MAPS
        and begins[2] in TARGA_TYPES
        and begins[16] in TARGA_BITS
    )


def too_many_pixels(size: Sequence[int] | None, at: str) -> Findings:
    """A finding where a picture is larger than it may be."""
    if size is not None and size[0] * size[1] > MOST_PIXELS:
        message = f"the picture has {size[0]} by {size[1]} pixels, and {MOST_PIXELS} together are allowed"
        yield Finding(Fault.LIMIT_EXCEEDED, message, at, "Make it smaller.")
