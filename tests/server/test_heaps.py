"""A server's threads share heaps, however many threads there are, and at rest it holds no more than it uses."""

from __future__ import annotations

import gc
import platform
import subprocess
import sys
import weakref
from pathlib import Path
from threading import Semaphore
from types import SimpleNamespace
from typing import Any

import pytest

from blendwright.server import workspace_queue
from blendwright.server.transport.heaps import MOST, give_back_free_memory
from blendwright.server.workspace_queue import WorkspaceQueue
from blendwright.util.cancel import CancelToken

# Threads that all hold memory at the same time, and what the C library says of its heaps then.
COUNTED = """
import ctypes, sys, threading
from blendwright.server.transport.heaps import limit_heaps
if sys.argv[2] == "limited":
    limit_heaps()
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
barrier = threading.Barrier(13)
def allocate():
    blocks = [libc.malloc(ctypes.c_size_t(4096)) for _ in range(200)]
    barrier.wait()
    barrier.wait()
threads = [threading.Thread(target=allocate) for _ in range(12)]
for thread in threads:
    thread.start()
barrier.wait()
file = ctypes.c_void_p(libc.fopen(sys.argv[1].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
barrier.wait()
"""

# Memory with holes: every other block is freed.
HOLES = """
import ctypes
from pathlib import Path
from blendwright.server.transport.heaps import give_back_free_memory
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
blocks = [libc.malloc(ctypes.c_size_t(16384)) for _ in range(4000)]
for block in blocks:
    ctypes.memset(block, 1, 16384)
for block in blocks[::2]:
    libc.free(block)
def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
before = held()
give_back_free_memory()
print(before - held())
"""

# More loaded code than a server has, and requests whose cycles live long enough to be old before they die: how many dead wait at most.
WAITING = """
import gc, sys
from collections import deque
from blendwright.server.transport.heaps import set_loaded_objects_apart
class Cycle:
    alive = 0
    def __init__(self):
        Cycle.alive += 1
        self.me = self
    def __del__(self):
        Cycle.alive -= 1
loaded = [[number] for number in range(400_000)]
gc.collect()
if sys.argv[1] == "apart":
    set_loaded_objects_apart()
in_use, waiting = deque(maxlen=4000), 0
for _ in range(300_000):
    in_use.append(Cycle())
    waiting = max(waiting, Cycle.alive - len(in_use))
print(waiting)
"""

# As many names as a server has loaded, and others that come and go with requests: by how many kB memory that is no file's grows meanwhile.
NAMES = """
import sys
from pathlib import Path
from blendwright.server.transport.heaps import give_back_free_memory, make_room_for_names
loaded = [sys.intern(f"loaded {number}") for number in range(40_000)]
if sys.argv[1] == "with room":
    make_room_for_names()
def anonymous():
    give_back_free_memory()
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:"))
before = anonymous()
for number in range(400_000):
    sys.intern(f"of request {number}")
print(anonymous() - before)
"""


def heaps(place: Path, how: str) -> int:
    subprocess.run([sys.executable, "-c", COUNTED, str(place), how], check=True, timeout=60)
    return place.read_text().count("<heap nr=")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has a heap for every thread")
def test_threads_of_a_server_share_heaps(tmp_path: Path) -> None:
    assert heaps(tmp_path / "free.xml", "free") > MOST
    assert heaps(tmp_path / "limited.xml", "limited") <= MOST


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is known to keep holes")
def test_holes_are_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", HOLES], check=True, timeout=60, capture_output=True, text=True)
    assert int(done.stdout) > 10e6, "of 33 MB that were freed between blocks in use"


def most_dead_cycles(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", WAITING, how], check=True, timeout=60, capture_output=True, text=True)
    return int(done.stdout)


def test_dead_cycles_do_not_wait_for_a_quarter_of_the_loaded_code() -> None:
    assert most_dead_cycles("apart") * 2 < most_dead_cycles("together")


def growth_by_names(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", NAMES, how], check=True, timeout=60, capture_output=True, text=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="looks into /proc, and gives memory back")
def test_the_table_of_names_has_its_size_from_the_beginning() -> None:
    assert growth_by_names("without") > 1000
    assert growth_by_names("with room") < 300


def test_dead_cycles_are_given_back_with_the_holes() -> None:
    cycle: list[Any] = [set[int]()]
    cycle.append(cycle)
    gone = weakref.ref(cycle[0])
    gc.disable()
    try:
        del cycle
        assert gone() is not None
        give_back_free_memory()
        assert gone() is None
    finally:
        gc.enable()


def test_a_server_sets_apart_what_it_has_loaded_before_it_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: Any = SimpleNamespace(close=lambda: None, warm=lambda: None)
    told: list[str] = []
    monkeypatch.setattr(workspace_queue, "set_loaded_objects_apart", lambda: told.append("apart"))

    def opening() -> Any:
        told.append("opened")
        return opened

    queue = WorkspaceQueue(opening)
    queue.start()
    try:
        queue.submit("client", lambda _: told.append("served"), CancelToken()).result(60)
    finally:
        queue.close()
    assert told == ["opened", "apart", "served"]


def test_a_server_at_rest_gives_back_once_and_again_after_it_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    given = Semaphore(0)
    times: list[int] = []

    def give_back() -> None:
        times.append(1)
        given.release()

    monkeypatch.setattr(workspace_queue, "REST_SECONDS", 0.02)
    monkeypatch.setattr(workspace_queue, "give_back_free_memory", give_back)
    rests: list[int] = []
    opened: Any = SimpleNamespace(close=lambda: None, rest=lambda: rests.append(1))
    queue = WorkspaceQueue(lambda: opened, warm=False)
    queue.start()
    try:
        for turn in (1, 2):
            assert given.acquire(timeout=60)
            assert len(times) == turn
            queue.submit("client", lambda _: None, CancelToken()).result(60)
        assert given.acquire(timeout=60)
    finally:
        queue.close()
    assert len(times) == 3
    assert len(rests) == 2, "before the first request there is no workspace that could rest"
