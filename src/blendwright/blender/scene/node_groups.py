"""Changes of a whole node group, made on a copy that replaces the group only when the change is finished.

This module ensures that no datablock ever uses a half-changed tree, and that every user of the group receives a changed interface.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.state import RESERVED_PREFIX
from blendwright.blender.scene.tracking import preimage, references
from blendwright.blender.scene.tracking.recorded_writes import RecordedWrites

_data: Any = bpy.data


class NodeGroups(RecordedWrites):
    """The part of the Scene port that replaces node groups."""

    @contextmanager
    def redraft(self, tree: Any) -> Generator[Any]:
        key = self._writable(tree)
        self._stale = True
        if self.undo_log.free(key):  # This step created the group, or holds its pre-image.
            yield tree
            return
        draft = preimage.copy_of(tree)
        self._state.soft_delete(key[0], draft)
        yield draft  # If the caller raises here, the draft stays a tombstone and the tree is unchanged.
        self._save_users(tree)
        self._swap(key, tree, draft)

    def _swap(self, key: fp.Key, tree: Any, draft: Any) -> None:
        collection, name = key
        fake = tree.use_fake_user
        users = references.referrers({tree})[tree]
        self.undo_log.touch(key)
        self.undo_log.edited.add(key)
        with _preimages_detached(tree):
            tree.user_remap(draft)
        tombstone = self._state.soft_delete(collection, tree)
        self._state.restore(collection, draft, name)
        draft.use_fake_user = fake
        tree.use_fake_user = False
        self.undo_log.released.append(tree)
        _refresh_inputs(users, draft)
        self.undo_log.inverse(lambda: self._put_in_place(key, tombstone, fake))


@contextmanager
def _preimages_detached(tree: Any) -> Generator[None]:
    """Point pre-images that use a node group at another copy for the length of the block, since remapping would change them too."""
    aside = tree.copy()
    aside.name = f"{RESERVED_PREFIX}aside"
    preimage.repoint(tree, aside)
    try:
        yield
    finally:
        preimage.repoint(aside, tree)
        _data.node_groups.remove(aside)


def _refresh_inputs(users: list[Any], tree: Any) -> None:
    """Assign the tree to the modifiers that use it: Blender adds the tree's inputs to a modifier only on assignment."""
    for user in users:
        for modifier in getattr(user, "modifiers", ()):
            if getattr(modifier, "node_group", None) == tree:
                modifier.node_group = tree
                user.update_tag()
