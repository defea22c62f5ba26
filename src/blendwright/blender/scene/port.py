"""`BpyScene`: the Scene port for the length of one step. Every write of every tool passes here and is recorded."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene import applying, references
from blendwright.blender.scene.interchange import Interchange
from blendwright.blender.scene.record import MASTER, MEMBER, home_of
from blendwright.blender.scene.rendering import Rendering
from blendwright.blender.scene.state import is_buried
from blendwright.blender.scene.values import freeze
from blendwright.contracts.effects import Kind
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

# Datablocks that own so much else that a copy is no pre-image.
NO_PREIMAGE = (bpy.types.Scene, bpy.types.Collection)
# What Blender writes along with a property of an object: a new parent forgets the parent inverse, and another rotation
# mode converts the rotation, not to the last digit.
WRITTEN_ALONG: dict[str | int, tuple[str, ...]] = {
    "parent": ("matrix_parent_inverse",),
    "rotation_mode": ("rotation_euler", "rotation_quaternion", "rotation_axis_angle"),
}


class BpyScene(Interchange, Rendering):
    """Implements `blendwright.contracts.scene.Scene`."""

    # ------------------------------------------------------------------ writing

    def create(self, kind: Kind, name: str, *args: Any) -> Any:
        self._refuse_taken(kind, name)
        blocks: Any = getattr(bpy.data, kind.value)
        return self._made(kind, blocks.new(name, *args), name)

    def adopt(self, kind: Kind, block: Any, name: str) -> Any:
        found = self._state.find(kind.value, name)
        if found is not None and found != block:
            blocks: Any = getattr(bpy.data, kind.value)
            blocks.remove(block)
            self._refuse_taken(kind, name)
        if block.name != name:  # the name of a font is read-only
            block.name = name
        return self._made(kind, block, name)

    def applied_mesh(self, obj: Any, modifier: str) -> Any:
        self._stale = True
        with applying.only(obj, modifier):
            mesh = applying.new_mesh(obj, self.depsgraph())
        self._stale = True
        return self._made(Kind.MESH, mesh, mesh.name)

    def _made(self, kind: Kind, block: Any, name: str) -> Any:
        key = (kind.value, name)
        self._stale = True
        self.record.touch(key)
        self.record.created.add(key)
        self._state.add_name(kind.value, block)
        self.record.inverse(lambda: self._unmake(kind.value, name))
        self.record.released.append(block)
        if block.name != name:
            raise StepError(Finding(Fault.SCENE_CONFLICT, f"Blender gave the name '{block.name}' instead of '{name}'"))
        return block

    def _unmake(self, collection: str, name: str) -> None:
        block = self._state.find(collection, name)
        blocks: Any = getattr(bpy.data, collection)
        self._state.drop_name(collection, name)
        # Shape keys cannot be removed on their own; they go with their mesh, which is undone next.
        if hasattr(blocks, "remove"):
            blocks.remove(block)

    def edit(self, block: Any) -> Any:
        key = fp.key_of(block)
        self._stale = True
        if self.record.free(key):
            return block
        if isinstance(block, NO_PREIMAGE):
            raise TypeError(f"no pre-image of {key}: use set, link and unlink")
        self.record.touch(key)
        self.record.edited.add(key)
        collection, name = key[0], key[1]
        fake = block.use_fake_user
        image = block.copy()
        grave = self._state.bury(collection, image)
        self.record.released.append(image)
        restore_keys = self._edit_keys(block, image)

        def restore() -> None:
            spoilt = self._state.find(collection, name)
            saved = self._state.buried(collection, grave)
            spoilt.user_remap(saved)
            self._state.drop_name(collection, name)
            blocks: Any = getattr(bpy.data, collection)
            blocks.remove(spoilt)
            self._state.exhume(collection, saved, name)
            saved.use_fake_user = fake
            restore_keys(saved)

        self.record.inverse(restore)
        return block

    def _edit_keys(self, block: Any, image: Any) -> Callable[[Any], None]:
        """Shape keys are a datablock of their own, which Blender copies and removes along with their mesh or curve."""
        keys = getattr(image, "shape_keys", None)
        if keys is None:
            return lambda saved: None
        key = fp.key_of(block.shape_keys)
        self.record.touch(key)
        self.record.edited.add(key)
        self._state.bury(key[0], keys)

        def restore(saved: Any) -> None:
            self._state.drop_name(*key)
            self._state.exhume(key[0], saved.shape_keys, key[1])

        return restore

    def set(self, target: Any, attribute: str, value: Any, *, owner: Any | None = None) -> None:
        holder = target.id_data if owner is None else owner
        key = fp.key_of(holder)
        self._stale = True
        if not self.record.free(key):
            self.record.touch(key)
            self._hold_along(target, attribute)
            old = getattr(target, attribute)
            if isinstance(old, bpy.types.ID):
                self.record.released.append(old)
            thaw = freeze(old, self._block)
            again = self._address(holder, target)
            self.record.inverse(lambda: setattr(again(), attribute, thaw()))
        setattr(target, attribute, value)

    def _hold_along(self, target: Any, attribute: str | int) -> None:
        """Record what Blender itself writes along with a property, so that it comes back after the property does."""
        if isinstance(target, bpy.types.Object):
            for other in WRITTEN_ALONG.get(attribute, ()):
                self.set(target, other, getattr(target, other))

    def set_world_matrix(self, obj: Any, matrix: Any) -> None:
        self.depsgraph()
        # Blender takes the matrix apart into these channels; putting a matrix back would not give the same numbers.
        for channel in ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"):
            self.set(obj, channel, getattr(obj, channel))
        obj.matrix_world = matrix

    def set_item(self, target: Any, key: str, value: Any) -> None:
        self._record_item(target, key)
        target[key] = value

    def drop_item(self, target: Any, key: str) -> None:
        self._record_item(target, key)
        del target[key]

    def _record_item(self, target: Any, key: str) -> None:
        holder = target.id_data
        place = fp.key_of(holder)
        self._stale = True
        if self.record.free(place):
            return
        self.record.touch(place)
        again = self._address(holder, target)
        if key in target:
            thaw = freeze(target[key], self._block)
            self.record.inverse(lambda: again().__setitem__(key, thaw()))
        else:
            self.record.inverse(lambda: again().__delitem__(key))

    def link(self, collection: Any, child: Any) -> None:
        self._stale = True
        if isinstance(child, bpy.types.Collection):
            if collection.children.get(child.name) is None:
                self._touch_collection(collection)
                place, name = home_of(collection), child.name
                self.record.inverse(lambda: self._unlink_child(place, name))
                collection.children.link(child)
            return
        edge = fp.member_key(collection, child)
        if not self.record.is_member(edge):
            self.record.member(edge, True)
            self.record.inverse(lambda: self._member_back(edge, False))
            collection.objects.link(child)

    def unlink(self, collection: Any, child: Any) -> None:
        self._stale = True
        self.record.released.append(child)
        if isinstance(child, bpy.types.Collection):
            self._touch_collection(collection)
            place, order = home_of(collection), [item.name for item in collection.children]
            self.record.inverse(lambda: self._relink_children(place, order))
            collection.children.unlink(child)
            return
        edge = fp.member_key(collection, child)
        if self.record.is_member(edge):
            self.record.member(edge, False)
            self.record.inverse(lambda: self._member_back(edge, True))
            collection.objects.unlink(child)

    def rename(self, block: Any, name: str) -> None:
        key = fp.key_of(block)
        kind, old = Kind(key[0]), key[1]
        self._refuse_taken(kind, name)
        self._touch_referrers(block)
        self._stale = True
        self.record.touch(key)
        self.record.touch((kind.value, name))
        edges = [(fp.member_key(home, block)[1]) for home in self.collections_of(block)] if kind is Kind.OBJECT else []
        if kind is Kind.COLLECTION:
            self._move_members(block, old, name)
        for home in edges:
            self.record.member((MEMBER, home, old), False)
            self.record.member((MEMBER, home, name), True)
        if key in self.record.created:
            self.record.created.add((kind.value, name))
        if key in self.record.edited:
            self.record.edited.add((kind.value, name))

        def back() -> None:
            renamed = self._state.find(kind.value, name)
            self._state.drop_name(kind.value, name)
            assert renamed is not None
            renamed.name = old
            self._state.add_name(kind.value, renamed)
            if kind is Kind.COLLECTION:
                self._move_members(renamed, name, old)
            for home in edges:
                self.record.member((MEMBER, home, name), False)
                self.record.member((MEMBER, home, old), True)

        self.record.inverse(back)
        self._state.drop_name(kind.value, old)
        block.name = name
        self._state.add_name(kind.value, block)

    def remove(self, *blocks: Any) -> None:
        self._stale = True
        victims = [block for block in blocks if not is_buried(block)]
        victims += [block.shape_keys for block in victims if getattr(block, "shape_keys", None) is not None]
        users = references.referrers(set(victims))
        for victim in victims:
            key = fp.key_of(victim)
            self.record.touch(key)
            if isinstance(victim, bpy.types.Object):
                for home in self.collections_of(victim):
                    self.unlink(home, victim)
            for user in users[victim]:
                if user not in victims:
                    self._clear(user, victim)
        for victim in victims:
            self._bury(victim)

    def _clear(self, user: Any, victim: Any) -> None:
        """Make one datablock forget another."""
        if isinstance(victim, bpy.types.Collection):
            parent = user.collection if isinstance(user, bpy.types.Scene) else user
            if isinstance(parent, bpy.types.Collection) and parent.children.get(victim.name) is not None:
                self.unlink(parent, victim)
        self.record.touch(fp.key_of(user))
        place, gone = fp.key_of(user), fp.key_of(victim)
        for path in list(references.pointer_sites(user, victim)):
            *parents, last = path
            self._hold_along(references.resolve(user, tuple(parents)), last)
            self.record.inverse(
                lambda path=tuple(parents), last=last: self._point(place, path, last, self._block(gone))
            )
            self._point(place, tuple(parents), last, None)

    def _point(self, place: fp.Key, path: references.Path, last: str | int, value: Any) -> None:
        holder = references.resolve(self._block(place), path)
        if isinstance(last, int):
            holder[last] = value
        else:
            setattr(holder, last, value)

    def _bury(self, victim: Any) -> None:
        collection, name = fp.key_of(victim)[:2]
        fake = victim.use_fake_user
        victim.use_fake_user = False
        grave = self._state.bury(collection, victim)
        self.record.released.append(victim)

        def back() -> None:
            risen = self._state.buried(collection, grave)
            self._state.exhume(collection, risen, name)
            risen.use_fake_user = fake

        self.record.inverse(back)

    @contextmanager
    def temporarily(self, target: Any, **values: Any) -> Generator[None]:
        kept = {name: freeze(getattr(target, name), self._block) for name in values}
        try:
            for name, value in values.items():
                setattr(target, name, value)
            yield
        finally:
            for name, thaw in reversed(kept.items()):
                setattr(target, name, thaw())

    # ------------------------------------------------------------------ the end of a step

    def settle(self) -> None:
        """Give a fake user to what the step left without users: Blender would drop it on save."""
        loose: set[Any] = set()
        for block in self.record.released:
            if is_buried(block):
                loose.update(references.pointees(block))
            elif block.users == 0:
                self._keep(block)
            else:
                loose.add(block)
        suspects = {
            block for block in loose if not is_buried(block) and not block.use_fake_user and not block.is_embedded_data
        }
        suspects = {
            block for block in suspects if not isinstance(block, bpy.types.Scene) and not self._sure_of_users(block)
        }
        if suspects:
            for block, users in references.referrers(suspects).items():
                if not users:
                    self._keep(block)

    def _sure_of_users(self, block: Any) -> bool:
        """A datablock made in this step has no buried users, so its count can be trusted."""
        return fp.key_of(block) in self.record.created and block.users > 0

    def _keep(self, block: Any) -> None:
        if hasattr(block, "use_fake_user"):
            self.set(block, "use_fake_user", True)

    # ------------------------------------------------------------------ addressing

    def _block(self, key: fp.Key) -> Any:
        return self._state.block(key)

    def _address(self, holder: Any, target: Any) -> Callable[[], Any]:
        """A way to find a structure again after references have become stale."""
        key = fp.key_of(holder)
        if target == holder:
            return lambda: self._block(key)
        path: str = target.path_from_id()
        if target.id_data == holder:
            return lambda: self._block(key).path_resolve(path)
        return lambda: self._block(key).node_tree.path_resolve(path)

    def _touch_referrers(self, block: Any) -> None:
        """Whoever is hashed with the name of a datablock is touched when the name changes."""
        for user in references.referrers({block})[block]:
            self.record.touch(fp.key_of(user))

    def _touch_collection(self, collection: Any) -> None:
        home = home_of(collection)
        if home.startswith(MASTER):
            self.record.touch(("scenes", home.removeprefix(MASTER)))
        else:
            self.record.touch(("collections", home))

    def _collection(self, home: str) -> Any:
        if home.startswith(MASTER):
            return self._block(("scenes", home.removeprefix(MASTER))).collection
        return self._block(("collections", home))

    def _member_back(self, edge: fp.Key, present: bool) -> None:
        objects = self._collection(edge[1]).objects
        obj = self._block(("objects", edge[2]))
        (objects.link if present else objects.unlink)(obj)
        self.record.member(edge, present)

    def _unlink_child(self, home: str, name: str) -> None:
        self._collection(home).children.unlink(self._block(("collections", name)))

    def _relink_children(self, home: str, order: list[str]) -> None:
        """Children are hashed in order, so all are linked anew in the order they had."""
        children = self._collection(home).children
        for child in list(children):
            children.unlink(child)
        for name in order:
            children.link(self._block(("collections", name)))

    def _move_members(self, collection: Any, old: str, new: str) -> None:
        """The members of a collection are hashed with its name."""
        for obj in collection.objects:
            self.record.member((MEMBER, old, obj.name), False)
            self.record.member((MEMBER, new, obj.name), True)

    def _refuse_taken(self, kind: Kind, name: str) -> None:
        problems = self.taken(kind, name, "")
        if problems:
            raise StepError(problems[0])
