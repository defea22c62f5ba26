"""The scene state of a window: a variant of `SceneState` that changes nothing which the user would notice.

It resets nothing, changes no preference, and leaves Blender's undo to the user. It hides the datablocks that a saved file would lose,
so that the hash equals that of the file opened elsewhere.
"""

from pathlib import Path
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.fingerprint.canonical import resolve_upward_paths
from blendwright.blender.scene.state import RESERVED_PREFIX, SceneState, hide
from blendwright.blender.scene.tracking.unused import unused_blocks

_data: Any = bpy.data

WITH_TREES = ("node_groups", "materials", "worlds", "lights", "linestyles", "textures")


class WindowState(SceneState):
    """The scene state of a window. Each attached core has one."""

    owns_undo = False

    def __init__(self) -> None:
        self._updated_trees: set[int] = set()
        resolve_upward_paths()
        super().__init__(full=False)

    def refresh(self) -> None:
        self.hash_deferred()
        self._prepare_for_hash()
        super().refresh()

    def full_root(self) -> str:
        self._prepare_for_hash()
        return super().full_root()

    def reset(self) -> None:
        raise NotImplementedError("a window is never reset")

    def open(self, path: Path, *, full: bool = True, drop_unused: bool = False) -> None:
        raise NotImplementedError("a core never opens a file in a window")

    def save(self, path: Path) -> None:
        """Save a copy without changing the path of the user's file or a preference.

        Does not pass `compress`, because that would decide how Blender saves the user's file next time."""
        self.leave_nothing()
        filepaths: Any = bpy.context.preferences.filepaths
        preferences: Any = bpy.context.preferences
        preview, dirty = filepaths.file_preview_type, preferences.is_dirty
        filepaths.file_preview_type = "NONE"  # A preview image of the window takes one or two seconds.
        try:
            bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, check_existing=False, relative_remap=False)
        finally:
            filepaths.file_preview_type = preview
            preferences.is_dirty = dirty

    def leave_nothing(self) -> None:
        """Remove Blendwright's tombstones and spacers. Called before the user's file is saved, and after every plan."""
        self.spacers.remove()
        self.purge()

    def remove_leftovers(self) -> list[str]:
        """Remove tombstones and spacers that the user's undo restored.

        Returns the names of datablocks with a reserved name that the user's data uses. These are not removed."""
        reserved = {block for _, block in fp.all_blocks() if block.name.startswith(RESERVED_PREFIX)}
        if not reserved:
            return []
        user_map: dict[Any, set[Any]] = _data.user_map(subset=reserved)
        used = {block for block in reserved if block.use_fake_user or not user_map[block] <= reserved}
        if reserved != used:
            _data.batch_remove(reserved - used)
        return sorted(block.name for block in used)

    def forget(self) -> None:
        """Drop all references after the user moved Blender to another state, because they may dangle."""
        self.forget_names()
        self._updated_trees.clear()

    def _prepare_for_hash(self) -> None:
        self._update_trees()
        hide(block for block in unused_blocks() if not block.name.startswith(RESERVED_PREFIX))

    def _update_trees(self) -> None:
        """Update the node trees that were not updated yet, so that they equal the trees of the saved file.

        Blender marks sockets as unavailable only when it changes or opens a tree."""
        for kind in WITH_TREES:
            for owner in getattr(_data, kind):
                uid = owner.session_uid
                if uid not in self._updated_trees:
                    self._updated_trees.add(uid)
                    if kind == "node_groups":
                        tree = owner
                    else:
                        tree = owner.node_tree
                    if tree is not None and owner.library is None:
                        tree.interface_update(bpy.context)
