"""Shared parts of the rendering tools: engine names, reading picture files, and rendering one picture."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from blendwright.tool_api import Block, Scene
from blendwright.tool_api.arguments import Result, optional
from blendwright.tools.render.darkness import darkness_notes
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

Engine = Literal["WORKBENCH", "EEVEE", "CYCLES"]


def engine_id(engine: Engine, version: tuple[int, int, int]) -> str:
    """Return Blender's identifier of an engine. EEVEE was called BLENDER_EEVEE_NEXT from 4.2 until 5.0 replaced the old one."""
    if engine == "EEVEE":
        if version >= (5, 0, 0):
            return "BLENDER_EEVEE"
        return "BLENDER_EEVEE_NEXT"
    if engine == "WORKBENCH":
        return "BLENDER_WORKBENCH"
    return "CYCLES"


def engine_name(identifier: str) -> str:
    """Return the short name of an engine. Engines of add-ons keep their identifier."""
    short_names = {"BLENDER_WORKBENCH": "WORKBENCH", "BLENDER_EEVEE": "EEVEE", "BLENDER_EEVEE_NEXT": "EEVEE"}
    return short_names.get(identifier, identifier)


SIGNATURE = b"\x89PNG\r\n\x1a\n"
PIXEL_CHUNKS = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"})
EXR_SIGNATURE, EXR_PARTS = b"\x76\x2f\x31\x01", 0x1000

# A plain file name, because the workspace stores all artifacts in one folder.
PngName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,95}\.png$")]


# Blender's own limits.
FrameNumber = Annotated[int, Field(ge=-1_048_574, le=1_048_574)]


class Rendered(Result):
    """A rendered picture."""

    artifact: str | None = Field(
        description="Name of the picture among the workspace's artifacts; null if it was written to a path."
    )
    path: str | None = optional("Path of the picture, as given in the arguments.")
    width: int = Field(description="Width in pixels.")
    height: int = Field(description="Height in pixels.")
    engine: str = Field(description="Engine that rendered the picture.")
    partial: bool = Field(
        default=False,
        description="True if time ran out before the last sample; the picture then has more noise.",
    )
    samples: int | None = optional("Number of samples per pixel of a partial picture.")
    notes: list[str] = Field(default=[], description="Unexpected results, such as a dark picture or too few samples.")
    pixels_sha256: str = Field(
        description="Hash of the pixels: equal for equal pixels, whatever time the file contains."
    )


def read_picture(path: str) -> tuple[int, int, str] | None:
    """Return width, height and pixel hash of a PNG file, or None if the file is missing or no complete PNG."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        return None
    if not data.startswith(SIGNATURE):
        return None
    header, packed = b"", bytearray()
    for kind, body in _chunks(data):
        if kind == b"IHDR":
            header = body
        elif kind == b"IDAT":
            packed += body
    if len(header) != 13:
        return None
    try:
        rows = zlib.decompress(packed)
    except zlib.error:
        return None
    width, height = struct.unpack(">II", header[:8])
    return width, height, hashlib.sha256(header + rows).hexdigest()


def picture_facts(file: str) -> dict[str, Any]:
    """Return the result fields for a PNG file. Raise StepError if there is no readable picture."""
    picture = read_picture(file)
    if picture is None:
        raise StepError.of(Fault.EXECUTION_FAILED, "Blender wrote no picture", at="/artifact")
    return {"width": picture[0], "height": picture[1], "pixels_sha256": picture[2]}


def _other_picture(scene: Scene, file: str) -> tuple[int, int, str] | None:
    """Return width, height and pixel hash of a picture in another format than PNG, or None."""
    if not Path(file).is_file():
        return None
    if file.lower().endswith(".exr"):
        return _exr_picture(Path(file).read_bytes())
    width, height = scene.picture_size(file)
    if width:
        return (width, height, scene.picture_hash(file))
    return None


def _exr_picture(data: bytes) -> tuple[int, int, str] | None:
    """Return width, height and a hash of an EXR file, or None for another file.

    The hash excludes the header, which contains the time. It covers all layers, which Blender's own reader does not return.
    """
    if not data.startswith(EXR_SIGNATURE):
        return None
    # A file of several parts has one header per part, then an empty one.
    several = bool(struct.unpack("<I", data[4:8])[0] & EXR_PARTS)
    offset, size = 8, (0, 0)
    while data[offset]:
        while data[offset]:
            name, _, remaining = data[offset : offset + 512].partition(b"\0")
            kind, _, remaining = remaining.partition(b"\0")
            (length,) = struct.unpack("<i", remaining[:4])
            offset += len(name) + len(kind) + 2 + 4
            if name == b"dataWindow":
                left, top, right, bottom = struct.unpack("<4i", data[offset : offset + 16])
                size = (right - left + 1, bottom - top + 1)
            offset += length
        offset += 1
        if not several:
            break
    (pixels,) = struct.unpack("<Q", data[offset + several : offset + several + 8])
    return *size, hashlib.sha256(data[pixels:]).hexdigest()


def keep_pixels_only(path: str) -> None:
    """Rewrite a PNG file with its pixels only. Blender adds the time, and equal pictures must be equal files."""
    parts = [SIGNATURE]
    for kind, body in _chunks(Path(path).read_bytes()):
        if kind in PIXEL_CHUNKS:
            parts.append(struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)))
    Path(path).write_bytes(b"".join(parts))


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    offset = len(SIGNATURE)
    while offset + 12 <= len(data):
        (length,) = struct.unpack(">I", data[offset : offset + 4])
        yield data[offset + 4 : offset + 8], data[offset + 8 : offset + 8 + length]
        offset += 12 + length


def render_picture(
    scene: Scene,
    file: str,
    camera: Block | None,
    engine: str,
    *,
    artifact: str | None,
    path: str | None = None,
    output: dict[str, Any] | None = None,
) -> Rendered:
    """Render one picture to `file`. Raise StepError if Blender writes no picture.

    `artifact` or `path` is the name that the result reports. `output` contains the settings for formats other than PNG.
    """
    samples, requested_samples = scene.render_still(file, camera=camera, output=output)
    if output is None:
        picture = read_picture(file)
    else:
        picture = _other_picture(scene, file)
    if picture is None:
        if path is None:
            at = "/artifact"
        else:
            at = "/path"
        raise StepError.of(Fault.EXECUTION_FAILED, "Blender wrote no picture", at=at)
    width, height, pixels = picture
    result = Rendered(
        artifact=artifact,
        path=path,
        width=width,
        height=height,
        engine=engine,
        notes=darkness_notes(scene, engine, [file]),
        pixels_sha256=pixels,
    )
    # Without a time limit, adaptive sampling is the only reason for fewer samples: the picture needed no more.
    ended_early = engine == "CYCLES" and scene.active.cycles.time_limit > 0 and samples < requested_samples
    if not ended_early:
        return result
    notes = [*result.notes, ended_early_note(samples, requested_samples)]
    return result.model_copy(update={"partial": True, "samples": samples, "notes": notes})


def ended_early_note(samples: int, requested_samples: int) -> str:
    """Return the note for a picture that has fewer samples than requested because time ran out."""
    return f"Time ran out after {samples} of {requested_samples} samples."


# Time for the work after the last sample, mostly denoising: per million pixels, and in any case.
SECONDS_PER_MILLION = 25.0
SECONDS_AFTER = 5.0


def sampling_seconds(scene: Scene, pixels: int, wanted: float | None = None) -> float:
    """Return the seconds that CYCLES may take for samples, so that it ends before the call's limit. 0 means no limit."""
    remaining = scene.seconds_left
    if remaining is None:
        return wanted or 0.0
    after = min(remaining / 2, SECONDS_AFTER + SECONDS_PER_MILLION * pixels / 1e6)
    return min(wanted or remaining, remaining - after)
