"""Datablocks that a file loses: datablocks without users, and datablocks that only such datablocks use.

Blender does not save a datablock without users. A datablock that only this one used is saved once more, has no users in that file,
and is missing in the next one.
"""

from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.fingerprint.identity import kind_of


def unused_blocks() -> set[Any]:
    """Return the datablocks that repeated saving and opening would lose."""
    unused = {block for _, block in fp.all_blocks() if not block.users}
    if not unused:
        return unused

    user_map: dict[Any, set[Any]] = bpy.data.user_map()
    hashed_kinds = set(fp.kinds())
    while True:
        newly_unused: set[Any] = set()
        for block, users in user_map.items():
            if not users or block in unused or not users <= unused:
                continue
            if kind_of(block) in hashed_kinds and not _is_always_saved(block):
                newly_unused.add(block)
        if not newly_unused:
            return unused
        unused |= newly_unused


def remove_unused() -> None:
    """Remove the datablocks that repeated saving and opening would lose."""
    unused = unused_blocks()
    if unused:
        bpy.data.batch_remove(unused)


def _is_always_saved(block: Any) -> bool:
    return block.use_fake_user or getattr(block, "use_extra_user", False) or isinstance(block, bpy.types.Scene)
