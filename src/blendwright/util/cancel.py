"""How a call is cancelled: one token that whoever may cancel and whoever must stop share."""

from __future__ import annotations

import threading
from collections.abc import Callable


class CancelToken:
    """One wish to stop, shared by whoever may utter it and whoever must obey: listeners are called at once, nobody polls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._listeners: dict[object, Callable[[], None]] = {}

    @property
    def cancelled(self) -> bool:
        """Whether somebody has asked to stop."""
        return self._cancelled

    def cancel(self) -> None:
        """Call every listener, in this thread; a second time does nothing."""
        with self._lock:
            if self._cancelled:
                listeners = []
            else:
                listeners = list(self._listeners.values())
            self._cancelled = True
            self._listeners.clear()
        for listener in listeners:
            listener()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Have `listener` called on cancel, right now when that has happened already; returns how to unsubscribe."""
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
