"""Properties that Blender takes for the path of a file, or for a part of one: found by what RNA says of them, and by a list.

Where a scene renders to, bakes to and caches in is in no list of Blender's. Nothing here opens a file.
"""

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import bpy

from blendwright.tools.modifier import stored_inputs

PATHS = frozenset({"FILE_PATH", "DIR_PATH"})
DIRECTORY = "DIR_PATH"
FILE_NAME = "FILE_NAME"
# RNA does not say of these that they are paths.
UNMARKED_PATHS = frozenset({("Text", "filepath")})
# Names of files in a directory that stands beside them, which Blender 5.2 calls paths.
NAMES_CALLED_PATHS = frozenset({("CompositorNodeOutputFile", "file_name")})
# What Blender makes the name of a file with. Some are cleared of separators when they are set, which a file need not have been.
NAME_PARTS = frozenset(
    {
        ("SceneRenderView", "file_suffix"),
        ("NodeCompositorFileOutputItem", "name"),
        ("NodeOutputFileSlotFile", "path"),
        ("NodeOutputFileSlotLayer", "name"),
        ("PointCache", "name"),
        ("PointCacheItem", "name"),
        ("DynamicPaintSurface", "output_name_a"),
        ("DynamicPaintSurface", "output_name_b"),
    }
)
LEADS_ELSEWHERE = re.compile(r"[/\\]|\.\.")
# A remark on where something came from, which nobody opens; libraries themselves are looked at by their content.
REMARKS = frozenset({"Library", "LibraryWeakReference"})
# Trees and collections that are part of a datablock, not datablocks of their own.
EMBEDDED = frozenset({"node_tree", "collection"})
IMPORT_NODE = "GeometryNodeImport"
GROUP_SOCKET = "NodeTreeInterfaceSocketString"

# What Blender gives to new scenes, domains and modifiers by itself; caches are in its directory for temporary files.
DEFAULT_PATHS = frozenset({"/tmp/", "//", "<builtin>"})
CACHE = re.compile(r"cache_(fluid_\w+|ocean|dynamicpaint)|blendcache_\w*")
SESSION_DIRECTORY = re.compile(r"blender_\w{6}")

_types: Any = bpy.types


class PathProperties(NamedTuple):
    """Of one type of structure: the properties that are paths, the parts of names, and what leads on to structures with such."""

    paths: tuple[str, ...]
    directories: tuple[str, ...]
    file_names: tuple[str, ...]
    parts: tuple[str, ...]
    ways: tuple[tuple[str, bool], ...]


def file_paths(block: Any) -> Iterator[str]:
    """The paths that stand in a datablock, and the nodes of it that read files, whose path may be computed."""
    yield from _paths_in(block, set())


def is_default_path(path: str) -> bool:
    """Whether Blender writes such a path by itself, with nobody having asked for it."""
    if path in DEFAULT_PATHS:
        return True
    directory, name = os.path.split(path.removesuffix("/"))
    if not CACHE.fullmatch(name):
        return False
    return directory == "//" or _is_session_directory(directory)


def _is_session_directory(path: str) -> bool:
    """Whether this is the directory for temporary files of this Blender, or of another worker beside it."""
    if not SESSION_DIRECTORY.fullmatch(Path(path).name) or os.path.normpath(path) != path:
        return False
    # The current directory of a worker is its scratch, and those of others are beside it.
    beside = Path.cwd().parent
    return path == bpy.app.tempdir.rstrip("/") or (
        Path(bpy.app.tempdir).is_relative_to(Path.cwd()) and Path(path).is_relative_to(beside)
    )


def _paths_in(struct: Any, seen: set[tuple[int, str]]) -> Iterator[str]:
    kind = struct.bl_rna.identifier
    if (struct.as_pointer(), kind) in seen:
        return
    seen.add((struct.as_pointer(), kind))
    found = path_properties(kind)
    for name in found.paths:
        if path := getattr(struct, name):
            yield path
    yield from _names_in(struct, found)
    if kind == "NodesModifier":
        yield from _inputs(struct)
    elif kind.startswith(IMPORT_NODE):
        yield f"read by the node {struct.name}"
    elif kind == GROUP_SOCKET and struct.subtype in PATHS and struct.default_value:
        yield struct.default_value
    for name, several in found.ways:
        value = getattr(struct, name)
        if several:
            for each in value:
                yield from _paths_in(each, seen)
        elif value is not None and (not isinstance(value, _types.ID) or value.is_embedded_data):
            yield from _paths_in(value, seen)


def _names_in(struct: Any, found: PathProperties) -> Iterator[str]:
    """Parts of names that lead out of their directory, and names of files in directories that somebody chose."""
    for name in (*found.parts, *found.file_names):
        if LEADS_ELSEWHERE.search(getattr(struct, name)):
            yield getattr(struct, name)
    for directory in found.directories:
        place = getattr(struct, directory)
        if place and not is_default_path(place):
            yield from (os.path.join(place, getattr(struct, name)) for name in found.file_names)  # noqa: PTH118 - of Blender


def _inputs(modifier: Any) -> Iterator[str]:
    """What a modifier hands to its nodes as the path of a file."""
    tree = modifier.node_group
    for item in tree.interface.items_tree if tree is not None else ():
        if item.item_type == "SOCKET" and getattr(item, "subtype", "") in PATHS:
            if item.in_out == "INPUT":
                value = stored_inputs.value_of(modifier, item.identifier)
            else:
                value = None
            if value:
                yield str(value)


@cache
def path_properties(identifier: str) -> PathProperties:
    """What is looked at in structures of a type."""
    properties = getattr(_types, identifier).bl_rna.properties
    owners = _with_bases(identifier)

    def those(subtypes: frozenset[str], listed: frozenset[tuple[str, str]] = frozenset()) -> tuple[str, ...]:
        return tuple(
            each.identifier
            for each in properties
            if each.type == "STRING"
            and not (owners & REMARKS)
            and (each.subtype in subtypes or any((owner, each.identifier) in listed for owner in owners))
        )

    file_names = those(frozenset({FILE_NAME}), NAMES_CALLED_PATHS)
    return PathProperties(
        paths=tuple(name for name in those(PATHS, UNMARKED_PATHS) if name not in file_names),
        directories=those(frozenset({DIRECTORY})),
        file_names=file_names,
        parts=those(frozenset(), NAME_PARTS),
        ways=tuple((each.identifier, each.type == "COLLECTION") for each in properties if _leads_on(each)),
    )


def _with_bases(identifier: str) -> set[str]:
    owners: set[str] = set()
    rna = getattr(_types, identifier).bl_rna
    while rna is not None:
        owners.add(rna.identifier)
        rna = rna.base
    return owners


def _leads_on(each: Any) -> bool:
    # Reading the settings of an add-on writes them (5.0), and they are no part of Blender.
    return (
        _leads_inside(each)
        and not issubclass(_class(each), _types.PropertyGroup)
        and each.fixed_type.identifier in types_with_paths()
    )


def _leads_inside(each: Any) -> bool:
    """Whether a property leads to what is part of its owner, not to a datablock of its own."""
    if each.type not in ("POINTER", "COLLECTION") or each.identifier == "rna_type":
        return False
    return not issubclass(_class(each), _types.ID) or (each.type == "POINTER" and each.identifier in EMBEDDED)


def _class(each: Any) -> Any:
    return getattr(_types, each.fixed_type.identifier, object)


@cache
def types_with_paths() -> frozenset[str]:
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
    reaching = {name for name in rnas if name.startswith(IMPORT_NODE) or name == GROUP_SOCKET or _has_path(name)}
    while True:
        bases = {rna.base.identifier for name, rna in rnas.items() if name in reaching and rna.base}
        more = {name for name, there in leads.items() if there & reaching} | bases
        if more <= reaching:
            return frozenset(reaching)
        reaching |= more


def _has_path(identifier: str) -> bool:
    owners = _with_bases(identifier)
    return not owners & REMARKS and any(
        each.type == "STRING"
        and (
            each.subtype in PATHS
            or each.subtype == FILE_NAME
            or any((owner, each.identifier) in UNMARKED_PATHS | NAME_PARTS for owner in owners)
        )
        for each in getattr(_types, identifier).bl_rna.properties
    )
