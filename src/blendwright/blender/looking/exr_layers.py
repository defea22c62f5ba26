"""A reader for the channels of an uncompressed EXR file from Blender. Not every Blender bundles another reader.

From Blender 5.0 on, every pass is a part of the file. Before that, all passes are channels of one part.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

SIGNATURE, SEVERAL_PARTS = b"\x76\x2f\x31\x01", 0x1000
# The dtypes of samples by their EXR number: unsigned, half, float.
SAMPLES = ("<u4", "<f2", "<f4")


@dataclass(slots=True)
class Part:
    """A part of an EXR file, as its header describes it."""

    name: str = ""
    channels: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    window: tuple[int, int, int, int] = (0, 0, -1, -1)
    compression: int = 0

    @property
    def size(self) -> tuple[int, int]:
        left, top, right, bottom = self.window
        return right - left + 1, bottom - top + 1


def read_layers(file: str) -> dict[str, Any]:
    """Return every channel by its name (`ViewLayer.Depth.Z`). Rows run from the top down. Raise ValueError for another kind of file."""
    data = Path(file).read_bytes()
    if not data.startswith(SIGNATURE):
        raise ValueError("the file is not an EXR file")
    several = bool(struct.unpack("<I", data[4:8])[0] & SEVERAL_PARTS)
    offset = 8
    parts: list[Part] = []
    while data[offset]:
        part, offset = _header(data, offset)
        parts.append(part)
        if not several:
            break
    offset += several
    layers: dict[str, Any] = {}
    for part in parts:
        if part.compression:
            raise ValueError("the EXR file is compressed")
        rows = struct.unpack_from(f"<{part.size[1]}Q", data, offset)
        offset += 8 * part.size[1]
        layers |= dict(_channels(data, part, rows, several))
    return layers


def _header(data: bytes, offset: int) -> tuple[Part, int]:
    """Return the part that a header describes, and the offset after the header."""
    part = Part()
    while data[offset]:
        name, offset = _text(data, offset)
        _, offset = _text(data, offset)
        (length,) = struct.unpack_from("<i", data, offset)
        value = data[offset + 4 : offset + 4 + length]
        offset += 4 + length
        if name == "name":
            part.name = value.decode()
        elif name == "compression":
            part.compression = value[0]
        elif name == "dataWindow":
            part.window = struct.unpack("<4i", value)
        elif name == "channels":
            part.channels = list(_channel_list(value))
    return part, offset + 1


def _channel_list(value: bytes) -> Iterator[tuple[str, str]]:
    """Yield the name and dtype of each channel."""
    offset = 0
    while value[offset]:
        name, offset = _text(value, offset)
        (sample_type,) = struct.unpack_from("<i", value, offset)
        yield name, SAMPLES[sample_type]
        offset += 16


def _channels(data: bytes, part: Part, rows: tuple[int, ...], several: bool) -> Iterator[tuple[str, Any]]:
    """Yield the name and values of each channel. A row of the file has a number, a length, and the channels in turn."""
    width, height = part.size
    if several:
        row_header = 12
    else:
        row_header = 8
    line = np.dtype([(f"c{number}", dtype, (width,)) for number, (_, dtype) in enumerate(part.channels)])
    table = np.empty(height, line)
    for start in rows:
        (row,) = struct.unpack_from("<i", data, start + row_header - 8)
        table[row - part.window[1]] = np.frombuffer(data, line, 1, start + row_header)[0]
    for number, (name, _) in enumerate(part.channels):
        yield name, table[f"c{number}"]


def _text(data: bytes, offset: int) -> tuple[str, int]:
    """Return a null-terminated string and the offset after it."""
    end = data.index(0, offset)
    return data[offset:end].decode(), end + 1
