"""A replacement of the C function `time` for a single native library, made in the memory of this process.

numpy calls `time` only for `datetime64('now')`, and no Python name leads to that call. Linux only, where libraries are ELF files.
"""

import contextlib
import ctypes
import mmap
import struct
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

# Program headers and entries of the dynamic section, as elf.h has them.
DYNAMIC_SEGMENT = 2
SIZE_OF_JUMPS, STRINGS, SYMBOLS, RELOCATIONS, SIZE_OF_RELOCATIONS, JUMPS = 2, 5, 6, 7, 8, 23
PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
ENTRY = struct.Struct("<qQ")
RELOCATION = struct.Struct("<QQq")
SYMBOL_SIZE = 24
READ_WRITE = mmap.PROT_READ | mmap.PROT_WRITE

_Time = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_void_p)
# Every replacement stays alive, since a thread may still run it after the original function was restored.
_replacements: list[object] = []


class _LoadedLibrary(ctypes.Structure):
    """The first fields of `struct dl_phdr_info`."""

    _fields_ = (
        ("base", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
        ("headers", ctypes.c_uint64),
        ("count", ctypes.c_uint16),
    )


@contextlib.contextmanager
def replaced_clock(library: str, seconds: Callable[[], int]) -> Generator[None]:
    """Make `time` in the library with this path return the value of `seconds()` until the block ends.

    This process must have loaded the library. Raises OSError if its function table cannot be made writable."""

    def time(address: int | None) -> int:
        current = seconds()
        if address:
            ctypes.c_long.from_address(address).value = current
        return current

    replacement = _Time(time)
    _replacements.append(replacement)
    c_library, address = ctypes.CDLL(None, use_errno=True), ctypes.cast(replacement, ctypes.c_void_p).value
    slots = [ctypes.c_uint64.from_address(slot) for slot in _slots(Path(library).resolve(), b"time")]
    before = [slot.value for slot in slots]
    for slot in slots:
        page = ctypes.addressof(slot) & -mmap.PAGESIZE
        if c_library.mprotect(ctypes.c_void_p(page), mmap.PAGESIZE, READ_WRITE):
            raise OSError(ctypes.get_errno(), "the table of functions cannot be written")
        slot.value = address or 0
    try:
        yield
    finally:
        for slot, value in zip(slots, before, strict=True):
            slot.value = value


def _slots(library: Path, function: bytes) -> Iterator[int]:
    """Yield the addresses at which the library stores the pointer to an imported function."""
    base, dynamic = _dynamic_section(library)

    def address(tag: int) -> int:
        # The loader of most systems has already replaced the offsets by addresses.
        if dynamic[tag] >= base:
            return dynamic[tag]
        return dynamic[tag] + base

    for table, size in ((JUMPS, SIZE_OF_JUMPS), (RELOCATIONS, SIZE_OF_RELOCATIONS)):
        if table not in dynamic:
            continue
        for offset, kind, _ in RELOCATION.iter_unpack(ctypes.string_at(address(table), dynamic[size])):
            symbol = address(SYMBOLS) + SYMBOL_SIZE * (kind >> 32)
            name = ctypes.c_uint32.from_address(symbol).value
            if name and ctypes.string_at(address(STRINGS) + name) == function:
                yield base + offset


def _dynamic_section(library: Path) -> tuple[int, dict[int, int]]:
    """Return the load address of the library and the entries of its dynamic section by tag."""
    sections: list[tuple[int, dict[int, int]]] = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_LoadedLibrary), ctypes.c_size_t, ctypes.c_void_p)
    def visit(pointer: "ctypes._Pointer[_LoadedLibrary]", size: int, data: int | None) -> int:  # pyright: ignore[reportPrivateUsage]
        loaded = pointer.contents
        if not loaded.name or Path(loaded.name.decode()).resolve() != library:
            return 0
        headers = ctypes.string_at(loaded.headers, loaded.count * PROGRAM_HEADER.size)
        for kind, _, _, start, _, _, length, _ in PROGRAM_HEADER.iter_unpack(headers):
            if kind == DYNAMIC_SEGMENT:
                content = ctypes.string_at(loaded.base + start, length)
                sections.append((loaded.base, dict(ENTRY.iter_unpack(content))))
        return 1

    ctypes.CDLL(None).dl_iterate_phdr(visit, None)
    (section,) = sections
    return section
