"""What happens to a window besides our requests: undo, redo, another file, saving. Registered with Blender while a core is attached."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import bpy

_handlers: Any = bpy.app.handlers


class WindowEvents:
    """Counts what is not ours, and calls back where something has to be done at once."""

    def __init__(self, moved: Callable[[], None], loaded: Callable[[], None], saving: Callable[[], None]) -> None:
        self.moved_count = 0
        self.is_loading = False
        self._moved, self._loaded, self._saving = moved, loaded, saving
        self._is_own = False
        self._registered: list[tuple[Any, Any]] = []

    def register(self) -> None:
        # In this order on every Blender: (list, function). Functions of their own, since a method cannot be marked persistent.
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
        """Undo and saving in here are ours, and count for nothing."""
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
        """A file that cannot be read leaves what was open."""
        self.is_loading = False

    def _before_save(self) -> None:
        if not self._is_own:
            self._saving()


def _persistent_function(act: Callable[[], None]) -> Callable[..., None]:
    """One that stays when another file is opened."""

    def call(*_: Any) -> None:
        act()

    _handlers.persistent(call)
    return call
