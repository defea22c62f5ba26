"""Spacers: empty datablocks with reserved names at the end of a list, behind which nothing has to be sorted in.

Blender keeps datablocks sorted by name (4.2 to 5.2). For a new one it goes back from the end of the list, 512 at a time, until one
of them comes before it, and then compares it with these 512 from the front. A name that belongs at the end is compared with all of
them, twice for an object with its mesh: half of what plain bpy spends on a new cube in a large scene. With spacers behind it, it is
compared with a dozen.

A spacer has a reserved name, so nobody sees it and no hash covers it, and no user, so Blender writes it to no file.
"""

from collections import Counter
from typing import Any

import bpy

# A few less than Blender looks at together: the new name comes behind those that are left.
COUNT = 500
# They cost as much as they bring to so many new datablocks of a kind.
ENOUGH = 384
# What is made in thousands, and the arguments of a new one behind its name.
KINDS: dict[str, tuple[Any, ...]] = {"meshes": (), "objects": (None,)}


class Spacers:
    """Those of one scene."""

    def __init__(self, prefix: str) -> None:
        self._prefix = f"{prefix}space"
        self._created = Counter[str]()

    def note_created(self, collection: str) -> None:
        """A datablock was created: from some number on it is to be expected that more will be."""
        if collection in KINDS:
            self._created[collection] += 1
            if self._created[collection] == ENOUGH:
                blocks = getattr(bpy.data, collection)
                for number in reversed(range(COUNT)):  # each before the last one: that is sorted in sooner
                    blocks.new(f"{self._prefix}{number:03d}", *KINDS[collection])

    def remove(self) -> None:
        """Before anybody else than the Scene port deals with all datablocks: operators, their undo, foreign code."""
        for collection, created in self._created.items():
            if created >= ENOUGH:
                blocks = getattr(bpy.data, collection)
                for block in [block for block in blocks if block.name.startswith(self._prefix)]:
                    # Nothing uses it, and looking for users takes a hundred times as long.
                    blocks.remove(block, do_unlink=False, do_id_user=False, do_ui_user=False)
        self.forget()

    def forget(self) -> None:
        """Another file is open: it has none."""
        self._created.clear()
