"""Comparison of two .blend files: every block of both, except values that Blender keeps for its session.

Different hashes prove that two scenes differ; equal hashes prove equality only for what the hash covers. This
compares everything that Blender writes, so a positive answer is certain. A negative one is not, because Blender may
have evaluated something in between. It trusts no content and needs no Blender.
"""

import mmap
import struct
from array import array
from pathlib import Path

from blendwright.blendfile.file_format import POINTER, Block, Field, Structs, blocks, datablocks

# The most blocks to compare field by field. More would take longer than saving the scene.
MOST_COMPARED = 50_000
RAW = 0  # the struct of blocks that are plain bytes, or lists of pointers


def same_content(one: Path, other: Path) -> bool:
    """Return True only when the files certainly have the same content."""
    try:
        with (
            one.open("rb") as first,
            other.open("rb") as second,
            mmap.mmap(first.fileno(), 0, access=mmap.ACCESS_READ) as ours,
            mmap.mmap(second.fileno(), 0, access=mmap.ACCESS_READ) as theirs,
        ):
            return len(ours) == len(theirs) and _Comparison(ours, theirs).same()
    except (OSError, ValueError, IndexError, struct.error):
        return False  # no files that Blender wrote


class _Comparison:
    def __init__(self, ours: mmap.mmap, theirs: mmap.mmap) -> None:
        self._files = ours, theirs
        self._ours, self._theirs = _Addresses(ours), _Addresses(theirs)
        both = self._ours.everywhere.keys() | self._theirs.everywhere.keys()
        self._moved = {
            address for address in both if self._ours.everywhere.get(address) != self._theirs.everywhere.get(address)
        }
        self._structs = Structs(next(block.data for block in blocks(ours) if block.code == b"DNA1"))
        self._compared = 0

    def same(self) -> bool:
        ours, theirs = map(datablocks, self._files)
        return all(self._same_group(mine, yours) for mine, yours in zip(ours, theirs, strict=True))

    def _same_group(self, mine: list[Block], yours: list[Block]) -> bool:
        self._ours.enter(mine)
        self._theirs.enter(yours)
        return all(self._same_block(block, other_block) for block, other_block in zip(mine, yours, strict=True))

    def _same_block(self, mine: Block, yours: Block) -> bool:
        kinds = (mine.code, mine.struct, mine.many, len(mine.data))
        if kinds != (yours.code, yours.struct, yours.many, len(yours.data)):
            return False
        if mine.data == yours.data and (not self._moved or self._moved.isdisjoint(_words(mine.data))):
            return True
        self._compared += 1
        if self._compared > MOST_COMPARED or mine.code == b"DNA1":
            return False
        fields, size = self._structs.layout(mine.struct)
        if mine.struct == RAW or size * mine.many != len(mine.data):
            return self._same_words(mine.data, yours.data)
        return all(
            self._same_field(field, mine.data, yours.data, start)
            for start in range(0, len(mine.data), size)
            for field in fields
        )

    def _same_field(self, field: Field, mine: bytes, yours: bytes, start: int) -> bool:
        my_bytes, your_bytes = (
            mine[start + field.start : start + field.end],
            yours[start + field.start : start + field.end],
        )
        if field.is_pointer:
            # A pointer to no block of the file is null after opening.
            pairs = zip(_words(my_bytes), _words(your_bytes), strict=True)
            return all(self._ours.position(a) == self._theirs.position(b) for a, b in pairs)
        return my_bytes == your_bytes

    def _same_words(self, mine: bytes, yours: bytes) -> bool:
        whole = len(mine) // POINTER * POINTER
        return mine[whole:] == yours[whole:] and all(
            a == b if (position := self._ours.position(a)) is None else position == self._theirs.position(b)
            for a, b in zip(_words(mine), _words(yours), strict=True)
        )


class _Addresses:
    """The addresses of a file's blocks. Two pointers are equal when they lead to blocks at the same position of their
    files.

    Blocks of different datablocks may have the same address.
    """

    def __init__(self, file: mmap.mmap) -> None:
        groups = [[block.address for block in group] for group in datablocks(file)]
        positions = {address: (number, at) for number, group in enumerate(groups) for at, address in enumerate(group)}
        self.everywhere = positions | {group[0]: (number, 0) for number, group in enumerate(groups)}
        self._here: dict[int, int] = {}

    def enter(self, group: list[Block]) -> None:
        self._here = {block.address: at for at, block in enumerate(group)}

    def position(self, address: int) -> object:
        if address in self._here:
            return self._here[address]
        return self.everywhere.get(address)


def _words(data: bytes) -> "array[int]":
    return array("Q", data[: len(data) // POINTER * POINTER])
