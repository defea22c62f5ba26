"""Interruptions: the window, the core, the time of a call or the open file ends in the middle of a plan."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import blendwright
from blendwright.engine.options import RunOptions
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.window.attach import attach, detach
from blendwright.window.binding import WindowBinding
from blendwright.workspace.opening import follow_window
from support.engine.engine import UNASKED
from window.playing import PlayedWindow
from window.test_stories import cubes, in_step


def test_a_killed_window_loses_nothing_that_was_acknowledged(window: PlayedWindow, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    attach(workspace)
    with blendwright.open(workspace) as scene:
        assert scene.run(cubes("one", "A", "B")).status == "succeeded"
        final_hash = window.fingerprint()
        window.kill()
        with pytest.raises(EnvironmentUnfit, match="no longer open"):
            scene.run(cubes("two", "C"))
    with pytest.raises(EnvironmentUnfit, match="no longer open"), blendwright.open(workspace):
        pass
    with window:  # a new one, with the scene that Blender starts with
        restored = attach(workspace, restore=True)
        assert window.fingerprint() == final_hash and window.ask("'B' in bpy.data.objects")
        assert restored.taken_in == "" and window.file() == str(restored.restored)
        with blendwright.open(workspace) as scene:
            assert scene.run(cubes("two", "C")).status == "succeeded" and in_step(window, scene)


@pytest.mark.slow
def test_a_new_window_without_restore_counts_as_what_the_person_made(window: PlayedWindow, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    attach(workspace)
    with blendwright.open(workspace) as scene:
        scene.run(cubes("one", "A"))
        head = scene.journal.head
    window.kill()
    with window:
        attached = attach(workspace)
        assert head is not None and attached.commit != head.number
        assert not window.ask("'A' in bpy.data.objects")  # nothing was pushed into it


def test_a_core_that_is_killed_in_a_plan_leaves_the_window_alive_and_its_work_in_the_journal(
    window: PlayedWindow, tmp_path: Path
) -> None:
    workspace = tmp_path / "workspace"
    attach(workspace)
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "import blendwright\n"
        "from window.test_stories import cubes\n"
        "with blendwright.open(Path(sys.argv[1])) as scene:\n"
        "    scene.run(cubes('first', 'A'))\n"
        "    print('done', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    scene.run(cubes('second', *[f'Box{n}' for n in range(2000)]))\n"
    )
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    core = subprocess.Popen(
        [sys.executable, "-c", program, str(workspace)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert core.stdout is not None and core.stdin is not None
    assert core.stdout.readline().strip() == "done"
    core.stdin.write("\n")
    core.stdin.flush()
    while not window.ask("'Box20' in bpy.data.objects"):
        time.sleep(0.01)
    core.send_signal(signal.SIGKILL)
    core.communicate()
    assert window.ask("'A' in bpy.data.objects") and window.is_running
    with blendwright.open(workspace) as scene:
        assert scene.run(cubes("third", "After")).status == "succeeded" and in_step(window, scene)
        # What was acknowledged before it died is on HEAD's line.
        assert "first" in {commit.request_id for commit in scene.journal.log(limit=5000)}


def test_a_call_that_takes_too_long_is_answered_in_time_and_taken_back(window: PlayedWindow, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    attach(workspace)
    with blendwright.open(workspace, policy=UNASKED) as scene:
        before = window.fingerprint()
        report = scene.run(
            cubes("slow", *[f"Box{number}" for number in range(3000)]), RunOptions(timeout=0.2), boundary="plan"
        )
        assert report.status != "succeeded"
        following = scene.run(cubes("next", "Quick"))
        assert following.status == "succeeded" and in_step(window, scene), following
        assert not window.ask("'Box0' in bpy.data.objects") and window.ask("'Quick' in bpy.data.objects")
        window.undo()
        assert window.fingerprint() == before


def test_another_file_detaches(window: PlayedWindow, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    attach(workspace)
    with blendwright.open(workspace) as scene:
        scene.run(cubes("one", "A"))
        head = scene.journal.head
        window.open()
        with pytest.raises(EnvironmentUnfit, match="another file"):
            scene.run(cubes("two", "B"))
        assert scene.journal.head == head and not window.ask("'B' in bpy.data.objects")


def test_a_second_core_is_told_who_has_the_window(window: PlayedWindow, tmp_path: Path) -> None:
    attach(tmp_path / "one")
    with blendwright.open(tmp_path / "one") as scene:
        scene.call("scene.snapshot")
        with pytest.raises(EnvironmentUnfit, match="attached"):
            attach(tmp_path / "two")
        assert scene.run(cubes("one", "A")).status == "succeeded" and in_step(window, scene)
    assert WindowBinding(tmp_path / "two").read() is None


def test_a_detached_workspace_goes_on_headless(window: PlayedWindow, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    attach(workspace)
    with blendwright.open(workspace) as scene:
        scene.run(cubes("one", "A"))
    detach(workspace)
    before = window.fingerprint()
    with blendwright.open(workspace) as scene:
        assert scene.hash == before
        assert scene.run(cubes("two", "B")).status == "succeeded"
    assert window.fingerprint() == before
    with pytest.raises(Refusal, match="not attached to a window"):
        detach(workspace)


def test_a_preview_is_of_what_the_window_has(window: PlayedWindow, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    attach(workspace)
    window.do("bpy.data.objects['Cube'].name = 'Crate'")
    follow_window(workspace)
    with blendwright.open(workspace) as scene:
        shown = scene.preview(cubes("preview", "Crate", "Box"))
        assert not shown.report.ok and "Crate" in str([*shown.report.all_findings()])
        window.do("bpy.data.objects['Crate'].name = 'Cask'")
        assert scene.preview(cubes("preview", "Crate", "Box")).report.ok
        follow_window(workspace)  # the one that has it open follows
    assert not window.ask("'Box' in bpy.data.objects")
