"""Ties a worker's life to its parent's, so that no orphan is left even when the parent is killed by SIGKILL.

Must run before anything slow, and before confinement forbids the system call it needs.
"""

import os
import signal
import sys
import threading

PARENT_GONE = 4

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process with its parent; exits when the parent is gone already."""
    if sys.platform == "linux":
        from blendwright.blender.confinement.linux import prctl  # imports modules that only POSIX systems have

        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # Between the fork and the line above nobody watched: a parent that died in that gap has left us to another one.
    if os.getppid() != parent:
        sys.stderr.write(f"the parent is {os.getppid()}, not {parent} as expected: ending\n")
        sys.stderr.flush()
        os._exit(PARENT_GONE)


def watch(fd: int) -> None:
    """For systems without a death signal: a thread that waits for the end of a pipe whose other end the parent holds open."""

    def wait_for_end() -> None:
        while os.read(fd, 1):
            pass
        os._exit(PARENT_GONE)

    threading.Thread(target=wait_for_end, name="lifeline", daemon=True).start()
