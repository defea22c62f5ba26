"""Linked datablocks, which stay in another .blend file: linking them, and making them local.

This module records the path that the caller named as the library's path, although Blender reads a copy of that file. It refuses
libraries that link from a third file, since the caller did not name that one.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.code.hidden_drivers import refuse_hidden_drivers
from blendwright.blender.scene.files.interchange import Interchange, reject_unsupported, reporting_broken_file
from blendwright.tool_api.file_port import Arrival
from blendwright.tool_api.scene import Kind
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

_data: Any = bpy.data
# Kinds that hold others come first, since Blender cannot make a datablock local that only linked datablocks use.
HOLDERS_FIRST = (Kind.SCENE.blocks, Kind.COLLECTION.blocks, Kind.OBJECT.blocks)
MAX_LISTED_NAMES = 5


class Linking(Interchange):
    """The part of the Scene port for libraries."""

    def libraries(self) -> Sequence[str]:
        return sorted({library.filepath for library in _data.libraries if _blocks_of(library)})

    def linked_objects(self) -> Sequence[Any]:
        if not _data.libraries:
            return ()
        return [obj for obj in self.active.collection.all_objects if obj.library is not None]

    def linked(self, library: str) -> Sequence[tuple[Kind, str]]:
        return sorted((Kind(kind), block.name) for kind, block in _blocks_at(library))

    def link_file(self, path: str, library: str, contents: Mapping[Kind, Sequence[str]]) -> Sequence[Any]:
        self._stale = True
        existing = _libraries_at(library)
        before = {block.session_uid for block in _data.libraries}
        present = {block.session_uid for _, block in fp.all_blocks()}
        try:
            for block in existing:
                # Blender identifies a library by its path and adds the new datablocks to an existing library.
                block.filepath = path
            with reporting_broken_file(path), _data.libraries.load(path, link=True) as (_, target):
                for kind, names in contents.items():
                    setattr(target, kind.value, list(names))
        finally:
            for block in [*existing, *_libraries_at(path)]:
                block.filepath = library

        _refuse_further_libraries(before, library)
        new = [(kind, block) for kind, block in fp.all_blocks() if block.session_uid not in present]
        reject_unsupported(new, linked=False)
        refuse_hidden_drivers("/path")
        self._state.forget_names()
        blocks: list[Any] = []
        for kind in contents:
            blocks += [block for block in getattr(target, kind.value) if block is not None]
        return blocks

    def make_local(self, library: str) -> Sequence[Arrival]:
        self._stale = True
        arrivals: list[Arrival] = []
        while True:
            linked = _blocks_at(library)
            linked.sort(key=lambda pair: (_rank(pair[0]), pair[1].name))
            count_before = len(arrivals)
            for kind, block in linked:
                name = block.name
                local = block.make_local()
                if local is not None and local.library is None:
                    arrivals.append(Arrival(Kind(kind), local.name, name))
            if len(arrivals) == count_before:
                break

        if linked:
            names = ", ".join(f"'{block.name}'" for _, block in linked[:MAX_LISTED_NAMES])
            message = f"Blender keeps {len(linked)} datablocks linked: {names}"
            raise StepError.of(Fault.EXECUTION_FAILED, message, at="/library", cure="Append them with file.import.")
        for block in _libraries_at(library):
            _data.libraries.remove(block)
        self._state.forget_names()
        return arrivals


def _rank(kind: str) -> int:
    if kind in HOLDERS_FIRST:
        return HOLDERS_FIRST.index(kind)
    return len(HOLDERS_FIRST)


def _libraries_at(path: str) -> list[Any]:
    return [library for library in _data.libraries if library.filepath == path and not _is_archive(library)]


def _blocks_at(path: str) -> list[tuple[str, Any]]:
    """Return the kind and datablock of everything that is linked from the file at this path."""
    pairs: list[tuple[str, Any]] = []
    for library in _libraries_at(path):
        pairs += _blocks_of(library)
    return pairs


def _is_archive(library: Any) -> bool:
    """Return True for a library that only holds packed linked data, as Blender 5.0 creates it. It refers to no file."""
    return any(getattr(block, "is_linked_packed", False) for _, block in _blocks_of(library))


def _blocks_of(library: Any) -> list[tuple[str, Any]]:
    return [(kind, block) for kind, block in fp.all_blocks() if block.library == library]


def _refuse_further_libraries(before: set[int], library: str) -> None:
    for block in _data.libraries:
        if block.session_uid not in before and block.filepath != library:
            message = f"the file links from another file, {block.name}"
            fix = "Make everything local in the file first, or append what you need with file.import."
            raise StepError.of(Fault.POLICY_BLOCKED, message, at="/path", cure=fix)


def library_paths() -> frozenset[str]:
    """Return the paths of all libraries, including unused ones."""
    return frozenset(library.filepath for library in _data.libraries)


def drop_linked(keep: Callable[[fp.Key], bool], paths: Collection[str]) -> None:
    """Remove libraries whose path is not in `paths`. Of the other libraries, remove directly linked datablocks that `keep` rejects."""
    for library in list(_data.libraries):
        if library.filepath not in paths:
            _data.libraries.remove(library)
    linked = [block for _, block in fp.all_blocks() if block.library is not None and not block.is_library_indirect]
    bpy.data.batch_remove([block for block in linked if not keep(fp.key_of(block))])
