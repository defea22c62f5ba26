"""A person and plans in one real window: connected, undone, edited and saved by keys, with the real core and journal."""

from __future__ import annotations

import json
import math
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.bridge.environments.making import add_executable
from blendwright.bridge.environments.records import environments
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.window.attach import attach
from blendwright.window.connection.rendezvous import open_windows
from blendwright.window.extension_file import write_extension
from gui.headless import MARK, PLACE
from gui.root import PROJECT, Root
from gui.window import OpenWindow, Window
from support.engine.engine import UNASKED
from window.test_stories import cubes

# The button in the sidebar of a window of this size.
CONNECT = (892, 154)
EXTENSION = ["blender", "--command", "extension"]


@pytest.fixture
def person(root: Root, monkeypatch: pytest.MonkeyPatch) -> Root:
    """A person with the extension installed, and a core on the same computer that has what this Blender's Python lacks."""
    for name, value in root.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_DATA_HOME", str(root.cache / "data"))
    if not any(each.executable for each in environments()):
        asked = Root(root.suite, root.cache / "place")
        root.cache.mkdir(mode=0o700, exist_ok=True)
        asked.place.mkdir(exist_ok=True)
        asked.run(["true"])
        program = root.cache / "program"
        program.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, asked.command(["blender"])))} "$@"\n')
        program.chmod(0o700)
        add_executable(program, print)
    target = root.place / "blendwright.zip"
    write_extension(target)
    root.run([*EXTENSION, "validate", target])
    root.run([*EXTENSION, "install-file", "--repo", "user_default", "--enable", target])
    return root


def spare(root: Root) -> str | None:
    """The headless Blender beside the window: the wheel of this environment, or the one that was made for it."""
    if root.series == "5.2":
        return None
    if not MARK.is_file():
        pytest.skip("there is no headless Blender 4.3 here: run `make test-gui`")
    return str(PLACE.resolve())


class Desk:
    """A window that is connected by hand, and the workspace that is attached to it."""

    def __init__(self, person: Root, open_window: OpenWindow) -> None:
        self.root = person
        self.workspace = person.place / "workspace"
        self._open = open_window
        self.window = self.connected()

    def connected(self, *arguments: str) -> Window:
        window = self._open(*arguments, factory=False)
        window.python("bpy.context.preferences.view.show_splash = False; bpy.context.space_data.show_region_ui = True")
        window.python(
            "[setattr(r, 'active_panel_category', 'Blendwright') for r in bpy.context.area.regions if r.type == 'UI'"
            " and bpy.app.version >= (4, 2)] and None"
        )
        window.settle()
        window.click(*CONNECT)
        deadline = time.monotonic() + 60
        while not any(one.pid == window.pid for one in open_windows()):
            assert time.monotonic() < deadline, "the window did not connect"
            time.sleep(0.2)
        window.point_at_view()
        return window

    def attach(self, **options: Any) -> Any:
        return attach(self.workspace, blender=spare(self.root), **options)

    def open(self) -> blendwright.OpenScene:
        return blendwright.open(self.workspace, blender=spare(self.root), policy=UNASKED)


@pytest.fixture
def desk(person: Root, open_window: OpenWindow) -> Iterator[Desk]:
    yield Desk(person, open_window)


def spiral(request: str, count: int) -> dict[str, Any]:
    """A plan that winds boxes around the middle of the scene."""
    plan = cubes(request, *[f"Box{number}" for number in range(count)], size=0.3)
    for number, operation in enumerate(plan["operations"]):
        angle, radius = number * 0.35, 1.6 + number * 0.02
        place = [radius * math.cos(angle), radius * math.sin(angle), number * 0.03]
        operation["args"] |= {
            "location": [round(along, 4) for along in place],
            "rotation_euler_deg": [0, 0, round(number * 20.0, 3)],
        }
    return plan


WINDOW = "__import__('sys').modules['bl_ext.user_default.blendwright.open_window'].this_window"
SESSION = f"{WINDOW}.session"


def fingerprint(window: Window) -> str:
    return window.python(
        "import importlib; importlib.import_module('blendwright.blender.window.scene_state').WindowState().full_root()"
    )


def test_a_person_and_plans(desk: Desk, pictures: Path) -> None:
    window = desk.window
    assert [one.pid for one in open_windows()] == [window.pid]
    window.picture(pictures / "story-1-connected.png")
    desk.attach()
    with desk.open() as scene:
        before = fingerprint(window)
        assert scene.run(spiral("a spiral of a hundred boxes", 100)).status == "succeeded"
        assert fingerprint(window) == scene.hash
        window.picture(pictures / "story-2-hundred.png")

        # One Ctrl-Z takes back one plan, and the journal follows.
        window.point_at_view()
        window.keys("ctrl+z")
        window.until("len(bpy.data.objects)", 3)
        assert fingerprint(window) == before
        scene.call("scene.snapshot")
        assert scene.hash == before

        # A hand edit by key becomes a commit of the person, and a plan goes on top of it.
        window.keys("g", "x", "2", "Return")
        window.until("round(bpy.data.objects['Cube'].location.x, 3)", 2)
        assert scene.run(cubes("on top", "Top", location=[0, 0, 3])).status == "succeeded"
        assert fingerprint(window) == scene.hash
        head = scene.journal.head
        assert head is not None and head.parent is not None
        assert scene.journal.show(head.parent).receipt["by"] == "person"
        assert window.python("round(bpy.data.objects['Cube'].location.x, 3)") == 2
        window.picture(pictures / "story-3-on-top.png")

        # Edit mode and a modal grab keep a plan from beginning, with the reason.
        window.keys("Tab")
        window.until("bpy.context.object.mode", "EDIT")
        with pytest.raises(Refusal, match="mode"):
            scene.run(cubes("in edit mode", "No"))
        window.keys("Tab")
        window.until("bpy.context.object.mode", "OBJECT")
        window.keys("g")
        window.until("len(bpy.context.window.modal_operators) > 0")
        with pytest.raises(Refusal, match="not ready"):
            scene.run(cubes("in a grab", "No"))
        window.keys("Escape")
        window.until("len(bpy.context.window.modal_operators)", 0)

        # Ctrl-S: nothing of ours in the file, and its path is the person's.
        saved = desk.root.home / "theirs.blend"
        window.python(f"bpy.ops.wm.save_as_mainfile(filepath={str(saved)!r}, compress=False)")
        assert scene.run(cubes("after saving", "Saved")).status == "succeeded"
        scene.call("object.delete", object="Saved")
        window.keys("ctrl+s")
        window.until("bpy.data.is_dirty", False)
        assert b"~bw~" not in saved.read_bytes() and window.python("bpy.data.filepath") == str(saved)
        recent = desk.root.home / "blender" / "config" / "recent-files.txt"
        assert not recent.exists() or "workspace" not in recent.read_text()


def test_kills_restores_and_other_cores(desk: Desk, pictures: Path) -> None:
    window = desk.window
    desk.attach()
    with desk.open() as scene:
        assert scene.run(cubes("kept", "Kept")).status == "succeeded"
        made = scene.hash
        with pytest.raises(EnvironmentUnfit, match="attached"):
            attach(desk.root.place / "second", blender=spare(desk.root))
        os.kill(window.pid, signal.SIGKILL)
        window.process.wait()
        with pytest.raises(EnvironmentUnfit):
            scene.run(cubes("lost", "Lost"))
    window = desk.connected()
    assert desk.attach(restore=True).restored is not None
    window.until("'Kept' in bpy.data.objects")
    assert fingerprint(window) == made
    window.picture(pictures / "story-4-restored.png")
    with desk.open() as scene:
        assert scene.run(cubes("again", "Again")).status == "succeeded" and fingerprint(window) == scene.hash
        head = scene.journal.head
        # Another file: nothing is done in it.
        window.python("bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=False)")
        with pytest.raises(EnvironmentUnfit, match="another file"):
            scene.run(cubes("elsewhere", "Elsewhere"))
        assert scene.journal.head == head


# A core of its own: it does one plan, says so, and is killed in the middle of the next.
CORE = """
import json, sys
from pathlib import Path
import blendwright
from support.engine.engine import UNASKED

first, second = map(json.loads, sys.stdin)
with blendwright.open(Path(sys.argv[1]), blender=sys.argv[2] or None, policy=UNASKED) as scene:
    assert scene.run(first).status == "succeeded"
    print("done", flush=True)
    scene.run(second)
"""
BOXES = "sorted(o.name for o in bpy.data.objects if o.name.startswith('Box'))"


def test_a_core_is_killed_in_the_middle_of_a_plan(desk: Desk, pictures: Path) -> None:
    window = desk.window
    desk.attach()
    plans = [json.dumps(plan) for plan in (cubes("kept", "Kept", location=[0, 0, 3]), spiral("a long spiral", 3000))]
    core = subprocess.Popen(
        [sys.executable, "-c", CORE, str(desk.workspace), spare(desk.root) or ""],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(PROJECT / "tests")},
    )  # fmt: skip
    assert core.stdin is not None and core.stdout is not None
    core.stdin.write("\n".join(plans))
    core.stdin.close()
    assert core.stdout.readline() == "done\n"
    kept = fingerprint(window)
    window.until("len(bpy.data.objects) > 150")
    window.picture(pictures / "story-5-in-a-plan.png", settled=False)
    core.kill()
    core.wait()
    core.stdout.close()

    # The window is alive, nothing of ours is in it, and its sidebar says what became of the plan.
    window.until(f"{SESSION} is None")
    made = window.python(BOXES)
    assert 100 < len(made) < 3000
    assert (
        window.python("[i.name for k in ('objects', 'meshes') for i in getattr(bpy.data, k) if '~bw~' in i.name]") == []
    )
    assert window.python(f"[plan['state'] for plan in {WINDOW}.former_plans][0]") == "not finished"
    window.picture(pictures / "story-6-core-killed.png")

    with desk.open() as scene:
        # The next core takes in what was done and not committed like an edit, and a plan goes on top.
        assert scene.run(cubes("after", "After", location=[3, 0, 3])).status == "succeeded"
        assert fingerprint(window) == scene.hash and window.python(BOXES) == made
        committed = {one.operation_id for one in scene.journal.log(limit=5000) if one.request_id == "a long spiral"}
        assert 0 < len(committed) <= len(made) and "kept" in {one.request_id for one in scene.journal.log(limit=5000)}
        window.picture(pictures / "story-7-next-core.png")

        # One Ctrl-Z for each plan, the one that was cut off too.
        window.point_at_view()
        window.keys("ctrl+z")
        window.until("'After' in bpy.data.objects", False)
        assert window.python(BOXES) == made
        window.keys("ctrl+z")
        window.until(f"len({BOXES})", 0)
        assert fingerprint(window) == kept and window.python("'Kept' in bpy.data.objects")
        scene.call("scene.snapshot")
        assert scene.hash == kept
