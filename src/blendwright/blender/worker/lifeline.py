"""A tie between a worker's life and its parent's. No orphan remains, even if SIGKILL ends the parent.

It must run before anything slow, and before confinement forbids the system call that it needs.
"""

import os
import signal
import sys
import threading

PARENT_GONE = 4

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Make the kernel kill this process when its parent ends. Exit with PARENT_GONE if the parent has ended already."""
    if sys.platform == "linux":
        from blendwright.blender.confinement.linux import prctl  # imports modules that exist only on POSIX systems

        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # Nothing watches between the fork and the line above. If the parent ended in that gap, another process is the parent now.
    if os.getppid() != parent:
        sys.stderr.write(f"the worker ends, because its parent is {os.getppid()} and not {parent}\n")
        sys.stderr.flush()
        os._exit(PARENT_GONE)


def watch(fd: int) -> None:
    """Start a thread that exits the process at the end of a pipe. The parent holds its other end. For systems without a death signal."""

    def wait_for_end() -> None:
        while os.read(fd, 1):
            pass
        os._exit(PARENT_GONE)

    threading.Thread(target=wait_for_end, name="lifeline", daemon=True).start()
