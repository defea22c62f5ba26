"""Datablocks that an importer or an append created: recognized by identity, named as in their file, and linked to a collection.

Importers choose names themselves, and Blender adds `.001` to a name that exists. The names in a file are visible only while no
datablock of the scene occupies them, hence `ImportTracker.with_names_free`. Pixels that importers or code painted exist in
memory only. Blender drops them when it saves, unless they are packed. This module depends on no file format.
"""

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.reader import MAX_NAME_BYTES
from blendwright.blender.scene.state import RESERVED_PREFIX
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

SUFFIX = re.compile(r"(\.\d{3,})+$")
# The length in bytes from which Blender may have cut a name to make room for a suffix.
NEAR_LIMIT_BYTES = MAX_NAME_BYTES - 8

# Types of images that show the last render and are never saved.
RESULTS = frozenset({"RENDER_RESULT", "COMPOSITING"})

KindAndName = tuple[str, str]


class ImportTracker:
    """The datablocks that exist before an import, from which the tracker later determines the new ones."""

    def __init__(self) -> None:
        self._present: set[int] = set()
        self._names: dict[str, dict[str, Any]] = {}
        for kind, block in fp.all_blocks():
            self._present.add(block.session_uid)
            if not block.library:
                self._names.setdefault(kind, {})[block.name] = block

    def new(self) -> list[tuple[str, Any]]:
        """Return the new datablocks as (kind, datablock), sorted by kind and name."""
        new = [(kind, block) for kind, block in fp.all_blocks() if block.session_uid not in self._present]
        return sorted(new, key=lambda pair: (pair[0], pair[1].name))

    def discard(self) -> None:
        """Remove the new datablocks."""
        bpy.data.batch_remove([block for _, block in self.new()])

    def suspects(self) -> set[KindAndName]:
        """Return the kinds and roots of new names that may differ from the names in the file.

        The root is the name without a suffix such as `.001`. A name is suspect if it has a suffix, and either an older datablock
        has the same root or Blender may have cut the name."""
        older_roots: set[KindAndName] = set()
        for kind, names in self._names.items():
            older_roots.update((kind, _root(name)) for name in names)

        suspects: set[KindAndName] = set()
        for kind, block in self.new():
            root = (kind, _root(block.name))
            if SUFFIX.search(block.name) and (root in older_roots or _may_be_cut(block.name)):
                suspects.add(root)
        return suspects

    @contextmanager
    def with_names_free(self, suspects: set[KindAndName]) -> Generator[dict[int, str]]:
        """Rename the older datablocks with these names for the length of the block, so that an import keeps the names of its file.

        Afterwards the older datablocks get their names back, and new datablocks that collide with them get the next free name.
        Yields a mapping of session id to original name for the latter, which is filled in at the end."""
        cut_kinds = {kind for kind, root in suspects if _may_be_cut(root)}
        aside: list[tuple[str, str, Any]] = []
        for kind, names in sorted(self._names.items()):
            for name, block in sorted(names.items()):
                if (kind, _root(name)) in suspects or (kind in cut_kinds and _may_be_cut(name)):
                    aside.append((kind, name, block))
        for number, (_, _, block) in enumerate(aside):
            block.name = f"{RESERVED_PREFIX}aside{number:x}"
        renamed: dict[int, str] = {}

        yield renamed

        occupied = {(kind, name) for kind, name, _ in aside}
        used = {(kind, block.name) for kind, block in self.new()}
        for kind, names in self._names.items():
            used.update((kind, name) for name in names)
        for kind, block in self.new():
            if (kind, block.name) in occupied:
                renamed[block.session_uid] = block.name
                free_name = _free_name(kind, _root(block.name), used)
                used.add((kind, free_name))
                block.name = free_name
        for _, name, block in aside:
            block.name = name


def link_imported(scene: Any, home: Any, new: Iterable[tuple[str, Any]], requested: Iterable[Any] = ()) -> None:
    """Link the new topmost collections, and the new objects that no new collection holds, to the collection `home`.

    `requested` names further collections to link, since an append links nothing itself.
    Datablocks without users get a fake user, so that Blender saves them."""
    objects = {block.session_uid: block for kind, block in new if kind == "objects"}
    collections = {block.session_uid: block for kind, block in new if kind == "collections"}
    root = scene.collection

    nested: set[int] = set()
    in_collections: set[int] = set()
    for collection in collections.values():
        nested.update(child.session_uid for child in collection.children)
        in_collections.update(obj.session_uid for obj in collection.objects)
    topmost = [child for child in root.children if child.session_uid in collections]
    for block in requested:
        if block not in topmost and block.session_uid not in nested:
            topmost.append(block)
    for child in topmost:
        if root.children.get(child.name) == child and root != home:
            root.children.unlink(child)
        if home.children.get(child.name) != child:
            home.children.link(child)

    in_root = {obj.session_uid for obj in root.objects} & objects.keys()
    in_home = {obj.session_uid for obj in home.objects} & objects.keys()
    for uid, obj in objects.items():
        if uid not in in_collections and uid not in in_home:
            home.objects.link(obj)
        if uid in in_root and root != home:
            root.objects.unlink(obj)

    for _, block in new:
        if block.users == 0:
            block.use_fake_user = True


def pack_painted_images(at: str) -> None:
    """Pack every image whose pixels exist in memory only. Raises StepError at the argument `at` if Blender cannot pack one.

    Call this at the end of the step that painted: packing changes the image's source, so packing during a save would change the hash."""
    images: Any = bpy.data.images
    for image in images:
        if not image.is_dirty or image.type in RESULTS or image.library is not None:
            continue
        try:
            image.pack()
            if image.is_dirty:
                reason = "it has several views"
            else:
                reason = ""
        except RuntimeError as error:
            reason = " ".join(str(error).removeprefix("Error:").split())
        if reason:
            message = f"the pixels of image '{image.name}' cannot be packed: {reason}"
            raise StepError.of(Fault.EXECUTION_FAILED, message, at=at, cure="Paint a new image with a single view.")


def _root(name: str) -> str:
    return SUFFIX.sub("", name)


def _may_be_cut(name: str) -> bool:
    return len(name.encode()) >= NEAR_LIMIT_BYTES


def _free_name(kind: str, root: str, used: set[KindAndName]) -> str:
    short = root.encode()[:NEAR_LIMIT_BYTES].decode(errors="ignore")
    number = 1
    while (kind, f"{short}.{number:03d}") in used:
        number += 1
    return f"{short}.{number:03d}"
