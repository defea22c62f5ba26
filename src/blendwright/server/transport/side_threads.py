"""The threads beside the event loop of a server, for short work that would hold it up: all of them are there from its beginning.

Left to itself the loop starts one more whenever all that it has are busy, up to four more than there are cores, and none ever ends: a
server would grow by a thread at some chance moment of its third hour.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

# Pictures made smaller, plans checked, pages read: more at once would only share the cores.
AT_ONCE = 4


def start_side_threads(loop: asyncio.AbstractEventLoop) -> None:
    """For `asyncio.to_thread` in this loop, which ends them when it ends."""
    threads = ThreadPoolExecutor(AT_ONCE, "beside")
    # An executor starts a thread only where none is idle: each waits for the last one.
    all_there = threading.Barrier(AT_ONCE)
    for _ in range(AT_ONCE):
        threads.submit(all_there.wait)
    loop.set_default_executor(threads)
