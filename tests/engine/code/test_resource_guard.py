"""What foreign code may take while it runs, and what of it is fetched afterwards: on processes that are no Blender."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from blendwright.engine.code import resource_guard as watching
from blendwright.engine.code.resource_guard import ResourceGuard, UncountableDirectory, entries_below
from blendwright.engine.code.sandbox_run import fetch_result_file
from blendwright.engine.files.access import FileAccess
from blendwright.engine.preview import PreviewFiles
from blendwright.util.directory_removal import remove_directory
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

MEGABYTE = 1 << 20
WAITING = "print('ready', flush=True); input()"
HOARDING = "import os; f = open('gone', 'w+b'); os.unlink('gone'); f.write(bytes(3 << 20)); f.flush(); "


@dataclass
class Process:
    """Stands for a worker: a process with a scratch directory."""

    process: subprocess.Popen[bytes]
    scratch: Path
    killed: bool = False

    @property
    def pid(self) -> int:
        return self.process.pid

    def kill(self) -> None:
        self.killed = True
        self.process.kill()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Process]]:
    started: list[Process] = []

    def begin(code: str) -> Process:
        place = tmp_path / "scratch"
        place.mkdir(exist_ok=True)
        process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        started.append(Process(process, place))
        return started[-1]

    yield begin
    for one in started:
        one.process.kill()
        one.process.communicate()


class SettledGuard(ResourceGuard):
    """Says when it knows: once it has found too much, or nothing of it in the memory and nothing on the disk."""

    def __init__(self, worker: Process) -> None:
        port: Any = worker
        super().__init__(port, scratch_mb=2)
        self.settled = threading.Event()
        self._little = set[str]()

    def _memory_excess(self) -> str | None:
        return self._noted("memory", super()._memory_excess())

    def _disk_excess(self) -> str | None:
        return self._noted("disk", super()._disk_excess())

    def _noted(self, where: str, excess: str | None) -> str | None:
        if excess is None:
            self._little.add(where)
        if excess is not None or self._little == {"memory", "disk"}:
            self.settled.set()
        return excess


def watched(worker: Process) -> str | None:
    """Why it was killed; None where it was still there after having been looked at."""
    with SettledGuard(worker) as watch:
        assert watch.settled.wait(60)
    found = watch.finding()
    assert (found is not None) == worker.killed
    if found is None:
        return None
    assert found.fault is Fault.LIMIT_EXCEEDED and found.cure
    return found.message


def test_code_that_takes_little_is_left_alone(start: Callable[[str], Process]) -> None:
    worker = start(WAITING)
    (worker.scratch / "some").write_bytes(bytes(MEGABYTE))
    with (worker.scratch / "sparse").open("wb") as file:
        file.truncate(100 * MEGABYTE)
    (worker.scratch / "link").symlink_to("/dev/zero")
    assert watched(worker) is None


def test_code_that_fills_the_disk_is_ended(start: Callable[[str], Process]) -> None:
    worker = start(WAITING)
    (worker.scratch / "deep").mkdir()
    for name in ("a", "b", "deep/c"):
        (worker.scratch / name).write_bytes(bytes(MEGABYTE))
    assert "2 MB of disk" in (watched(worker) or "")


def test_code_that_hides_what_it_takes_is_ended(start: Callable[[str], Process]) -> None:
    assert "2 MB of disk" in (watched(start(HOARDING + WAITING)) or "")


def link(path: Path) -> None:
    path.symlink_to("/")


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir, link], ids=["file", "directory", "link"])
def test_code_that_makes_entries_without_number_is_ended(
    start: Callable[[str], Process], monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], object]
) -> None:
    monkeypatch.setattr(watching, "MOST_ENTRIES", 20)
    worker = start(WAITING)
    for number in range(25):
        make(worker.scratch / f"{number}")
    assert "20 files and directories" in (watched(worker) or "")


def test_what_a_call_leaves_is_counted_no_further_than_it_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("blendwright.engine.files.access.MOST_ENTRIES", 20)
    files, scratch = FileAccess({}, tmp_path / "artifacts"), tmp_path / "scratch"
    for number in range(20):
        (scratch / f"{number}").mkdir(parents=True)
    files.refuse_too_much(scratch)
    (scratch / "one more").mkdir()
    with pytest.raises(Refusal, match="more than 20 files and directories"):
        files.refuse_too_much(scratch)


def test_code_that_starts_threads_without_number_is_ended(
    start: Callable[[str], Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "MOST_THREADS", 20)
    threads = (
        "import threading; threading.stack_size(65536); "
        "[threading.Thread(target=threading.Event().wait, daemon=True).start() for _ in range({})]; "
    )
    assert watched(start(threads.format(10) + WAITING)) is None
    assert "20 threads" in (watched(start(threads.format(30) + WAITING)) or "")


def test_code_that_takes_the_memory_is_ended(start: Callable[[str], Process], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "RESIDENT_MB", 40)
    assert watched(start(WAITING)) is None
    assert "40 MB of memory" in (watched(start("x = bytearray(80 << 20); " + WAITING)) or "")


def test_the_memory_is_watched_however_long_a_look_at_the_disk_takes(
    start: Callable[[str], Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "RESIDENT_MB", 40)
    worker = start("x = bytearray(80 << 20); " + WAITING)

    def endless(directory: Path) -> Iterator[os.stat_result]:
        worker.process.wait(60)
        yield from ()

    monkeypatch.setattr(watching, "entries_below", endless)
    assert "40 MB of memory" in (watched(worker) or "")


# As fast as the machine writes to memory, from two threads at once; it stops where the kernel stops it, and keeps what it has.
BOMB = f"""
import resource, threading, time
resource.setrlimit(resource.RLIMIT_AS, ({4096 * MEGABYTE}, {4096 * MEGABYTE}))
held = []
def take():
    try:
        while True: held.append(b"x" * {16 * MEGABYTE})
    except MemoryError:
        time.sleep(60)
print("ready", flush=True)
input()
threading.Thread(target=take, daemon=True).start()
take()
"""


def test_no_code_has_more_memory_than_it_may(start: Callable[[str], Process], monkeypatch: pytest.MonkeyPatch) -> None:
    """By what the kernel says of the process after its end: it was stopped by the guard, well before the bound of the kernel."""
    monkeypatch.setattr(watching, "RESIDENT_MB", 512)
    worker = start(BOMB)
    port: Any = worker
    assert worker.process.stdin is not None
    with ResourceGuard(port, scratch_mb=2) as guard:
        worker.process.stdin.write(b"go\n")
        worker.process.stdin.flush()
        _, status, spent = os.wait4(worker.pid, 0)
    found = guard.finding()
    assert found is not None and "512 MB of memory" in found.message
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    assert 512 << 10 < spent.ru_maxrss < 3072 << 10, f"it had {spent.ru_maxrss >> 10} MB at most"


HIDING = {
    "shared memory of which a page is kept": (
        "m = libc.mmap(None, 8 << 20, 3, 0x21, -1, 0); ctypes.memset(m, 1, 8 << 20); "
        "libc.munmap(ctypes.c_void_p(m + 4096), (8 << 20) - 4096); "
    ),
    "a file without a name of which a page is kept": (
        "f = open('x', 'w+b'); f.write(bytes(1 << 20)); f.flush(); m = libc.mmap(None, 4096, 1, 1, f.fileno(), 0); "
        "os.unlink('x'); f.close(); "
    ),
}


@pytest.mark.parametrize("how", HIDING)
def test_code_that_hides_memory_is_ended(start: Callable[[str], Process], how: str) -> None:
    calls = "import ctypes, os; libc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_long; libc.mmap.argtypes = [ctypes.c_void_p, "
    calls += "ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]; "
    assert "cannot be measured" in (watched(start(calls + HIDING[how] + WAITING)) or "")


def nested(place: Path, name: str, depth: int) -> None:
    """Directories in one another, deeper than a path can be written; a file at the bottom."""
    home = Path.cwd()
    try:
        os.chdir(place)
        for _ in range(depth):
            os.mkdir(name)  # noqa: PTH102 - a path could not be that long
            os.chdir(name)
        Path("hidden").write_bytes(bytes(4 * MEGABYTE))
    finally:
        os.chdir(home)


@contextlib.contextmanager
def as_somebody(place: Path) -> Generator[None]:
    """Root may read everything: whoever looks must be somebody else."""
    if os.geteuid() != 0:
        yield
        return
    os.chown(place, 65534, 65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A directory that others can reach, too."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o777)
    yield place
    shutil.rmtree(place, ignore_errors=True)


def test_a_directory_that_nobody_may_read_counts_as_too_much(open_place: Path) -> None:
    with as_somebody(open_place):
        (open_place / "hidden").mkdir(0o300)
        (open_place / "hidden" / "large").write_bytes(bytes(MEGABYTE))
        with pytest.raises(UncountableDirectory, match="cannot be read"):
            list(entries_below(open_place))


def test_a_nest_deeper_than_a_path_is_long_counts_as_too_much(start: Callable[[str], Process]) -> None:
    worker = start(WAITING)
    nested(worker.scratch, "d" * 250, 30)
    assert "cannot be read" in (watched(worker) or "")
    remove_directory(worker.scratch)


def test_a_deep_nest_is_looked_through(start: Callable[[str], Process]) -> None:
    worker = start(WAITING)
    nested(worker.scratch, "d", 1500)
    assert "2 MB of disk" in (watched(worker) or "")
    remove_directory(worker.scratch)


def test_what_nobody_may_read_and_what_is_too_deep_is_cleared_away(open_place: Path) -> None:
    with as_somebody(open_place):
        scratch = open_place / "scratch"
        (scratch / "a" / "b").mkdir(parents=True)
        (scratch / "a" / "b" / "file").write_text("x")
        (scratch / "link").symlink_to("/")
        nested(scratch, "d", 2500)
        (scratch / "a" / "b").chmod(0)
        (scratch / "a").chmod(0)
        remove_directory(scratch)
        assert not scratch.exists()
        remove_directory(scratch)


def test_a_preview_is_held_to_the_same_bound(tmp_path: Path) -> None:
    files = FileAccess({}, tmp_path, scratch_mb=64)
    assert PreviewFiles.replacing(files, tmp_path).scratch_mb == 64


# ---------------------------------------------------------------------- what is left


def refused(left: Path, target: Path) -> str | None:
    found = fetch_result_file(left, target, 1)
    return None if found is None else found.message


def test_a_plain_file_is_fetched(tmp_path: Path) -> None:
    left, target = tmp_path / "left", tmp_path / "target"
    left.write_bytes(b"BLENDER")
    assert refused(left, target) is None
    assert target.read_bytes() == b"BLENDER"


def test_what_is_no_plain_file_or_too_large_is_not_fetched(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"as before")
    (tmp_path / "secret").write_bytes(b"hush")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(bytes(MEGABYTE + 1))
    for name in ("link", "folder", "pipe", "large", "missing"):
        assert "the code left no scene" in (refused(tmp_path / name, target) or ""), name
        assert target.read_bytes() == b"as before"
