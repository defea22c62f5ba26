"""How large a picture says it is, read from the beginning of its file: before Blender is given one that would take all memory there is.

Nothing is decoded. Files of the formats that can be loaded are known; of a file that does not say it, or says it in a way that nobody
reads, nothing is known, and what Blender finds is looked at afterwards.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

Size = tuple[int, int]
# So much of a file is read where a text or a list leads to its size; more is written by nobody.
MOST_HEADER = 1 << 20
_RADIANCE = re.compile(rb"\n[-+]([XY]) (\d{1,9}) [-+][XY] (\d{1,9})\n")
# Frames of JPEG: those that begin with a size.
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_WIDTH_TAG, _HEIGHT_TAG, _SHORT = 256, 257, 3


def declared_size(file: Path, form: str) -> Size | None:
    """Width and height by the header of a file of this format; None where it does not tell."""
    reader = _READERS.get(form)
    if reader is None:
        return None
    with file.open("rb") as opened:
        try:
            return reader(opened)
        except (struct.error, ValueError, IndexError):
            return None  # broken off, or no such file


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
    found = _RADIANCE.search(opened.read(MOST_HEADER))
    if found is None:
        return None
    one, other = int(found[2]), int(found[3])
    if found[1] == b"X":
        return (one, other)
    return (other, one)


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
            at += 1  # filled up
        elif kind in _FRAMES:
            height, width = _unpacked(opened, at + 5, ">HH")
            return width, height
        else:
            at += 2 + length


def _tiff(opened: BinaryIO) -> Size | None:
    """The largest of its pictures."""
    head = opened.read(16)
    if head[:2] == b"II":
        order = "<"
    else:
        order = ">"
    big = head[2:4] in (b"+\0", b"\0+")
    pointer, counter, entry, value = ("Q", "Q", 20, 12) if big else ("I", "H", 12, 8)
    (at,) = struct.unpack_from(order + pointer, head, 8 if big else 4)
    largest: Size | None = None
    for _ in range(64):
        if not at:
            break
        (count,) = _unpacked(opened, at, order + counter)
        entries = at + struct.calcsize(order + counter)
        sides: dict[int, int] = {}
        for number in range(min(count, 1024)):
            tag, kind = _unpacked(opened, entries + entry * number, order + "HH")
            if tag in (_WIDTH_TAG, _HEIGHT_TAG):
                (sides[tag],) = _unpacked(
                    opened, entries + entry * number + value, order + ("H" if kind == _SHORT else "I")
                )
        largest = _larger(largest, (sides.get(_WIDTH_TAG, 0), sides.get(_HEIGHT_TAG, 0)))
        (at,) = _unpacked(opened, entries + entry * count, order + pointer)
    return largest


def _exr(opened: BinaryIO) -> Size | None:
    """The largest of its parts, by the window that holds pixels or the one that is shown."""
    content = opened.read(MOST_HEADER)
    largest: Size | None = None
    for name, kind, value in _exr_attributes(content):
        if kind == b"box2i" and name in (b"dataWindow", b"displayWindow"):
            left, top, right, bottom = struct.unpack("<iiii", value)
            largest = _larger(largest, (right - left + 1, bottom - top + 1))
    return largest


def _exr_attributes(content: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    (version,) = struct.unpack_from("<I", content, 4)
    several, at = bool(version & 0x1000), 8
    while True:
        if content[at] == 0:
            at += 1
            if not several or content[at] == 0:
                return
        name_ends = content.index(0, at)
        kind_ends = content.index(0, name_ends + 1)
        (length,) = struct.unpack_from("<i", content, kind_ends + 1)
        value = kind_ends + 5
        if length < 0:
            return
        yield content[at:name_ends], content[name_ends + 1 : kind_ends], content[value : value + length]
        at = value + length


def _larger(one: Size | None, other: Size) -> Size:
    if one is None or other[0] * other[1] > one[0] * one[1]:
        return other
    return one


def _pair(opened: BinaryIO, at: int, form: str) -> Size:
    one, other = _unpacked(opened, at, form)
    return one, other


def _unpacked(opened: BinaryIO, at: int, form: str) -> tuple[int, ...]:
    opened.seek(at)
    return struct.unpack(form, opened.read(struct.calcsize(form)))


_READERS: dict[str, Callable[[BinaryIO], Size | None]] = {
    "PNG": _png, "JPEG": _jpeg, "OPEN_EXR": _exr, "HDR": _radiance, "TIFF": _tiff, "WEBP": _webp, "TARGA": _targa,
    "BMP": _bmp,
}  # fmt: skip
