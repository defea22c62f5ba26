"""Membership in collections: recorded linking and unlinking of objects and child collections.

A revert also restores data that Blender drops when it unlinks: the order of child collections, the flags of collections in view
layers, and the light linking states of members. The membership of each object is a separate leaf of the fingerprint, so that a
collection of 10,000 objects adds no cost to a step.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.fingerprint import identity
from blendwright.blender.scene.tracking.recorded_writes import RecordedWrites
from blendwright.tool_api.scene import Kind

COLLECTION = bpy.types.Collection  # Cached, because looking the type up takes longer than the `isinstance` test.

# The light linking state of a new member.
INCLUDED = "INCLUDE"

LightStates = tuple[tuple[fp.Key, str], ...]
# The scene, the view layer, and the names of the collections from the top down.
LayerPath = tuple[str, ...]
LayerFlags = dict[LayerPath, tuple[bool, ...]]


class Membership(RecordedWrites):
    """The part of the Scene port that fills and empties collections."""

    def link(self, collection: Any, child: Any) -> None:
        self._stale = True
        if isinstance(child, COLLECTION):
            if child not in collection.children.values():
                self._link_child(collection, child)
            return
        edge = self._state.collection_key(collection).key_of(child)
        if not self.undo_log.is_member(edge):
            home, member = self._holder_key(collection), fp.key_of(child)
            if not collection.is_embedded_data and _joins_rigid_bodies(collection, child):
                self.edit(child)
            collection.objects.link(child)
            self.undo_log.member(edge, True)
            self.undo_log.inverse(lambda: self._set_member(home, member, edge, False))

    def unlink(self, collection: Any, child: Any) -> None:
        self._stale = True
        self.undo_log.released.append(child)
        if isinstance(child, COLLECTION):
            self._unlink_child(collection, child)
            return
        edge = self._state.collection_key(collection).key_of(child)
        if self.undo_log.is_member(edge):
            home = self._holder_key(collection)
            member = fp.key_of(child)
            states = _light_states(collection, "objects", [child])
            if states:
                self.undo_log.touch(home)  # The hash of the collection covers the members that light linking excludes.
            self.undo_log.member(edge, False)
            self.undo_log.inverse(lambda: self._set_member(home, member, edge, True, states))
            collection.objects.unlink(child)

    def _set_member(self, home: fp.Key, member: fp.Key, edge: fp.Key, present: bool, states: LightStates = ()) -> None:
        collection = self._collection(home)
        if present:
            collection.objects.link(self._block(member))
        else:
            collection.objects.unlink(self._block(member))
        self.undo_log.member(edge, present)
        for key, state in states:
            _light_linking(collection, "objects", self._block(key)).link_state = state

    def _link_child(self, collection: Any, child: Any) -> None:
        home, name = self._holder_key(collection), fp.key_of(child)
        self._touch_layers(home)
        collection.children.link(child)
        self.undo_log.inverse(lambda: self._collection(home).children.unlink(self._block(name)))

    def _unlink_child(self, collection: Any, child: Any) -> None:
        home, order = self._holder_key(collection), [fp.key_of(item) for item in collection.children]
        self._touch_layers(home)
        flags = layer_flags()
        states = _light_states(collection, "children", collection.children)

        def restore() -> None:
            """Link all children again in their former order, since the hash covers the order."""
            parent = self._collection(home)
            for present_child in list(parent.children):
                parent.children.unlink(present_child)
            for key in order:
                parent.children.link(self._block(key))
            for key, state in states:
                _light_linking(parent, "children", self._block(key)).link_state = state
            restore_layer_flags(flags)

        self.undo_log.inverse(restore)
        collection.children.unlink(child)

    def _holder_key(self, collection: Any) -> fp.Key:
        """Return the key of a collection. For the root collection of a scene, return the key of the scene."""
        return self._writable(self._state.collection_key(collection).holder)

    def _collection(self, home: fp.Key) -> Any:
        block = self._block(home)
        if home[0] == Kind.SCENE.blocks:
            return block.collection
        return block

    def _touch_layers(self, home: fp.Key) -> None:
        """Touch a collection and all scenes, since the view layers of scenes repeat the tree of collections with flags."""
        self.undo_log.touch(home)
        for name in self._state.named(Kind.SCENE.blocks):
            self.undo_log.touch((Kind.SCENE.blocks, name))


def _joins_rigid_bodies(collection: Any, obj: Any) -> bool:
    """Return True if linking the object makes Blender add it to a rigid body simulation. Only an operator could revert that."""
    scenes: Any = bpy.data.scenes
    worlds = [scene.rigidbody_world for scene in scenes if scene.rigidbody_world is not None]
    if any(world.constraints == collection for world in worlds):
        return obj.rigid_body_constraint is None
    return obj.rigid_body is None and any(world.collection == collection for world in worlds)


def _light_states(collection: Any, which: str, members: Iterable[Any]) -> LightStates:
    """Return the keys and light linking states of members whose state differs from that of a new member.

    The root collection of a scene has no such states. `which` is "objects" or "children"."""
    if collection.is_embedded_data:
        return ()
    states: list[tuple[fp.Key, str]] = []
    for member in members:
        state = _light_linking(collection, which, member).link_state
        if state != INCLUDED:
            states.append((fp.key_of(member), state))
    return tuple(states)


def _light_linking(collection: Any, which: str, member: Any) -> Any:
    """Return the light linking settings of a member: `collection_objects` has the order of `objects`, and so for the children."""
    index = getattr(collection, which).find(member.name)
    return getattr(collection, f"collection_{which}")[index].light_linking


def layer_flags() -> LayerFlags:
    """Return the flags of every collection in every view layer, parents before children."""
    return {path: identity.layer_flags(node) for path, node in _layer_collections()}


def restore_layer_flags(flags: LayerFlags) -> None:
    """Set the flags of collections in view layers, parents first, since Blender passes a flag on to all collections below."""
    for path, node in _layer_collections():
        for flag, value in zip(identity.LAYER_FLAGS, flags.get(path, ()), strict=False):
            if getattr(node, flag) != value:
                setattr(node, flag, value)


def _layer_collections() -> Iterator[tuple[LayerPath, Any]]:
    scenes: Any = bpy.data.scenes
    for scene in scenes:
        for layer in scene.view_layers:
            for path, node in identity.layer_collections(layer):
                yield (scene.name, layer.name, *path), node
