"""Properties that Blender uses as the path of a file or as part of a path, found by their RNA subtype and by lists in this module.

Blender's own list omits the paths to which a scene renders, bakes and caches. This module opens no file.
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
# Paths that RNA does not mark as such.
UNMARKED_PATHS = frozenset({("Text", "filepath")})
# File names that Blender 5.2 marks as paths; the directory is a separate property.
NAMES_CALLED_PATHS = frozenset({("CompositorNodeOutputFile", "file_name")})
# Properties that become part of a file name. Blender removes separators when some of them are set, but not when it reads a file.
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
# Types whose path is only a note on the origin, which Blender does not open. Callers check libraries by their content.
NOTES_ON_ORIGIN = frozenset({"Library", "LibraryWeakReference"})
# Trees and collections that are part of a datablock, not datablocks of their own.
EMBEDDED = frozenset({"node_tree", "collection"})
IMPORT_NODE = "GeometryNodeImport"
GROUP_SOCKET = "NodeTreeInterfaceSocketString"

# Paths that Blender gives to new scenes, domains and modifiers. Their caches are in its directory for temporary files.
DEFAULT_PATHS = frozenset({"/tmp/", "//", "<builtin>"})
CACHE = re.compile(r"cache_(fluid_\w+|ocean|dynamicpaint)|blendcache_\w*")
SESSION_DIRECTORY = re.compile(r"blender_\w{6}")

_types: Any = bpy.types


class PathProperties(NamedTuple):
    """The names of the path properties of one type of struct.

    `paths` include `directories`. `parts` become part of a file name. `children` are properties that lead to structs with paths,
    each with True if it is a collection."""

    paths: tuple[str, ...]
    directories: tuple[str, ...]
    file_names: tuple[str, ...]
    parts: tuple[str, ...]
    children: tuple[tuple[str, bool], ...]


def file_paths(block: Any) -> Iterator[str]:
    """Yield the paths in a datablock. For a node that reads a file from a possibly computed path, yield a description instead."""
    yield from _paths_in(block, set())


def is_default_path(path: str) -> bool:
    """Return True if Blender itself writes this path into new data, so that no user or tool has chosen it."""
    if path in DEFAULT_PATHS:
        return True
    directory, name = os.path.split(path.removesuffix("/"))
    if not CACHE.fullmatch(name):
        return False
    return directory == "//" or _is_session_directory(directory)


def _is_session_directory(path: str) -> bool:
    """Return True for the temporary directory of this Blender, or of another worker on the same machine."""
    if not SESSION_DIRECTORY.fullmatch(Path(path).name) or os.path.normpath(path) != path:
        return False
    if path == bpy.app.tempdir.rstrip("/"):
        return True
    # A worker runs in its scratch directory, and the scratch directories of all workers have the same parent.
    scratch = Path.cwd()
    return Path(bpy.app.tempdir).is_relative_to(scratch) and Path(path).is_relative_to(scratch.parent)


def _paths_in(struct: Any, seen: set[tuple[int, str]]) -> Iterator[str]:
    kind = struct.bl_rna.identifier
    if (struct.as_pointer(), kind) in seen:
        return
    seen.add((struct.as_pointer(), kind))
    properties = path_properties(kind)
    for name in properties.paths:
        path = getattr(struct, name)
        if path:
            yield path
    yield from _names_in(struct, properties)
    if kind == "NodesModifier":
        yield from _inputs(struct)
    elif kind.startswith(IMPORT_NODE):
        yield f"read by the node {struct.name}"
    elif kind == GROUP_SOCKET and struct.subtype in PATHS and struct.default_value:
        yield struct.default_value

    for name, is_collection in properties.children:
        value = getattr(struct, name)
        if is_collection:
            for child in value:
                yield from _paths_in(child, seen)
        elif value is not None and (not isinstance(value, _types.ID) or value.is_embedded_data):
            yield from _paths_in(value, seen)


def _names_in(struct: Any, properties: PathProperties) -> Iterator[str]:
    """Yield name parts that lead out of their directory, and file names in directories that are not defaults."""
    for name in (*properties.parts, *properties.file_names):
        if LEADS_ELSEWHERE.search(getattr(struct, name)):
            yield getattr(struct, name)
    for name in properties.directories:
        directory = getattr(struct, name)
        if directory and not is_default_path(directory):
            for file_name in properties.file_names:
                yield os.path.join(directory, getattr(struct, file_name))  # noqa: PTH118 - a path in Blender's notation


def _inputs(modifier: Any) -> Iterator[str]:
    """Yield the values that a geometry-nodes modifier passes to inputs with the subtype of a path."""
    tree = modifier.node_group
    if tree is None:
        return
    for item in tree.interface.items_tree:
        if item.item_type != "SOCKET" or item.in_out != "INPUT" or getattr(item, "subtype", "") not in PATHS:
            continue
        value = stored_inputs.value_of(modifier, item.identifier)
        if value:
            yield str(value)


@cache
def path_properties(identifier: str) -> PathProperties:
    """Return the path properties of a type of struct, given by its RNA identifier."""
    file_names = _strings_with(identifier, frozenset({FILE_NAME}), NAMES_CALLED_PATHS)
    paths = _strings_with(identifier, PATHS, UNMARKED_PATHS)
    children: list[tuple[str, bool]] = []
    for prop in getattr(_types, identifier).bl_rna.properties:
        if _leads_to_paths(prop):
            children.append((prop.identifier, prop.type == "COLLECTION"))
    return PathProperties(
        paths=tuple(name for name in paths if name not in file_names),
        directories=_strings_with(identifier, frozenset({DIRECTORY}), frozenset()),
        file_names=file_names,
        parts=_strings_with(identifier, frozenset(), NAME_PARTS),
        children=tuple(children),
    )


def _strings_with(
    identifier: str, subtypes: frozenset[str], extra_properties: frozenset[tuple[str, str]]
) -> tuple[str, ...]:
    """Return the string properties of a type that have one of the subtypes, or are listed in `extra_properties`.

    `extra_properties` names the type, or a base type, and the property."""
    owners = _with_bases(identifier)
    if owners & NOTES_ON_ORIGIN:
        return ()
    names: list[str] = []
    for prop in getattr(_types, identifier).bl_rna.properties:
        if prop.type != "STRING":
            continue
        if prop.subtype in subtypes or any((owner, prop.identifier) in extra_properties for owner in owners):
            names.append(prop.identifier)
    return tuple(names)


def _with_bases(identifier: str) -> set[str]:
    owners: set[str] = set()
    rna = getattr(_types, identifier).bl_rna
    while rna is not None:
        owners.add(rna.identifier)
        rna = rna.base
    return owners


def _leads_to_paths(prop: Any) -> bool:
    # Skip the settings of add-ons: Blender 5.0 changes them when they are read, and they are not part of Blender.
    if not _leads_inside(prop) or issubclass(_class(prop), _types.PropertyGroup):
        return False
    return prop.fixed_type.identifier in types_with_paths()


def _leads_inside(prop: Any) -> bool:
    """Return True if a property leads to a part of its owner, and False if it leads to a separate datablock or is no reference."""
    if prop.type not in ("POINTER", "COLLECTION") or prop.identifier == "rna_type":
        return False
    return not issubclass(_class(prop), _types.ID) or (prop.type == "POINTER" and prop.identifier in EMBEDDED)


def _class(prop: Any) -> Any:
    return getattr(_types, prop.fixed_type.identifier, object)


@cache
def types_with_paths() -> frozenset[str]:
    """Return the RNA identifiers of all structs that have a path or lead to a struct with one.

    A base type such as `Modifier` counts if one of its subtypes does."""
    rnas: dict[str, Any] = {}
    for name in dir(_types):
        struct = getattr(_types, name)
        if hasattr(struct, "bl_rna") and not issubclass(struct, (_types.Operator, _types.PropertyGroup)):
            rnas[struct.bl_rna.identifier] = struct.bl_rna

    targets: dict[str, set[str]] = {}
    for name, rna in rnas.items():
        targets[name] = {prop.fixed_type.identifier for prop in rna.properties if _leads_inside(prop)}

    reaching = {name for name in rnas if name.startswith(IMPORT_NODE) or name == GROUP_SOCKET or _has_path(name)}
    while True:
        bases = {rna.base.identifier for name, rna in rnas.items() if name in reaching and rna.base}
        additional = {name for name, reached in targets.items() if reached & reaching} | bases
        if additional <= reaching:
            return frozenset(reaching)
        reaching |= additional


def _has_path(identifier: str) -> bool:
    return bool(_strings_with(identifier, PATHS | {FILE_NAME}, UNMARKED_PATHS | NAME_PARTS))
