"""Files that a scene names and does not hold: which they are, and giving them other paths. Opens none of them.

Blender's own list has what it reads when it opens a file. Where it renders to, bakes to and caches in is in no list: such
properties are found by what RNA says of them.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.tools.modifier import stored_inputs
from blendwright.wire.methods import ExternalPath

# Before Blender 4.4 there is no way to visit all paths; these are what can be had then.
KINDS_WITH_PATH = ("libraries", "images", "fonts", "sounds", "movieclips", "volumes", "cache_files")

PATHS = {"FILE_PATH", "DIR_PATH"}
# What Blender gives to new scenes, domains and modifiers by itself.
DEFAULT_PATHS = re.compile("/tmp/|//|(//|/.+/blender_\\w+/)(cache_(fluid_\\w+|ocean|dynamicpaint)|blendcache_\\w*/)")
# Blender's own list has these, without what is packed; remarks on where something came from name nothing to be opened.
LISTED_BY_BLENDER = {
    "CacheFile",
    "Image",
    "ImagePackedFile",
    "Library",
    "LibraryWeakReference",
    "MovieClip",
    "Sound",
    "VectorFont",
    "Volume",
}
# Trees and collections that are part of a datablock, not datablocks of their own.
EMBEDDED = {"node_tree", "collection"}
IMPORT_NODE = "GeometryNodeImport"

_types: Any = bpy.types


def paths() -> list[ExternalPath]:
    """Every path as it stands in the scene, with the datablock that has it. What is packed into the scene is not external."""
    listed: list[ExternalPath] = []

    def visit(block: Any, path: str) -> None:
        if path:
            listed.append({"kind": fp.key_of(block)[0], "name": block.name, "path": path})

    _visit(visit)
    return sorted(listed, key=lambda entry: (entry["path"], entry["kind"], entry["name"]))


def relocate(new_paths: Mapping[str, str]) -> None:
    """Write other paths in place of those that are keys."""
    _visit(lambda block, path: new_paths.get(path))


def _visit(visit: Callable[[Any, str], str | None]) -> None:
    data: Any = bpy.data
    if hasattr(data, "file_path_foreach"):
        # Paths in linked datablocks belong to their library, and are relative to it.
        flags = {"SKIP_PACKED", "SKIP_WEAK_REFERENCES", "SKIP_LINKED"}

        def visit_path(block: Any, path: str, _: object) -> str | None:
            return visit(block, path)

        data.file_path_foreach(visit_path, flags=flags)
        return
    for kind in KINDS_WITH_PATH:
        for block in getattr(data, kind):
            if block.library is None and not getattr(block, "packed_file", None) and block.filepath != "<builtin>":
                other = visit(block, block.filepath)
                if other is not None:
                    block.filepath = other


def file_paths(block: Any) -> Iterator[str]:
    """The paths that stand in a datablock, and the nodes of it that read files, whose path may be computed."""
    yield from _paths_in(block, set())


def is_default_path(path: str) -> bool:
    """Whether Blender writes such a path by itself, with nobody having asked for it."""
    return DEFAULT_PATHS.fullmatch(path) is not None


def _paths_in(struct: Any, seen: set[tuple[int, str]]) -> Iterator[str]:
    identity = (struct.as_pointer(), struct.bl_rna.identifier)
    if identity in seen:
        return
    seen.add(identity)
    paths, ways = _path_properties(struct.bl_rna.identifier)
    for name in paths:
        if path := getattr(struct, name):
            yield path
    if identity[1] == "NodesModifier":
        yield from _inputs(struct)
    elif identity[1].startswith(IMPORT_NODE):
        yield f"read by the node {struct.name}"
    for name, several in ways:
        value = getattr(struct, name)
        if several:
            for each in value:
                yield from _paths_in(each, seen)
        elif value is not None and (not isinstance(value, _types.ID) or value.is_embedded_data):
            yield from _paths_in(value, seen)


def _inputs(modifier: Any) -> Iterator[str]:
    """What a modifier hands to its nodes as the path of a file."""
    tree = modifier.node_group
    for item in tree.interface.items_tree if tree is not None else ():
        if item.item_type == "SOCKET" and getattr(item, "subtype", "") == "FILE_PATH":
            value = stored_inputs.value_of(modifier, item.identifier) if item.in_out == "INPUT" else None
            if value:
                yield str(value)


@cache
def _path_properties(identifier: str) -> tuple[tuple[str, ...], tuple[tuple[str, bool], ...]]:
    """The properties of a structure that are paths, and those that lead on to structures with paths."""
    properties = getattr(_types, identifier).bl_rna.properties
    paths = tuple(each.identifier for each in properties if _is_path(identifier, each))
    ways = tuple((each.identifier, each.type == "COLLECTION") for each in properties if _leads_on(each))
    return paths, ways


def _is_path(owner: str, each: Any) -> bool:
    return each.type == "STRING" and each.subtype in PATHS and owner not in LISTED_BY_BLENDER


def _leads_on(each: Any) -> bool:
    # Reading the settings of an add-on writes them (5.0), and they are no part of Blender.
    return (
        _leads_inside(each)
        and not issubclass(_class(each), _types.PropertyGroup)
        and each.fixed_type.identifier in _types_with_paths()
    )


def _leads_inside(each: Any) -> bool:
    """Whether a property leads to what is part of its owner, not to a datablock of its own."""
    if each.type not in ("POINTER", "COLLECTION") or each.identifier == "rna_type":
        return False
    return not issubclass(_class(each), _types.ID) or (each.type == "POINTER" and each.identifier in EMBEDDED)


def _class(each: Any) -> Any:
    return getattr(_types, each.fixed_type.identifier, object)


@cache
def _types_with_paths() -> frozenset[str]:
    """Structures that have a path, or from which one can be reached; what one kind of modifier reaches, `Modifier` reaches."""
    structs = {name: getattr(_types, name) for name in dir(_types)}
    rnas = {
        each.bl_rna.identifier: each.bl_rna
        for each in structs.values()
        if hasattr(each, "bl_rna") and not issubclass(each, (_types.Operator, _types.PropertyGroup))
    }
    leads = {
        name: {each.fixed_type.identifier for each in rna.properties if _leads_inside(each)}
        for name, rna in rnas.items()
    }
    reaching = {
        name
        for name, rna in rnas.items()
        if name.startswith(IMPORT_NODE) or any(_is_path(name, each) for each in rna.properties)
    }
    while True:
        bases = {rna.base.identifier for name, rna in rnas.items() if name in reaching and rna.base}
        more = {name for name, there in leads.items() if there & reaching} | bases
        if more <= reaching:
            return frozenset(reaching)
        reaching |= more
