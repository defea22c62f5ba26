"""What is linked from another .blend file: read where it lies, the same scene whatever becomes of the file, never more than was named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

import blendwright
from blendwright.engine.scene.external_files import findings_about
from blendwright.values.faults import Fault
from engine.scene.test_linked_pictures import do, files_of
from support.stage.stage import Stage

_data: Any = bpy.data
_ops: Any = bpy.ops
PROPS = {"kind": "collections", "name": "Props"}


def write_library(stage: Stage, file: Path, boxes: int = 1, driver: str = "") -> Path:
    """A .blend file with so many boxes in a collection."""
    stage.state.reset()
    stage.do("collection.create", {"name": "Props"})
    stage.do("material.ensure_principled", {"name": "Red", "base_color": [1, 0, 0]})
    for number in range(boxes):
        at = {"location": [3 * number, 0, 0], "collection": "Props", "material": "Red"}
        stage.do("mesh.create_primitive", {"kind": "cube", "name": f"Box{number}", **at})
    if driver:
        _data.objects["Box0"].driver_add("location", 0).driver.expression = driver
    file.parent.mkdir(parents=True, exist_ok=True)
    _ops.wm.save_as_mainfile(filepath=str(file), check_existing=False, copy=True)
    stage.state.reset()
    return file


def triangles(scene: Any, place: Path, name: str) -> int:
    """Of what the scene shows, read back from a file of it."""
    result = do(scene, "file.export", {"path": str(place / f"{name}.glb"), "profile": "game"})
    assert result["proven"]
    return result["holds"]["triangles"]


def test_a_library_is_read_where_it_lies_and_what_becomes_of_it_is_told_without_a_quarantine(
    stage: Stage, tmp_path: Path
) -> None:
    place, workspace = tmp_path / "project", tmp_path / "workspace"
    library = write_library(stage, place / "lib" / "props.blend")
    with blendwright.open(workspace, roots=[place], spare=False) as scene:
        linked = do(scene, "file.link", {"path": str(library), "link": [PROPS]})
        assert linked["instances"] == ["Props"]
        assert linked["linked"] == {
            "collections": ["Props"],
            "materials": ["Red"],
            "meshes": ["Box0"],
            "objects": ["Box0"],
        }
        do(scene, "object.transform", {"object": "Props", "location": [5, 0, 0]})
        assert triangles(scene, place, "one") == 12
        head = scene.hash
    (recorded,) = files_of(workspace, place)
    assert (recorded.path, recorded.state, recorded.followed) == (str(library), "present", True)
    assert not findings_about([recorded])
    write_library(stage, library, boxes=2)
    with blendwright.open(workspace, roots=[place], spare=False) as scene:
        assert scene.hash == head
        assert triangles(scene, place, "two") == 24
        (changed,) = files_of(workspace, place)
        (finding,) = findings_about([changed])
        assert changed.state == "changed" and "link the file again" in (finding.cure or "")
        again = do(scene, "file.link", {"path": str(library), "link": [{"kind": "objects", "name": "Box1"}]})
        assert again["counts"]["objects"] == 2
        assert [each.state for each in files_of(workspace, place)] == ["present"]
        assert triangles(scene, place, "three") == 36
        head = scene.hash
    library.unlink()
    with blendwright.open(workspace, roots=[place], spare=False) as scene:
        assert scene.outcome("object.transform", {"object": "Props", "location": [6, 0, 0]}).ok
    assert [each.state for each in files_of(workspace, place)] == ["missing"]
    write_library(stage, library, boxes=2)
    with blendwright.open(workspace, roots=[place], spare=False) as scene:
        local = do(scene, "file.make_local", {"library": "props.blend"})
        assert local["counts"] == {"collections": 1, "materials": 1, "meshes": 2, "objects": 2}
        assert local["renamed"] == []
        head = scene.hash
    library.unlink()
    with blendwright.open(workspace, roots=[place], spare=False) as scene:
        assert scene.hash == head
        do(scene, "object.transform", {"object": "Box0", "location": [0, 0, 1]})
        assert triangles(scene, place, "four") == 36
    files_of(workspace, place)


def test_only_the_file_that_was_named_is_read_and_only_inside_the_roots(stage: Stage, tmp_path: Path) -> None:
    place, workspace = tmp_path / "project", tmp_path / "workspace"
    outside = write_library(stage, tmp_path / "outside" / "props.blend", boxes=3)
    library = write_library(stage, place / "lib" / "props.blend")
    (place / "link.blend").symlink_to(outside)
    # A library whose collection holds an object of a third file, inside the roots and outside of them.
    nested: list[Path] = []
    for name, third in (("in", library), ("out", outside)):
        stage.state.reset()
        with _data.libraries.load(str(third), link=True) as (_, target):
            target.objects = ["Box0"]
        home = _data.collections.new("Props")
        home.objects.link(target.objects[0])
        bpy.context.scene.collection.children.link(home)
        nested.append(place / f"nested-{name}.blend")
        _ops.wm.save_as_mainfile(filepath=str(nested[-1]), check_existing=False, copy=True)
    stage.state.reset()
    with blendwright.open(workspace, roots=[place], spare=False) as scene:
        before = scene.hash
        for path in (outside, place / "link.blend", place / "lib" / ".." / ".." / "outside" / "props.blend", *nested):
            refused = scene.outcome("file.link", {"path": str(path), "link": [PROPS]})
            assert refused.fault is Fault.POLICY_BLOCKED, (path, refused.message)
            assert refused.findings[0].cure and scene.hash == before
        do(scene, "file.link", {"path": str(library), "link": [PROPS]})
        assert triangles(scene, place, "first") == 12
        head = scene.hash
    # The folder is swapped for a link that leads out.
    (place / "lib").rename(place / "moved")
    (place / "lib").symlink_to(outside.parent)
    with blendwright.open(workspace, roots=[place], spare=False) as scene:
        assert scene.hash == head
        assert triangles(scene, place, "second") == 0
    assert [each.state for each in files_of(workspace, place)] == ["outside_roots"]


def test_a_linked_driver_does_not_run(stage: Stage, tmp_path: Path) -> None:
    file = write_library(stage, tmp_path / "props.blend", driver="7.0 + len('a'.upper())")
    args = {"path": "props.blend", "link": [PROPS]}
    stage.do("file.link", args, files={"props.blend": str(file)})
    bpy.context.view_layer.update()
    (box,) = [obj for obj in _data.objects if obj.library is not None]
    assert box.animation_data.drivers, "it came along"
    assert box.evaluated_get(bpy.context.evaluated_depsgraph_get()).location.x == 0.0


def test_names_that_are_taken_are_told_before_anything_becomes_local(stage: Stage, tmp_path: Path) -> None:
    file = write_library(stage, tmp_path / "props.blend")
    files = {"props.blend": str(file)}
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box0"})
    stage.do("file.link", {"path": "props.blend", "link": [PROPS]}, files=files)
    assert (
        stage.refusal("file.link", {"path": "props.blend", "link": [PROPS]}, files=files)[0]["pointer"]
        == "/link/0/name"
    )
    (finding,) = stage.refusal("file.make_local", {"library": "props.blend"})
    assert "mesh 'Box0'" in finding["message"] and "object 'Box0'" in finding["message"]
    (finding,) = stage.refusal("file.make_local", {"library": "prop.blend"})
    assert finding["cure"] == "Did you mean 'props.blend'?"
    made = stage.do("file.make_local", {"library": "props.blend", "on_collision": "rename"})
    assert [(each["old"], each["new"]) for each in made["renamed"] if each["kind"] == "objects"] == [
        ("Box0", "Box0.001")
    ]
    assert not _data.libraries
    (finding,) = stage.refusal("file.link", {"path": "props.blend", "link": [{**PROPS, "name": "Prop"}]}, files=files)
    assert (finding["pointer"], finding["cure"]) == ("/link/0/name", "Did you mean 'Props'?")
    assert stage.invalid("file.link", {"path": "props.glb", "link": [PROPS]}) == ["/path"]
