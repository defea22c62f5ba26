"""The Python API: its own example, its promises about files, and what a killed owner leaves."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import blendwright
from blendwright import app
from blendwright.app.session_scratch import SessionScratch
from blendwright.contracts.envelopes import ToolResult
from blendwright.values.errors import EnvironmentUnfit
from engine import TRIALS, all_tools


def sessions(workspace: Path) -> list[Path]:
    return list((workspace / "scratch").glob("session-*"))


def test_the_example_of_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert app.__doc__ is not None
    example = app.__doc__[app.__doc__.index("import blendwright") :]
    assert "blendwright.open(" in example and "scene.call(" in example
    names: dict[str, object] = {}
    exec(compile(textwrap.dedent(example), "example", "exec"), names)
    made = names["made"]
    assert isinstance(made, ToolResult) and made.ok
    assert sessions(tmp_path / "my-workspace") == []


@pytest.mark.proves("EXEC-TIME-01")
def test_a_scene_is_opened_from_a_copy_and_survives_the_loss_of_the_file(tmp_path: Path) -> None:
    with blendwright.open(tmp_path / "first", roots=[tmp_path], spare=False) as scene:
        assert scene.call("mesh.create_primitive", kind="cube", name="Box").ok
        assert scene.call("file.export", path=str(tmp_path / "box.blend")).ok
        made = scene.hash
    with blendwright.open(
        tmp_path / "second", scene=tmp_path / "box.blend", spare=False, tools=all_tools(), environment=TRIALS
    ) as scene:
        assert scene.hash == made
        (tmp_path / "box.blend").write_bytes(b"replaced meanwhile")
        first = scene.worker_pid
        lost = scene.outcome("trial.misbehave", {"how": "run_away"}, deadline=0.2)
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
    with pytest.raises(EnvironmentUnfit, match=r"missing\.blend"):
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


def test_what_a_killed_owner_left_is_removed_and_what_a_living_one_holds_is_not(tmp_path: Path) -> None:
    def owner() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", OWNER, str(tmp_path)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        return process

    with owner() as killed:
        (abandoned,) = sessions(tmp_path)
        with owner() as living:
            (held,) = set(sessions(tmp_path)) - {abandoned}
            killed.kill()
            killed.wait(10)
            (abandoned / "worker-x").mkdir()
            with blendwright.open(tmp_path):
                assert held in sessions(tmp_path)
                assert abandoned not in sessions(tmp_path)
                assert len(sessions(tmp_path)) == 2
            assert sessions(tmp_path) == [held]
            living.kill()


def test_two_scenes_of_one_process_leave_each_other_alone(tmp_path: Path) -> None:
    first = SessionScratch(tmp_path)
    second = SessionScratch(tmp_path)
    assert first.path.is_dir() and second.path.is_dir()
    first.remove()
    first.remove()
    SessionScratch(tmp_path).remove()
    assert not first.path.exists() and second.path.is_dir()
    second.remove()
