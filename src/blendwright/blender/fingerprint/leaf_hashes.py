"""Leaves: the content hash of one datablock, or of all.

`leaf` and `full` must give the same bytes for the same datablock, and `full` must be fast. This module never writes content.
"""

import gc
import hashlib
import marshal
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import repeat
from operator import attrgetter
from typing import Any

import bpy

from blendwright.blender.fingerprint.animation import NO_CHANNELS, animated_channels
from blendwright.blender.fingerprint.batches import batched, contents
from blendwright.blender.fingerprint.columns import NumberColumns
from blendwright.blender.fingerprint.content_readers import BATCH_READERS, READERS
from blendwright.blender.fingerprint.identity import MASTER, Key, key_of, kind_of, kinds, member_keys
from blendwright.blender.fingerprint.walk import Walk

_data: Any = bpy.data
_types: Any = bpy.types

Walk.readers = READERS

# The digest of every membership. The key holds all of its content.
MEMBER = hashlib.sha256(b"member").digest()

# The marshal format. Version 2 has no references between equal objects, so the bytes depend on the values alone.
_FORMAT = 2
# Kinds whose linked datablocks hash as the stand-in that Blender makes when their library is missing.
STAND_INS = frozenset({"collections", "objects"})
STAND_IN = "~bw~stand-in"
NO_GROUPS: Mapping[Any, bool] = {}
_name, _animation = attrgetter("name"), attrgetter("animation_data")
_data_and_groups = attrgetter("data", "vertex_groups")
# Kinds whose numbers are read in columns. Only objects have enough numbers to make this faster.
_COLUMN_TYPES = {"objects": "Object"}
# Types of images that show the last render.
RENDER_RESULTS = {"RENDER_RESULT", "COMPOSITING"}


@cache
def _number_columns(kind: str) -> NumberColumns | None:
    name = _COLUMN_TYPES.get(kind)
    if name is None:
        return None
    columns = NumberColumns(getattr(_types, name).bl_rna)
    Walk.in_columns[name] = columns.names
    return columns


def leaf(block: Any, grouped: Mapping[Any, bool] = NO_GROUPS) -> bytes:
    """Return the content hash of one datablock.

    `grouped` is a result of `meshes_with_groups`. It saves the search for an object that uses a mesh.
    """
    kind = kind_of(block)
    if kind in STAND_INS and _is_linked(block):
        return _stand_in(kind, block.name)
    columns = _number_columns(kind)
    return _digest(block, columns, _row_of(block, columns), Walk(NO_CHANNELS, grouped))


def likeness(block: Any) -> bytes:
    """Return the hash of a datablock's content without its name. A datablock and its copy have the same likeness."""
    columns = _number_columns(kind_of(block))
    row, content = read(block, columns, _row_of(block, columns), Walk(NO_CHANNELS, NO_GROUPS))
    label, (_name_of_block, *values), *parts = content
    return hashlib.sha256(row + marshal.dumps([label, values, *parts], _FORMAT)).digest()


def leaves(blocks: Sequence[Any], grouped: Mapping[Any, bool] = NO_GROUPS) -> list[bytes]:
    """Return the content hashes of datablocks of one kind. None may be linked. The result equals `leaf` of each, but is faster."""
    if not blocks:
        return []
    columns = _number_columns(kind_of(blocks[0]))
    if columns:
        rows = columns.several(blocks)
    else:
        rows = [b""] * len(blocks)
    return _digests(blocks, columns, rows, Walk(NO_CHANNELS, grouped))


def _row_of(block: Any, columns: NumberColumns | None) -> bytes:
    if columns:
        return columns.one(block)
    return b""


def _is_linked(block: Any) -> bool:
    return block.library is not None and not _is_packed(block)


def _is_packed(block: Any) -> bool:
    return getattr(block, "is_linked_packed", False)


def _stand_in(kind: str, name: str) -> bytes:
    """Return the hash of the stand-in for a linked datablock whose library file is missing: an empty datablock of that name."""
    row, content = _empty(kind)
    label, (_name_of_block, *values), *parts = content
    return hashlib.sha256(row + marshal.dumps([label, (name, *values), *parts], _FORMAT)).digest()


@cache
def _empty(kind: str) -> tuple[bytes, list[Any]]:
    """Return the content of a new, empty datablock of a kind. Its first value is its name."""
    blocks = getattr(_data, kind)
    if kind == "objects":
        empty_block = blocks.new(STAND_IN, None)
    else:
        empty_block = blocks.new(STAND_IN)
    columns = _number_columns(kind)
    try:
        return read(empty_block, columns, _row_of(empty_block, columns), Walk(NO_CHANNELS, NO_GROUPS))
    finally:
        blocks.remove(empty_block)


def _is_elsewhere(block: Any) -> bool:
    """Return True if a datablock is linked only because another linked one needs it.

    Blender reads such a datablock again from the library; the scene's file does not name it.
    """
    return _is_linked(block) and block.is_library_indirect


def full(skip: Callable[[Any], bool]) -> dict[Key, bytes]:
    """Return the leaves of all datablocks and memberships, except datablocks for which `skip` returns True."""
    leaves: dict[Key, bytes] = {}
    with _collector_off():
        walk = Walk(NO_CHANNELS, meshes_with_groups(_data.objects), all_grouped=True)
        has_libraries = bool(_data.libraries)
        for kind in kinds():
            blocks = getattr(_data, kind)
            if not blocks:
                continue
            columns = _number_columns(kind)
            if has_libraries and kind in STAND_INS:
                _empty(kind)  # before the iteration, because it creates and removes a datablock
            if columns:
                rows = columns.bulk(blocks)
            else:
                rows = repeat(b"")
            pairs = [(block, row) for block, row in zip(blocks, rows, strict=False) if not skip(block)]
            if kind == "images":
                pairs = [pair for pair in pairs if pair[0].type not in RENDER_RESULTS]
            if has_libraries:
                pairs = [pair for pair in pairs if not _is_elsewhere(pair[0])]
            if has_libraries and kind in STAND_INS:
                leaves |= {key_of(block): _stand_in(kind, block.name) for block, _ in pairs if _is_linked(block)}
                pairs = [pair for pair in pairs if not _is_linked(pair[0])]
            for batch in batched(pairs):
                members, rows = zip(*batch, strict=True)
                if has_libraries:
                    keys = map(key_of, members)
                else:
                    keys = zip(repeat(kind), map(_name, members), strict=False)
                leaves.update(zip(keys, _digests(members, columns, rows, walk), strict=True))
        for key in _memberships(skip):
            leaves[key] = MEMBER
    return leaves


def _digests(blocks: Sequence[Any], columns: NumberColumns | None, rows: Sequence[bytes], walk: Walk) -> list[bytes]:
    """Return the hashes of datablocks of one kind. Datablocks of one type are read together, animated ones singly."""
    by_type: dict[type[Any], list[int]] = {}
    digests: list[bytes] = [b""] * len(blocks)
    can_be_animated = hasattr(blocks[0], "animation_data")  # all of one kind, or none
    if can_be_animated:
        animations = map(_animation, blocks)
    else:
        animations = repeat(None, len(blocks))
    for index, (block, animation) in enumerate(zip(blocks, animations, strict=True)):
        if animation is None:
            by_type.setdefault(block.__class__, []).append(index)
        else:
            digests[index] = _digest(block, columns, rows[index], walk)
    for indices in by_type.values():
        outs = contents(walk, [blocks[index] for index in indices], BATCH_READERS)
        for index, out in zip(indices, outs, strict=True):
            digests[index] = hashlib.sha256(rows[index] + marshal.dumps(out, _FORMAT)).digest()
    return digests


def _digest(block: Any, columns: NumberColumns | None, row: bytes, walk: Walk) -> bytes:
    row, content = read(block, columns, row, walk)
    return hashlib.sha256(row + marshal.dumps(content, _FORMAT)).digest()


def read(block: Any, columns: NumberColumns | None, row: bytes, walk: Walk) -> tuple[bytes, list[Any]]:
    """Return the content to hash: the row with animated channels blanked, and the values of the walk."""
    if getattr(block, "animation_data", None) is not None:
        channels = animated_channels(block)
        if columns and channels:
            own_channels = channels.get((block.as_pointer(), block.bl_rna.identifier))
            if own_channels:
                row = columns.blanked(row, own_channels)
        walk = Walk(channels, walk.grouped, all_grouped=walk.all_grouped)
    out: list[Any] = []
    walk.struct(block, out)
    return row, out


def meshes_with_groups(objects: Iterable[Any]) -> dict[Any, bool]:
    """Return for each mesh used by `objects` if its object has vertex groups, so that no mesh must search for its object."""
    pairs = map(_data_and_groups, objects)
    return {content: bool(groups) for content, groups in pairs if content is not None}


def _memberships(skip: Callable[[Any], bool]) -> Iterator[Key]:
    for scene in _data.scenes:
        if not skip(scene):
            yield from member_keys(MASTER + scene.name, scene.collection, skip)
    for collection in _data.collections:
        # The members of a linked collection belong to its library.
        if not skip(collection) and (collection.library is None or _is_packed(collection)):
            yield from member_keys(collection.name, collection, skip)


@contextmanager
def _collector_off() -> Generator[None]:
    """Switch garbage collection off within the block. The collector would traverse the many live tuples repeatedly."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
