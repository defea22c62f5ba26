"""What an importer or an append brought into the file: recognised by identity, named without accidents, put where it belongs.

Importers name things themselves, and Blender gives `.001` to whatever comes second. Which names a file really holds shows
only when nothing in the scene is in their way, hence `ImportTracker.with_names_free`. Pixels that importers or code painted are in
memory only; Blender drops them when it saves, unless they are packed into the file. Knows no file format.
"""

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.reader import NAME_BYTES
from blendwright.blender.scene.state import RESERVED_PREFIX
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

SUFFIX = re.compile(r"(\.\d{3,})+$")
# A name this near the limit may have been cut to make room for a suffix.
NEAR_LIMIT = NAME_BYTES - 8

# Images that show what was rendered last; they are in no file.
RESULTS = frozenset({"RENDER_RESULT", "COMPOSITING"})

KindAndName = tuple[str, str]


class ImportTracker:
    """Remembers which datablocks there are, to tell later which ones came."""

    def __init__(self) -> None:
        self._present: set[int] = set()
        self._names: dict[str, dict[str, Any]] = {}
        for kind, block in fp.all_blocks():
            self._present.add(block.session_uid)
            if not block.library:
                self._names.setdefault(kind, {})[block.name] = block

    def new(self) -> list[tuple[str, Any]]:
        """What came, as (kind, datablock), by kind and name."""
        new = [(kind, block) for kind, block in fp.all_blocks() if block.session_uid not in self._present]
        return sorted(new, key=lambda pair: (pair[0], pair[1].name))

    def discard(self) -> None:
        """Remove what came."""
        bpy.data.batch_remove([block for _, block in self.new()])

    def suspects(self) -> set[KindAndName]:
        """Roots of names that may have been occupied: something came under a name with a suffix, and its root was there."""
        roots = {kind: {_root(name) for name in names} for kind, names in self._names.items()}
        return {
            (kind, _root(block.name))
            for kind, block in self.new()
            if SUFFIX.search(block.name) and (_root(block.name) in roots.get(kind, ()) or _nearly_cut(block.name))
        }

    @contextmanager
    def with_names_free(self, suspects: set[KindAndName]) -> Generator[dict[int, str]]:
        """Put everything of those names aside, so that what comes now keeps the names it has in its file.

        Afterwards what was there has its names back, and what came under one of them has the next free one: yields the
        original names of those by session id, filled in at the end."""
        cut = {kind for kind, root in suspects if _nearly_cut(root)}
        aside = [
            (kind, name, block)
            for kind, names in sorted(self._names.items())
            for name, block in sorted(names.items())
            if (kind, _root(name)) in suspects or (kind in cut and _nearly_cut(name))
        ]
        for number, (_, _, block) in enumerate(aside):
            block.name = f"{RESERVED_PREFIX}aside{number:x}"
        renamed: dict[int, str] = {}
        yield renamed
        occupied = {(kind, name) for kind, name, _ in aside}
        used = {(kind, name) for kind, names in self._names.items() for name in names}
        used |= {(kind, block.name) for kind, block in self.new()}
        for kind, block in self.new():
            if (kind, block.name) in occupied:
                renamed[block.session_uid] = block.name
                free = _free_name(kind, _root(block.name), used)
                used.add((kind, free))
                block.name = free
        for _, name, block in aside:
            block.name = name


def link_imported(scene: Any, home: Any, new: Iterable[tuple[str, Any]], requested: Iterable[Any] = ()) -> None:
    """Put what came into one collection: objects that no collection of their own holds, and the topmost collections.

    `requested` are collections to be linked although the importer did not: an append links nothing."""
    objects = {block.session_uid: block for kind, block in new if kind == "objects"}
    collections = {block.session_uid: block for kind, block in new if kind == "collections"}
    root = scene.collection
    tops = [child for child in root.children if child.session_uid in collections]
    inner = {child.session_uid for block in collections.values() for child in block.children}
    tops += [block for block in requested if block not in tops and block.session_uid not in inner]
    for child in tops:
        if root.children.get(child.name) == child and root != home:
            root.children.unlink(child)
        if home.children.get(child.name) != child:
            home.children.link(child)
    in_collections = {obj.session_uid for block in collections.values() for obj in block.objects}
    in_root = {obj.session_uid for obj in root.objects} & objects.keys()
    in_home = {obj.session_uid for obj in home.objects} & objects.keys()
    for uid, obj in objects.items():
        if uid not in in_collections and uid not in in_home:
            home.objects.link(obj)
        if uid in in_root and root != home:
            root.objects.unlink(obj)
    for _, block in new:
        # Blender drops what has no users when it saves.
        if block.users == 0:
            block.use_fake_user = True


def pack_painted_images(at: str) -> None:
    """Pack every image whose pixels are in no file yet. Raises StepError where Blender cannot; `at` is the argument to blame.

    At the end of the step that painted: a packed image has another source, so the hash would change if saving did it."""
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
            message = f"the pixels of image '{image.name}' cannot be kept: {reason}"
            raise StepError.of(Fault.EXECUTION_FAILED, message, at=at, cure="Paint a new image with a single view.")


def _root(name: str) -> str:
    return SUFFIX.sub("", name)


def _nearly_cut(name: str) -> bool:
    return len(name.encode()) >= NEAR_LIMIT


def _free_name(kind: str, root: str, used: set[KindAndName]) -> str:
    short = root.encode()[:NEAR_LIMIT].decode(errors="ignore")
    number = 1
    while (kind, f"{short}.{number:03d}") in used:
        number += 1
    return f"{short}.{number:03d}"
