"""Reversible deletion: all pointers to a datablock are cleared, and the datablock stays a tombstone until no revert can need it.

This module leaves no pointer to a tombstone, and no datablock that Blender would drop on save.
"""

from collections.abc import Sequence
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.state import is_tombstone
from blendwright.blender.scene.tracking import references
from blendwright.blender.scene.tracking.membership import Membership
from blendwright.blender.scene.tracking.preimage import put_item
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault


class Removal(Membership):
    """The part of the Scene port that deletes."""

    def remove(self, *blocks: Any) -> None:
        self._stale = True
        victims = dict.fromkeys(block for block in blocks if not is_tombstone(block))
        for block in list(victims):
            self._writable(block)
            if getattr(block, "shape_keys", None) is not None:
                victims[block.shape_keys] = None

        victims_of: dict[Any, dict[Any, None]] = {}  # The victims that each remaining user refers to, in order.
        for victim, users in references.referrers(set(victims)).items():
            for user in users:
                if user not in victims:
                    victims_of.setdefault(user, {})[victim] = None

        for victim in victims:
            self.undo_log.touch(fp.key_of(victim))
            if isinstance(victim, bpy.types.Object):
                for home in self.collections_of(victim):
                    self.unlink(home, victim)
            elif isinstance(victim, bpy.types.Collection):
                self._empty(victim)
        for user in sorted(victims_of, key=fp.key_of):
            self._clear(user, victims_of[user])
        for victim in victims:
            self._soft_delete(victim)

    def _empty(self, collection: Any) -> None:
        for child in [*collection.objects, *collection.children]:
            self.unlink(collection, child)

    def replace(self, blocks: Sequence[Any], by: Any) -> list[Any]:
        self._stale = True
        self._writable(by)
        replaced = dict.fromkeys(block for block in blocks if block != by)
        users: set[Any] = set()
        for block, block_users in references.referrers(set(replaced)).items():
            self._writable(block)
            for user in block_users:
                if user not in replaced and not is_tombstone(user):
                    users.add(user)

        ordered = sorted(users, key=fp.key_of)
        for user in ordered:
            self._point_elsewhere(user, replaced, by)
        self.undo_log.released.extend(replaced)
        return ordered

    def _clear(self, user: Any, victims: dict[Any, None]) -> None:
        """Clear all pointers of a datablock to the victims. Raise StepError if one of them cannot be cleared."""
        if isinstance(user, bpy.types.Scene):
            parent = user.collection
        else:
            parent = user
        if isinstance(parent, bpy.types.Collection):
            for child in [child for child in parent.children if child in victims]:
                self.unlink(parent, child)
        elif any(isinstance(victim, bpy.types.NodeTree) for victim in victims):
            self.edit(
                user
            )  # A group node without its group loses its links, and the port records no inverse for links.
        self._point_elsewhere(user, victims, None)
        for _, victim in references.pointer_sites(user, victims):
            message = f"'{user.name}' cannot exist without '{victim.name}'"
            fix = f"Delete '{user.name}' first, or assign another datablock to it."
            raise StepError.of(Fault.SCENE_CONFLICT, message, cure=fix)

    def _point_elsewhere(self, user: Any, victims: dict[Any, None], target: Any) -> None:
        user_key = fp.key_of(user)
        self.undo_log.touch(user_key)
        for path, victim in references.pointer_sites(user, victims):
            *parents, last = path
            inside, victim_key = tuple(parents), fp.key_of(victim)
            self._save_side_effects(references.resolve(user, inside), last)
            self._point(user_key, inside, last, target)
            self.undo_log.inverse(
                lambda inside=inside, last=last, key=victim_key: self._point(user_key, inside, last, self._block(key))
            )

    def _point(self, key: fp.Key, inside: references.Path, last: str | int, value: Any) -> None:
        holder = references.resolve(self._block(key), inside)
        if isinstance(last, references.Item):
            put_item(holder, last, value)
        elif isinstance(last, int):
            holder[last] = value
        else:
            setattr(holder, last, value)

    def _soft_delete(self, victim: Any) -> None:
        key = fp.key_of(victim)
        collection, name = key
        fake = victim.use_fake_user
        victim.use_fake_user = False
        tombstone = self._state.soft_delete(collection, victim)
        self.undo_log.forget(key)
        self.undo_log.released.append(victim)

        def restore() -> None:
            block = self._state.tombstone(collection, tombstone)
            self._state.restore(collection, block, name)
            block.use_fake_user = fake

        self.undo_log.inverse(restore)

    # ------------------------------------------------------------------ the end of a step

    def protect_unused(self) -> None:
        """Give a fake user to each datablock that the step left without users, since Blender would not save it."""
        suspects: set[Any] = set()
        for block in self.undo_log.released:
            if is_tombstone(block):
                suspects |= references.pointees(block)
            elif block.users:
                suspects.add(block)
            else:
                self._protect(block)
        # Only pointers from tombstones falsify a count of users, and no tombstone points at a new datablock.
        for block in self.undo_log.made:
            if not block.users and not is_tombstone(block):
                self._protect(block)
        suspects = {block for block in suspects if _may_be_dropped(block)}
        if suspects:
            for block, users in references.referrers(suspects).items():
                if not users:
                    self._protect(block)

    def _protect(self, block: Any) -> None:
        if hasattr(block, "use_fake_user") and block.library is None and not isinstance(block, bpy.types.Scene):
            self.undo_log.mark(fp.key_of(block))
            self.set(block, "use_fake_user", True)


def _may_be_dropped(block: Any) -> bool:
    if is_tombstone(block) or block.is_embedded_data or block.library is not None:
        return False
    return not block.use_fake_user and not isinstance(block, bpy.types.Scene)
