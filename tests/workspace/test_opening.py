"""The Python API: its own example, its promises about files, and what a killed owner leaves."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import textwrap
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

import blendwright
from blendwright import workspace as app
from blendwright.dialects.envelopes import ToolResult
from blendwright.engine.options import RunOptions
from blendwright.util.directory_removal import remove_directory
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.workspace import open_scene
from blendwright.workspace import scratch as session_scratch
from blendwright.workspace.scratch import SessionScratch
from support.engine.engine import TRIALS, all_tools
from support.plans.documents import box
from support.processes.forked_workers.programs import CORE_SCRIPT

GRANTED = blendwright.Approver(grants=frozenset({"destructive"}))


def sessions(workspace: Path) -> list[Path]:
    return list((workspace / "scratch").glob("session-*"))


def test_the_example_of_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert app.__doc__ is not None
    example = app.__doc__[app.__doc__.index("import blendwright") :]
    assert "blendwright.open(" in example and "scene.call(" in example
    names: dict[str, object] = {}
    exec(compile(textwrap.dedent(example), "example", "exec"), names)
    result = names["result"]
    assert isinstance(result, ToolResult) and result.ok
    assert sessions(tmp_path / "my-workspace") == []


def test_a_scene_is_opened_from_a_copy_and_survives_the_loss_of_the_file(tmp_path: Path) -> None:
    with blendwright.open(tmp_path / "first", roots=[tmp_path], spare=False) as scene:
        assert scene.call("mesh.create_primitive", kind="cube", name="Box").ok
        assert scene.call("file.export", path=str(tmp_path / "box.blend")).ok
        made = scene.hash
    with blendwright.open(
        tmp_path / "second",
        scene=tmp_path / "box.blend",
        spare=False,
        tools=all_tools(),
        environment=TRIALS,
        approver=GRANTED,
    ) as scene:
        assert scene.hash == made
        (tmp_path / "box.blend").write_bytes(b"replaced meanwhile")
        first = scene.worker_pid
        lost = scene.outcome("trial.misbehave", {"how": "run_away"}, RunOptions(timeout=0.2))
        assert lost.fault is not None and lost.fault.value == "TOOL_TIMEOUT"
        assert scene.worker_pid != first
        assert scene.call("object.delete", name="Box").ok
    assert (tmp_path / "box.blend").read_bytes() == b"replaced meanwhile"


def test_blender_starts_with_the_first_call_only(tmp_path: Path) -> None:
    with blendwright.open(tmp_path) as scene:
        (session,) = sessions(tmp_path)
        assert list(session.glob("worker-*")) == []
        refused = scene.call("object.delete", nmae="x")
        assert (refused.error_code, refused.fingerprint_before) == ("invalid_input", None)
        assert list(session.glob("worker-*")) == []
    assert sessions(tmp_path) == []
    scene.close()


def test_what_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"missing\.blend"):
        blendwright.open(tmp_path / "w", scene=tmp_path / "missing.blend")
    (tmp_path / "file").write_text("x")
    with pytest.raises(EnvironmentUnfit, match="workspace"):
        blendwright.open(tmp_path / "file")


OWNER = """
import sys
import blendwright

scene = blendwright.open(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def owner(workspace: Path) -> Generator[subprocess.Popen[bytes]]:
    """Another process that has the workspace open."""
    command = [sys.executable, "-P", str(CORE_SCRIPT), OWNER, str(workspace)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"open\n"
            yield process
        finally:
            process.kill()


def test_one_process_at_a_time_has_a_workspace_and_the_next_one_clears_up_behind_a_killed_one(tmp_path: Path) -> None:
    with owner(tmp_path) as other:
        (held,) = sessions(tmp_path)
        with pytest.raises(EnvironmentUnfit, match=f"process {other.pid}") as caught:
            blendwright.open(tmp_path)
        assert caught.value.cure
        assert sessions(tmp_path) == [held], "the refused one left nothing and took nothing"
        other.kill()
        other.wait(60)
        (held / "worker-x").mkdir()
        with blendwright.open(tmp_path):
            assert held not in sessions(tmp_path) and len(sessions(tmp_path)) == 1
    assert sessions(tmp_path) == []


def test_a_scene_lives_on_between_sessions(tmp_path: Path) -> None:
    with blendwright.open(tmp_path, spare=False) as scene:
        assert scene.recovered == ()
        made = scene.call("mesh.create_primitive", kind="cube", name="Box")
        assert made.ok
    with blendwright.open(tmp_path, spare=False) as scene:
        assert scene.recovered == ()
        assert scene.hash == made.fingerprint_after, "known without Blender"
        refused = scene.call("mesh.create_primitive", kind="torus", name="Box")
        assert (refused.error_code, refused.fingerprint_before) == ("conflict", made.fingerprint_after)


def test_a_scene_file_is_for_a_new_workspace_only(tmp_path: Path) -> None:
    with blendwright.open(tmp_path / "first", roots=[tmp_path], spare=False) as scene:
        assert scene.call("mesh.create_primitive", kind="cube", name="Box").ok
        assert scene.call("file.export", path=str(tmp_path / "box.blend")).ok
    with pytest.raises(EnvironmentUnfit, match="has a scene already") as caught:
        blendwright.open(tmp_path / "first", scene=tmp_path / "box.blend")
    assert caught.value.cure
    (tmp_path / "garbage.blend").write_bytes(b"no blend file")
    with (
        blendwright.open(tmp_path / "second", scene=tmp_path / "garbage.blend", spare=False) as scene,
        pytest.raises(EnvironmentUnfit, match=r"garbage\.blend"),
    ):
        scene.call("object.create_empty", name="A")
    with blendwright.open(tmp_path / "second", scene=tmp_path / "box.blend", spare=False, approver=GRANTED) as scene:
        assert scene.call("object.delete", name="Box").ok
        head = scene.journal.head
        assert head is not None and head.parent is not None
        assert scene.journal.show(head.parent).kind == "baseline"


def test_a_session_with_much_to_redo_leaves_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_scene, "WORTH_SAVING_MS", 0.001)
    with blendwright.open(tmp_path, spare=False) as scene:
        assert scene.call("object.create_empty", name="A").ok
        made = scene.hash
    with blendwright.open(tmp_path, spare=False, approver=GRANTED) as scene:
        head = scene.journal.head
        assert head is not None
        route = scene.journal.checkpoints.route(head.number)
        assert route.redo == () and route.checkpoint is not None
        assert scene.call("object.delete", name="A").fingerprint_before == made


def test_a_plan_is_run_by_the_api_and_known_again(tmp_path: Path) -> None:
    plan = {"request_id": "api", "operations": [box("a"), box("b", "a")]}
    with blendwright.open(tmp_path, spare=False) as scene:
        report = scene.run(plan)
        assert report.ok, report.to_json()
        assert scene.run(plan | {"operations": [box("a", "missing")]}).status == "refused"
    with blendwright.open(tmp_path, spare=False) as scene:
        assert {operation.status for operation in scene.run(plan).operations} == {"skipped_idempotent"}


UNFINISHED = """
import os, signal, sys
from pathlib import Path
import blendwright
from blendwright.records.recovery import NewIntent

scene = blendwright.open(sys.argv[1], spare=False)
assert scene.call("object.create_empty", name="Base").ok
scene.journal.recovery.begin_boundary("half")
scene.journal.recovery.begin_intent(NewIntent("key", "half", "b", "file.export", "writes x.stl"))
assert scene.call("object.create_empty", name="Half").ok
(Path(sys.argv[1]) / "checkpoints" / "1-1-0123abcd.part").write_bytes(b"half")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_half_done_is_put_in_order_and_told(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-P", str(CORE_SCRIPT), UNFINISHED, str(tmp_path)], check=False, timeout=60)
    with blendwright.open(tmp_path, spare=False, approver=GRANTED) as scene:
        told = "\n".join(scene.recovered)
        for part in (
            "'half' was interrupted",
            "HEAD went back to commit 2",
            "writes x.stl",
            "unfinished",
            "without closing",
        ):
            assert part in told, (part, told)
        assert scene.call("object.delete", name="Base").ok
        assert not scene.call("object.delete", name="Half").ok
    with blendwright.open(tmp_path, spare=False) as scene:
        assert len(scene.recovered) == 1, "what waits for a person is told every time"


def test_two_scenes_of_one_process_leave_each_other_alone(tmp_path: Path) -> None:
    first = SessionScratch(tmp_path)
    second = SessionScratch(tmp_path)
    assert first.path.is_dir() and second.path.is_dir()
    first.remove()
    first.remove()
    SessionScratch(tmp_path).remove()
    assert not first.path.exists() and second.path.is_dir()
    second.remove()


def test_nobody_waits_for_ever_until_what_others_left_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "session-abandoned" / "worker-x").mkdir(parents=True)
    may_end, begun = threading.Event(), threading.Event()

    def slowly(directory: Path) -> None:
        begun.set()
        may_end.wait(60)
        remove_directory(directory)

    monkeypatch.setattr(session_scratch, "remove_directory", slowly)
    monkeypatch.setattr(session_scratch, "ABANDONED_SECONDS", 0.1)
    scratch = SessionScratch(tmp_path)
    assert scratch.cleared == 1 and begun.wait(60)
    assert (tmp_path / "session-abandoned").exists() and scratch.path.exists()
    assert SessionScratch(tmp_path).cleared == 0, "somebody is at it"
    may_end.set()
    scratch.remove()
    assert not (tmp_path / "session-abandoned").exists() and not scratch.path.exists()
