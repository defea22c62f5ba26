"""What render.preview and render.still share: engines, and the picture that a render leaves."""

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
    """Blender's own name. EEVEE was called "next" from 4.2 until it had replaced the old one in 5.0."""
    if engine == "EEVEE":
        if version >= (5, 0, 0):
            return "BLENDER_EEVEE"
        return "BLENDER_EEVEE_NEXT"
    if engine == "WORKBENCH":
        return "BLENDER_WORKBENCH"
    return "CYCLES"


def engine_name(identifier: str) -> str:
    """Our name; that of an add-on's engine is its own."""
    short_names = {"BLENDER_WORKBENCH": "WORKBENCH", "BLENDER_EEVEE": "EEVEE", "BLENDER_EEVEE_NEXT": "EEVEE"}
    return short_names.get(identifier, identifier)


SIGNATURE = b"\x89PNG\r\n\x1a\n"
PIXEL_CHUNKS = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"})
EXR_SIGNATURE, EXR_PARTS = b"\x76\x2f\x31\x01", 0x1000

# A plain file name: the workspace keeps artifacts side by side.
PngName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,95}\.png$")]


# Blender's own bounds.
FrameNumber = Annotated[int, Field(ge=-1_048_574, le=1_048_574)]


class Rendered(Result):
    """A picture that was rendered."""

    artifact: str | None = Field(
        description="Name of the picture among the workspace's artifacts; None when it went to a path."
    )
    path: str | None = optional("The file, as it was named in the arguments.")
    width: int = Field(description="Width in pixels.")
    height: int = Field(description="Height in pixels.")
    engine: str = Field(description="The engine that rendered it.")
    partial: bool = Field(
        default=False,
        description="Whether its time was over before all samples were taken; the picture has more noise then.",
    )
    samples: int | None = optional("Samples that were taken of each pixel, where it is partial.")
    notes: list[str] = Field(default=[], description="What may surprise about it: no light, too few samples.")
    pixels_sha256: str = Field(
        description="Hash of the picture itself: equal for equal pixels, whatever time the file carries."
    )


def read_picture(path: str) -> tuple[int, int, str] | None:
    """Width, height and hash of what a PNG file shows; None when there is no such file or it is no whole PNG."""
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
    """What a result says of a PNG file. Raises StepError."""
    picture = read_picture(file)
    if picture is None:
        raise StepError.of(Fault.EXECUTION_FAILED, "Blender wrote no picture", at="/artifact")
    return {"width": picture[0], "height": picture[1], "pixels_sha256": picture[2]}


def _other_picture(scene: Scene, file: str) -> tuple[int, int, str] | None:
    """The same of a picture of another format."""
    if not Path(file).is_file():
        return None
    if file.lower().endswith(".exr"):
        return _exr_picture(Path(file).read_bytes())
    width, height = scene.picture_size(file)
    if width:
        return (width, height, scene.picture_hash(file))
    return None


def _exr_picture(data: bytes) -> tuple[int, int, str] | None:
    """The same of an EXR file, whose header says when it was made, and of whose layers Blender shows none by itself."""
    if not data.startswith(EXR_SIGNATURE):
        return None
    # A file of several parts has a header for each, and an empty one behind them.
    several = bool(struct.unpack("<I", data[4:8])[0] & EXR_PARTS)
    offset, size = 8, (0, 0)
    while data[offset]:
        while data[offset]:
            name, _, rest = data[offset : offset + 512].partition(b"\0")
            kind, _, rest = rest.partition(b"\0")
            (length,) = struct.unpack("<i", rest[:4])
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
    """Write a PNG file again without what else is in it: Blender notes the time, and equal pictures are to be equal files."""
    kept = [SIGNATURE]
    for kind, body in _chunks(Path(path).read_bytes()):
        if kind in PIXEL_CHUNKS:
            kept.append(struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)))
    Path(path).write_bytes(b"".join(kept))


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
    """Render to a file that the worker writes; `artifact` or `path` is what the caller knows it by. `output` is for other files than
    PNG."""
    taken, meant = scene.render_still(file, camera=camera, output=output)
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
    made = Rendered(
        artifact=artifact,
        path=path,
        width=width,
        height=height,
        engine=engine,
        notes=darkness_notes(scene, engine, [file]),
        pixels_sha256=pixels,
    )
    # Without a limit there is one reason for fewer samples: the picture needed no more.
    ended_early = engine == "CYCLES" and scene.active.cycles.time_limit > 0 and taken < meant
    if not ended_early:
        return made
    notes = [*made.notes, ended_early_note(taken, meant)]
    return made.model_copy(update={"partial": True, "samples": taken, "notes": notes})


def ended_early_note(taken: int, meant: int) -> str:
    return f"Its time was over after {taken} of {meant} samples."


# What comes after the last sample, denoising above all, takes so long: of a million pixels, and in any case.
SECONDS_PER_MILLION = 25.0
SECONDS_AFTER = 5.0


def sampling_seconds(scene: Scene, pixels: int, wanted: float | None = None) -> float:
    """How long CYCLES may take samples, so that it ends with what it has before the call does; 0 where nothing bounds it."""
    left = scene.seconds_left
    if left is None:
        return wanted or 0.0
    after = min(left / 2, SECONDS_AFTER + SECONDS_PER_MILLION * pixels / 1e6)
    return min(wanted or left, left - after)
