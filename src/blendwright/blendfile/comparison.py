"""Comparison of two .blend files: every block of both, except values that Blender keeps for its session.

Equal hashes of two scenes prove equality only for the content that the hash covers. This module compares everything
that Blender writes, so a positive answer is certain. A negative answer is not, because Blender may have evaluated
something between the two files. The module trusts no content and needs no Blender.
"""

import mmap
import struct
from array import array
from pathlib import Path

from blendwright.blendfile.file_format import POINTER, Block, Field, Structs, blocks, datablocks

# The largest number of blocks to compare field by field. More would take longer than saving the scene.
MAX_COMPARED_BLOCKS = 50_000
# The index of the struct of blocks that are plain bytes or lists of pointers.
RAW = 0


def same_content(first_file: Path, second_file: Path) -> bool:
    """Return True only if the files certainly have the same content. Return False in doubt, also for unreadable files."""
    try:
        with (
            first_file.open("rb") as first,
            second_file.open("rb") as second,
            mmap.mmap(first.fileno(), 0, access=mmap.ACCESS_READ) as ours,
            mmap.mmap(second.fileno(), 0, access=mmap.ACCESS_READ) as theirs,
        ):
            return len(ours) == len(theirs) and _Comparison(ours, theirs).same()
    except (OSError, ValueError, IndexError, struct.error):
        return False  # a file is missing, or Blender did not write it


class _Comparison:
    def __init__(self, ours: mmap.mmap, theirs: mmap.mmap) -> None:
        self._files = ours, theirs
        self._ours, self._theirs = _Addresses(ours), _Addresses(theirs)
        our_positions = self._ours.everywhere
        their_positions = self._theirs.everywhere
        self._moved = {
            address
            for address in our_positions.keys() | their_positions.keys()
            if our_positions.get(address) != their_positions.get(address)
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
        if self._compared > MAX_COMPARED_BLOCKS or mine.code == b"DNA1":
            return False
        fields, size = self._structs.layout(mine.struct)
        if mine.struct == RAW or size * mine.many != len(mine.data):
            return self._same_words(mine.data, yours.data)
        for start in range(0, len(mine.data), size):
            for field in fields:
                if not self._same_field(field, mine.data, yours.data, start):
                    return False
        return True

    def _same_field(self, field: Field, mine: bytes, yours: bytes, start: int) -> bool:
        my_bytes = mine[start + field.start : start + field.end]
        your_bytes = yours[start + field.start : start + field.end]
        if field.is_pointer:
            # A pointer to an address without a block becomes null when Blender opens the file.
            pairs = zip(_words(my_bytes), _words(your_bytes), strict=True)
            return all(self._ours.position(a) == self._theirs.position(b) for a, b in pairs)
        return my_bytes == your_bytes

    def _same_words(self, mine: bytes, yours: bytes) -> bool:
        # Words may be pointers; the bytes after the last full word cannot be one.
        words_end = len(mine) // POINTER * POINTER
        if mine[words_end:] != yours[words_end:]:
            return False

        for my_word, your_word in zip(_words(mine), _words(yours), strict=True):
            position = self._ours.position(my_word)
            if position is None:
                is_same = my_word == your_word
            else:
                is_same = position == self._theirs.position(your_word)
            if not is_same:
                return False
        return True


class _Addresses:
    """The addresses of a file's blocks, with their positions in the file.

    Two pointers are equal if they lead to blocks at the same position of their files. Blocks of different datablocks may
    have the same address.
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
