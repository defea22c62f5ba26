"""One writer per workspace: a lock that the kernel releases with the process, and in it the name of its holder, for whoever is refused.

The lock keeps honest processes apart. It is not what keeps the journal whole: that is the fencing number in journal.db, which every
write transaction checks, so that a holder who lost the lock (its file was removed, the disk is shared) cannot write any more.
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
    """Held from construction to `release` or the end of the process. Raises EnvironmentUnfit when another process has it."""

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
        """A second time does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _refusal(path: Path) -> EnvironmentUnfit:
    holder = _holder(path)
    if holder:
        who = f"process {holder['pid']} on {holder['host']}, since {holder['since']}"
    else:
        who = "another process"
    return EnvironmentUnfit(
        f"the workspace {path.parent} is in use by {who}",
        cure="Wait until it has ended, or end it: what it has committed is safe.",
        details={"holder": holder},
    )


def _holder(path: Path) -> dict[str, Any] | None:
    """Who holds it; None in the moment between taking the lock and writing the tag."""
    try:
        tag: dict[str, Any] = json.loads(path.read_text())
        return {name: tag[name] for name in ("pid", "host", "since")}
    except (OSError, ValueError, TypeError, KeyError):
        return None


def current_holder(directory: Path) -> dict[str, Any] | None:
    """Who holds the lock now, as far as the system tells; None where nobody does. Takes nothing: whoever opens the workspace in this
    moment is not in the way of anybody."""
    path = directory / FILE
    try:
        inode = f":{path.stat().st_ino} "
        held = any(inode in line and " FLOCK " in line for line in Path("/proc/locks").read_text().splitlines())
    except OSError:
        return None
    if held:
        return _holder(path)
    return None
