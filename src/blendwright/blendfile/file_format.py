"""The format of .blend files: their blocks, and the structs in them as the file itself describes them.

The functions raise ValueError or struct.error for other files.
"""

import mmap
import re
import struct
from collections.abc import Iterator
from math import prod
from typing import NamedTuple

# Since Blender 5.0 the header contains its length, and the heads of blocks are longer. OLD_HEADER is a length in bytes.
OLD_HEADER, OLD_HEAD, HEAD = 12, struct.Struct("<4siQii"), struct.Struct("<4siQqq")
# The size of a pointer in bytes.
POINTER = 8
# Prefixes of fields that belong to the session that wrote a file: evaluation flags, and a number for each datablock.
SESSION_FIELD_PREFIXES = ("recalc", "session_uid", "_pad")
# Structs whose character arrays hold the file's own name and unused bytes after it, which code cannot change.
FILE_STRUCTS = ("FileGlobal",)
# Fields that Blender resets when it opens a file. Evaluation sets the two pointers to particles for combing. From 5.2 on the
# list also has the flag for a saved file, and the time of the last change of a tool's curve.
RESET_FIELDS = frozenset(
    {
        ("ParticleEditSettings", "*scene"),
        ("ParticleEditSettings", "*object"),
        ("wmWindowManager", "file_saved"),
        ("CurveProfile", "changed_timestamp"),
    }
)


class Block(NamedTuple):
    """A block of a file: `many` values of the struct with index `struct`, and the address they had in memory."""

    code: bytes
    struct: int
    address: int
    many: int
    data: bytes


def datablocks(file: mmap.mmap) -> Iterator[list[Block]]:
    """Yield the datablocks, each with the blocks that belong to it."""
    group: list[Block] = []
    for block in blocks(file):
        if block.code != b"DATA" and group:
            yield group
            group = []
        group.append(block)
    yield group


class Head(NamedTuple):
    """The head of a block: its properties, and where its content begins and ends."""

    code: bytes
    struct: int
    address: int
    many: int
    start: int
    end: int


def blocks(file: mmap.mmap) -> Iterator[Block]:
    """Yield every block of a file with a copy of its content."""
    for head in heads(file):
        yield Block(*head[:4], file[head.start : head.end])


def heads(file: mmap.mmap) -> Iterator[Head]:
    """Yield the head of every block of a file, without copying the content."""
    if file[:7] != b"BLENDER":
        raise ValueError("no .blend file, or a compressed one")

    is_old = not file[7:9].isdigit()
    if is_old:
        at = OLD_HEADER
        head_bytes = OLD_HEAD.size
    else:
        at = int(file[7:9])
        head_bytes = HEAD.size

    code = b""
    while code != b"ENDB":
        if is_old:
            code, length, address, struct_, count = OLD_HEAD.unpack_from(file, at)
        else:
            code, struct_, address, length, count = HEAD.unpack_from(file, at)
        start = at + head_bytes
        at = start + length
        if length < 0 or at > len(file):
            raise ValueError("a block that is longer than its file")
        yield Head(code, struct_, address, count, start, at)


class Field(NamedTuple):
    """A field of a struct: its begin and end in bytes from the start of the struct."""

    start: int
    end: int
    is_pointer: bool


class Structs:
    """The description of all structs, from the block DNA1 of a file."""

    def __init__(self, dna: bytes) -> None:
        self._data, self._at = dna, 4
        self._names = self._strings(b"NAME")
        self._types = self._strings(b"TYPE")
        self._expect(b"TLEN")
        self._sizes = self._shorts(len(self._types))
        self._expect(b"STRC")
        self._structs = [self._struct() for _ in range(self._number())]
        self._of_type = {type_: index for index, (type_, _) in enumerate(self._structs)}
        self._layouts: dict[int, tuple[Field, ...]] = {}

    def layout(self, index: int) -> tuple[tuple[Field, ...], int]:
        """Return the fields that a comparison uses, and the size of the struct."""
        if index not in self._layouts:
            self._layouts[index] = tuple(self._fields(index, 0))
        return self._layouts[index], self._sizes[self._structs[index][0]]

    def type_of(self, index: int) -> str:
        """Return the name of a struct."""
        return self._types[self._structs[index][0]]

    def size_of(self, index: int) -> int:
        """Return the size of a struct in bytes."""
        return self._sizes[self._structs[index][0]]

    def places(self, index: int) -> dict[str, tuple[int, int, int]]:
        """Return the members of a struct by name: begin and end in bytes, and the index of the member's struct or -1."""
        members_by_name: dict[str, tuple[int, int, int]] = {}
        start = 0
        for member, name_index in self._structs[index][1]:
            name = self._names[name_index]
            many = prod(map(int, re.findall(r"\[(\d+)\]", name)))
            is_pointer = name.startswith(("*", "("))
            if is_pointer:
                size = POINTER
                inner = -1
            else:
                size = self._sizes[member]
                inner = self._of_type.get(member, -1)
            end = start + size * many
            members_by_name[re.sub(r"[*()]|\[.*", "", name)] = (start, end, inner)
            start = end
        return members_by_name

    def _fields(self, index: int, start: int) -> Iterator[Field]:
        type_, members = self._structs[index]
        for member, name_index in members:
            name = self._names[name_index]
            many = prod(map(int, re.findall(r"\[(\d+)\]", name)))
            is_pointer = name.startswith(("*", "("))
            if is_pointer:
                size = POINTER
            else:
                size = self._sizes[member]
            if (self._types[type_], name) in RESET_FIELDS:
                pass
            elif is_pointer:
                yield Field(start, start + size * many, True)
            elif member in self._of_type:
                for number in range(many):
                    yield from self._fields(self._of_type[member], start + number * size)
            elif not name.startswith(SESSION_FIELD_PREFIXES) and not (
                self._types[type_] in FILE_STRUCTS and "[" in name
            ):
                yield Field(start, start + size * many, False)
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
        shorts = struct.unpack_from(f"<{many}h", self._data, self._at)
        self._at += 2 * many
        return shorts

    def _strings(self, tag: bytes) -> list[str]:
        self._expect(tag)
        strings: list[str] = []
        for _ in range(self._number()):
            end = self._data.index(b"\0", self._at)
            strings.append(self._data[self._at : end].decode())
            self._at = end + 1
        return strings

    def _struct(self) -> tuple[int, list[tuple[int, int]]]:
        type_, many = self._shorts(2)
        members = self._shorts(2 * many)
        return type_, list(zip(members[::2], members[1::2], strict=True))
