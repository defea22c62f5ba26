"""Leaves: the content hash of one datablock, or of all.

Responsible for: `leaf` and `full` giving the same bytes for the same datablock; full being fast. Must not write.
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

# Membership is all in the key.
MEMBER = hashlib.sha256(b"member").digest()

# Version 2 of the format has no references between equal objects: the bytes follow from the values alone.
_FORMAT = 2
# Linked datablocks of these kinds count as what is left of them without their library; another content of that is told otherwise.
STAND_INS = frozenset({"collections", "objects"})
STAND_IN = "~bw~stand-in"
NO_GROUPS: Mapping[Any, bool] = {}
_name, _animation = attrgetter("name"), attrgetter("animation_data")
_data_and_groups = attrgetter("data", "vertex_groups")
# Only objects have so many numbers that reading them in columns pays.
_COLUMN_TYPES = {"objects": "Object"}
# Images that show what was rendered last.
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
    """The content hash of one datablock. What `meshes_with_groups` told of some objects saves a mesh the question."""
    kind = kind_of(block)
    if kind in STAND_INS and _is_linked(block):
        return _stand_in(kind, block.name)
    columns = _number_columns(kind)
    return _digest(block, columns, columns.one(block) if columns else b"", Walk(NO_CHANNELS, grouped))


def likeness(block: Any) -> bytes:
    """The hash of what a datablock holds but for its name, which is the first of its words: that of a copy is the same."""
    columns = _number_columns(kind_of(block))
    row, (label, (_, *values), *rest) = read(
        block, columns, columns.one(block) if columns else b"", Walk(NO_CHANNELS, NO_GROUPS)
    )
    return hashlib.sha256(row + marshal.dumps([label, values, *rest], _FORMAT)).digest()


def leaves(blocks: Sequence[Any], grouped: Mapping[Any, bool] = NO_GROUPS) -> list[bytes]:
    """The content hashes of datablocks of one kind, none of which is linked: what `leaf` gives of each, in less time."""
    if not blocks:
        return []
    columns = _number_columns(kind_of(blocks[0]))
    if columns:
        rows = columns.several(blocks)
    else:
        rows = [b""] * len(blocks)
    return _digests(blocks, columns, rows, Walk(NO_CHANNELS, grouped))


def _is_linked(block: Any) -> bool:
    return block.library is not None and not _is_packed(block)


def _is_packed(block: Any) -> bool:
    return getattr(block, "is_linked_packed", False)


def _stand_in(kind: str, name: str) -> bytes:
    """The hash of what Blender puts in the place of a linked datablock whose file it does not find: an empty one of its name."""
    row, (label, (_, *values), *rest) = _empty(kind)
    return hashlib.sha256(row + marshal.dumps([label, (name, *values), *rest], _FORMAT)).digest()


@cache
def _empty(kind: str) -> tuple[bytes, list[Any]]:
    """The content of a datablock that nobody has written to; the first of its words is its name."""
    blocks = getattr(_data, kind)
    if kind == "objects":
        made = blocks.new(STAND_IN, None)
    else:
        made = blocks.new(STAND_IN)
    columns = _number_columns(kind)
    try:
        return read(made, columns, columns.one(made) if columns else b"", Walk(NO_CHANNELS, NO_GROUPS))
    finally:
        blocks.remove(made)


def _is_elsewhere(block: Any) -> bool:
    """Whether a datablock came along with one that is linked: what Blender reads again, and the file of the scene does not name."""
    return _is_linked(block) and block.is_library_indirect


def full(skip: Callable[[Any], bool]) -> dict[Key, bytes]:
    """The leaves of all datablocks and memberships, without those that `skip` names."""
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
                _empty(kind)  # before the datablocks are gone through, since it makes one
            if columns:
                rows = columns.bulk(blocks)
            else:
                rows = repeat(b"")
            listed = [(block, row) for block, row in zip(blocks, rows, strict=False) if not skip(block)]
            if kind == "images":
                listed = [pair for pair in listed if pair[0].type not in RENDER_RESULTS]
            if has_libraries:
                listed = [pair for pair in listed if not _is_elsewhere(pair[0])]
            if has_libraries and kind in STAND_INS:
                leaves |= {key_of(block): _stand_in(kind, block.name) for block, _ in listed if _is_linked(block)}
                listed = [pair for pair in listed if not _is_linked(pair[0])]
            for batch in batched(listed):
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
    """The hashes of datablocks of one kind. Those of one type are read together, the animated ones alone."""
    by_type: dict[type[Any], list[int]] = {}
    digests: list[bytes] = [b""] * len(blocks)
    can_be_animated = hasattr(blocks[0], "animation_data")  # all of one kind, or none
    if can_be_animated:
        animations = map(_animation, blocks)
    else:
        animations = repeat(None, len(blocks))
    for place, (block, animation) in enumerate(zip(blocks, animations, strict=True)):
        if animation is None:
            by_type.setdefault(block.__class__, []).append(place)
        else:
            digests[place] = _digest(block, columns, rows[place], walk)
    for places in by_type.values():
        outs = contents(walk, [blocks[place] for place in places], BATCH_READERS)
        for place, out in zip(places, outs, strict=True):
            digests[place] = hashlib.sha256(rows[place] + marshal.dumps(out, _FORMAT)).digest()
    return digests


def _digest(block: Any, columns: NumberColumns | None, row: bytes, walk: Walk) -> bytes:
    row, content = read(block, columns, row, walk)
    return hashlib.sha256(row + marshal.dumps(content, _FORMAT)).digest()


def read(block: Any, columns: NumberColumns | None, row: bytes, walk: Walk) -> tuple[bytes, list[Any]]:
    """The content that is hashed: the row without animated channels, and the values of the walk."""
    if getattr(block, "animation_data", None) is not None:
        channels = animated_channels(block)
        if columns and channels:
            own = channels.get((block.as_pointer(), block.bl_rna.identifier))
            if own:
                row = columns.blanked(row, own)
        walk = Walk(channels, walk.grouped, all_grouped=walk.all_grouped)
    out: list[Any] = []
    walk.struct(block, out)
    return row, out


def meshes_with_groups(objects: Iterable[Any]) -> dict[Any, bool]:
    """What objects tell about the vertex groups of their meshes, so that no mesh has to look for an object."""
    pairs = map(_data_and_groups, objects)
    return {content: bool(groups) for content, groups in pairs if content is not None}


def _memberships(skip: Callable[[Any], bool]) -> Iterator[Key]:
    for scene in _data.scenes:
        if not skip(scene):
            yield from member_keys(MASTER + scene.name, scene.collection, skip)
    for collection in _data.collections:
        # What a linked collection holds is its library's.
        if not skip(collection) and (collection.library is None or _is_packed(collection)):
            yield from member_keys(collection.name, collection, skip)


@contextmanager
def _collector_off() -> Generator[None]:
    """No garbage collection meanwhile: it would go over the many live tuples again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
