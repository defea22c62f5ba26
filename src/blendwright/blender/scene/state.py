"""What the worker knows of its scene between steps: names, fingerprint, and the tombstones of deleted datablocks.

References to datablocks live in the name map only, and the map is dropped whenever Blender may have moved them (open, undo).
References to structures inside datablocks are never kept: they dangle without notice.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.fingerprint.identity import kind_of
from blendwright.blender.scene.code.hidden_drivers import reject_hidden_drivers
from blendwright.blender.scene.tracking.spacers import Spacers
from blendwright.blender.scene.tracking.unused import remove_unused
from blendwright.tool_api.scene import Kind

# Deleted datablocks and pre-images are kept alive under such a name until the next save: removing one at a time costs
# milliseconds in a large scene, and a revert needs them.
RESERVED_PREFIX = "~bw~"
# Kinds whose datablocks change their Python type with a property; a reference keeps the type from when it was made.
RETYPED = frozenset({"lights", "textures"})
# Kinds that hold members, in the fingerprint under their name.
WITH_MEMBERS = frozenset({"collections", "scenes"})
# In a window: datablocks that no file keeps, by `session_uid`, since references to them may dangle; and the names that they have.
_hidden: set[int] = set()
_hidden_names: set[tuple[str, str]] = set()
_kind = itemgetter(0)


def is_tombstone(block: Any) -> bool:
    """Whether nobody is to see a datablock: it was deleted and is still there, or no file would keep it."""
    return block.name.startswith(RESERVED_PREFIX) or (bool(_hidden) and block.session_uid in _hidden)


def hide(blocks: Iterable[Any]) -> None:
    """From now on these datablocks count as deleted, and no others; they are not ours to remove."""
    _hidden.clear()
    _hidden_names.clear()
    for block in blocks:
        _hidden.add(block.session_uid)
        _hidden_names.add((kind_of(block), block.name))


class SceneState:
    """One per worker."""

    # Whether Blender's own undo is ours, to take back what only it can: in a window it is the person's.
    owns_undo = True

    def __init__(self, *, full: bool = True) -> None:
        """Without `full` nothing is hashed before the first `refresh`."""
        self._names: dict[str, dict[str, Any]] = {}
        # Of the collections that were asked about; as long as no collection and no scene comes or goes.
        self._collection_keys: dict[Any, fp.CollectionKey] = {}
        self._tombstones: list[fp.Key] = []
        self._tombstones_made = 0
        self.spacers = Spacers(RESERVED_PREFIX)
        self.fingerprint = fp.Fingerprint({})
        self._deferred: list[Callable[[], None]] = []
        self._deferred_keys: set[fp.Key] = set()
        self._prehashed: dict[fp.Key, bytes | None] = {}
        if full:
            self.refresh()

    # ------------------------------------------------------------------ names

    def find(self, collection: str, name: str) -> Any:
        """A local datablock by name, through a map: Blender's own lookup is linear in the number of datablocks."""
        block = self.named(collection).get(name)
        if block is not None and collection in RETYPED:
            return getattr(bpy.data, collection).get((name, None))
        return block

    def block(self, key: fp.Key) -> Any:
        """A datablock by its key in the fingerprint, linked ones included."""
        if len(key) > 2:
            return fp.block_of(key)
        return self.find(*key)

    def named(self, collection: str) -> dict[str, Any]:
        by_name = self._names.get(collection)
        if by_name is None:
            blocks: Any = getattr(bpy.data, collection, ())  # not every Blender has every kind
            by_name = {block.name: block for block in blocks if not block.library and not is_tombstone(block)}
            self._names[collection] = by_name
        return by_name

    def add_name(self, collection: str, name: str, block: Any) -> None:
        if collection in WITH_MEMBERS:
            self._collection_keys.clear()
        self.named(collection)[name] = block

    def drop_name(self, collection: str, name: str) -> None:
        if collection in WITH_MEMBERS:
            self._collection_keys.clear()
        self.named(collection).pop(name, None)

    def forget_names(self) -> None:
        """Read the names anew when they are next asked for: something else than the port has made datablocks."""
        self._names.clear()
        self._collection_keys.clear()

    def collection_key(self, collection: Any) -> fp.CollectionKey:
        cached = self._collection_keys.get(collection)
        if cached is None:
            cached = self._collection_keys[collection] = fp.collection_key(collection)
        return cached

    def blocks(self, kind: Kind) -> Iterator[Any]:
        by_name = self.named(kind.blocks)
        return (self.find(kind.blocks, name) for name in sorted(by_name))

    def make_way(self, collection: str, name: str) -> None:
        """Give another name to what nobody sees and what has the name that somebody else is to get."""
        if (collection, name) in _hidden_names:  # Blender's own lookup is linear
            block = getattr(bpy.data, collection).get((name, None))
            if block is not None and block.session_uid in _hidden:
                block.name = f"{name}.001"  # Blender counts on from here
                _hidden_names.add((collection, block.name))

    # ------------------------------------------------------------------ soft deletion

    def soft_delete(self, collection: str, block: Any) -> str:
        """Hide a datablock from names, fingerprint and snapshot, alive until the next purge; returns its reserved name."""
        self._tombstones_made += 1
        self.drop_name(collection, block.name)
        block.name = f"{RESERVED_PREFIX}{self._tombstones_made:x}"
        self._tombstones.append((collection, block.name))
        return block.name

    def tombstone(self, collection: str, name: str) -> Any:
        return getattr(bpy.data, collection).get(name)

    def restore(self, collection: str, block: Any, name: str) -> None:
        """Undo a soft deletion."""
        self._tombstones.remove((collection, block.name))
        block.name = name
        self.add_name(collection, name, block)

    def purge(self) -> None:
        """Really remove the tombstones; before every save, since a file must not carry it."""
        self.hash_deferred()
        tombstones = {self.tombstone(collection, name) for collection, name in self._tombstones}
        tombstones.discard(None)
        if tombstones:
            bpy.data.batch_remove(tombstones)
        self._tombstones.clear()

    def reject_reserved_names(self) -> None:
        """Raises RuntimeError where a datablock that is not ours has the name of a tombstone: nobody would see it or its changes."""
        for kind in fp.kinds():
            names: list[str] = getattr(bpy.data, kind).keys()
            for name in names:
                if name.startswith(RESERVED_PREFIX) and (kind, name) not in self._tombstones:
                    raise RuntimeError(
                        f"'{name}' among the {kind} starts with '{RESERVED_PREFIX}', which is reserved; rename it"
                    )

    @property
    def tombstone_count(self) -> int:
        return len(self._tombstones)

    # ------------------------------------------------------------------ hashing later

    def defer(self, keys: Iterable[fp.Key], seal: Callable[[], None]) -> None:
        """Leave the hashing of a kept step for when it is needed: many in a row are cheaper than one at a time.

        Whoever asks about one of the keys, or for the hash of the scene, has everything sealed first, in order."""
        self._deferred.append(seal)
        self._deferred_keys.update(keys)

    def hash_deferred(self) -> None:
        if not self._deferred:
            return
        waiting, keys = self._deferred, self._deferred_keys
        self._deferred, self._deferred_keys = [], set()
        objects = (self.block(key) for key in keys if key[0] == Kind.OBJECT.blocks)
        grouped = fp.meshes_with_groups(obj for obj in objects if obj is not None)
        # Kind by kind: the same code over the same sort of data finds its way in the processor's caches.
        for kind, of_kind in groupby(sorted(keys), _kind):
            if kind != fp.MEMBERSHIP:
                self._prehash(list(of_kind), grouped)
        try:
            for seal in waiting:
                seal()
        finally:
            self._prehashed.clear()

    def _prehash(self, keys: list[fp.Key], grouped: Mapping[Any, bool]) -> None:
        blocks = {key: self.block(key) for key in keys}
        local = [key for key, block in blocks.items() if block is not None and block.library is None]
        with suppress(Exception):  # read again by its own step, which is the one to say what is wrong
            self._prehashed.update(zip(local, fp.leaves([blocks[key] for key in local], grouped), strict=True))

    def read_hash(self, key: fp.Key) -> bytes | None:
        """The hash of a datablock as Blender has it now, None when there is none."""
        if key in self._prehashed:
            return self._prehashed[key]
        return self._hash_block(key)

    def _hash_block(self, key: fp.Key) -> bytes | None:
        block = self.block(key)
        if block is None:
            return None
        return fp.leaf(block)

    def leaf_hash(self, key: fp.Key) -> bytes | None:
        """The hash of a leaf as of now, None when there is none."""
        if key in self._deferred_keys:
            self.hash_deferred()
        return self.fingerprint.get(key)

    # ------------------------------------------------------------------ the whole

    def refresh(self) -> None:
        """Forget every reference and hash the scene anew."""
        self.hash_deferred()
        self.forget_names()
        self.fingerprint = fp.Fingerprint(fp.full(is_tombstone))

    def root(self) -> str:
        self.hash_deferred()
        return self.fingerprint.root()

    def full_root(self) -> str:
        """The hash from a full recomputation, for the cross-check; nothing is replaced by it."""
        return fp.Fingerprint(fp.full(is_tombstone)).root()

    def reset(self) -> None:
        """An empty scene: no objects, no start-up file of anybody."""
        self.hash_deferred()
        self._tombstones.clear()
        # Not read_factory_settings: that loads the preferences again and all add-ons with them, which takes ten times as long.
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        self._prepare()

    def open(self, path: Path, *, full: bool = True, drop_unused: bool = False) -> None:
        """Without `full` nothing is hashed: for a process whose word for its scene nobody takes.

        With `drop_unused` what the next file would not keep is removed at once."""
        self.hash_deferred()
        self._tombstones.clear()
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False, use_scripts=False)
        self.reject_reserved_names()
        reject_hidden_drivers()
        if drop_unused:
            remove_unused()
        self._prepare(full=full)

    def save(self, path: Path) -> None:
        self.purge()
        # Paths stay as they are: remapped to where the file happens to lie, they would be other ones in every file.
        bpy.ops.wm.save_as_mainfile(
            filepath=str(path), copy=True, compress=False, check_existing=False, relative_remap=False
        )

    def _prepare(self, *, full: bool = True) -> None:
        self.spacers.forget()
        bpy.context.preferences.edit.undo_steps = 64
        bpy.context.preferences.edit.use_global_undo = True
        # What was saved before is nobody's here: no second file beside every saved one.
        bpy.context.preferences.filepaths.save_version = 0
        if full:
            self.refresh()
        else:
            self.forget_names()
            self.fingerprint = fp.Fingerprint({})
