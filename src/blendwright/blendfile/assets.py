"""The assets in a .blend file, read without Blender: names, tags, catalogue, author, licence and stored preview.

A compressed file needs the package zstandard. The reader trusts no content: malformed files raise ValueError. It
copies only the parts that an asset needs, so it takes little memory for any file size.
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

# Codes of the datablocks that a user can place or assign, with their names in bpy.data.
KINDS = {b"OB": "objects", b"GR": "collections", b"MA": "materials", b"WO": "worlds", b"NT": "node_groups"}
ZSTD, GZIP = b"\x28\xb5\x2f\xfd", b"\x1f\x8b"
# The largest file in bytes, also after decompression.
MAX_FILE_BYTES = 1 << 30
# Limits per file.
MOST_BLOCKS, MAX_DATABLOCKS = 2_000_000, 100_000
# The limit of assets in an answer, of tags per asset, and of characters per string.
MAX_ASSETS, MAX_TAGS, MAX_TEXT_CHARS = 1000, 64, 2000
# The largest width and height of a preview in pixels.
MAX_PREVIEW_PIXELS = 512
# The largest part of an asset in bytes (a preview or a string), and the largest number of parts. The reader skips larger
# parts, such as meshes.
MAX_PART_BYTES, MAX_PARTS = MAX_PREVIEW_PIXELS * MAX_PREVIEW_PIXELS * 4, 1000
# The largest size of all previews of a file together in bytes. Further assets have no preview.
MAX_PREVIEW_BYTES = 128 << 20


@dataclass(frozen=True, slots=True)
class BlendAsset:
    """An asset in a .blend file.

    `marked` is true if the author marked it as an asset. `preview` has width, height and RGBA rows from the top down.
    """

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
    """Return the assets that the author marked; without any, the collections, else the objects.

    Raises ValueError for a malformed file, and OSError.
    """
    with _mapped_content(file) as data:
        try:
            assets = list(_Reader(data).assets())
        except (struct.error, IndexError, KeyError, RecursionError, OverflowError) as error:
            raise ValueError(f"a .blend file that cannot be read: {error}") from error
    for choice in (
        [asset for asset in assets if asset.marked],
        [asset for asset in assets if asset.kind == "collections"],
        [asset for asset in assets if asset.kind == "objects"],
    ):
        if choice:
            return choice[:MAX_ASSETS]
    return []


@contextmanager
def _mapped_content(file: Path) -> Generator[Any]:
    if file.stat().st_size > MAX_FILE_BYTES:
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
    """Decompress a file into another file, so that large files need little memory."""
    try:
        import zstandard
    except ImportError as error:
        raise ValueError("a compressed .blend file, and the package zstandard is not installed") from error
    total = 0
    try:
        with zstandard.ZstdDecompressor().stream_reader(opened, read_across_frames=True) as reader:
            while part := reader.read(1 << 20):
                total += len(part)
                if total > MAX_FILE_BYTES:
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
        dna = self._description()
        self._structs = Structs(data[dna.start : dna.end])
        self._members = cache(self._structs.places)

    def _description(self) -> Head:
        for head in self._heads():
            if head.code == b"DNA1":
                return head
        raise ValueError("a .blend file that does not describe itself")

    def _heads(self) -> Iterator[Head]:
        for number, head in enumerate(heads(self._data)):
            if number >= MOST_BLOCKS:
                raise ValueError(f"a .blend file of more than {MOST_BLOCKS} blocks")
            yield head

    def _groups(self) -> Iterator[list[Block]]:
        """Yield the datablocks that could be assets, each with its small parts."""
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
            elif group and len(group) < MAX_PARTS and head.end - head.start <= MAX_PART_BYTES:
                group.append(self._block(head))
        if group:
            yield group

    def _block(self, head: Head) -> Block:
        return Block(*head[:4], self._data[head.start : min(head.end, head.start + MAX_PART_BYTES)])

    def assets(self) -> Iterator[BlendAsset]:
        """Yield the marked assets, and at most MAX_ASSETS unmarked ones of each kind."""
        unmarked_counts: dict[str, int] = {}
        preview_bytes = 0
        for number, group in enumerate(self._groups()):
            if number >= MAX_DATABLOCKS:
                return
            asset = self._asset(KINDS[group[0].code[:2]], group)
            if asset.preview is not None:
                preview_bytes += len(asset.preview[2])
            if preview_bytes > MAX_PREVIEW_BYTES:
                asset = replace(asset, preview=None)

            if asset.marked:
                yield asset
                continue
            unmarked_counts[asset.kind] = unmarked_counts.get(asset.kind, 0) + 1
            if unmarked_counts[asset.kind] <= MAX_ASSETS:
                yield asset

    def _asset(self, kind: str, group: list[Block]) -> BlendAsset:
        block = group[0]
        members = self._members(block.struct)
        start, _, inner = members["id"]
        fields = _Fields(block.data[start:], self._members(inner))
        parts = {part.address: part for part in group[1:]}
        name = fields.text("name")[2:]
        asset_data = parts.get(fields.pointer("asset_data"))
        if asset_data is None:
            return BlendAsset(kind, name, marked=False)

        metadata = _Fields(asset_data.data, self._members(asset_data.struct))
        texts: dict[str, str] = {}
        for field in ("author", "description", "license", "copyright"):
            texts[field] = _text(parts.get(metadata.pointer(field)))
        tags = tuple(self._tags(metadata, parts))
        return BlendAsset(
            kind,
            name,
            True,
            **texts,
            catalog=_catalog(metadata),
            tags=tags,
            preview=self._preview(_Fields(block.data, members), parts),
        )

    def _tags(self, metadata: "_Fields", parts: Mapping[int, Block]) -> Iterator[str]:
        address = struct.unpack_from("<Q", metadata.part("tags"))[0]
        for _ in range(MAX_TAGS):
            tag = parts.get(address)
            if tag is None:
                return
            fields = _Fields(tag.data, self._members(tag.struct))
            yield fields.text("name")
            address = fields.pointer("next")

    def _preview(self, fields: "_Fields", parts: Mapping[int, Block]) -> tuple[int, int, bytes] | None:
        preview = parts.get(fields.pointer("preview"))
        if preview is None:
            return None
        picture = _Fields(preview.data, self._members(preview.struct))
        # The first picture is an icon, the second the large preview.
        _, width = struct.unpack_from("<2I", picture.part("w"))
        _, height = struct.unpack_from("<2I", picture.part("h"))
        _, address = struct.unpack_from("<2Q", picture.part("rect"))

        pixel_block = parts.get(address)
        if pixel_block is None:
            return None
        if not (0 < width <= MAX_PREVIEW_PIXELS and 0 < height <= MAX_PREVIEW_PIXELS):
            return None
        row_bytes = width * 4
        if len(pixel_block.data) < row_bytes * height:
            return None

        # The file stores the rows from the bottom up.
        rows = [pixel_block.data[row * row_bytes : (row + 1) * row_bytes] for row in reversed(range(height))]
        return width, height, b"".join(rows)


class _Fields:
    """The members of one struct by name."""

    def __init__(self, data: bytes, members: Mapping[str, tuple[int, int, int]]) -> None:
        self._data = data
        self._members = members

    def part(self, name: str) -> bytes:
        start, end, _ = self._members[name]
        return self._data[start:end]

    def pointer(self, name: str) -> int:
        """Return the address in a member, or 0 if the Blender that wrote the file does not have the member."""
        if name in self._members:
            return int.from_bytes(self.part(name)[:8], "little")
        return 0

    def text(self, name: str) -> str:
        return self.part(name).partition(b"\0")[0].decode("utf-8", "replace")


def _text(block: Block | None) -> str:
    if block is None:
        return ""
    return block.data.partition(b"\0")[0].decode("utf-8", "replace")[:MAX_TEXT_CHARS]


def _catalog(metadata: _Fields) -> str:
    """Return the catalogue id in the form of `blender_assets.cats.txt`, or "" if the asset has none."""
    raw = metadata.part("catalog_id")
    if not any(raw):
        return ""
    low, middle, high = struct.unpack_from("<IHH", raw)
    return str(uuid.UUID(fields=(low, middle, high, raw[8], raw[9], int.from_bytes(raw[10:16], "big"))))
