"""Scenes that hide a driver outside of `animation_data.drivers`: no import, opening or export accepts them."""

from __future__ import annotations

import mmap
import re
from pathlib import Path

import bpy
import pytest

from blender.scene.hiding import OFFSET, PLACES, hide_driver, member_offsets
from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.code import hidden_drivers
from blendwright.blender.window.bringing import bring
from support.stage.stage import Stage

NAMED = re.compile("drivers are hidden on F-curves .* of (actions|objects|materials|shape_keys) '")


def saved(stage: Stage, place: str) -> Path:
    """Save a file that hides a driver, empty the scene, and return the path of the file."""
    hide_driver(place)
    file = stage.scratch / "hidden.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file), copy=True, compress=False)
    stage.state.reset()
    return file


def test_the_offset_is_that_of_the_saved_file(stage: Stage) -> None:
    file = saved(stage, "strip")
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert member_offsets(mapped)["FCurve", "driver"] == OFFSET


@pytest.mark.parametrize("place", PLACES)
def test_a_file_that_hides_a_driver_is_not_opened(stage: Stage, place: str) -> None:
    file = saved(stage, place)
    with pytest.raises(RuntimeError, match="drivers are hidden on F-curves"):
        stage.state.open(file)


@pytest.mark.parametrize("place", PLACES)
def test_a_hidden_driver_is_part_of_the_fingerprint(stage: Stage, place: str) -> None:
    roots: set[str] = set()
    for expression in (None, "1.0", "2.0"):
        stage.state.reset()
        hide_driver(place, expression)
        roots.add(stage.state.full_root())
    assert len(roots) == 3


@pytest.mark.parametrize("place", PLACES)
def test_a_file_that_hides_a_driver_is_neither_appended_nor_linked(stage: Stage, place: str) -> None:
    file = saved(stage, place)
    args = {"path": str(file), "append": [{"kind": "objects", "name": "Hiding"}]}
    [finding] = stage.refusal("file.import", args, files={str(file): str(file)})
    assert (finding["code"], finding["pointer"]) == ("POLICY_BLOCKED", "/path") and NAMED.search(finding["message"])
    args = {"path": str(file), "link": [{"kind": "objects", "name": "Hiding"}]}
    [finding] = stage.refusal("file.link", args, files={str(file): str(file)})
    assert (finding["code"], finding["pointer"]) == ("POLICY_BLOCKED", "/path") and NAMED.search(finding["message"])


@pytest.mark.parametrize("place", PLACES)
def test_a_scene_that_hides_a_driver_is_not_exported(stage: Stage, place: str) -> None:
    hide_driver(place)
    stage.state.refresh()
    file = stage.scratch / "out.blend"
    [finding] = stage.refusal("file.export", {"path": "out.blend"}, files={"out.blend": str(file)})
    assert finding["code"] == "POLICY_BLOCKED" and not file.exists()


@pytest.mark.parametrize("place", PLACES)
def test_a_window_takes_over_nothing_that_hides_a_driver(stage: Stage, place: str) -> None:
    file = saved(stage, place)
    problem = bring(stage.state, file, [["objects", "Hiding", "created"]])
    assert "drivers are hidden on F-curves" in problem
    assert not bpy.data.libraries and "Hiding" not in bpy.data.objects


def test_ordinary_drivers_and_animation_are_not_taken_for_hidden_ones(stage: Stage) -> None:
    obj = bpy.data.objects.new("Driven", None)
    bpy.context.scene.collection.objects.link(obj)
    obj.driver_add("location", 0).driver.expression = "frame * 2"
    obj.keyframe_insert("scale", frame=1)
    assert hidden_drivers.hidden_driver_problem(fp.all_blocks()) == ""


@pytest.mark.parametrize("place", PLACES)
def test_refusing_a_hidden_driver_does_not_run_it(stage: Stage, place: str) -> None:
    mark = stage.scratch / "mark"
    hide_driver(place, f"open({str(mark)!r}, 'w').close() or 1.0")
    file = stage.scratch / "hidden.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file), copy=True, compress=False)
    stage.state.reset()
    mark.unlink(missing_ok=True)
    preferences = bpy.context.preferences.filepaths
    before = preferences.use_scripts_auto_execute
    preferences.use_scripts_auto_execute = True
    try:
        files = {str(file): str(file)}
        stage.refusal("file.import", {"path": str(file)}, files=files)
        stage.refusal("file.link", {"path": str(file), "link": [{"kind": "objects", "name": "Hiding"}]}, files=files)
        assert bring(stage.state, file, [["objects", "Hiding", "created"]])
        with pytest.raises(RuntimeError, match="drivers are hidden"):
            stage.state.open(file)
    finally:
        preferences.use_scripts_auto_execute = before
    assert not mark.exists()


@pytest.mark.parametrize("mode", ["append", "instance", "link"])
def test_an_asset_that_hides_a_driver_is_not_added(stage: Stage, mode: str) -> None:
    file = saved(stage, "nested strip")
    args = {"asset": str(file), "name": "Hiding", "kind": "objects", "mode": mode}
    [finding] = stage.refusal("asset.add", args, files={str(file): str(file)})
    assert finding["code"] == "POLICY_BLOCKED" and NAMED.search(finding["message"])
    assert "Hiding" not in bpy.data.objects
