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

from blender_environments import DATA
from blendwright.blender import fingerprint
from blendwright.blender.fingerprint import Fingerprint

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
    assert {("Image", "filepath"), ("ImagePackedFile", "filepath"), ("Sound", "filepath")} <= set(map(tuple, written))
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
