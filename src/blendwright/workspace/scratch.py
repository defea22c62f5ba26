"""The scratch directory of one open scene: it belongs to its owner as long as that lives, and is removed by the next one otherwise.

An owner that is killed cannot clean up. It has a lock on a file in its directory, which the kernel releases with the process:
whoever opens the workspace next finds the directory unlocked and removes it.
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

# In a workspace.
SCRATCH = "scratch"
PREFIX = "session-"
OWNER = "owner.lock"
ROOT_LOCK = ".lock"
# Whoever opens a workspace waits so long for what others left to be gone, and goes on while the rest is removed.
ABANDONED_SECONDS = 1.0
# Whoever gives up a directory waits so long until it is gone; the rest is for the next one.
REMOVAL_SECONDS = 5.0

if sys.platform == "win32":

    def _lock(descriptor: int, *, wait: bool) -> bool:
        """Without such locks nobody is taken for dead: what was left behind stays."""
        return wait
else:
    import fcntl

    def _lock(descriptor: int, *, wait: bool) -> bool:
        """Take the lock of an open file; it belongs to the descriptor, and children do not inherit it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True


class SessionScratch:
    """A new directory in `root`, ours until `remove`. Raises OSError when there cannot be one.

    `cleared` counts what others had left.
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
        """Give it up; a second time does nothing."""
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
    """Ours, and nobody else's to remove, until it is gone."""
    try:
        remove_directory(directory)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _exclusive(root: Path) -> Generator[None]:
    """One at a time: between making a directory and locking it, another process would take it for abandoned."""
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
    """What the system refuses inside makes the environment unfit; the system says why."""
    try:
        yield
    except OSError as error:
        raise EnvironmentUnfit(f"{problem}: {error.strerror}", cure=cure) from error
