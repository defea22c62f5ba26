"""Datablocks that no file keeps: those without users, and those that only such ones use.

Blender leaves out of a file what has no users. What only that used is written once more, has no users in the file, and is left out
of the next one.
"""

from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.fingerprint.identity import kind_of


def unused_blocks() -> set[Any]:
    found = {block for _, block in fp.all_blocks() if not block.users}
    if not found:
        return found
    user_map: dict[Any, set[Any]] = bpy.data.user_map()
    counted = set(fp.kinds())
    newest = found
    while newest:
        newest = {
            block
            for block, users in user_map.items()
            if users and block not in found and users <= found and kind_of(block) in counted and not _is_kept(block)
        }
        found |= newest
    return found


def remove_unused() -> None:
    """What saving and opening, often enough, would do."""
    unused = unused_blocks()
    if unused:
        bpy.data.batch_remove(unused)


def _is_kept(block: Any) -> bool:
    return block.use_fake_user or getattr(block, "use_extra_user", False) or isinstance(block, bpy.types.Scene)
