"""Paths in a scene that code left behind: one test for each omission of the past, and one for all path properties in RNA."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import bpy
import pytest

from blendwright.blender.scene.code import scripts
from blendwright.blender.scene.files import path_properties
from blendwright.blender.scene.files.path_properties import path_properties as looked_at
from support.stage.stage import Stage

VICTIM = "/home/victim/.bashrc"
UP = "../../home/victim/x"

_data: Any = bpy.data


@pytest.fixture(autouse=True)
def left_empty() -> Iterator[None]:
    """Clear the scene after each test, because Blender aborts a process that ends with a fluid domain in its scene."""
    yield
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def _scene() -> Any:
    return bpy.context.scene


def _box() -> Any:
    box = _data.objects.new("Box", _data.meshes.new("Box"))
    _scene().collection.objects.link(box)
    return box


def _compositor() -> Any:
    """Create a compositing tree that a scene uses, and return it."""
    scene = _scene()
    if not hasattr(scene, "compositing_node_group"):
        scene.use_nodes = True
        return scene.node_tree
    scene.compositing_node_group = _data.node_groups.new("Compositor", "CompositorNodeTree")
    return scene.compositing_node_group


def file_output_name() -> str:
    node = _compositor().nodes.new("CompositorNodeOutputFile")
    if hasattr(node, "file_name"):
        node.file_name = UP
    else:
        node.file_slots[0].path = UP
    return UP


def file_output_name_in_a_chosen_directory() -> str:
    node = _compositor().nodes.new("CompositorNodeOutputFile")
    if not hasattr(node, "file_name"):
        pytest.skip("before 5.0 the path of a slot has it all")
    node.directory = "/home/victim"
    node.file_name = "x"
    return "/home/victim/x"


def suffix_of_a_view() -> str:
    render = _scene().render
    render.use_multiview = True
    render.views[0].file_suffix = "/" + UP
    return "/" + UP


def cache_of_an_ocean() -> str:
    path = "/home/victim/blender_abcdef/cache_ocean"
    _box().modifiers.new("Ocean", "OCEAN").filepath = path
    return path


def cache_of_a_fluid() -> str:
    path = "/home/victim/blender_abcdef/cache_fluid_1"
    modifier = _box().modifiers.new("Fluid", "FLUID")
    modifier.show_viewport = False  # Blender 5.2 aborts when it simulates it while saving
    modifier.fluid_type = "DOMAIN"
    modifier.domain_settings.cache_directory = path
    return path


def cache_beside_the_scratch() -> str:
    """Put a path into the scene that starts in Blender's own temporary directory and leads out of it, and return the path."""
    path = f"{bpy.app.tempdir}../../home/victim/blender_abcdef/cache_ocean"
    _box().modifiers.new("Ocean", "OCEAN").filepath = path
    return path


def path_of_a_packed_image() -> str:
    image = _data.images.new("Packed", 4, 4)
    image.use_fake_user = True
    image.pixels[0] = 0.5
    image.pack()
    image.filepath_raw = VICTIM
    assert image.packed_files
    return VICTIM


def path_of_what_is_packed_in_an_image() -> str:
    image = _data.images.new("Packed", 4, 4)
    image.use_fake_user = True
    image.pixels[0] = 0.5
    image.pack()
    image.packed_files[0].filepath = VICTIM
    return VICTIM


def path_of_a_generated_image() -> str:
    image = _data.images.new("Generated", 4, 4)
    image.use_fake_user = True
    image.filepath_raw = VICTIM
    assert image.source == "GENERATED"
    return VICTIM


def default_of_a_group_socket() -> str:
    tree = _data.node_groups.new("Group", "GeometryNodeTree")
    tree.use_fake_user = True
    socket = tree.interface.new_socket("File", in_out="INPUT", socket_type="NodeSocketString")
    try:
        socket.subtype = "FILE_PATH"
    except (AttributeError, TypeError):
        pytest.skip("this Blender has no such sockets")
    socket.default_value = VICTIM
    return VICTIM


def value_of_a_group_node() -> str:
    default_of_a_group_socket()
    tree = _data.node_groups.new("Outer", "GeometryNodeTree")
    tree.use_fake_user = True
    node = tree.nodes.new("GeometryNodeGroup")
    node.node_tree = _data.node_groups["Group"]
    node.inputs[0].default_value = VICTIM + "2"
    return VICTIM + "2"


def path_of_a_text() -> str:
    _data.texts.new("Notes").filepath = VICTIM
    return VICTIM


def exporter_of_a_collection() -> str:
    collection = _data.collections.new("Out")
    collection.use_fake_user = True
    if not hasattr(collection, "exporters"):
        pytest.skip("this Blender has none")
    with bpy.context.temp_override(collection=collection):
        bpy.ops.collection.exporter_add(name="IO_FH_obj")
    collection.exporters[0].filepath = VICTIM
    return VICTIM


HOLES: tuple[Callable[[], str], ...] = (
    file_output_name, file_output_name_in_a_chosen_directory, suffix_of_a_view, cache_of_an_ocean, cache_of_a_fluid,
    cache_beside_the_scratch, path_of_a_packed_image, path_of_what_is_packed_in_an_image, path_of_a_generated_image,
    default_of_a_group_socket, value_of_a_group_node, path_of_a_text, exporter_of_a_collection,
)  # fmt: skip


def marked() -> set[str]:
    return {item["where"] for item in scripts.active_content() if item["what"] == "external file"}


@pytest.mark.parametrize("hole", HOLES, ids=lambda hole: hole.__name__)
def test_a_path_that_code_leaves_is_seen_in_its_file(stage: Stage, hole: Callable[[], str]) -> None:
    """Check the content of the saved and opened file, as the process that takes the result over sees it."""
    marked_before = marked()
    path = hole()
    file = stage.scratch / "left.blend"
    stage.state.save(file)
    stage.state.open(file)
    assert path in marked() - marked_before


def test_what_blender_names_by_itself_is_not_marked(stage: Stage) -> None:
    """Check that default paths are accepted; otherwise every piece of code that creates such data would be refused."""
    marked_before = marked()
    node = _compositor().nodes.new("CompositorNodeOutputFile")
    if hasattr(node, "file_output_items"):
        node.file_output_items.new("RGBA", "Colour")
        node.file_name = "mine"
    render = _scene().render
    render.use_multiview = True
    render.views.new("third").file_suffix = "_third"
    box = _box()
    for kind in ("OCEAN", "FLUID", "CLOTH", "SOFT_BODY", "DYNAMIC_PAINT", "PARTICLE_SYSTEM", "NODES", "MULTIRES"):
        box.modifiers.new(kind, kind)
    box.modifiers["FLUID"].fluid_type = "DOMAIN"
    with bpy.context.temp_override(object=box):
        bpy.context.view_layer.objects.active = box
        box.modifiers.active = box.modifiers["DYNAMIC_PAINT"]
        bpy.ops.dpaint.type_toggle(type="CANVAS")
    image = _data.images.new("Painted", 4, 4)
    image.use_fake_user = True
    image.pixels[0] = 0.5
    image.pack()
    _data.curves.new("Letters", "FONT")
    _data.texts.new("Notes")
    _data.scenes.new("Second").sequence_editor_create()
    assert marked() - marked_before == set()


# ---------------------------------------------------------------------- all of RNA

# What a name says of itself, where RNA does not.
LIKE_A_PATH = re.compile(
    r"(^|_)(path|paths|dir|directory|file|filename|filepath|suffix|prefix|url|folder)($|_)|path$|file$"
)

RNA_PATH = "a way through Blender's own data, not through directories"
INSIDE = "a place inside the file that is named elsewhere"
# (type, property): why nobody looks there.
NOT_LOOKED_AT = {
    ("Library", "filepath"): "libraries are looked at as such",
    ("LibraryWeakReference", "filepath"): "a remark on where something came from",
    ("LibraryWeakReference", "id_name"): "a remark on where something came from",
    ("CacheObjectPath", "path"): INSIDE,
    ("MeshSequenceCacheModifier", "object_path"): INSIDE,
    ("TransformCacheConstraint", "object_path"): INSIDE,
    ("DriverTarget", "data_path"): RNA_PATH,
    ("FCurve", "data_path"): RNA_PATH,
    ("KeyingSetPath", "data_path"): RNA_PATH,
    ("SceneRenderView", "camera_suffix"): "the end of a camera's name",
    ("TextureNodeOutput", "filepath"): "the name of an output, under an old word",
    ("CollectionExport", "export_properties.filepath"): "replaced by the path of the exporter whenever it runs",
}
_UI = "user interface, which is not taken from a scene's file"
# Types: why nobody looks into them.
ELSEWHERE = {
    "Screen": _UI,
    "WindowManager": _UI,
    "WorkSpace": _UI,
    "FileSelectParams": _UI,
    "XrActionMap": _UI,
    "XrActionMapBinding": _UI,
    "XrComponentPath": _UI,
    "XrUserPath": _UI,
    "Brush": "a tool; up to 4.5 it names the picture of its icon, which the interface reads",
    "PaintCurve": "a tool",
}


def _structs_in_files() -> dict[str, Any]:
    """Return the types that a datablock contains, directly or indirectly, and the types derived from them, by name."""
    types: Any = bpy.types
    rnas = {
        prop.bl_rna.identifier: prop.bl_rna
        for prop in (getattr(types, name) for name in dir(types))
        if hasattr(prop, "bl_rna") and not issubclass(prop, types.Operator)
    }

    below: defaultdict[str, set[str]] = defaultdict(set)
    for name, rna in rnas.items():
        if rna.base is not None:
            below[rna.base.identifier].add(name)

    def derived(name: str) -> set[str]:
        return below[name].union(*map(derived, below[name]))

    waiting = [name for name in derived("ID") if name not in ELSEWHERE]
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in reached or name not in rnas:
            continue
        reached.add(name)
        waiting += derived(name)
        for prop in rnas[name].properties:
            if prop.type in ("POINTER", "COLLECTION") and prop.identifier != "rna_type":
                target = prop.fixed_type.identifier
                if target not in ELSEWHERE:
                    waiting.append(target)
    return {name: rnas[name] for name in reached}


def _unseen(structs: dict[str, Any]) -> set[tuple[str, str]]:
    """Return the properties that look like a path and are not covered, each named by the type that declares it."""
    unseen: set[tuple[str, str]] = set()
    for name, rna in structs.items():
        inherited = set(rna.base.properties.keys()) if rna.base is not None else set[str]()
        for prop in rna.properties:
            if prop.type != "STRING" or prop.is_readonly or prop.identifier in inherited:
                continue
            if prop.subtype in ("FILE_PATH", "DIR_PATH", "FILE_NAME") or LIKE_A_PATH.search(prop.identifier):
                covered = looked_at(name)
                names = (*covered.paths, *covered.file_names, *covered.parts)
                reachable = (
                    issubclass(getattr(bpy.types, name), bpy.types.ID) or name in path_properties.types_with_paths()
                )
                if prop.identifier not in names or not reachable:
                    unseen.add((name, prop.identifier))
    return unseen


def test_every_property_like_a_path_is_looked_at_or_named_here_with_a_reason() -> None:
    structs = _structs_in_files()
    assert len(structs) > 1000 and {"OceanModifier", "SceneRenderView", "PointCache"} <= structs.keys()
    assert _unseen(structs) - NOT_LOOKED_AT.keys() == set()
    # A reason for what is not there any more is no reason.
    here = {(name, prop.identifier) for name, rna in structs.items() for prop in rna.properties}
    missing = {entry for entry in NOT_LOOKED_AT if entry not in here and "." not in entry[1]}
    assert missing <= ({("TextureNodeOutput", "filepath")} | {("LibraryWeakReference", "id_name")})


def test_the_walk_of_rna_finds_what_nobody_looks_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the previous test fails if a property is removed from the lists."""
    monkeypatch.setattr(
        path_properties, "NAME_PARTS", path_properties.NAME_PARTS - {("SceneRenderView", "file_suffix")}
    )
    monkeypatch.setattr(path_properties, "UNMARKED_PATHS", frozenset[tuple[str, str]]())
    looked_at.cache_clear()
    try:
        assert {("SceneRenderView", "file_suffix"), ("Text", "filepath")} <= _unseen(_structs_in_files())
    finally:
        monkeypatch.undo()
        looked_at.cache_clear()
