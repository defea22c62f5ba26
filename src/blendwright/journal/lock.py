"""The lock that allows one writer per workspace. The kernel releases it with the process. The lock file names its
holder.

The lock separates well-behaved processes. The fencing number in journal.db protects the journal itself: every write
transaction checks it. A holder that lost the lock, because of a removed lock file or a shared disk, can therefore no
longer write.
"""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

from blendwright.util import crash_points
from blendwright.util.file_lock import is_locked_elsewhere
from blendwright.values.errors import EnvironmentUnfit

FILE = "journal.lock"


class WorkspaceLock:
    """A workspace lock, from construction to `release` or the end of the process.

    Raise EnvironmentUnfit when another process has it.
    """

    def __init__(self, directory: Path, since: str) -> None:
        path = directory / FILE
        self._descriptor: int | None = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if is_locked_elsewhere(self._descriptor):
                raise _refusal(path)
            tag = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since}).encode()
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, tag, 0)
            crash_points.reach("lock.held")
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Release the lock. A second call does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _refusal(path: Path) -> EnvironmentUnfit:
    holder = _holder(path)
    if holder:
        holder_name = f"process {holder['pid']} on {holder['host']}, since {holder['since']}"
    else:
        holder_name = "another process"
    return EnvironmentUnfit(
        f"the workspace {path.parent} is in use by {holder_name}",
        cure="Wait until it has ended, or end it: its committed work is safe.",
        details={"holder": holder},
    )


def _holder(path: Path) -> dict[str, Any] | None:
    """Return the holder named in the lock file, or None in the moment between taking the lock and writing the name."""
    try:
        tag: dict[str, Any] = json.loads(path.read_text())
        return {name: tag[name] for name in ("pid", "host", "since")}
    except (OSError, ValueError, TypeError, KeyError):
        return None


def current_holder(directory: Path) -> dict[str, Any] | None:
    """Return the current holder of the lock, or None if the lock is free or the system does not report locks.

    The function takes no lock, so it never blocks a process that opens the workspace.
    """
    path = directory / FILE
    try:
        inode = f":{path.stat().st_ino} "
        is_locked = any(inode in line and " FLOCK " in line for line in Path("/proc/locks").read_text().splitlines())
    except OSError:
        return None
    if is_locked:
        return _holder(path)
    return None
