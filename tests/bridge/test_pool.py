"""The pool: spares, replacement, a clean end, and causes when Blender cannot start."""

from __future__ import annotations

import os
import stat
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from blendwright.bridge.sources.blender_executable import BlenderExecutable
from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.bridge.spawn import WorkerSettings
from blendwright.bridge.worker import WorkerProcess
from blendwright.bridge.worker_source import ProcessSource
from blendwright.util.directory_removal import remove_directory
from blendwright.values.errors import DeadlinePassed, EnvironmentUnfit, WorkerLost


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def scratches(settings: WorkerSettings) -> list[Path]:
    return list(settings.scratch_root.iterdir())


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_lost_worker_is_replaced_by_the_warm_spare_and_nothing_is_left_in_the_end(
    own_settings: WorkerSettings,
) -> None:
    with PythonEnvironment().open_pool(own_settings) as pool:
        first = pool.take()
        assert scratches(own_settings) == [first.scratch], "no spare is started unless it is asked for"
        pool.warm()
        pool.warm()
        first.kill()
        second = pool.take()
        assert second.call("ping", {"n": 1}, deadline=60) == {"n": 1}
        assert pool.wait_until_cleared()
        assert scratches(own_settings) == [second.scratch], "one spare was started, and it is the one we have"
        pool.warm()
        pids = [first.pid, second.pid]
    assert not any(map(runs, pids))
    assert scratches(own_settings) == []


def test_whoever_has_no_time_to_wait_for_a_start_is_told_and_the_worker_is_there_for_the_next(
    own_settings: WorkerSettings,
) -> None:
    with PythonEnvironment().open_pool(own_settings) as pool:
        for _ in range(2):
            with pytest.raises(DeadlinePassed):
                pool.take(seconds=0.001)
        worker = pool.take(seconds=60)
        assert scratches(own_settings) == [worker.scratch], "the one that was started first"


def test_a_spare_that_died_is_passed_over(own_settings: WorkerSettings, tmp_path: Path) -> None:
    only_the_second_time = f'#!/bin/sh\nmkdir {tmp_path}/mark && exit 1\nexec {sys.executable} "$@"\n'
    with PythonEnvironment(script(tmp_path / "python", only_the_second_time)).open_pool(own_settings) as pool:
        pool.warm()
        assert pool.take().call("ping", {}, deadline=60) == {}


def test_closing_does_not_wait_for_a_spare_that_is_still_starting(own_settings: WorkerSettings, tmp_path: Path) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    python = script(tmp_path / "python", f"#!/bin/sh\necho $$ > {started}\nexec sleep 600\n")
    pool = PythonEnvironment(python).open_pool(own_settings)
    pool.warm()
    pids = [*map(int, started.read_text().split())]  # the spare, and sometimes already the one that prepares pictures
    pool.close()
    assert pids and not any(map(runs, pids))
    assert scratches(own_settings) == []
    with pytest.raises(WorkerLost, match="closed"):
        pool.take()
    pool.warm()
    pool.close()


@pytest.mark.slow
def test_a_worker_outlives_the_thread_that_asked_for_it(own_settings: WorkerSettings) -> None:
    with PythonEnvironment().open_pool(own_settings) as pool:
        taken: list[WorkerProcess] = []
        thread = threading.Thread(target=lambda: taken.append(pool.take()))
        thread.start()
        thread.join()
        assert taken[0].call("ping", {}, deadline=60) == {}


def test_a_missing_system_library_is_named_with_its_cure(own_settings: WorkerSettings, tmp_path: Path) -> None:
    # A machine without the library cannot be had here; its dynamic linker's words can.
    words = "ImportError: libX11.so.6: cannot open shared object file: No such file or directory"
    python = script(tmp_path / "python", f"#!/bin/sh\necho '{words}' >&2\nexit 1\n")
    with (
        PythonEnvironment(python).open_pool(own_settings) as pool,
        pytest.raises(EnvironmentUnfit, match=r"libX11\.so\.6") as caught,
    ):
        pool.take()
    assert caught.value.cure is not None
    assert "libx11-6" in caught.value.cure
    assert caught.value.details["log"] == [words]
    assert scratches(own_settings) == []


def test_a_worker_that_fails_to_start_is_reported_with_the_last_line_of_its_log(
    own_settings: WorkerSettings, tmp_path: Path
) -> None:
    python = script(tmp_path / "python", "#!/bin/sh\necho something odd\nexit 9\n")
    with PythonEnvironment(python).open_pool(own_settings) as pool:
        pool.warm()
        with pytest.raises(EnvironmentUnfit, match=r"exit code 9.*something odd"):
            pool.take()


def test_a_python_without_bpy_is_told_what_to_install(own_settings: WorkerSettings, tmp_path: Path) -> None:
    shadow = tmp_path / "shadow"
    shadow.mkdir()
    (shadow / "bpy.py").write_text("raise ModuleNotFoundError(\"No module named 'bpy'\")\n")
    environment = {**own_settings.environment, "PYTHONPATH": str(shadow)}
    with (
        PythonEnvironment().open_pool(replace(own_settings, environment=environment)) as pool,
        pytest.raises(EnvironmentUnfit, match="bpy") as caught,
    ):
        pool.take()
    assert caught.value.cure is not None
    assert "blendwright blender add 5.2" in caught.value.cure


def test_a_worker_that_never_says_hello_is_given_up_after_the_start_timeout(
    own_settings: WorkerSettings, tmp_path: Path
) -> None:
    python = script(tmp_path / "python", "#!/bin/sh\nexec sleep 600\n")
    began = time.monotonic()
    with PythonEnvironment(python).open_pool(replace(own_settings, start_timeout=0.2)) as pool:
        with pytest.raises(EnvironmentUnfit, match=r"0\.2 s"):
            pool.take()
        assert time.monotonic() - began < 60
    assert scratches(own_settings) == []


@pytest.mark.parametrize("kind", [PythonEnvironment, BlenderExecutable])
def test_an_executable_that_is_not_there_is_named(
    own_settings: WorkerSettings, tmp_path: Path, kind: Callable[[Path], ProcessSource]
) -> None:
    missing = tmp_path / "missing"
    with kind(missing).open_pool(own_settings) as pool, pytest.raises(EnvironmentUnfit, match=str(missing)):
        pool.take()
    assert scratches(own_settings) == []


@pytest.mark.slow
def test_whoever_takes_a_worker_does_not_wait_until_the_last_one_is_cleared_away(
    own_settings: WorkerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What foreign code leaves may take longer to remove than the next call has."""
    may_end = threading.Event()

    def slowly(directory: Path) -> None:
        may_end.wait(60)
        remove_directory(directory)

    monkeypatch.setattr("blendwright.bridge.worker.remove_directory", slowly)
    with PythonEnvironment().open_pool(own_settings) as pool:
        first = pool.take()
        first.kill()
        second = pool.take()
        assert second.call("ping", {"n": 1}, deadline=60) == {"n": 1}
        assert first.scratch.exists()
        assert not pool.wait_until_cleared(0.1)
        may_end.set()
        assert pool.wait_until_cleared()
        assert not first.scratch.exists() and second.scratch.exists()
