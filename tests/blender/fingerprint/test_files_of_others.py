"""Files that another Blender, another directory or a removed add-on has left its marks in have one hash, wherever they are opened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import bpy
import pytest
import scene_parts as parts

import blendwright
from blendwright.blender import fingerprint
from blendwright.blender.fingerprint import Fingerprint
from support.processes.blender_environments import DATA

HERE = Path(__file__).parent
SOURCES = HERE.parents[2] / "src"
OWN = "own"


def _run_script(name: str, blender: str, target: Path) -> None:
    """Run a script of this directory with a Blender: that of this process, or one of `.envs`."""
    python = sys.executable if blender == OWN else str(DATA / "blendwright" / "blenders" / blender / "bin" / "python")
    if not Path(python).exists():
        pytest.skip(f"there is no environment of Blender {blender} here: run `make blenders`")
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    command = [python, str(HERE / name), str(target)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=target.parent)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("blender", [OWN, pytest.param("4.5", marks=pytest.mark.slow)])
def test_every_path_is_hashed_the_same_in_every_directory(blender: str, tmp_path: Path) -> None:
    """Every property that RNA calls a path is written, in packed and unpacked data, and the file is opened and saved in other places."""
    _run_script("path_scene.py", blender, tmp_path)
    written, hashes = json.loads((tmp_path / "measured.json").read_text())
    for property in (["Image", "filepath"], ["ImagePackedFile", "filepath"], ["Sound", "filepath"]):
        assert property in written
    assert len(written) >= 29
    moved = {path: found for path, found in hashes.items() if len(set(found)) != 1}
    assert moved == {}
    assert len({found[0] for found in hashes.values()}) == len(hashes)


@pytest.fixture(params=["4.5", OWN])
def file_of_addon(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file with the properties of a removed add-on on every kind of datablock, by the Blender that the parameter names."""
    file = tmp_path / "addon.blend"
    _run_script("addon_scene.py", request.param, file)
    return file


def _opened(file: Path) -> dict[fingerprint.Key, bytes]:
    parts.ops.wm.open_mainfile(filepath=str(file), load_ui=False, use_scripts=False)
    return parts.hashes()


def test_properties_of_a_removed_addon_keep_their_hash_in_the_next_file(file_of_addon: Path, tmp_path: Path) -> None:
    first = _opened(file_of_addon)
    assert len({key[0] for key in first}) > 15
    again = tmp_path / "again.blend"
    parts.ops.wm.save_as_mainfile(filepath=str(again), copy=True, relative_remap=False)
    assert parts.hashes() == first
    assert Fingerprint(_opened(again)).root() == Fingerprint(first).root()
    parts.empty_scene()


@pytest.mark.parametrize("file_of_addon", ["4.5"], indirect=True)
def test_how_a_32_bit_float_is_shown_moves_the_hash(file_of_addon: Path) -> None:
    """Its own limits are read through another property of 32 bits, which leaves nothing behind."""
    before = _opened(file_of_addon)
    world: Any = parts.data.worlds["Of the add-on"]
    managers: Any = parts.data.window_managers[0]
    world.id_properties_ui("addon_float").update(min=-3.0, description="how much")
    assert parts.changed(before, parts.hashes()) == {("worlds", "Of the add-on")}
    assert list(managers.keys()) == []
    assert not hasattr(bpy.types.WindowManager, "blendwright_scratch")
    parts.empty_scene()


def _file_with_upward_paths(place: Path) -> Path:
    """A file with a packed and an unpacked picture from the directory above it."""
    parts.empty_scene()
    parts.cube()
    above, file = place / "above.png", place / "project" / "scene.blend"
    file.parent.mkdir(parents=True)
    for name in ("packed", "unpacked"):
        made = parts.data.images.new("made", 4, 4)
        made.filepath_raw, made.file_format = str(above), "PNG"
        made.save()
        parts.data.images.remove(made)
        image = parts.data.images.load(str(above), check_existing=False)
        image.name, image.use_fake_user = name, True
    parts.data.images["packed"].pack()
    parts.context.scene.render.filepath = str(place / "rendered" / "x")
    parts.ops.wm.save_as_mainfile(filepath=str(file), relative_remap=True)
    for path in (parts.data.images["packed"].filepath, parts.data.images["unpacked"].filepath):
        assert path == "//../above.png"
    parts.data.images["packed"].packed_files[0].filepath = "//../above.png"
    parts.context.scene.render.filepath = "//../rendered/x"
    parts.ops.wm.save_as_mainfile(filepath=str(file))
    parts.empty_scene()
    return file


def test_a_workspace_of_upward_paths_opens_changes_and_reopens(tmp_path: Path) -> None:
    file = _file_with_upward_paths(tmp_path)
    code = "import bpy; bpy.data.objects['Cube'].location.x = 2"
    begun: list[str] = []
    changed: list[str] = []
    for directory in (tmp_path / "one", tmp_path / "two" / "deeper"):
        with blendwright.open(directory, scene=file, roots=[tmp_path], spare=False) as scene:
            begun.append(_hash_of(scene))
            ran = scene.call("python.run", code=code)
            assert ran.ok, ran.message
            changed.append(_hash_of(scene))
        with blendwright.open(directory, roots=[tmp_path], spare=False) as scene:
            assert scene.call("object.transform", object="Cube", location=[3, 0, 0]).ok
            scene.history.undo()
            assert _hash_of(scene) == changed[-1]
    assert begun[0] == begun[1]
    assert changed[0] == changed[1] != begun[0]


def _hash_of(scene: blendwright.OpenScene) -> str:
    """The hash of the scene as a worker has it, which must be what the journal says."""
    found = scene.call("scene.snapshot")
    assert found.ok, found.message
    head = scene.journal.head
    assert head is not None
    return head.hash_after


def test_a_workspace_of_a_removed_addon_opens_changes_and_reopens(file_of_addon: Path, tmp_path: Path) -> None:
    directory = tmp_path / "workspace"
    with blendwright.open(directory, scene=file_of_addon, roots=[tmp_path], spare=False) as scene:
        begun = _hash_of(scene)
        assert scene.call("mesh.create_primitive", kind="cube", name="Box").ok
        ran = scene.call("python.run", code="import bpy; bpy.data.objects['Box'].location.x = 2")
        assert ran.ok, ran.message
        changed = _hash_of(scene)
    with blendwright.open(directory, roots=[tmp_path], spare=False) as scene:
        assert _hash_of(scene) == changed
        scene.history.undo()
        scene.history.undo()
        assert _hash_of(scene) == begun
