"""Cancellation of calls with a token that the canceller and the cancelled code share."""

from __future__ import annotations

import threading
from collections.abc import Callable


class CancelToken:
    """A shared request to stop. It calls its listeners immediately, so no code needs to poll."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._listeners: dict[object, Callable[[], None]] = {}

    @property
    def cancelled(self) -> bool:
        """True after the first call of `cancel`."""
        return self._cancelled

    def cancel(self) -> None:
        """Call every listener in this thread. Further calls do nothing."""
        with self._lock:
            listeners = list(self._listeners.values())
            self._cancelled = True
            self._listeners.clear()
        for listener in listeners:
            listener()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` on cancel, or now if the token is already cancelled. Return a function that unsubscribes it."""
        key = object()
        with self._lock:
            if not self._cancelled:
                self._listeners[key] = listener
                return lambda: self._forget(key)
        listener()
        return lambda: None

    def _forget(self, key: object) -> None:
        with self._lock:
            self._listeners.pop(key, None)
