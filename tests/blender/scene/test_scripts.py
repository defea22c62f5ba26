"""Exported files run no code where they are opened, and exporting leaves the scene unchanged."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import bpy
import pytest

from blender.scene.hostile import make_hostile
from blendwright.blender.scene.code import scripts
from blendwright.tools.modifier.stored_inputs import put_value
from support.stage.stage import Stage

# What a person does who opens a file and trusts it. Prints what is left of its code.
OPEN = """
import bpy, json, sys
bpy.ops.wm.open_mainfile(filepath=sys.argv[1], use_scripts=True)
if "Driven" in bpy.data.objects and not bpy.context.scene.objects:
    bpy.context.scene.collection.objects.link(bpy.data.objects["Driven"])
bpy.context.scene.frame_set(7)
bpy.context.view_layer.update()
held = [block for kind in (bpy.data.objects, bpy.data.materials) for block in kind]
held += [block.node_tree for block in bpy.data.materials]
drivers = [curve for block in held if block.animation_data for curve in block.animation_data.drivers]
nodes = [node for block in bpy.data.materials for node in block.node_tree.nodes if node.type == "SCRIPT"]
layers = [layer for scene in bpy.data.scenes for layer in scene.view_layers]
print("FOUND" + json.dumps({
    "texts": {text.name: [text.use_module, text.as_string()] for text in bpy.data.texts},
    "expressions": sorted(curve.driver.expression for curve in drivers if curve.driver.type == "SCRIPTED"),
    "scripts": [node.script.name for node in nodes if node.script] + [node.filepath for node in nodes if node.filepath],
    "modules": [module.script.name for layer in layers for module in layer.freestyle_settings.modules if module.script],
    "y": bpy.data.objects["Driven"].location.y,
}))
"""


@pytest.fixture
def marks(tmp_path: Path) -> Iterator[Path]:
    marks = tmp_path / "marks"
    marks.mkdir()
    yield marks


def opened(file: Path) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-c", OPEN, str(file)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.partition("FOUND")[2].splitlines()[0])


def ran(marks: Path) -> set[str]:
    return {path.name for path in marks.iterdir()}


def cleaned(result: Mapping[str, Any]) -> set[tuple[str, ...]]:
    return {tuple(entry[key] for key in ("what", "kind", "name", "where")) for entry in result["cleaned"]}


def test_an_exported_file_runs_nothing_and_the_scene_keeps_everything(stage: Stage, marks: Path) -> None:
    expected = make_hostile(marks)
    stage.state.refresh()
    before = stage.state.root()
    stage.state.save(stage.scratch / "raw.blend")
    for mark in marks.iterdir():
        mark.unlink()  # a test has scripts on by itself
    complete, part = stage.scratch / "whole.blend", stage.scratch / "part.blend"
    files = {"whole.blend": str(complete), "part.blend": str(part)}
    result = stage.do("file.export", {"path": "whole.blend"}, files=files)
    assert cleaned(result) == expected and result["cleaned_total"] == len(expected)
    assert cleaned(stage.do("file.export", {"path": "part.blend", "objects": ["Driven"]}, files=files)) == expected
    assert stage.state.full_root() == before
    for mark in marks.iterdir():
        mark.unlink()
    for file in (complete, part):
        content = opened(file)
        assert ran(marks) == set(), file
        assert all(registered is False for registered, _ in content["texts"].values())
        assert (content["expressions"], content["scripts"], content["modules"]) == (["frame * 2"], [], [])
        assert content["y"] == 14, "what Blender computes itself is kept"
    assert "open(" in opened(complete)["texts"]["evil.py"][1], "texts stay, as text"
    trap = opened(stage.scratch / "raw.blend")
    assert ran(marks) == {"text", "object", "tree"} and trap["modules"] == ["evil.py"], "the trap works"


def test_a_scene_without_code_is_exported_as_it_is(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    files = {"scene.blend": str(stage.scratch / "scene.blend")}
    result = stage.do("file.export", {"path": "scene.blend"}, files=files)
    assert (result["cleaned"], result["cleaned_total"]) == ([], 0)
    before = stage.state.root()
    stage.state.open(stage.scratch / "scene.blend")
    assert stage.state.root() == before


PACKS = pytest.mark.skipif(bpy.app.version < (5, 0, 0), reason="linked data is packed from Blender 5.0 on")


def pack(library: Path, text: str) -> None:
    """Pack a linked text into the scene. Blender reports such data as linked, but runs its code nevertheless."""
    data: Any = bpy.data
    text_block = data.texts.new("far.py")
    text_block.write(text)
    text_block.use_module = True
    data.libraries.write(str(library), {text_block}, fake_user=True)
    data.texts.remove(text_block)
    with data.libraries.load(str(library), link=True, pack=True) as (_, target):
        target.texts = ["far.py"]
    bpy.context.scene["held"] = target.texts[0]


@PACKS
def test_code_in_packed_linked_data_is_found_and_left_out(stage: Stage, marks: Path) -> None:
    pack(stage.scratch / "library.blend", f"open({str(marks / 'far')!r}, 'w').close()")
    stage.state.refresh()
    before = stage.state.root()
    stage.state.save(stage.scratch / "raw.blend")
    result = stage.do("file.export", {"path": "x.blend"}, files={"x.blend": str(stage.scratch / "x.blend")})
    assert cleaned(result) == {("registered text", "texts", "far.py", "")}
    assert stage.state.full_root() == before
    run_scripts = "import bpy, sys; bpy.ops.wm.open_mainfile(filepath=sys.argv[1], use_scripts=True)"
    for file, expected in (("x.blend", set[str]()), ("raw.blend", {"far"})):
        subprocess.run([sys.executable, "-c", run_scripts, str(stage.scratch / file)], capture_output=True, check=True)
        assert ran(marks) == expected


@PACKS
def test_other_packed_data_under_the_same_name_is_another_library(stage: Stage) -> None:
    pack(stage.scratch / "library.blend", "first()")
    content_before = scripts.active_content()
    assert content_before == scripts.active_content()
    while bpy.data.libraries:
        bpy.data.libraries.remove(bpy.data.libraries[0])
    (stage.scratch / "library.blend").unlink()
    pack(stage.scratch / "library.blend", "second()")
    new = [mark for mark in scripts.active_content() if mark not in content_before]
    assert {"registered text", "linked library"} <= {mark["what"] for mark in new}


def test_places_that_blender_writes_to_are_marked_and_its_own_are_not(stage: Stage) -> None:
    data: Any = bpy.data
    scene: Any = bpy.context.scene
    content_before = scripts.active_content()
    box = data.objects.new("Box", data.meshes.new("Box"))
    scene.collection.objects.link(box)
    for kind in ("OCEAN", "FLUID", "CLOTH", "PARTICLE_SYSTEM", "NODES"):
        box.modifiers.new(kind, kind)
    box.modifiers["FLUID"].fluid_type = "DOMAIN"
    data.scenes.new("Second")
    assert [mark for mark in scripts.active_content() if mark not in content_before] == []

    scene.render.filepath = "/victim/render"
    box.modifiers["NODES"].bake_directory = "/victim/bake"
    box.modifiers["FLUID"].domain_settings.cache_directory = "/victim/fluid"
    box.particle_systems[0].point_cache.filepath = "/victim/cache"
    material = data.materials.new("Lamp")
    material.node_tree.nodes.new("ShaderNodeTexIES").filepath = "/victim/ies"
    new_content = {
        (mark["kind"], mark["name"], mark["where"]) for mark in scripts.active_content() if mark not in content_before
    }
    assert new_content == {
        ("scenes", scene.name, "/victim/render"),
        ("objects", "Box", "/victim/bake"),
        ("objects", "Box", "/victim/fluid"),
        ("objects", "Box", "/victim/cache"),
        ("materials", "Lamp", "/victim/ies"),
    }


@pytest.mark.skipif(not hasattr(bpy.types, "GeometryNodeImportOBJ"), reason="this Blender has no nodes that read files")
def test_nodes_that_read_files_are_marked(stage: Stage) -> None:
    data: Any = bpy.data
    tree = data.node_groups.new("Reader", "GeometryNodeTree")
    assert scripts.active_content() == []
    tree.nodes.new("GeometryNodeImportOBJ")
    socket = tree.interface.new_socket("File", in_out="INPUT", socket_type="NodeSocketString")
    socket.subtype = "FILE_PATH"
    box = data.objects.new("Box", data.meshes.new("Box"))
    modifier = box.modifiers.new("Nodes", "NODES")
    modifier.node_group = tree
    put_value(modifier, socket.identifier, "/victim/file")
    assert {mark["where"] for mark in scripts.active_content()} == {"read by the node Import OBJ", "/victim/file"}
