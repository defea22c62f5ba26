"""The ground of the stories in a window: that keys reach Blender, that a test sees what they did, and that nothing stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

from gui.root import PROJECT, Root
from gui.window import HEIGHT, WIDTH, OpenWindow, Window, WindowFault

PLACE_OF_CUBE = "[round(n, 4) for n in bpy.data.objects['Cube'].location]"

PIXEL_OF_LIGHT = """
from bpy_extras.view3d_utils import location_3d_to_region_2d
region = bpy.context.region
place = location_3d_to_region_2d(region, bpy.context.region_data, bpy.data.objects["Light"].location)
[round(region.x + place.x), round(bpy.context.window.height - region.y - place.y)]
"""


def test_a_person_moves_undoes_edits_and_saves_by_keys(window: Window, pictures: Path) -> None:
    assert window.python("'.'.join(map(str, bpy.app.version[:2]))") == window.root.series
    saved = window.root.home / "story.blend"
    window.python(f"bpy.ops.wm.save_as_mainfile(filepath={str(saved)!r})")
    first = saved.stat().st_ino, saved.stat().st_mtime_ns

    before = Image.open(window.picture(pictures / "start.png"))
    assert before.size == (WIDTH, HEIGHT)
    assert len(before.getcolors(WIDTH * HEIGHT) or ()) > 100

    window.keys("g", "x", "2", "Return")
    window.until(PLACE_OF_CUBE, [2, 0, 0])
    window.keys("ctrl+s")
    window.until("bpy.data.is_dirty", False)
    assert (saved.stat().st_ino, saved.stat().st_mtime_ns) != first
    window.keys("ctrl+z")
    window.until(PLACE_OF_CUBE, [0, 0, 0])

    window.keys("g")
    window.until("[operator.bl_idname for operator in bpy.context.window.modal_operators]", ["TRANSFORM_OT_translate"])
    window.keys("Escape")
    window.until("len(bpy.context.window.modal_operators)", 0)

    window.keys("g", "x")
    window.type("1.5")
    window.keys("Return")
    window.until(PLACE_OF_CUBE, [1.5, 0, 0])
    window.click(*window.python(PIXEL_OF_LIGHT))
    window.until("bpy.context.object.name", "Light")
    window.keys("ctrl+z", "ctrl+z")
    window.until("[bpy.context.object.name, *bpy.context.object.location]", ["Cube", 0, 0, 0])

    window.keys("Tab")
    window.until("bpy.context.object.mode", "EDIT")
    after = Image.open(window.picture(pictures / "edit_mode.png"))
    # The header says which mode it is.
    header = (0, 30, 400, 52)
    assert after.crop(header).tobytes() != before.crop(header).tobytes()


def test_a_killed_blender_is_gone_and_what_was_saved_opens_in_the_next_one(open_window: OpenWindow) -> None:
    window = open_window()
    saved = window.root.home / "story.blend"
    window.python(f"bpy.context.object.name = 'Saved'; bpy.ops.wm.save_as_mainfile(filepath={str(saved)!r})")
    os.kill(window.pid, signal.SIGKILL)
    assert window.process.wait(60) == -signal.SIGKILL
    with pytest.raises(WindowFault, match="ended with -9"):
        window.python("1")

    window = open_window(str(saved))
    assert window.python("bpy.context.object.name") == "Saved"
    with pytest.raises(WindowFault, match="NameError: name 'nothing'"):
        window.python("nothing")
    window.close()
    assert window.process.returncode == 0


# One process that opens a window and waits for its own end.
OWNER = """
import sys, time
from pathlib import Path
from gui.root import Root
from gui.window import Window

window = Window(Root(sys.argv[1], Path(sys.argv[2])))
print(window.pid, window._server.pid, flush=True)
time.sleep(600)
"""


def test_a_test_that_is_killed_leaves_no_process_and_no_mount(root: Root) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, root.suite, str(root.place)],
        cwd=PROJECT / "tests",
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    pids = owner.stdout.readline().split()
    assert len(pids) == 2
    assert all(Path("/proc", pid).exists() for pid in pids)
    owner.kill()
    owner.wait()
    owner.stdout.close()
    deadline = time.monotonic() + 30
    while any(_runs(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert str(root.place) not in Path("/proc/self/mountinfo").read_text()


def _runs(pid: str) -> bool:
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


MANIFEST = """
schema_version = "1.0.0"
id = "smoke"
version = "1.0.0"
name = "Smoke"
tagline = "Shows that an extension can be installed"
maintainer = "Nobody"
type = "add-on"
blender_version_min = "4.2.0"
license = ["SPDX:GPL-3.0-or-later"]
"""


def test_an_extension_is_checked_built_installed_and_there_in_the_window(root: Root, open_window: OpenWindow) -> None:
    source = root.place / "smoke"
    source.mkdir()
    (source / "blender_manifest.toml").write_text(MANIFEST)
    (source / "__init__.py").write_text("def register(): pass\ndef unregister(): pass\n")
    extension = ["blender", "--command", "extension"]
    root.run([*extension, "validate", source])
    root.run([*extension, "build", "--source-dir", source, "--output-filepath", root.place / "smoke.zip"])
    root.run([*extension, "install-file", "--repo", "user_default", "--enable", root.place / "smoke.zip"])
    window = open_window(factory=False)
    assert "bl_ext.user_default.smoke" in window.python("list(bpy.context.preferences.addons.keys())")

    (source / "blender_manifest.toml").write_text("id = 'smoke'")
    assert "schema_version" in root.run([*extension, "validate", source], code=1)


def test_a_command_cannot_change_the_root(root: Root) -> None:
    assert "Read-only" in root.run(["touch", "/usr/x"], code=1)
