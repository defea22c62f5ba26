"""Pixel size of a picture as declared in its file header, read before Blender opens a file that might exceed memory.

No pixels are decoded. Supports the formats that can be loaded. If a header does not declare the size or cannot be
parsed, the size is unknown, and the caller checks the size that Blender reports afterwards.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

Size = tuple[int, int]
# Largest number of header bytes to read for formats with a text or list header; real headers are smaller.
MAX_HEADER_BYTES = 1 << 20
_RADIANCE = re.compile(rb"\n[-+]([XY]) (\d{1,9}) [-+][XY] (\d{1,9})\n")
# JPEG frame markers whose segments contain the size.
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_WIDTH_TAG, _HEIGHT_TAG, _SHORT = 256, 257, 3


def declared_size(file: Path, form: str) -> Size | None:
    """Return width and height from the header of a file of this format, or None if unknown."""
    reader = _READERS.get(form)
    if reader is None:
        return None
    with file.open("rb") as opened:
        try:
            return reader(opened)
        except (struct.error, ValueError, IndexError):
            return None  # truncated, or not of this format


def _png(opened: BinaryIO) -> Size | None:
    return _pair(opened, 16, ">II")


def _bmp(opened: BinaryIO) -> Size | None:
    (header,) = _unpacked(opened, 14, "<I")
    if header == 12:
        return _pair(opened, 18, "<HH")
    width, height = _pair(opened, 18, "<ii")
    return abs(width), abs(height)


def _targa(opened: BinaryIO) -> Size | None:
    return _pair(opened, 12, "<HH")


def _radiance(opened: BinaryIO) -> Size | None:
    match = _RADIANCE.search(opened.read(MAX_HEADER_BYTES))
    if match is None:
        return None
    first, second = int(match[2]), int(match[3])
    if match[1] == b"X":
        return first, second
    return second, first


def _webp(opened: BinaryIO) -> Size | None:
    head = opened.read(30)
    match head[12:16]:
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", head, 26)
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", head, 21)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
        case _:
            return None


def _jpeg(opened: BinaryIO) -> Size | None:
    at = 2
    while True:
        mark, kind, length = _unpacked(opened, at, ">BBH")
        if mark != 0xFF:
            return None
        if kind == 0xFF:
            at += 1  # fill byte
        elif kind in _FRAMES:
            height, width = _unpacked(opened, at + 5, ">HH")
            return width, height
        else:
            at += 2 + length


def _tiff(opened: BinaryIO) -> Size | None:
    """Return the size of the largest picture in the file."""
    head = opened.read(16)
    order = ">"
    if head[:2] == b"II":
        order = "<"
    # Formats of pointers and counters, bytes of a directory entry, offset of its value, and offset of the first
    # pointer.
    pointer, counter, entry_bytes, value_offset, start = "I", "H", 12, 8, 4
    if head[2:4] in (b"+\0", b"\0+"):  # BigTIFF
        pointer, counter, entry_bytes, value_offset, start = "Q", "Q", 20, 12, 8
    (at,) = struct.unpack_from(order + pointer, head, start)
    largest: Size | None = None
    for _ in range(64):
        if not at:
            break
        (count,) = _unpacked(opened, at, order + counter)
        entries = at + struct.calcsize(order + counter)
        sides: dict[int, int] = {}
        for number in range(min(count, 1024)):
            entry = entries + entry_bytes * number
            tag, kind = _unpacked(opened, entry, order + "HH")
            if tag not in (_WIDTH_TAG, _HEIGHT_TAG):
                continue
            value_form = "I"
            if kind == _SHORT:
                value_form = "H"
            (sides[tag],) = _unpacked(opened, entry + value_offset, order + value_form)
        largest = _larger(largest, (sides.get(_WIDTH_TAG, 0), sides.get(_HEIGHT_TAG, 0)))
        (at,) = _unpacked(opened, entries + entry_bytes * count, order + pointer)
    return largest


def _exr(opened: BinaryIO) -> Size | None:
    """Return the size of the largest part, by its data window or display window."""
    content = opened.read(MAX_HEADER_BYTES)
    largest: Size | None = None
    for name, kind, value in _exr_attributes(content):
        if kind == b"box2i" and name in (b"dataWindow", b"displayWindow"):
            left, top, right, bottom = struct.unpack("<iiii", value)
            largest = _larger(largest, (right - left + 1, bottom - top + 1))
    return largest


def _exr_attributes(content: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    (version,) = struct.unpack_from("<I", content, 4)
    has_several_parts, at = bool(version & 0x1000), 8
    while True:
        if content[at] == 0:
            at += 1
            if not has_several_parts or content[at] == 0:
                return
        name_ends = content.index(0, at)
        kind_ends = content.index(0, name_ends + 1)
        (length,) = struct.unpack_from("<i", content, kind_ends + 1)
        value = kind_ends + 5
        if length < 0:
            return
        yield content[at:name_ends], content[name_ends + 1 : kind_ends], content[value : value + length]
        at = value + length


def _larger(largest: Size | None, candidate: Size) -> Size:
    if largest is None or candidate[0] * candidate[1] > largest[0] * largest[1]:
        return candidate
    return largest


def _pair(opened: BinaryIO, at: int, form: str) -> Size:
    first, second = _unpacked(opened, at, form)
    return first, second


def _unpacked(opened: BinaryIO, at: int, form: str) -> tuple[int, ...]:
    opened.seek(at)
    return struct.unpack(form, opened.read(struct.calcsize(form)))


_READERS: dict[str, Callable[[BinaryIO], Size | None]] = {
    "PNG": _png, "JPEG": _jpeg, "OPEN_EXR": _exr, "HDR": _radiance, "TIFF": _tiff, "WEBP": _webp, "TARGA": _targa,
    "BMP": _bmp,
}  # fmt: skip
