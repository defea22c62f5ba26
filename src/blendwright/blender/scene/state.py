"""The state of a scene that a worker keeps between steps: names, fingerprint, and the tombstones of deleted datablocks.

Only the name map holds references to datablocks. The map is cleared whenever Blender may have moved them in memory (open, undo).
References to structures inside datablocks are never stored, because they dangle without notice.
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

# The prefix of the names of deleted datablocks and pre-images, which stay in memory until the next save: a revert needs them,
# and removing them one at a time costs milliseconds in a large scene.
RESERVED_PREFIX = "~bw~"
# Kinds whose datablocks change their Python type with a property. A reference keeps the type from when Python created it.
RETYPED = frozenset({"lights", "textures"})
# Kinds that hold members; the keys of their memberships in the fingerprint contain their name.
WITH_MEMBERS = frozenset({"collections", "scenes"})
# Used in a window only: the datablocks that no file keeps, by `session_uid` because references to them may dangle, and their names.
_hidden: set[int] = set()
_hidden_names: set[tuple[str, str]] = set()
_kind = itemgetter(0)


def is_tombstone(block: Any) -> bool:
    """Return True for a datablock that callers must not see: a step deleted it, or no file would keep it."""
    return block.name.startswith(RESERVED_PREFIX) or (bool(_hidden) and block.session_uid in _hidden)


def hide(blocks: Iterable[Any]) -> None:
    """Treat exactly these datablocks as deleted from now on. The caller does not own them, so they are never removed."""
    _hidden.clear()
    _hidden_names.clear()
    for block in blocks:
        _hidden.add(block.session_uid)
        _hidden_names.add((kind_of(block), block.name))


class SceneState:
    """The names, fingerprint, tombstones and postponed hashes of the open scene. Each worker has one."""

    # True if steps may use Blender's own undo to revert what only it can revert. In a window, the undo belongs to the user.
    owns_undo = True

    def __init__(self, *, full: bool = True) -> None:
        """Hash the scene; with `full=False`, hash nothing before the first `refresh`."""
        self._names: dict[str, dict[str, Any]] = {}
        # A cache of collection keys, cleared when a collection or a scene appears or disappears.
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
        """Return a local datablock by name, or None.

        Uses a map, since Blender's own lookup is linear in the number of datablocks."""
        block = self.named(collection).get(name)
        if block is not None and collection in RETYPED:
            return getattr(bpy.data, collection).get((name, None))
        return block

    def block(self, key: fp.Key) -> Any:
        """Return the local or linked datablock with this key in the fingerprint, or None."""
        if len(key) > 2:
            return fp.block_of(key)
        return self.find(*key)

    def named(self, collection: str) -> dict[str, Any]:
        by_name = self._names.get(collection)
        if by_name is None:
            blocks: Any = getattr(bpy.data, collection, ())  # Some kinds exist in newer Blender versions only.
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
        """Clear the name map, so that the next lookup reads the names again. Call it after code outside the port created datablocks."""
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
        """Rename a hidden datablock that occupies `name`, so that another datablock can take the name."""
        if (collection, name) in _hidden_names:  # Tested first because Blender's own lookup is linear.
            block = getattr(bpy.data, collection).get((name, None))
            if block is not None and block.session_uid in _hidden:
                block.name = f"{name}.001"  # Blender counts up from this number if the name exists.
                _hidden_names.add((collection, block.name))

    # ------------------------------------------------------------------ soft deletion

    def soft_delete(self, collection: str, block: Any) -> str:
        """Rename a datablock to a reserved name, which hides it from names, fingerprint and snapshot, and return that name.

        The datablock stays in memory until the next `purge`."""
        self._tombstones_made += 1
        self.drop_name(collection, block.name)
        block.name = f"{RESERVED_PREFIX}{self._tombstones_made:x}"
        self._tombstones.append((collection, block.name))
        return block.name

    def tombstone(self, collection: str, name: str) -> Any:
        return getattr(bpy.data, collection).get(name)

    def restore(self, collection: str, block: Any, name: str) -> None:
        """Revert a soft deletion: give the datablock this name and add it to the name map."""
        self._tombstones.remove((collection, block.name))
        block.name = name
        self.add_name(collection, name, block)

    def purge(self) -> None:
        """Remove the tombstones from Blender. Call it before every save, since a file must not contain them."""
        self.hash_deferred()
        tombstones = {self.tombstone(collection, name) for collection, name in self._tombstones}
        tombstones.discard(None)
        if tombstones:
            bpy.data.batch_remove(tombstones)
        self._tombstones.clear()

    def reject_reserved_names(self) -> None:
        """Raise RuntimeError if a datablock that is not a tombstone has a reserved name: it and its changes would stay invisible."""
        for kind in fp.kinds():
            names: list[str] = getattr(bpy.data, kind).keys()
            for name in names:
                if name.startswith(RESERVED_PREFIX) and (kind, name) not in self._tombstones:
                    reserved = f"starts with '{RESERVED_PREFIX}', which is reserved"
                    raise RuntimeError(f"'{name}' among the {kind} {reserved}; rename it")

    @property
    def tombstone_count(self) -> int:
        return len(self._tombstones)

    # ------------------------------------------------------------------ hashing later

    def defer(self, keys: Iterable[fp.Key], seal: Callable[[], None]) -> None:
        """Postpone the hashing of a kept step, since hashing many steps together is cheaper. `seal` finishes the step later.

        A question about one of `keys`, or for the hash of the scene, first runs all postponed `seal` functions in order."""
        self._deferred.append(seal)
        self._deferred_keys.update(keys)

    def hash_deferred(self) -> None:
        if not self._deferred:
            return
        waiting, keys = self._deferred, self._deferred_keys
        self._deferred, self._deferred_keys = [], set()
        objects = (self.block(key) for key in keys if key[0] == Kind.OBJECT.blocks)
        grouped = fp.meshes_with_groups(obj for obj in objects if obj is not None)
        # Group by kind, because running the same code over similar data makes better use of the processor's caches.
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
        with suppress(Exception):  # The step of the datablock hashes it again and then reports the error.
            self._prehashed.update(zip(local, fp.leaves([blocks[key] for key in local], grouped), strict=True))

    def read_hash(self, key: fp.Key) -> bytes | None:
        """Return the hash of a datablock's current content, or None if it does not exist."""
        if key in self._prehashed:
            return self._prehashed[key]
        return self._hash_block(key)

    def _hash_block(self, key: fp.Key) -> bytes | None:
        block = self.block(key)
        if block is None:
            return None
        return fp.leaf(block)

    def leaf_hash(self, key: fp.Key) -> bytes | None:
        """Return the hash of a key from the fingerprint, or None. Finishes postponed steps first if one of them touches the key."""
        if key in self._deferred_keys:
            self.hash_deferred()
        return self.fingerprint.get(key)

    # ------------------------------------------------------------------ the whole

    def refresh(self) -> None:
        """Drop every reference and hash the scene again."""
        self.hash_deferred()
        self.forget_names()
        self.fingerprint = fp.Fingerprint(fp.full(is_tombstone))

    def root(self) -> str:
        self.hash_deferred()
        return self.fingerprint.root()

    def full_root(self) -> str:
        """Return the scene hash from a full recomputation, for a cross-check. The stored fingerprint stays unchanged."""
        return fp.Fingerprint(fp.full(is_tombstone)).root()

    def reset(self) -> None:
        """Open an empty scene without objects, ignoring the user's start-up file."""
        self.hash_deferred()
        self._tombstones.clear()
        # `read_factory_settings` would load the preferences and all add-ons again, which takes ten times as long.
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        self._prepare()

    def open(self, path: Path, *, full: bool = True, drop_unused: bool = False) -> None:
        """Open a .blend file. Raise RuntimeError if it contains reserved names or hidden drivers.

        `full=False` hashes nothing; use it in a process whose scene hash no caller relies on.
        `drop_unused` removes the datablocks that the next saved file would not contain."""
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
        # Remapping paths to the location of the file would make them differ in every file.
        bpy.ops.wm.save_as_mainfile(
            filepath=str(path), copy=True, compress=False, check_existing=False, relative_remap=False
        )

    def _prepare(self, *, full: bool = True) -> None:
        self.spacers.forget()
        bpy.context.preferences.edit.undo_steps = 64
        bpy.context.preferences.edit.use_global_undo = True
        # Without this, Blender writes a backup file next to every saved file.
        bpy.context.preferences.filepaths.save_version = 0
        if full:
            self.refresh()
        else:
            self.forget_names()
            self.fingerprint = fp.Fingerprint({})
