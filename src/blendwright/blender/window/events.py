"""Events in a window that the core did not cause: undo, redo, opening another file, saving.

The handlers are registered with Blender while a core is attached."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import bpy

_handlers: Any = bpy.app.handlers


class WindowEvents:
    """A counter of the user's undo, redo and load events, which also calls back at once.

    `moved` is called after undo or redo, `loaded` after another file was opened, and `saving` before a save. `moved_count` counts
    the first two kinds. Events within `own` are ignored."""

    def __init__(self, moved: Callable[[], None], loaded: Callable[[], None], saving: Callable[[], None]) -> None:
        self.moved_count = 0
        self.is_loading = False
        self._moved, self._loaded, self._saving = moved, loaded, saving
        self._is_own = False
        self._registered: list[tuple[Any, Any]] = []

    def register(self) -> None:
        # Each handler is a separate function, since a method cannot be marked as persistent.
        for name, act in (
            ("undo_post", self._undone),
            ("redo_post", self._undone),
            ("load_pre", self._begin_load),
            ("load_post", self._end_load),
            ("load_post_fail", self._fail_load),
            ("save_pre", self._before_save),
        ):
            function = _persistent_function(act)
            getattr(_handlers, name).append(function)
            self._registered.append((getattr(_handlers, name), function))

    def unregister(self) -> None:
        for functions, function in self._registered:
            if function in functions:
                functions.remove(function)
        self._registered.clear()

    @contextmanager
    def own(self) -> Generator[None]:
        """Ignore all events for the length of the block, because Blendwright itself causes them."""
        self._is_own = True
        try:
            yield
        finally:
            self._is_own = False

    def _undone(self) -> None:
        if not self._is_own:
            self.moved_count += 1
            self._moved()

    def _begin_load(self) -> None:
        self.is_loading = True

    def _end_load(self) -> None:
        self.is_loading = False
        if not self._is_own:
            self.moved_count += 1
            self._loaded()

    def _fail_load(self) -> None:
        """End the load: if Blender cannot read a file, the previous file stays open."""
        self.is_loading = False

    def _before_save(self) -> None:
        if not self._is_own:
            self._saving()


def _persistent_function(act: Callable[[], None]) -> Callable[..., None]:
    """Return a handler that stays registered when another file is opened."""

    def call(*_: Any) -> None:
        act()

    _handlers.persistent(call)
    return call
