"""The channels of an EXR file as Blender writes it without compression; other readers are not in every Blender.

From 5.0 on every pass is a part of the file, before that all are channels of one."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

SIGNATURE, SEVERAL_PARTS = b"\x76\x2f\x31\x01", 0x1000
# Sizes and types of samples: unsigned, half, float.
SAMPLES = ("<u4", "<f2", "<f4")


@dataclass(slots=True)
class Part:
    name: str = ""
    channels: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    window: tuple[int, int, int, int] = (0, 0, -1, -1)
    compression: int = 0

    @property
    def size(self) -> tuple[int, int]:
        left, top, right, bottom = self.window
        return right - left + 1, bottom - top + 1


def read_layers(file: str) -> dict[str, Any]:
    """Every channel by its name (`ViewLayer.Depth.Z`), as rows from the top down."""
    data = Path(file).read_bytes()
    if not data.startswith(SIGNATURE):
        raise ValueError("no EXR file")
    several = bool(struct.unpack("<I", data[4:8])[0] & SEVERAL_PARTS)
    offset, parts = 8, list[Part]()
    while data[offset]:
        part, offset = _header(data, offset)
        parts.append(part)
        if not several:
            break
    offset += several
    found: dict[str, Any] = {}
    for part in parts:
        if part.compression:
            raise ValueError("an EXR file with compression")
        rows = struct.unpack_from(f"<{part.size[1]}Q", data, offset)
        offset += 8 * part.size[1]
        for name, values in _channels(data, part, rows, several):
            found[name] = values
    return found


def _header(data: bytes, offset: int) -> tuple[Part, int]:
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
    offset = 0
    while value[offset]:
        name, offset = _text(value, offset)
        (sort,) = struct.unpack_from("<i", value, offset)
        yield name, SAMPLES[sort]
        offset += 16


def _channels(data: bytes, part: Part, rows: tuple[int, ...], several: bool) -> Iterator[tuple[str, Any]]:
    """A row of the file has its channels one after the other, behind its number and its length."""
    width, height = part.size
    if several:
        head = 12
    else:
        head = 8
    line = np.dtype([(f"c{number}", sort, (width,)) for number, (_, sort) in enumerate(part.channels)])
    table = np.empty(height, line)
    for start in rows:
        (row,) = struct.unpack_from("<i", data, start + head - 8)
        table[row - part.window[1]] = np.frombuffer(data, line, 1, start + head)[0]
    for number, (name, _) in enumerate(part.channels):
        yield name, table[f"c{number}"]


def _text(data: bytes, offset: int) -> tuple[str, int]:
    end = data.index(0, offset)
    return data[offset:end].decode(), end + 1
