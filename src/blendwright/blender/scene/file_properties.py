"""Every property of the scene that names a file or a directory, found by what RNA says of it: also where Blender only writes.

Blender's own list (see `external_files`) has what it reads when it opens a file. Where it renders to, bakes to and caches in is in no list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import bpy

PATHS = {"FILE_PATH", "DIR_PATH"}
# What Blender gives to new scenes, domains and modifiers by itself.
DEFAULT_PATHS = re.compile("/tmp/|//|(//|/.+/blender_\\w+/)cache_(fluid_\\w+|ocean|dynamicpaint)")
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
            value = modifier.get(item.identifier)
            if value:
                yield str(value)


@cache
def _path_properties(identifier: str) -> tuple[tuple[str, ...], tuple[tuple[str, bool], ...]]:
    """The properties of a structure that are paths, and those that lead on to structures with paths."""
    paths: list[str] = []
    ways: list[tuple[str, bool]] = []
    for each in getattr(_types, identifier).bl_rna.properties:
        if each.type == "STRING" and each.subtype in PATHS and identifier not in LISTED_BY_BLENDER:
            paths.append(each.identifier)
        elif _leads_on(each):
            ways.append((each.identifier, each.type == "COLLECTION"))
    return tuple(paths), tuple(ways)


def _leads_on(each: Any) -> bool:
    if each.type not in ("POINTER", "COLLECTION") or each.identifier == "rna_type":
        return False
    owned = not issubclass(_class(each), _types.ID) or (each.type == "POINTER" and each.identifier in EMBEDDED)
    # Reading the settings of an add-on writes them (5.0), and they are no part of Blender.
    return (
        owned
        and not issubclass(_class(each), _types.PropertyGroup)
        and each.fixed_type.identifier in _types_with_paths()
    )


def _class(each: Any) -> Any:
    return getattr(_types, each.fixed_type.identifier, object)


@cache
def _types_with_paths() -> frozenset[str]:
    """Structures that have a path, or from which one can be reached; what one kind of modifier reaches, `Modifier` reaches."""
    structs = {name: getattr(_types, name) for name in dir(_types)}
    structs = {
        each.bl_rna.identifier: each
        for each in structs.values()
        if hasattr(each, "bl_rna") and not issubclass(each, (_types.Operator, _types.PropertyGroup))
    }
    own = {
        name
        for name, each in structs.items()
        if name.startswith(IMPORT_NODE)
        or (
            name not in LISTED_BY_BLENDER
            and any(it.type == "STRING" and it.subtype in PATHS for it in each.bl_rna.properties)
        )
    }
    leads = {
        name: {
            it.fixed_type.identifier
            for it in each.bl_rna.properties
            if it.type in ("POINTER", "COLLECTION")
            and it.identifier != "rna_type"
            and (it.identifier in EMBEDDED or not issubclass(_class(it), _types.ID))
        }
        for name, each in structs.items()
    }
    reaching = set(own)
    while True:
        bases = {each.bl_rna.base.identifier for name, each in structs.items() if name in reaching and each.bl_rna.base}
        more = {name for name, there in leads.items() if there & reaching} | bases
        if more <= reaching:
            return frozenset(reaching)
        reaching |= more
