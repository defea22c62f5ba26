"""Reversible deletion: whoever refers to a datablock forgets it, and it is buried until nobody can want it back.

Responsible for: leaving no pointer to what is buried, and no datablock that Blender would drop on save.
"""

from __future__ import annotations

from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene import references
from blendwright.blender.scene.membership import Membership
from blendwright.blender.scene.state import is_buried
from blendwright.blender.scene.values import put_item
from blendwright.blender.scene.writing import NO_PREIMAGE
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault


class Removal(Membership):
    """The part of the Scene port that deletes."""

    def remove(self, *blocks: Any) -> None:
        self._stale = True
        victims = dict.fromkeys(block for block in blocks if not is_buried(block))
        for block in list(victims):
            self._writable(block)
            if getattr(block, "shape_keys", None) is not None:
                victims[block.shape_keys] = None
        users = references.referrers(set(victims))
        for victim in victims:
            self.record.touch(fp.key_of(victim))
            if isinstance(victim, bpy.types.Object):
                for home in self.collections_of(victim):
                    self.unlink(home, victim)
            elif isinstance(victim, bpy.types.Collection):
                self._empty(victim)
            for user in users[victim]:
                if user not in victims:
                    self._clear(user, victim)
        for victim in victims:
            self._bury(victim)

    def _empty(self, collection: Any) -> None:
        for child in [*collection.objects, *collection.children]:
            self.unlink(collection, child)

    def _clear(self, user: Any, victim: Any) -> None:
        """Make one datablock forget another."""
        if isinstance(victim, bpy.types.Collection):
            parent = user.collection if isinstance(user, bpy.types.Scene) else user
            if isinstance(parent, bpy.types.Collection) and victim in parent.children.values():
                self.unlink(parent, victim)
        if isinstance(victim, bpy.types.NodeTree) and not isinstance(user, NO_PREIMAGE):
            self.edit(user)  # a group node without its group loses its links, and these have no inverse of their own
        place, gone = fp.key_of(user), fp.key_of(victim)
        self.record.touch(place)
        for path in references.pointer_sites(user, victim):
            *parents, last = path
            inside = tuple(parents)
            self._hold_along(references.resolve(user, inside), last)
            self._point(place, inside, last, None)
            self.record.inverse(lambda inside=inside, last=last: self._point(place, inside, last, self._block(gone)))
        if references.pointer_sites(user, victim):
            message = f"'{user.name}' cannot be without '{victim.name}'"
            cure = f"Delete '{user.name}' first, or give it another one."
            raise StepError.of(Fault.SCENE_CONFLICT, message, cure=cure)

    def _point(self, place: fp.Key, inside: references.Path, last: str | int, value: Any) -> None:
        holder = references.resolve(self._block(place), inside)
        if isinstance(last, references.Item):
            put_item(holder, last, value)
        elif isinstance(last, int):
            holder[last] = value
        else:
            setattr(holder, last, value)

    def _bury(self, victim: Any) -> None:
        key = fp.key_of(victim)
        collection, name = key
        fake = victim.use_fake_user
        victim.use_fake_user = False
        grave = self._state.bury(collection, victim)
        self.record.forget(key)
        self.record.released.append(victim)

        def back() -> None:
            risen = self._state.buried(collection, grave)
            self._state.exhume(collection, risen, name)
            risen.use_fake_user = fake

        self.record.inverse(back)

    # ------------------------------------------------------------------ the end of a step

    def settle(self) -> None:
        """Give a fake user to what the step left without users: Blender would drop it on save."""
        suspects: set[Any] = set()
        for block in self.record.released:
            if is_buried(block):
                suspects |= references.pointees(block)
            elif block.users:
                suspects.add(block)
            else:
                self._keep(block)
        # Only what is buried makes a count of users untrue; a new datablock that nothing buried knows is counted right.
        for block in self.record.made:
            if not block.users and not is_buried(block):
                self._keep(block)
        suspects = {block for block in suspects if _may_be_lost(block)}
        if suspects:
            for block, users in references.referrers(suspects).items():
                if not users:
                    self._keep(block)

    def _keep(self, block: Any) -> None:
        if hasattr(block, "use_fake_user") and block.library is None and not isinstance(block, bpy.types.Scene):
            self.set(block, "use_fake_user", True)


def _may_be_lost(block: Any) -> bool:
    if is_buried(block) or block.is_embedded_data or block.library is not None:
        return False
    return not block.use_fake_user and not isinstance(block, bpy.types.Scene)
