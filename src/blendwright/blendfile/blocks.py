"""The blocks of a .blend file, as Blender wrote them. Raises ValueError or struct.error for what is no such file."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from typing import NamedTuple

# The header of a file says how long it is from Blender 5.0 on; the heads of blocks have been longer since then, too.
OLD_HEADER, OLD_HEAD, HEAD = 12, struct.Struct("<4siQii"), struct.Struct("<4siQqq")


class Block(NamedTuple):
    code: bytes
    struct: int
    address: int
    many: int
    data: bytes


def datablocks(file: mmap.mmap) -> Iterator[list[Block]]:
    """Datablocks, each with the blocks that belong to it."""
    group: list[Block] = []
    for block in blocks(file):
        if block.code != b"DATA" and group:
            yield group
            group = []
        group.append(block)
    yield group


def blocks(file: mmap.mmap) -> Iterator[Block]:
    if file[:7] != b"BLENDER":
        raise ValueError("no .blend file, or a compressed one")
    is_old = not file[7:9].isdigit()
    at = OLD_HEADER if is_old else int(file[7:9])
    code = b""
    while code != b"ENDB":
        if is_old:
            code, length, address, struct_, count = OLD_HEAD.unpack_from(file, at)
        else:
            code, struct_, address, length, count = HEAD.unpack_from(file, at)
        start = at + (OLD_HEAD if is_old else HEAD).size
        at = start + length
        if length < 0 or at > len(file):
            raise ValueError("a block that is longer than its file")
        yield Block(code, struct_, address, count, file[start:at])
