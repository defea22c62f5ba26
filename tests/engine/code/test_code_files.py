"""Files that code declares: copied in and out of the confined process, inside the roots only, and brought out only on success."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from blendwright.engine.files.access import FileAccess
from blendwright.policy.policy import Verdict
from blendwright.tools import catalog
from blendwright.values.faults import Fault
from blendwright.values.outcome import Outcome
from support.engine.engine import Engine

OBJ = "mtllib shed.mtl\no Shed\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl Planks\nf 1 2 3\n"
MTL = "newmtl Planks\nKd 0.5 0.25 0.1\nmap_Kd tex/planks.png\n"
PAINT = """
import bpy, json
image = bpy.data.images.new('Planks', 4, 4)
image.pixels = [0.25] * 64
image.filepath_raw = files['planks.png']
image.file_format = 'PNG'
image.save()
bpy.data.images.remove(image)
with open(files['report.json'], 'w') as report:
    json.dump({'objects': len(bpy.data.objects)}, report)
"""
IMPORT = """
import bpy, json
bpy.ops.wm.obj_import(filepath=files['shed.obj'])
print(bpy.data.objects['Shed'].active_material.name, json.load(open(files['report.json']))['objects'])
"""
EXPORT = """
import bpy
bpy.ops.export_scene.gltf(filepath=files['out/scene.glb'])
bpy.ops.wm.obj_export(filepath=files['scene.obj'])
"""
RENDER = """
import bpy
scene = bpy.context.scene
scene.render.engine = 'CYCLES'
scene.cycles.samples = 1
scene.render.resolution_x = scene.render.resolution_y = 8
camera = bpy.data.objects.new('Eye', bpy.data.cameras.new('Eye'))
scene.collection.objects.link(camera)
scene.camera = camera
scene.render.filepath = files['view.png']
bpy.ops.render.render(write_still=True)
"""


ENGINE_CALLS = (("mesh.create_primitive", {"kind": "cube", "name": "Crate"}),)


def unread(code: str, *, trusted: bool, files: bool = False) -> tuple[()]:
    """Code that nobody reads."""
    return ()


def run(engine: Engine, code: str, overwrite: bool = False, **files: list[str]) -> Outcome:
    declared = {key.rstrip("_"): [str(engine.place / name) for name in names] for key, names in files.items()}
    return engine.call("python.run", {"code": code, "files": declared, "overwrite": overwrite})


def refused(engine: Engine, args: dict[str, Any], fault: Fault) -> tuple[str, str]:
    """The pointer and the message of a call that fails and changes nothing."""
    before, head = engine.scene.hash, engine.head().number
    outcome = engine.call("python.run", args)
    assert outcome.fault is fault, (outcome.fault, outcome.message)
    assert (engine.scene.hash, engine.head().number, engine.full_hash()) == (before, head, before)
    assert outcome.findings[0].cure
    return outcome.findings[0].pointer, outcome.message


def test_images_importers_exporters_and_renders_work_with_declared_files(engine: Engine) -> None:
    place = engine.place
    painted = run(engine, PAINT, out=["tex/planks.png", "report.json"])
    assert painted.ok, painted.message
    assert painted.artifacts == (str(place / "tex/planks.png"), str(place / "report.json"))
    assert (place / "tex/planks.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((place / "report.json").read_text()) == {"objects": 1}

    (place / "shed.obj").write_text(OBJ)
    (place / "shed.mtl").write_text(MTL)
    imported = run(engine, IMPORT, in_=["shed.obj", "tex/planks.png", "report.json"])
    assert imported.ok, imported.message
    assert imported.result is not None and imported.result["output"] == "Planks 1\n"
    assert {"kind": "objects", "name": "Shed", "change": "created"} in imported.changes
    look = "import bpy\n[image] = bpy.data.images\nprint(image.packed_file is not None, repr(image.filepath), tuple(image.size))"
    assert (engine.do("python.run", {"code": look}).result or {})["output"] == "True '' (4, 4)\n"

    number = engine.head().number
    exported = run(engine, EXPORT, out=["out/scene.glb", "scene.obj"])
    assert exported.ok, exported.message
    assert (place / "out/scene.glb").read_bytes().startswith(b"glTF")
    assert sorted(Path(path).name for path in exported.artifacts) == ["scene.glb", "scene.mtl", "scene.obj"]
    assert exported.fingerprint_after == exported.fingerprint_before
    assert engine.head().number == number + 1, (
        "what writes files has a commit with its receipt, though the scene is as before"
    )
    assert engine.journal.recovery.indeterminate() == ()

    rendered = run(engine, RENDER, out=["view.png"])
    assert rendered.ok, rendered.message
    assert (place / "view.png").read_bytes().startswith(b"\x89PNG")
    settled = engine.do("python.run", {"code": "import bpy\nprint(bpy.context.scene.render.filepath)"})
    assert str(place) not in (settled.result or {})["output"] and "view" not in (settled.result or {})["output"]


def test_what_code_writes_stays_behind_when_the_call_fails(engine: Engine) -> None:
    write = "open(files['left.txt'], 'w').write('x')\n"
    outside = {"in": [], "out": [str(engine.place / "left.txt")]}
    pointer, message = refused(engine, {"code": write + "1 / 0", "files": outside}, Fault.EXECUTION_FAILED)
    assert pointer == "/code" and message.startswith("line 2: ")
    pointer, message = refused(engine, {"code": "print(1)", "files": outside}, Fault.EXECUTION_FAILED)
    assert pointer == "/files/out/0" and "wrote no file" in message
    link = "import pathlib\npathlib.Path(files['left.txt']).symlink_to('/etc/hostname')"
    refused(engine, {"code": link, "files": outside}, Fault.EXECUTION_FAILED)
    code = write + "import bpy\nbpy.data.texts.new('boot.py').use_module = True"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("blendwright.tools.python.run.check_code", unread)
        refused(engine, {"code": code, "files": outside}, Fault.POLICY_BLOCKED)
    assert not (engine.place / "left.txt").exists()


def test_only_files_inside_the_roots_are_declared_each_once_and_none_replaced_unasked(engine: Engine) -> None:
    there = engine.place / "there.txt"
    there.write_text("before")

    def pointer(fault: Fault, **declared: Any) -> str:
        return refused(engine, {"code": "print(1)", **declared}, fault)[0]

    assert pointer(Fault.POLICY_BLOCKED, files={"in": [str(there), "/etc/hostname"]}) == "/files/in/1"
    assert pointer(Fault.POLICY_BLOCKED, files={"out": [str(engine.place.parent / "x.txt")]}) == "/files/out/0"
    assert pointer(Fault.TARGET_NOT_FOUND, files={"in": [str(engine.place / "none.obj")]}) == "/files/in/0"
    assert pointer(Fault.SCENE_CONFLICT, files={"out": [str(there)]}) == "/files/out/0"
    assert pointer(Fault.ARGS_INVALID, files={"in": [str(there), f"{engine.place}/./there.txt"]}) == "/files/in/1"
    assert pointer(Fault.ARGS_INVALID, files={"inn": [str(there)]}).startswith("/files")
    assert pointer(Fault.ARGS_INVALID, files={"in": [str(there)]}, mode="trusted") == "/files"
    assert there.read_text() == "before"
    replaced = run(engine, "open(files['there.txt'], 'w').write('after')", overwrite=True, out=["there.txt"])
    assert replaced.ok and there.read_text() == "after"


def test_a_file_that_was_not_declared_is_told_with_those_that_were(engine: Engine) -> None:
    (engine.place / "data.csv").write_text("a,b\n1,2\n")
    files = {"in": [str(engine.place / "data.csv")]}
    _, message = refused(engine, {"code": "print(files['other.csv'])", "files": files}, Fault.EXECUTION_FAILED)
    assert "line 1" in message and "data.csv" in message
    read = "import csv\nprint(list(csv.reader(open(files['data.csv']))))"
    assert (run(engine, read, in_=["data.csv"]).result or {})["output"] == "[['a', 'b'], ['1', '2']]\n"
    assert refused(engine, {"code": read}, Fault.ARGS_INVALID)[0] == "/code"


def test_inputs_count_together_and_lie_to_each_other_as_the_files_do(tmp_path: Path) -> None:
    root, scratch, tool = tmp_path / "root", tmp_path / "scratch", catalog.tools()["python.run"]
    (root / "tex").mkdir(parents=True)
    scratch.mkdir()
    names = ["model.obj", "tex/a.png"]
    for name in names:
        (root / name).write_bytes(b"x" * (600 << 10))
    args = {"files": {"in": [str(root / name) for name in names]}}
    roots = {str(root): Verdict.ALLOW}
    staged = FileAccess(roots, tmp_path / "kept").stage(tool, args, scratch)
    places = [Path(staged.paths[str(root / name)]) for name in names]
    assert places[1] == places[0].parent / "tex/a.png" and all(place.is_file() for place in places)
    with pytest.raises(Exception, match="1 MB in its scratch directory, and 1 MB"):
        FileAccess(roots, tmp_path / "kept", scratch_mb=1).stage(tool, args, scratch)
