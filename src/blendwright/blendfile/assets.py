"""The assets in a .blend file, without Blender: names, tags, catalogue, author, licence and the picture that Blender has stored.

A file that was compressed is read where a library for that is installed. Nothing in a file is believed: what does not fit raises
ValueError. It takes little memory, however large the file is: only what an asset needs is copied out of it.
"""

import mmap
import struct
import tempfile
import uuid
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from blendwright.blendfile.file_format import Block, Head, Structs, heads

# Codes of the datablocks that can be placed or assigned, and what bpy.data calls them.
KINDS = {b"OB": "objects", b"GR": "collections", b"MA": "materials", b"WO": "worlds", b"NT": "node_groups"}
ZSTD, GZIP = b"\x28\xb5\x2f\xfd", b"\x1f\x8b"
# Larger files, and what compressed ones become, are not read.
MOST_BYTES = 1 << 30
MOST_BLOCKS, MOST_DATABLOCKS = 2_000_000, 100_000
MOST_ASSETS, MOST_TAGS, MOST_TEXT = 1000, 64, 2000
MOST_SIDE = 512
# What belongs to one asset: a preview, some texts. The rest of a datablock (a mesh may have a gigabyte) is passed over.
MOST_PART, MOST_PARTS = MOST_SIDE * MOST_SIDE * 4, 1000
# Of all pictures in one file together; assets behind that have none.
MOST_PREVIEWS = 128 << 20


@dataclass(frozen=True, slots=True)
class BlendAsset:
    """`marked` is for what its author marked as an asset; a file without any has its collections and objects. `preview` is width,
    height and rows of red, green, blue and alpha from the top down."""

    kind: str
    name: str
    marked: bool
    description: str = ""
    author: str = ""
    license: str = ""
    copyright: str = ""
    catalog: str = ""
    tags: tuple[str, ...] = ()
    preview: tuple[int, int, bytes] | None = None


def read_assets(file: Path) -> list[BlendAsset]:
    """What its author marked as assets; where nothing is, the collections, else the objects. Raises ValueError and OSError."""
    with _opened(file) as data:
        try:
            found = list(_Reader(data).assets())
        except (struct.error, IndexError, KeyError, RecursionError, OverflowError) as error:
            raise ValueError(f"a .blend file that cannot be read: {error}") from error
    for wanted in (
        [each for each in found if each.marked],
        [each for each in found if each.kind == "collections"],
        [each for each in found if each.kind == "objects"],
    ):
        if wanted:
            return wanted[:MOST_ASSETS]
    return []


@contextmanager
def _opened(file: Path) -> Generator[Any]:
    if file.stat().st_size > MOST_BYTES:
        raise ValueError("a .blend file of more than 1 GB")
    with file.open("rb") as opened:
        head = opened.read(4)
        opened.seek(0)
        if head == ZSTD:
            with tempfile.TemporaryFile() as unpacked:
                _unpack(opened, unpacked)
                with mmap.mmap(unpacked.fileno(), 0, access=mmap.ACCESS_READ) as data:
                    yield data
            return
        if head[:2] == GZIP:
            raise ValueError("a .blend file of Blender 2.9 or older, compressed")
        if not head:
            raise ValueError("an empty file")
        with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data


def _unpack(opened: Any, target: Any) -> None:
    """Into a file, not into memory."""
    try:
        import zstandard
    except ImportError as error:
        raise ValueError("a compressed .blend file, and the package zstandard is not installed") from error
    total = 0
    try:
        with zstandard.ZstdDecompressor().stream_reader(opened, read_across_frames=True) as reader:
            while part := reader.read(1 << 20):
                total += len(part)
                if total > MOST_BYTES:
                    raise ValueError("a .blend file of more than 1 GB")
                target.write(part)
    except zstandard.ZstdError as error:
        raise ValueError(f"a compressed .blend file that is broken: {error}") from error
    if not total:
        raise ValueError("an empty file")
    target.flush()


class _Reader:
    def __init__(self, data: Any) -> None:
        self._data = data
        dna = next((head for head in self._heads() if head.code == b"DNA1"), None)
        if dna is None:
            raise ValueError("a .blend file that does not describe itself")
        self._structs = Structs(data[dna.start : dna.end])
        self._places = cache(self._structs.places)

    def _heads(self) -> Iterator[Head]:
        for number, head in enumerate(heads(self._data)):
            if number >= MOST_BLOCKS:
                raise ValueError(f"a .blend file of more than {MOST_BLOCKS} blocks")
            yield head

    def _groups(self) -> Iterator[list[Block]]:
        """Datablocks that could be assets, each with what belongs to it and is small enough to be asked for."""
        group: list[Block] = []
        for head in self._heads():
            if head.code != b"DATA":
                if group:
                    yield group
                is_asset = head.code[2:] == b"\0\0" and head.code[:2] in KINDS
                if is_asset:
                    group = [self._block(head)]
                else:
                    group = []
            elif group and len(group) < MOST_PARTS and head.end - head.start <= MOST_PART:
                group.append(self._block(head))
        if group:
            yield group

    def _block(self, head: Head) -> Block:
        return Block(*head[:4], self._data[head.start : min(head.end, head.start + MOST_PART)])

    def assets(self) -> Iterator[BlendAsset]:
        """Those that are marked, and of the others as many as are listed."""
        plain: dict[str, int] = {}
        pictures = 0
        for number, group in enumerate(self._groups()):
            if number >= MOST_DATABLOCKS:
                return
            found = self._asset(KINDS[group[0].code[:2]], group)
            pictures += 0 if found.preview is None else len(found.preview[2])
            if pictures > MOST_PREVIEWS:
                found = replace(found, preview=None)
            plain[found.kind] = plain.get(found.kind, 0) + (not found.marked)
            if found.marked or plain[found.kind] <= MOST_ASSETS:
                yield found

    def _asset(self, kind: str, group: list[Block]) -> BlendAsset:
        block = group[0]
        places = self._places(block.struct)
        start, _, inner = places["id"]
        fields = _Fields(block.data[start:], self._places(inner))
        parts = {one.address: one for one in group[1:]}
        name = fields.text("name")[2:]
        held = parts.get(fields.pointer("asset_data"))
        if held is None:
            return BlendAsset(kind, name, marked=False)
        about = _Fields(held.data, self._places(held.struct))
        texts = {
            each: _text(parts.get(about.pointer(each))) for each in ("author", "description", "license", "copyright")
        }
        tags = tuple(self._tags(about, parts))
        return BlendAsset(
            kind,
            name,
            True,
            **texts,
            catalog=_catalog(about),
            tags=tags,
            preview=self._preview(_Fields(block.data, places), parts),
        )

    def _tags(self, about: "_Fields", parts: Mapping[int, Block]) -> Iterator[str]:
        address = struct.unpack_from("<Q", about.part("tags"))[0]
        for _ in range(MOST_TAGS):
            tag = parts.get(address)
            if tag is None:
                return
            fields = _Fields(tag.data, self._places(tag.struct))
            yield fields.text("name")
            address = fields.pointer("next")

    def _preview(self, fields: "_Fields", parts: Mapping[int, Block]) -> tuple[int, int, bytes] | None:
        held = parts.get(fields.pointer("preview"))
        if held is None:
            return None
        picture = _Fields(held.data, self._places(held.struct))
        widths, heights = (struct.unpack_from("<2I", picture.part(name)) for name in ("w", "h"))
        pixels = struct.unpack_from("<2Q", picture.part("rect"))
        # The second is the large one; the first an icon.
        width, height, found = widths[1], heights[1], parts.get(pixels[1])
        if (
            found is None
            or not (0 < width <= MOST_SIDE and 0 < height <= MOST_SIDE)
            or len(found.data) < width * height * 4
        ):
            return None
        rows = [found.data[at * width * 4 : (at + 1) * width * 4] for at in reversed(range(height))]
        return width, height, b"".join(rows)


class _Fields:
    """The members of one struct, by their names."""

    def __init__(self, data: bytes, places: Mapping[str, tuple[int, int, int]]) -> None:
        self._data = data
        self._places = places

    def part(self, name: str) -> bytes:
        start, end, _ = self._places[name]
        return self._data[start:end]

    def pointer(self, name: str) -> int:
        """0, which is no address, for a member that this Blender did not know."""
        if name in self._places:
            return int.from_bytes(self.part(name)[:8], "little")
        return 0

    def text(self, name: str) -> str:
        return self.part(name).partition(b"\0")[0].decode("utf-8", "replace")


def _text(block: Block | None) -> str:
    if block is None:
        return ""
    return block.data.partition(b"\0")[0].decode("utf-8", "replace")[:MOST_TEXT]


def _catalog(about: _Fields) -> str:
    """The id of its catalogue as `blender_assets.cats.txt` writes it; nothing where it has none."""
    raw = about.part("catalog_id")
    if not any(raw):
        return ""
    low, middle, high = struct.unpack_from("<IHH", raw)
    return str(uuid.UUID(fields=(low, middle, high, raw[8], raw[9], int.from_bytes(raw[10:16], "big"))))
