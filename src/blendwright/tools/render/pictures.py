"""PNG files as a render leaves them: their size, and a hash of the picture alone. Knows nothing of scenes."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from blendwright.tool_api.arguments import Result, optional

SIGNATURE = b"\x89PNG\r\n\x1a\n"

# A plain file name: the workspace keeps artifacts side by side.
PngName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,95}\.png$")]


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


@dataclass(frozen=True, slots=True)
class Picture:
    width: int
    height: int
    pixels_sha256: str


def read_picture(path: str) -> Picture | None:
    """What a PNG file shows; None when there is no such file or it is no whole PNG."""
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
    return Picture(width, height, hashlib.sha256(header + rows).hexdigest())


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = len(SIGNATURE)
    while place + 12 <= len(data):
        (length,) = struct.unpack(">I", data[place : place + 4])
        yield data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        place += 12 + length
