"""Pictures of a virtual screen. Xvfb keeps its screen in a file of the format of xwd; a test wants a PNG."""

from __future__ import annotations

import struct
from pathlib import Path

from PIL import Image

# Fields of the header of xwd, version 7, all big endian words.
HEADER_SIZE, VERSION, FORMAT, WIDTH, HEIGHT, BYTE_ORDER, BITS, LINE, COLORS = 0, 1, 2, 4, 5, 7, 11, 12, 19


def save_png(screen: bytes, path: Path) -> None:
    words = struct.unpack(">25I", screen[:100])
    little_endian = words[BYTE_ORDER] == 0
    assert (words[VERSION], words[FORMAT], words[BITS], little_endian) == (7, 2, 32, True), words
    pixels = screen[words[HEADER_SIZE] + 12 * words[COLORS] :]
    size = words[WIDTH], words[HEIGHT]
    Image.frombytes("RGB", size, pixels, "raw", "BGRX", words[LINE]).save(path)
