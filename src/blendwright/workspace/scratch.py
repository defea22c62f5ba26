"""The scratch directory of one open scene. It lives as long as its owner; if the owner dies, the next owner removes
it.

A killed owner cannot clean up. It holds a lock on a file in its directory, which the kernel releases with the
process. The next process that opens the workspace finds the directory unlocked and removes it.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

from blendwright.util.background_removal import BackgroundClearing
from blendwright.util.directory_removal import remove_directory
from blendwright.values.errors import EnvironmentUnfit

# The name of the scratch directory in a workspace.
SCRATCH = "scratch"
PREFIX = "session-"
OWNER = "owner.lock"
ROOT_LOCK = ".lock"
# The time that opening a workspace waits for the removal of abandoned directories. The removal then continues in the background.
ABANDONED_SECONDS = 1.0
# The time that closing waits for the removal of its directory. The next owner removes the rest.
REMOVAL_SECONDS = 5.0

if sys.platform == "win32":

    def _lock(descriptor: int, *, wait: bool) -> bool:
        """Report every other owner as alive, because this system has no such locks. Abandoned directories then stay."""
        return wait
else:
    import fcntl

    def _lock(descriptor: int, *, wait: bool) -> bool:
        """Lock an open file, and return False if another process has the lock.

        The lock belongs to the descriptor; children do not inherit it.
        """
        operation = fcntl.LOCK_EX
        if not wait:
            operation |= fcntl.LOCK_NB
        try:
            fcntl.flock(descriptor, operation)
        except BlockingIOError:
            return False
        return True


class SessionScratch:
    """A new directory in `root`, which belongs to this process until `remove`. Raise OSError when it cannot be
    created.

    `cleared` counts the abandoned directories that were removed.
    """

    def __init__(self, root: Path) -> None:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._clearing = BackgroundClearing()
        with _exclusive(root):
            self.cleared = _clear_abandoned(root, self._clearing)
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
            self._descriptor = _open_lock(self.path / OWNER)
            _lock(self._descriptor, wait=True)
        self._clearing.wait(ABANDONED_SECONDS)
        self._removed = False

    def remove(self) -> None:
        """Remove the directory. A second call does nothing."""
        if not self._removed:
            self._removed = True
            self._clearing.submit(lambda: _remove(self.path, self._descriptor))
            self._clearing.wait(REMOVAL_SECONDS)


def _clear_abandoned(root: Path, clearing: BackgroundClearing) -> int:
    cleared = 0
    for directory in root.glob(PREFIX + "*"):
        with contextlib.suppress(OSError):
            descriptor = _open_lock(directory / OWNER)
            if _lock(descriptor, wait=False):
                clearing.submit(functools.partial(_remove, directory, descriptor))
                cleared += 1
            else:
                os.close(descriptor)
    return cleared


def _remove(directory: Path, descriptor: int) -> None:
    """Remove a directory while holding its lock, and release the lock at the end."""
    try:
        remove_directory(directory)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _exclusive(root: Path) -> Generator[None]:
    """Hold the lock of `root`. Without it, another process could remove a new directory before its owner locks it."""
    descriptor = _open_lock(root / ROOT_LOCK)
    try:
        _lock(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)


def _open_lock(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


@contextlib.contextmanager
def unfit_on_os_error(problem: str, cure: str) -> Generator[None]:
    """Translate OSError inside the block to EnvironmentUnfit, with the reason of the system in the message."""
    try:
        yield
    except OSError as error:
        raise EnvironmentUnfit(f"{problem}: {error.strerror}", cure=cure) from error
