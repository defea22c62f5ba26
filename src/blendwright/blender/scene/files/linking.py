"""Datablocks that stay in another .blend file: linking them, and making them part of the scene.

Responsible for: a library's path being that of the file which the caller named, wherever the copy of it lay that was read. What a library
links from a third file is refused: nobody has named that one.
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
# What holds others comes before them: a datablock that only linked ones use cannot be made local.
HOLDERS_FIRST = (Kind.SCENE.blocks, Kind.COLLECTION.blocks, Kind.OBJECT.blocks)


class Linking(Interchange):
    """The part of the Scene port that is about libraries."""

    def libraries(self) -> Sequence[str]:
        return sorted({library.filepath for library in _data.libraries if _blocks_of(library)})

    def linked_objects(self) -> Sequence[Any]:
        if not _data.libraries:
            return ()
        return [obj for obj in self.active.collection.all_objects if obj.library is not None]

    def linked(self, library: str) -> Sequence[tuple[Kind, str]]:
        found = [pair for each in _libraries_at(library) for pair in _blocks_of(each)]
        return sorted((Kind(kind), block.name) for kind, block in found)

    def link_file(self, path: str, library: str, contents: Mapping[Kind, Sequence[str]]) -> Sequence[Any]:
        self._stale = True
        there = _libraries_at(library)
        before = {each.session_uid for each in _data.libraries}
        present = {block.session_uid for _, block in fp.all_blocks()}
        try:
            for each in there:
                # Blender knows a library by its path: the one that is there is added to.
                each.filepath = path
            with reporting_broken_file(path), _data.libraries.load(path, link=True) as (_, target):
                for kind, names in contents.items():
                    setattr(target, kind.value, list(names))
        finally:
            for each in [*there, *_libraries_at(path)]:
                each.filepath = library
        _refuse_further_libraries(before, library)
        new = [(kind, block) for kind, block in fp.all_blocks() if block.session_uid not in present]
        reject_unsupported(new, linked=False)
        refuse_hidden_drivers("/path")
        self._state.forget_names()
        return [block for kind in contents for block in getattr(target, kind.value) if block is not None]

    def make_local(self, library: str) -> Sequence[Arrival]:
        self._stale = True
        came: list[Arrival] = []
        while True:
            blocks = [pair for each in _libraries_at(library) for pair in _blocks_of(each)]
            blocks.sort(key=lambda pair: (_rank(pair[0]), pair[1].name))
            before = len(came)
            for kind, block in blocks:
                name = block.name
                local = block.make_local()
                if local is not None and local.library is None:
                    came.append(Arrival(Kind(kind), local.name, name))
            if len(came) == before:
                break
        if blocks:
            names = ", ".join(f"'{block.name}'" for _, block in blocks[:5])
            message = f"Blender keeps {len(blocks)} datablocks linked: {names}"
            raise StepError.of(Fault.EXECUTION_FAILED, message, at="/library", cure="Append them with file.import.")
        for each in _libraries_at(library):
            _data.libraries.remove(each)
        self._state.forget_names()
        return came


def _rank(kind: str) -> int:
    if kind in HOLDERS_FIRST:
        return HOLDERS_FIRST.index(kind)
    return len(HOLDERS_FIRST)


def _libraries_at(path: str) -> list[Any]:
    # Packed data (5.0) is in a library of its own, which is no file.
    return [each for each in _data.libraries if each.filepath == path and not _is_archive(each)]


def _is_archive(library: Any) -> bool:
    return any(getattr(block, "is_linked_packed", False) for _, block in _blocks_of(library))


def _blocks_of(library: Any) -> list[tuple[str, Any]]:
    return [(kind, block) for kind, block in fp.all_blocks() if block.library == library]


def _refuse_further_libraries(before: set[int], library: str) -> None:
    others = [each for each in _data.libraries if each.session_uid not in before and each.filepath != library]
    if others:
        message = f"the file links from another file, {others[0].name}"
        cure = "Make everything local in the file first, or append what you need with file.import."
        raise StepError.of(Fault.POLICY_BLOCKED, message, at="/path", cure=cure)


def library_paths() -> frozenset[str]:
    """The libraries that there are, whether or not anything of them is used."""
    return frozenset(each.filepath for each in _data.libraries)


def drop_linked(keep: Callable[[fp.Key], bool], paths: Collection[str]) -> None:
    """Remove libraries with other paths than these, and of the rest what was linked by name and is not to be kept."""
    for library in list(_data.libraries):
        if library.filepath not in paths:
            _data.libraries.remove(library)
    linked = [block for _, block in fp.all_blocks() if block.library is not None and not block.is_library_indirect]
    bpy.data.batch_remove([block for block in linked if not keep(fp.key_of(block))])
