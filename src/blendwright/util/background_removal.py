"""Clears away in the background what nobody waits for: ended processes, and the directories that they left.

Foreign code can leave so much that removing it takes longer than the call that comes next may.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable


class BackgroundClearing:
    """One thing after the other, in a thread that lives as long as there is something to do. No process waits for it at its end."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Callable[[], object]] = deque()
        self._thread: threading.Thread | None = None

    def submit(self, clear: Callable[[], object]) -> None:
        """Do it soon. An OSError is nobody's: what cannot be removed stays."""
        with self._changed:
            self._waiting.append(clear)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="blendwright-clearing", daemon=True)
                self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Whether everything was cleared within so many seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: self._thread is None, seconds)

    def _work(self) -> None:
        while True:
            with self._changed:
                if not self._waiting:
                    self._thread = None
                    self._changed.notify_all()
                    return
                clear = self._waiting.popleft()
            with contextlib.suppress(OSError):
                clear()
