"""The scene of a window: what `SceneState` is for a worker, without anything that a person would notice.

Nothing is reset and no preference touched. Blender's undo is the person's. Datablocks that no file keeps are hidden, so that the hash
is that of the file, opened elsewhere.
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
    """One per attached core."""

    owns_undo = False

    def __init__(self) -> None:
        self._updated_trees: set[int] = set()
        resolve_upward_paths()
        super().__init__(full=False)

    def refresh(self) -> None:
        self.hash_deferred()
        self._look()
        super().refresh()

    def full_root(self) -> str:
        self._look()
        return super().full_root()

    def reset(self) -> None:
        raise NotImplementedError("a window is never reset")

    def open(self, path: Path, *, full: bool = True, drop_unused: bool = False) -> None:
        raise NotImplementedError("nothing is opened in a window")

    def save(self, path: Path) -> None:
        """A copy, which changes neither the path of the person's file nor a preference. `compress` is left out: it would decide how
        the person's own file is saved next."""
        self.leave_nothing()
        filepaths: Any = bpy.context.preferences.filepaths
        preferences: Any = bpy.context.preferences
        preview, dirty = filepaths.file_preview_type, preferences.is_dirty
        filepaths.file_preview_type = "NONE"  # a picture of the window takes a second or two
        try:
            bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, check_existing=False, relative_remap=False)
        finally:
            filepaths.file_preview_type = preview
            preferences.is_dirty = dirty

    def leave_nothing(self) -> None:
        """Remove everything of ours, tombstones and spacers: before the person's file is saved, and after every plan."""
        self.spacers.remove()
        self.purge()

    def remove_leftovers(self) -> list[str]:
        """Remove what an undo of the person has brought back of ours. Returns the names of datablocks that begin like ours and are used."""
        found = {block for _, block in fp.all_blocks() if block.name.startswith(RESERVED_PREFIX)}
        if not found:
            return []
        user_map: dict[Any, set[Any]] = _data.user_map(subset=found)
        theirs = {block for block in found if block.use_fake_user or not user_map[block] <= found}
        if found != theirs:
            _data.batch_remove(found - theirs)
        return sorted(block.name for block in theirs)

    def forget(self) -> None:
        """Somebody else has moved Blender to another state: no reference holds any more."""
        self.forget_names()
        self._updated_trees.clear()

    def _look(self) -> None:
        self._update_trees()
        hide(block for block in unused_blocks() if not block.name.startswith(RESERVED_PREFIX))

    def _update_trees(self) -> None:
        """Blender marks sockets as unavailable when a tree is next changed, or opened: here as in the file."""
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
