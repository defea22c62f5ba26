"""Picture file formats for reading and writing: extensions, file signatures, and encoding settings."""

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

# Largest number of pixels of a picture: larger ones need more memory than a worker process has.
MAX_PIXELS = 8192 * 8192

READABLE: Mapping[str, str] = {
    "png": "PNG", "jpg": "JPEG", "jpeg": "JPEG", "exr": "OPEN_EXR", "hdr": "HDR", "tif": "TIFF", "tiff": "TIFF",
    "webp": "WEBP", "tga": "TARGA", "bmp": "BMP",
}  # fmt: skip
# Without TIFF, which stores the time of writing, and without TARGA and BMP, which have no advantage over PNG.
WRITABLE: Mapping[str, str] = {
    ending: form for ending, form in READABLE.items() if form not in ("TIFF", "TARGA", "BMP")
}
# Format -> the possible first bytes of its files. TARGA has no signature; the values in its header identify it.
MARKS: Mapping[str, tuple[bytes, ...]] = {
    "PNG": (b"\x89PNG\r\n\x1a\n",),
    "JPEG": (b"\xff\xd8\xff",),
    "OPEN_EXR": (b"\x76\x2f\x31\x01",),
    "HDR": (b"#?RADIANCE", b"#?RGBE"),
    "TIFF": (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
    "WEBP": (b"RIFF",),
    "BMP": (b"BM",),
}
# Valid values in a TARGA header.
TARGA_COLOR_MAPS, TARGA_TYPES, TARGA_BITS = (0, 1), (1, 2, 3, 9, 10, 11), (8, 15, 16, 24, 32)
TARGA_HEADER_BYTES = 18
# Format -> supported bits per channel for writing, the default first.
DEPTHS: Mapping[str, tuple[int, ...]] = {
    "PNG": (8, 16), "JPEG": (8,), "WEBP": (8,), "OPEN_EXR": (16, 32), "HDR": (32,),
}  # fmt: skip
WITHOUT_ALPHA = frozenset({"JPEG", "HDR"})

Codec = Literal["NONE", "ZIP", "ZIPS", "PIZ", "RLE", "PXR24", "DWAA", "DWAB"]


Depth = Literal[8, 16, 32]
DEPTH = "Bits per channel: PNG 8 or 16, EXR 16 (half) or 32 (full)."
CODEC = "Compression of EXR. Default: ZIP. DWAA and DWAB are slightly lossy."
QUALITY = "Quality of JPEG and WEBP. Default: 90."


def form_of(path: str) -> str:
    """Return Blender's name of the format that the path's extension stands for."""
    return READABLE[extension_of(path)]


def readable_path(path: str) -> str:
    return known_extension(path, READABLE)


def writable_path(path: str) -> str:
    return known_extension(path, WRITABLE)


def fits_its_format(value: Any, info: ValidationInfo) -> Any:
    """Return the value unchanged. Raise PydanticCustomError if the format of `path` does not support it.

    This is the validator of `depth`, `codec` and `quality` in argument models with `path` before them.
    """
    path = info.data.get("path")
    if value is not None and path is not None:
        problem = encoding_problem(form_of(path), str(info.field_name), value)
        if problem is not None:
            raise PydanticCustomError("encoding", "{problem}", {"problem": problem})
    return value


def encoding_problem(form: str, name: str, value: Any) -> str | None:
    """Return why a format does not support a setting, or None if it does."""
    label = form.removeprefix("OPEN_")
    if name == "depth" and value not in DEPTHS[form]:
        return f"{label} supports {' or '.join(map(str, DEPTHS[form]))} bits per channel"
    if name == "codec" and form != "OPEN_EXR":
        return f"codec works only for EXR; leave it out for {label}"
    if name == "quality" and form not in ("JPEG", "WEBP"):
        return f"quality works only for JPEG and WEBP; leave it out for {label}"
    return None


def image_settings(
    form: str, *, alpha: bool, depth: int | None = None, codec: str | None = None, quality: int | None = None
) -> dict[str, Any]:
    """Return Blender's image settings for writing this format, in the order in which they must be written."""
    settings: dict[str, Any] = {
        "file_format": form,
        "color_mode": "RGB",
        "color_depth": str(depth or DEPTHS[form][0]),
    }
    if alpha and form not in WITHOUT_ALPHA:
        settings["color_mode"] = "RGBA"
    if form == "PNG":
        settings["compression"] = 15
    if form == "OPEN_EXR":
        settings["exr_codec"] = codec or "ZIP"
    if form in ("JPEG", "WEBP"):
        settings["quality"] = quality or 90
    return settings


def foreign_file_problems(file: str, path: str, at: str = "/path") -> Findings:
    """Yield a finding if a file is not of the format of its extension, or has too many pixels."""
    form = form_of(path)
    with Path(file).open("rb") as opened:
        beginning = opened.read(TARGA_HEADER_BYTES)

    # Blender detects the format by content. With a wrong extension, the size would be read with the wrong format.
    if form == "TARGA":
        is_of_format = _begins_as_targa(beginning)
    else:
        is_of_format = beginning.startswith(MARKS[form])
    if not is_of_format:
        message = f"the file is empty, or not a {form.removeprefix('OPEN_')} file"
        yield invalid(message, at, "Name a picture file with the correct extension, or get the file again.")
        return

    # Check the size before Blender opens the file: a small file can contain more pixels than fit into memory.
    yield from too_many_pixels(declared_size(Path(file), form), at)


def _begins_as_targa(beginning: bytes) -> bool:
    return (
        len(beginning) == TARGA_HEADER_BYTES
        and beginning[1] in TARGA_COLOR_MAPS
        and beginning[2] in TARGA_TYPES
        and beginning[16] in TARGA_BITS
    )


def too_many_pixels(size: Sequence[int] | None, at: str) -> Findings:
    """Yield a finding if a picture exceeds the pixel limit. `size` is None if unknown."""
    if size is not None and size[0] * size[1] > MAX_PIXELS:
        message = f"the picture has {size[0]} by {size[1]} pixels, more than the limit of {MAX_PIXELS} in total"
        yield Finding(Fault.LIMIT_EXCEEDED, message, at, "Make it smaller.")
