"""Spacers: empty datablocks with reserved names at the end of a list, which make Blender's insertion of new names faster.

Blender keeps datablocks sorted by name (4.2 to 5.2). For a new name it goes back from the end of the list in blocks of 512 names.
It stops at a block that starts before the new name, and compares the name with this block from the front. A name at the end of the
list is compared with all 512 names, twice for an object with its mesh. In a large scene, this is half of the time that plain bpy
needs for a new cube. With spacers after it, the name is compared with about a dozen others.

A spacer has a reserved name, so it is hidden and no hash covers it. It has no users, so Blender does not save it.
"""

from collections import Counter
from typing import Any

import bpy

# The number of spacers of a kind: slightly fewer than the 512 names that Blender skips together.
COUNT = 500
# The number of new datablocks of a kind after which spacers are created, because more are likely to follow. For this number of
# datablocks the cost of the spacers equals their benefit.
CREATED_BEFORE_SPACERS = 384
# Kinds that steps create by the thousand, with the arguments of `new` after the name.
KINDS: dict[str, tuple[Any, ...]] = {"meshes": (), "objects": (None,)}


class Spacers:
    """The spacer datablocks of the open scene."""

    def __init__(self, prefix: str) -> None:
        self._prefix = f"{prefix}space"
        self._created = Counter[str]()

    def note_created(self, collection: str) -> None:
        """Count a new datablock. When the count reaches CREATED_BEFORE_SPACERS, create the spacers of its kind."""
        if collection in KINDS:
            self._created[collection] += 1
            if self._created[collection] == CREATED_BEFORE_SPACERS:
                blocks = getattr(bpy.data, collection)
                for number in reversed(
                    range(COUNT)
                ):  # In reverse order, because Blender then inserts each name faster.
                    blocks.new(f"{self._prefix}{number:03d}", *KINDS[collection])

    def remove(self) -> None:
        """Remove all spacers. Call it before code outside the Scene port visits all datablocks: operators, undo, a caller's code."""
        for collection, created in self._created.items():
            if created >= CREATED_BEFORE_SPACERS:
                blocks = getattr(bpy.data, collection)
                for block in [block for block in blocks if block.name.startswith(self._prefix)]:
                    # A spacer has no users, and searching for users takes a hundred times as long.
                    blocks.remove(block, do_unlink=False, do_id_user=False, do_ui_user=False)
        self.forget()

    def forget(self) -> None:
        """Reset the counts after another file was opened, since it contains no spacers."""
        self._created.clear()
