"""Background clearing of ended processes and the directories that they left.

Foreign code can leave so much data that removing it takes longer than the next call may take.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable


class BackgroundClearing:
    """A queue of clearing jobs, run one by one in a thread that ends with the queue.

    The process does not wait for it at exit.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Callable[[], object]] = deque()
        self._thread: threading.Thread | None = None

    def submit(self, clear: Callable[[], object]) -> None:
        """Queue a job. The thread ignores an OSError, so anything that it cannot remove stays."""
        with self._changed:
            self._waiting.append(clear)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="blendwright-clearing", daemon=True)
                self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Return True if all jobs end within this number of seconds."""
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
