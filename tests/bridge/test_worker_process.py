"""One real worker, held by the core: calls, faults, deadlines, cancellation, death."""

from __future__ import annotations

import json
import os
import select
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.bridge.spawn import WorkerSettings
from blendwright.bridge.worker import WorkerProcess
from blendwright.tools import catalog, registry, registry_cache
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import Cancelled, DeadlinePassed, WorkerError, WorkerFault, WorkerLost
from blendwright.wire import frames
from blendwright.wire.remote_scene import RemoteScene
from support.engine.engine import TRIALS

# More than a worker keeps of its log.
LARGEST_LOG = 16 * 1024

# Whoever waits for native work that never ends waits forever: any bound tells. How soon it is, `make bench` measures.
AT_ONCE = 30.0


@pytest.mark.proves("EXEC-PROFILE-01")
def test_a_worker_announces_its_blender_in_the_handshake(worker: WorkerProcess) -> None:
    port: RemoteScene = worker
    profile = port.profile
    assert profile.version >= (4, 2, 0)
    assert profile.version_string.startswith(".".join(map(str, profile.version[:2])))
    assert profile.build_hash
    assert profile.background
    assert {"BLENDER_WORKBENCH", "CYCLES"} <= set(profile.engines)
    assert profile.features["memfile_undo"] is (profile.version >= (4, 5, 0))
    assert profile.name_bytes == (255 if profile.version >= (5, 0, 0) else 63)
    assert profile.pid == port.pid
    assert profile.memory_mb is not None
    assert profile.confinement
    assert isinstance(port.catalogue, str)


def test_what_is_sent_comes_back_equal(worker: WorkerProcess) -> None:
    params: dict[str, Any] = {
        "name": "Würfel 立方体 \x7f",
        "values": [0.1, -0.0, 1e308, 2**53, None, True],
        "nested": {"": {}},
    }
    assert worker.call("ping", params, deadline=60) == params


def test_a_thousand_requests_may_be_on_their_way_at_once(worker: WorkerProcess) -> None:
    futures = [worker.submit("ping", {"n": n, "ballast": "x" * 1000}) for n in range(1000)]
    assert [future.result(60)["n"] for future in futures] == list(range(1000))


def test_threads_may_share_a_worker(worker: WorkerProcess) -> None:
    def ask(n: int) -> int:
        return worker.call("ping", {"n": n}, deadline=20)["n"]

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, range(400))) == list(range(400))


def test_a_fault_has_the_code_of_the_worker_and_its_stack_trace_only_in_the_log(worker: WorkerProcess) -> None:
    with pytest.raises(WorkerFault) as caught:
        worker.call("test.fail", {"message": "the reason"}, deadline=60)
    assert (caught.value.code, caught.value.message) == ("internal_error", "RuntimeError: the reason")
    assert "Traceback" in (worker.scratch / "worker.log").read_text()
    with pytest.raises(WorkerFault) as caught:
        worker.call("no.such_method", {}, deadline=60)
    assert caught.value.code == "unknown_method"
    assert worker.alive


def test_frames_are_bounded_in_both_directions(worker: WorkerProcess) -> None:
    with pytest.raises(WorkerFault) as caught:
        worker.call("test.fill", {"bytes": frames.MAX_FRAME}, deadline=20)
    assert caught.value.code == "oversized_answer"
    with pytest.raises(WorkerFault) as caught:
        worker.call("ping", {"x": "y" * frames.MAX_FRAME}, deadline=20)
    assert caught.value.code == "oversized_request"
    assert worker.call("ping", {"n": 1}, deadline=60) == {"n": 1}


def test_prints_go_to_the_log_and_not_to_the_wire_or_to_our_output(
    worker: WorkerProcess, capfd: pytest.CaptureFixture[str]
) -> None:
    worker.call("test.print", {"text": "HEARD"}, deadline=60)
    assert worker.call("ping", {"n": 1}, deadline=60) == {"n": 1}
    log = (worker.scratch / "worker.log").read_text()
    for who in ("Python on stdout", "Python on stderr", "C on stdout", "C on stderr"):
        assert f"HEARD by {who}" in log
    captured = capfd.readouterr()
    assert "HEARD" not in captured.out + captured.err


def test_a_worker_that_saves_for_ever_keeps_a_short_log_and_one_file(worker: WorkerProcess) -> None:
    log = worker.scratch / "worker.log"
    worker.call("test.print", {"text": "x" * LARGEST_LOG}, deadline=60)
    assert log.stat().st_size > LARGEST_LOG
    for _ in range(3):
        worker.save("kept.blend")
    assert log.stat().st_size < LARGEST_LOG
    worker.call("test.print", {"text": "AFTERWARDS"}, deadline=60)
    assert "AFTERWARDS by C on stdout" in log.read_text() and "\0" not in log.read_text()
    assert [path.name for path in worker.scratch.glob("kept.*")] == ["kept.blend"]


def test_the_worker_sees_nothing_of_our_environment(
    own_settings: WorkerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "do not tell")
    with PythonEnvironment().open_pool(own_settings) as pool:
        worker = pool.take()
        seen: dict[str, str] = worker.call("test.environment", {}, deadline=60)
    assert "SECRET_TOKEN" not in seen
    assert seen["HOME"].startswith(str(worker.scratch))


def test_the_worker_is_given_the_hashes_of_its_tools(own_settings: WorkerSettings) -> None:
    catalogue = catalog.fingerprint()
    with PythonEnvironment().open_pool(WorkerSettings(own_settings.scratch_root)) as pool:
        worker = pool.take()
        assert worker.catalogue == catalogue
        (given,) = json.loads(
            (worker.scratch / "home" / ".cache" / "blendwright" / registry_cache.FILE).read_text()
        ).values()
        assert given == registry.fingerprints(catalog.tools())


def test_a_worker_has_extensions_only_where_its_settings_name_them(
    own_settings: WorkerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by what its user's environment says."""
    for name, value in TRIALS.items():
        monkeypatch.setenv(name, value)
    with PythonEnvironment().open_pool(WorkerSettings(own_settings.scratch_root)) as pool:
        worker = pool.take()
        with pytest.raises(WorkerFault) as caught:
            worker.call("scene.step", {"tool": "trial.peek", "version": 1, "args": {"how": "nothing"}}, deadline=60)
        assert caught.value.code == "unknown_tool"
        with pytest.raises(WorkerFault) as caught:
            worker.call("test.crash", {"how": "exit"}, deadline=60)
        assert caught.value.code == "unknown_method"


def test_ctrl_c_does_not_end_a_worker(worker: WorkerProcess) -> None:
    assert os.getsid(worker.pid) != os.getsid(0)
    for _ in range(3):
        os.kill(worker.pid, signal.SIGINT)
        assert worker.call("ping", {}, deadline=60) == {}


def test_a_killed_worker_fails_every_call_that_waits_at_once(mortal: WorkerProcess) -> None:
    waiting = [mortal.submit("test.sleep", {}), mortal.submit("ping", {})]
    began = time.monotonic()
    os.kill(mortal.pid, signal.SIGKILL)
    for future in waiting:
        with pytest.raises(WorkerLost, match="SIGKILL"):
            future.result(60)
    assert time.monotonic() - began < AT_ONCE
    assert not mortal.alive
    with pytest.raises(WorkerLost):
        mortal.call("ping", {}, deadline=60)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        pytest.param("abort", "SIGABRT", marks=pytest.mark.slow),
        ("segfault", "SIGSEGV"),
        pytest.param("exit", "exit code 7", marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_a_worker_that_dies_by_itself_is_lost_with_its_cause_and_the_end_of_its_log(
    mortal: WorkerProcess, how: str, expected: str
) -> None:
    mortal.call("test.print", {"text": "last words"}, deadline=60)
    with pytest.raises(WorkerLost, match=expected) as caught:
        mortal.call("test.crash", {"how": how}, deadline=60)
    assert any("last words" in line for line in caught.value.details["log"])


def test_a_deadline_kills_native_work_in_time_and_loses_what_waited_behind_it(mortal: WorkerProcess) -> None:
    began = time.monotonic()
    with ThreadPoolExecutor(1) as other:
        behind = other.submit(lambda: failure_of(lambda: mortal.call("ping", {}, deadline=None)))
        with pytest.raises(DeadlinePassed, match=r"test\.sleep .* 0\.3 s"):
            mortal.call("test.sleep", {}, deadline=0.3)
        assert time.monotonic() - began < AT_ONCE
        # It was sent before or behind the sleep, and then answered or lost with it.
        assert behind.result(60) is None or isinstance(behind.result(), WorkerLost)
    assert_gone(mortal)


@pytest.mark.slow
def test_a_deadline_holds_also_when_the_pipe_to_a_busy_worker_is_full(mortal: WorkerProcess) -> None:
    mortal.submit("test.sleep", {})
    began = time.monotonic()
    behind = [mortal.submit("ping", {"ballast": "x" * 100_000}) for _ in range(20)]
    assert time.monotonic() - began < AT_ONCE
    with pytest.raises(DeadlinePassed):
        mortal.call("ping", {}, deadline=0.2)
    assert time.monotonic() - began < AT_ONCE
    for future in behind:
        with pytest.raises(WorkerLost, match="did not end within"):
            future.result(60)


def test_a_cancel_wakes_the_caller_and_kills_the_worker_at_once(mortal: WorkerProcess) -> None:
    listening = threading.Event()

    class Token(CancelToken):
        def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
            unsubscribe = super().subscribe(listener)
            listening.set()
            return unsubscribe

    token = Token()
    with ThreadPoolExecutor(1) as other:
        call = other.submit(lambda: failure_of(lambda: mortal.call("test.sleep", {}, deadline=60, cancel=token)))
        assert listening.wait(60)
        began = time.monotonic()
        token.cancel()
        assert isinstance(call.result(60), Cancelled)
    assert time.monotonic() - began < AT_ONCE
    assert_gone(mortal)


def test_a_cancel_before_the_call_sends_nothing_and_one_after_it_harms_nobody(worker: WorkerProcess) -> None:
    token = CancelToken()
    assert worker.call("ping", {"n": 1}, deadline=60, cancel=token) == {"n": 1}
    token.cancel()
    with pytest.raises(Cancelled):
        worker.call("test.sleep", {}, deadline=60, cancel=token)
    assert worker.call("ping", {"n": 2}, deadline=60) == {"n": 2}


def test_closing_ends_the_process_and_removes_its_scratch(mortal: WorkerProcess) -> None:
    mortal.close()
    assert_gone(mortal)
    assert not mortal.scratch.exists()
    with pytest.raises(WorkerLost, match="exit code 0"):
        mortal.call("ping", {}, deadline=60)
    mortal.close()


def test_closing_a_busy_worker_kills_it(mortal: WorkerProcess) -> None:
    busy = mortal.submit("test.sleep", {})
    mortal.close(timeout=0.1)
    assert isinstance(busy.exception(10), WorkerLost)
    assert_gone(mortal)


def failure_of(call: Callable[[], object]) -> WorkerError | None:
    try:
        call()
    except WorkerError as error:
        return error
    return None


def assert_gone(worker: WorkerProcess) -> None:
    """Dead and reaped; the kernel needs a moment to take a killed Blender's memory apart."""
    try:
        fd = os.pidfd_open(worker.pid)
    except ProcessLookupError:
        return
    try:
        ready, _, _ = select.select([fd], [], [], 5)
    finally:
        os.close(fd)
    assert ready, "the worker still runs"
