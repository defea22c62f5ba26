"""A forked worker is as good as one that was started: what it is, how it ends, and that it cannot hang."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from blendwright.bridge import spawn
from blendwright.bridge.pool import Pool
from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.bridge.spawn import WorkerSettings
from blendwright.tools.catalog import tools
from blendwright.values.errors import WorkerLost
from blendwright.wire.worker_environment import EXTENSIONS, private_environment
from support.engine.engine import TRIALS
from support.processes.forked_workers.template import ForkedWorkers
from support.processes.forked_workers.template import start_process as really_start

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks only where processes can be adopted")

TESTS = Path(__file__).resolve().parents[1]
ENVIRONMENT = {
    EXTENSIONS: os.pathsep.join(
        [TRIALS[EXTENSIONS], str(TESTS / "support" / "processes" / "forked_workers" / "traits.py")]
    )
}


@pytest.fixture(scope="module")
def forked() -> Iterator[ForkedWorkers]:
    workers = ForkedWorkers()
    yield workers
    workers.close()


@pytest.fixture
def settings(tmp_path: Path) -> WorkerSettings:
    return WorkerSettings(tmp_path / "scratch", environment=ENVIRONMENT)


@pytest.fixture
def pool(forked: ForkedWorkers, settings: WorkerSettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    """Of workers that are forked, one and all."""
    monkeypatch.setattr(spawn, "start_process", forked.start)
    before = forked.real_starts
    with PythonEnvironment().open_pool(settings) as pool:
        yield pool
    assert forked.real_starts == before


@contextlib.contextmanager
def started(settings: WorkerSettings, monkeypatch: pytest.MonkeyPatch) -> Generator[Pool]:
    with monkeypatch.context() as patch, PythonEnvironment().open_pool(settings) as pool:
        patch.setattr(spawn, "start_process", really_start)
        yield pool


def traits(pool: Pool) -> dict[str, Any]:
    worker = pool.take()
    answer = worker.call("test.traits", {}, deadline=20)
    about = worker.profile.model_dump(mode="json", exclude={"pid", "memory_mb"})
    everything = {
        **answer,
        "profile": about,
        "catalogue": worker.catalogue,
        "empty scene": worker.hash(full=True),
        "leads its session": os.getsid(worker.pid) == os.getpgid(worker.pid) == worker.pid,
        "descriptors seen from outside": len(list(Path(f"/proc/{worker.pid}/fd").iterdir())),
    }
    return json.loads(json.dumps(everything).replace(str(worker.scratch), "SCRATCH"))


def test_it_is_what_one_that_was_started_is(
    pool: Pool, settings: WorkerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = traits(pool)
    with started(settings, monkeypatch) as real:
        theirs = traits(real)
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert ours[name] == theirs[name], name
    assert ours["parent"] == os.getpid() and ours["profile"]["confinement"]["level"] == "full"


@pytest.mark.parametrize(
    ("how", "details"), [("abort", {"signal": 6}), ("segfault", {"signal": 11}), ("exit", {"exit_code": 7})]
)
def test_its_end_is_seen_as_it_was(pool: Pool, how: str, details: dict[str, int]) -> None:
    worker = pool.take()
    with pytest.raises(WorkerLost) as lost:
        worker.call("test.crash", {"how": how}, deadline=20)
    assert lost.value.details.items() >= {**details, "pid": worker.pid}.items()


def test_it_is_killed_and_reaped_once(pool: Pool) -> None:
    worker = pool.take()
    call = worker.submit("test.sleep", {})
    worker.kill()
    assert isinstance(error := call.exception(60), WorkerLost) and error.details["signal"] == signal.SIGKILL
    worker.kill()  # no signal goes to whoever has its number next
    with pytest.raises(ChildProcessError):
        os.waitpid(worker.pid, os.WNOHANG)


def test_the_orphans_of_others_are_not_taken_in(pool: Pool) -> None:
    pool.take()
    on = ctypes.c_int(-1)
    get_child_subreaper = 37
    assert ctypes.CDLL(None).prctl(get_child_subreaper, ctypes.byref(on), 0, 0, 0) == 0
    assert on.value == 0


def test_nothing_that_is_forked_waits_for_threads_it_does_not_have(pool: Pool) -> None:
    """OpenEXR hands work to threads of its own, and waits for them without end where they were left behind."""
    assert pool.take().call("test.write_exr", {}, deadline=20) == [4 * 512 * 512, [512, 512]]


def test_no_two_of_them_have_the_same_random_numbers(pool: Pool) -> None:
    first, second = (pool.take().call("test.chance", {}, deadline=20) for _ in range(2))
    assert first[0] != second[0] and first[1] != second[1]


@pytest.mark.parametrize("changed", [{"PYTHONHASHSEED": "1"}, {"PYTHONPATH": "elsewhere"}, {"TZ": "Asia/Tokyo"}])
def test_what_an_interpreter_reads_when_it_starts_means_a_start(
    forked: ForkedWorkers, settings: WorkerSettings, changed: dict[str, str], tmp_path: Path
) -> None:
    command = PythonEnvironment().command(["--nothing"])
    pipe = os.pipe()
    environment = {**private_environment(tmp_path), **changed}
    before = forked.real_starts
    with (tmp_path / "log").open("wb") as log:
        process = forked.start(command, log=log.fileno(), descriptors=pipe, environment=environment, directory=tmp_path)
    assert isinstance(process, subprocess.Popen) and forked.real_starts == before + 1
    process.kill()
    process.wait()
    for descriptor in pipe:
        os.close(descriptor)


@pytest.mark.real_starts
def test_a_test_that_is_marked_has_real_starts(settings: WorkerSettings) -> None:
    with PythonEnvironment().open_pool(settings) as pool:
        assert isinstance(pool.take()._child.process, subprocess.Popen)  # pyright: ignore[reportPrivateUsage]


PARENT = """
import sys
from pathlib import Path
from blendwright.bridge import spawn
from blendwright.bridge.sources import worker_source
from support.processes.forked_workers.template import ForkedWorkers

forked = ForkedWorkers()
spawn.start_process = forked.start
worker = worker_source().open_pool(spawn.WorkerSettings(Path(sys.argv[1]))).take()
assert forked.forks == 1
print(worker.pid, forked.template_pid, flush=True)
sys.stdin.read()
"""


def test_no_worker_and_no_template_is_left_when_the_core_is_killed(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(TESTS), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", PARENT, str(tmp_path / "scratch")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        pids = [os.pidfd_open(int(pid)) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        parent.kill()
    for pid in pids:
        assert select.select([pid], [], [], 10)[0], "it outlived the core"
        os.close(pid)


@pytest.mark.parametrize("forks", [2, pytest.param(300, marks=pytest.mark.slow)])
def test_many_forks_in_a_row_do_their_work(pool: Pool, forks: int) -> None:
    hashes = {work(pool) for _ in range(forks)}
    assert len(hashes) == 1


def work(pool: Pool) -> str:
    """What takes Blender through its threads, its files and its memory; the hash of the scene that is read in again."""
    worker = pool.take()
    for tool, args in STEPS:
        answer = worker.step({"tool": tool, "version": tools()[tool].version, "args": args}, deadline=60)
        assert answer["ok"], answer
    saved = worker.save("scene.blend")
    assert worker.open("scene.blend") == saved == worker.hash(full=True)
    worker.kill()
    return saved


STEPS: list[tuple[str, dict[str, Any]]] = [
    ("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball"}),
    ("modifier.add", {"object": "Ball", "name": "Smooth", "settings": {"type": "SUBSURF", "levels": 3}}),
    ("modifier.apply", {"object": "Ball", "modifier": "Smooth", "type": "SUBSURF"}),
    ("camera.create", {"name": "Camera", "location": [0, -6, 0], "rotation_euler_deg": [90, 0, 0]}),
    ("render.preview", {"camera": "Camera", "engine": "CYCLES", "samples": 2, "width": 64, "height": 48}),
]
