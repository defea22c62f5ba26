"""A server's threads share heaps, however many threads there are."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from blendwright.server.heaps import MOST

# Threads that all hold memory at the same time, and what the C library says of its heaps then.
COUNTED = """
import ctypes, sys, threading
from blendwright.server.heaps import limit_heaps
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


def heaps(place: Path, how: str) -> int:
    subprocess.run([sys.executable, "-c", COUNTED, str(place), how], check=True, timeout=60)
    return place.read_text().count("<heap nr=")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has a heap for every thread")
def test_threads_of_a_server_share_heaps(tmp_path: Path) -> None:
    assert heaps(tmp_path / "free.xml", "free") > MOST
    assert heaps(tmp_path / "limited.xml", "limited") <= MOST
