"""An exclusive lock on an open file, which the kernel releases with the process."""

from __future__ import annotations

import sys

if sys.platform == "win32":

    def is_locked_elsewhere(descriptor: int) -> bool:
        """Return False: there is no such lock on this system."""
        return False
else:
    import fcntl

    def is_locked_elsewhere(descriptor: int) -> bool:
        """Take the lock, and return False; return True where another open file has it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False
