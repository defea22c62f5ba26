"""The user's file after a plan: it contains none of Blendwright's temporary data, and only the scene has changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from blendwright.blender.scene.tracking import spacers
from window.alone.core_client import CoreClient, step
from window.playing import PlayedWindow

OURS = "sorted(b.name for kind in (bpy.data.objects, bpy.data.meshes, bpy.data.materials) for b in kind if b.name.startswith('~bw~'))"
HANDLERS = """{name: len(getattr(bpy.app.handlers, name))
    for name in ('undo_post', 'redo_post', 'load_pre', 'load_post', 'save_pre', 'save_post')}"""
# Every preference that has a value of its own, and what a file remembers of how it was saved.
PREFERENCES = """{f'{part}.{p.identifier}': repr(getattr(getattr(bpy.context.preferences, part), p.identifier))
    for part in ('edit', 'filepaths', 'inputs', 'view', 'system')
    for p in getattr(bpy.context.preferences, part).bl_rna.properties
    if p.type in ('BOOLEAN', 'INT', 'FLOAT', 'STRING', 'ENUM') and not getattr(p, 'is_array', False)}"""


def names_in(path: Path) -> list[str]:
    """Return the names of all objects and meshes in a file, read by another process."""
    expression = "*(b.name for b in [*bpy.data.objects, *bpy.data.meshes])"
    code = f"import bpy; bpy.ops.wm.open_mainfile(filepath={str(path)!r}); print('NAMES', {expression})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    [line] = [line for line in done.stdout.splitlines() if line.startswith("NAMES")]
    return line.split()[1:]


def make_many(core: CoreClient, count: int, first: int = 0) -> None:
    steps = [step("mesh.create_primitive", kind="cube", name=f"Box{number}") for number in range(first, first + count)]
    while steps:
        steps = steps[len(core.call("scene.bulk", steps=steps, epoch=1 + first + count - len(steps))["answers"]) :]


def test_no_tombstone_and_no_spacer_is_left(window: PlayedWindow, core: CoreClient, tmp_path: Path) -> None:
    core.begin()
    make_many(core, spacers.CREATED_BEFORE_SPACERS)
    assert core.step("object.delete", object="Cube")["ok"]
    ours = window.ask(OURS)
    assert len(ours) > spacers.COUNT and any("space" not in name for name in ours), "there is something to be left"
    # Ctrl-S in the middle of a plan.
    window.save(tmp_path / "between.blend")
    assert window.ask(OURS) == []
    # The plan goes on after it.
    assert core.step("object.delete", object="Light")["ok"] and window.ask(OURS)
    end = core.end()
    assert window.ask(OURS) == [] and end == window.fingerprint()
    window.save(tmp_path / "after.blend")
    for name in ("between.blend", "after.blend"):
        names = names_in(tmp_path / name)
        assert "Box1" in names and not [item for item in names if item.startswith("~bw~")]


def test_preferences_handlers_and_the_file_stay_as_they_are(window: PlayedWindow, tmp_path: Path) -> None:
    window.save(tmp_path / "mine.blend")
    window.disconnect()  # whoever was here before
    handlers = window.ask(HANDLERS)
    window.connect()
    preferences = window.ask(PREFERENCES)
    dirty = window.ask("bpy.context.preferences.is_dirty")
    assert len(preferences) > 200
    with CoreClient(window.note) as core:
        core.attached().begin()
        make_many(core, 3)
        core.call("window.take_back")
        make_many(core, 3, first=10)
        core.end()
        core.call("window.undo")
        core.call("window.redo")
        core.call("window.save", path=str(tmp_path / "ours.blend"))
        core.call("scene.save", path="checkpoint.blend")
        assert window.file() == str(tmp_path / "mine.blend")
    window.disconnect()
    assert window.ask("bpy.context.preferences.is_dirty") == dirty
    assert window.ask(PREFERENCES) == preferences
    assert window.ask(HANDLERS) == handlers
    window.connect()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.blend", "ours.blend"]


def test_a_step_that_only_blenders_undo_takes_back_makes_no_undo_step(window: PlayedWindow, core: CoreClient) -> None:
    window.do("bpy.data.objects['Cube'].location.x = 3")
    before = core.begin()["hash"]
    window.do(
        "import blendwright.tools.catalog as catalog; from blendwright.tool_api.promises import Revert\n"
        "from blendwright.values.findings import Finding; from blendwright.values.faults import Fault\n"
        "tool = type(catalog.tools()['mesh.create_primitive'])\n"
        "real = (tool.revert_for, tool.verify)\n"
        "tool.revert_for = lambda self, args, version: Revert.MEMFILE\n",
        push=False,
    )
    try:
        answer = core.step("mesh.create_primitive", kind="cube", name="Kept")
        assert answer["ok"] and answer["after"] == window.fingerprint()
        window.do("tool.verify = lambda *a: [Finding(Fault.EXECUTION_FAILED, 'made to fail')]", push=False)
        failed = core.step("mesh.create_primitive", kind="cube", name="Failed")
        assert not failed["ok"] and failed["reverted_by"] == "failed"
        assert failed["after"] == window.fingerprint()
    finally:
        window.do("tool.revert_for, tool.verify = real", push=False)
    assert core.call("window.take_back") == {"hash": before}
    core.end(changed=False)
    window.undo()
    assert window.ask("bpy.data.objects['Cube'].location.x") == 0


@pytest.mark.parametrize("deed", ["disconnect", "hang up"])
def test_whoever_ends_it_the_window_is_clean(window: PlayedWindow, deed: str) -> None:
    with CoreClient(window.note) as core:
        core.attached().begin()
        assert core.step("object.delete", object="Cube")["ok"] and window.ask(OURS)
        if deed == "disconnect":
            window.disconnect()
            window.connect()
    with CoreClient(window.note) as core:
        core.attached()
        assert window.ask(OURS) == [] and "Cube" not in window.ask("[o.name for o in bpy.data.objects]")
        assert core.begin()["hash"] == window.fingerprint()
