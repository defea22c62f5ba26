"""What render.preview and render.still share: engines, and the picture that a render leaves."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from blendwright.tool_api import Block, Scene
from blendwright.tool_api.arguments import Result, optional
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

Engine = Literal["WORKBENCH", "EEVEE", "CYCLES"]


def engine_id(engine: Engine, version: tuple[int, int, int]) -> str:
    """Blender's own name. EEVEE was called "next" from 4.2 until it had replaced the old one in 5.0."""
    if engine == "EEVEE":
        return "BLENDER_EEVEE" if version >= (5, 0, 0) else "BLENDER_EEVEE_NEXT"
    return "BLENDER_WORKBENCH" if engine == "WORKBENCH" else "CYCLES"


def engine_name(identifier: str) -> str:
    """Our name; that of an add-on's engine is its own."""
    short_names = {"BLENDER_WORKBENCH": "WORKBENCH", "BLENDER_EEVEE": "EEVEE", "BLENDER_EEVEE_NEXT": "EEVEE"}
    return short_names.get(identifier, identifier)


SIGNATURE = b"\x89PNG\r\n\x1a\n"

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


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    offset = len(SIGNATURE)
    while offset + 12 <= len(data):
        (length,) = struct.unpack(">I", data[offset : offset + 4])
        yield data[offset + 4 : offset + 8], data[offset + 8 : offset + 8 + length]
        offset += 12 + length


def render_picture(
    scene: Scene, file: str, camera: Block | None, engine: str, *, artifact: str | None, path: str | None = None
) -> Rendered:
    """Render to a file that the worker writes; `artifact` or `path` is what the caller knows it by."""
    scene.render_still(file, camera=camera)
    picture = read_picture(file)
    if picture is None:
        at = "/artifact" if path is None else "/path"
        raise StepError.of(Fault.EXECUTION_FAILED, "Blender wrote no picture", at=at)
    width, height, pixels = picture
    return Rendered(artifact=artifact, path=path, width=width, height=height, engine=engine, pixels_sha256=pixels)
