"""Whether two .blend files hold the same: every block of both is compared, but for what Blender keeps in them for its session.

A hash says that two scenes differ; that they are equal it says only of what it covers. This looks at everything that Blender writes, so
a yes is certain. A no is not: Blender may have evaluated something in between. Believes nothing that it reads, and needs no Blender.
"""

from __future__ import annotations

import mmap
import re
import struct
from array import array
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import NamedTuple

# Comparing more than these field by field takes longer than saving the scene.
MOST_COMPARED = 50_000
RAW = 0  # the struct of blocks that are plain bytes, or lists of pointers
POINTER = 8
# The header of a file says how long it is from Blender 5.0 on; the heads of blocks have been longer since then, too.
OLD_HEADER, OLD_HEAD, HEAD = 12, struct.Struct("<4siQii"), struct.Struct("<4siQqq")
# What belongs to the session that wrote a file: what is to be evaluated again, and a number for each datablock.
OF_THE_SESSION = ("recalc", "session_uid", "_pad")
# The file's own name, and what lies behind the end of such names; code cannot change any of it.
OF_THE_FILE = ("FileGlobal",)
# Where the particles lie that could be combed: noted when a scene is evaluated, forgotten when it is opened.
FORGOTTEN = frozenset({("ParticleEditSettings", "*scene"), ("ParticleEditSettings", "*object")})


class _Block(NamedTuple):
    code: bytes
    struct: int
    address: int
    many: int
    data: bytes


class _Field(NamedTuple):
    start: int
    end: int
    is_pointer: bool


def same_content(one: Path, other: Path) -> bool:
    """True only when it is certain."""
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
        self._moved = {one for one in both if self._ours.everywhere.get(one) != self._theirs.everywhere.get(one)}
        self._structs = _Structs(next(block.data for block in _blocks(ours) if block.code == b"DNA1"))
        self._compared = 0

    def same(self) -> bool:
        ours, theirs = map(_groups, self._files)
        return all(self._same_group(mine, yours) for mine, yours in zip(ours, theirs, strict=True))

    def _same_group(self, mine: list[_Block], yours: list[_Block]) -> bool:
        self._ours.enter(mine)
        self._theirs.enter(yours)
        return all(self._same_block(one, other) for one, other in zip(mine, yours, strict=True))

    def _same_block(self, mine: _Block, yours: _Block) -> bool:
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

    def _same_field(self, field: _Field, mine: bytes, yours: bytes, start: int) -> bool:
        one, other = mine[start + field.start : start + field.end], yours[start + field.start : start + field.end]
        if field.is_pointer:
            # What leads to nothing in the file is nothing once it is opened.
            pairs = zip(_words(one), _words(other), strict=True)
            return all(self._ours.place(a) == self._theirs.place(b) for a, b in pairs)
        return one == other

    def _same_words(self, mine: bytes, yours: bytes) -> bool:
        whole = len(mine) // POINTER * POINTER
        return mine[whole:] == yours[whole:] and all(
            a == b if (place := self._ours.place(a)) is None else place == self._theirs.place(b)
            for a, b in zip(_words(mine), _words(yours), strict=True)
        )


class _Addresses:
    """Pointers in a file are addresses of blocks: two are the same when they lead to blocks at the same place of their files.

    The blocks of one datablock may have addresses that those of another one have, too."""

    def __init__(self, file: mmap.mmap) -> None:
        groups = [[block.address for block in group] for group in _groups(file)]
        places = {one: (number, at) for number, group in enumerate(groups) for at, one in enumerate(group)}
        self.everywhere = places | {group[0]: (number, 0) for number, group in enumerate(groups)}
        self._here: dict[int, int] = {}

    def enter(self, group: list[_Block]) -> None:
        self._here = {block.address: at for at, block in enumerate(group)}

    def place(self, address: int) -> object:
        return self._here[address] if address in self._here else self.everywhere.get(address)


class _Structs:
    """What Blender says in a file of the structs in it."""

    def __init__(self, dna: bytes) -> None:
        self._data, self._at = dna, 4
        self._names = self._strings(b"NAME")
        self._types = self._strings(b"TYPE")
        self._expect(b"TLEN")
        self._sizes = self._shorts(len(self._types))
        self._expect(b"STRC")
        self._structs = [self._struct() for _ in range(self._number())]
        self._of_type = {type_: index for index, (type_, _) in enumerate(self._structs)}
        self._layouts: dict[int, tuple[_Field, ...]] = {}

    def layout(self, index: int) -> tuple[tuple[_Field, ...], int]:
        """The fields that count, and the size of the whole."""
        if index not in self._layouts:
            self._layouts[index] = tuple(self._fields(index, 0))
        return self._layouts[index], self._sizes[self._structs[index][0]]

    def _fields(self, index: int, start: int) -> Iterator[_Field]:
        type_, members = self._structs[index]
        for member, name_index in members:
            name = self._names[name_index]
            many = prod(map(int, re.findall(r"\[(\d+)\]", name)))
            is_pointer = name.startswith(("*", "("))
            size = POINTER if is_pointer else self._sizes[member]
            if (self._types[type_], name) in FORGOTTEN:
                pass
            elif is_pointer:
                yield _Field(start, start + size * many, True)
            elif member in self._of_type:
                for number in range(many):
                    yield from self._fields(self._of_type[member], start + number * size)
            elif not name.startswith(OF_THE_SESSION) and not (self._types[type_] in OF_THE_FILE and "[" in name):
                yield _Field(start, start + size * many, False)
            start += size * many

    def _expect(self, tag: bytes) -> None:
        self._at = (self._at + 3) & ~3
        if self._data[self._at : self._at + 4] != tag:
            raise ValueError(f"no {tag} where it should be")
        self._at += 4

    def _number(self) -> int:
        (number,) = struct.unpack_from("<i", self._data, self._at)
        self._at += 4
        return number

    def _shorts(self, many: int) -> tuple[int, ...]:
        found = struct.unpack_from(f"<{many}h", self._data, self._at)
        self._at += 2 * many
        return found

    def _strings(self, tag: bytes) -> list[str]:
        self._expect(tag)
        found: list[str] = []
        for _ in range(self._number()):
            end = self._data.index(b"\0", self._at)
            found.append(self._data[self._at : end].decode())
            self._at = end + 1
        return found

    def _struct(self) -> tuple[int, list[tuple[int, int]]]:
        type_, many = self._shorts(2)
        members = self._shorts(2 * many)
        return type_, list(zip(members[::2], members[1::2], strict=True))


def _groups(file: mmap.mmap) -> Iterator[list[_Block]]:
    """Datablocks, each with the blocks that belong to it."""
    group: list[_Block] = []
    for block in _blocks(file):
        if block.code != b"DATA" and group:
            yield group
            group = []
        group.append(block)
    yield group


def _blocks(file: mmap.mmap) -> Iterator[_Block]:
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
        yield _Block(code, struct_, address, count, file[start:at])


def _words(data: bytes) -> array[int]:
    return array("Q", data[: len(data) // POINTER * POINTER])
