"""This Blender as something that cores can attach to: connected or not. What panel, timer and tests share."""

import atexit
import platform
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
from bpy.app.handlers import persistent

from . import package_loader
from .connection import Core, Listener
from .pump import Pump, Session
from .rendezvous import Rendezvous, directory

_app: Any = bpy.app


class OpenWindow:
    """One for each Blender."""

    def __init__(self) -> None:
        self._rendezvous: Rendezvous | None = None
        self._listener: Listener | None = None
        self.pump: Pump | None = None

    @property
    def is_connected(self) -> bool:
        """Whether cores can find this window."""
        return self._rendezvous is not None

    @property
    def core(self) -> Core | None:
        """The attached one."""
        if self._listener is None:
            return None
        return self._listener.core

    @property
    def session(self) -> Session | None:
        if self.pump is None:
            return None
        return self.pump.session

    @property
    def former_plans(self) -> list[dict[str, Any]]:
        """What cores that are not attached any more have done in the file that is open."""
        if self.pump is None:
            return []
        return self.pump.former_plans

    def connect(self, path: Path | None = None, *, timer: bool = True) -> None:
        """Begin to listen. Raises OSError or NotPrivate where that cannot be done."""
        if self.is_connected:
            return
        self._rendezvous = Rendezvous(path or directory())
        self._rendezvous.write(_facts())
        self._listener = Listener(self._rendezvous.listener, self._rendezvous.token)
        self.pump = Pump(self._listener, _attach)
        _app.handlers.load_post.append(_forget_plans)
        _app.handlers.load_post.append(_note_file)
        _app.handlers.save_post.append(_note_file)
        # Blender unregisters extensions when it is closed; where it does not get to that, the files go at least.
        atexit.register(self._rendezvous.close)
        if timer:
            _app.timers.register(_tick, first_interval=0.0, persistent=True)

    def disconnect(self) -> None:
        """Hang up and leave nothing: no socket, no note, no timer, no handler."""
        if self._rendezvous is None or self._listener is None or self.pump is None:
            return
        atexit.unregister(self._rendezvous.close)
        for functions in (_app.handlers.load_post, _app.handlers.save_post):
            for function in (_forget_plans, _note_file):
                if function in functions:
                    functions.remove(function)
        if _app.timers.is_registered(_tick):
            _app.timers.unregister(_tick)
        self.pump.close()
        self._listener.close()
        self._rendezvous.close()
        self._rendezvous = self._listener = self.pump = None

    def note_file(self) -> None:
        if self._rendezvous is not None:
            self._rendezvous.write({"file": bpy.data.filepath})


this_window = OpenWindow()


def _tick() -> float | None:
    pump = this_window.pump
    if pump is None:
        return None
    return pump.tick()


@persistent
def _forget_plans(*_: Any) -> None:
    """Another file is open: what was done in the last one is not to be undone here."""
    if this_window.pump is not None:
        this_window.pump.former_plans = []


@persistent
def _note_file(*_: Any) -> None:
    this_window.note_file()


def _facts() -> dict[str, Any]:
    return {
        "blender": ".".join(map(str, _app.version)),
        "python": platform.python_version(),
        "binary": _app.binary_path,
        "file": bpy.data.filepath,
        "background": bool(_app.background),
        "started": time.time(),
    }


def _attach(params: dict[str, Any]) -> tuple[Session, dict[str, Any]]:
    module: ModuleType = package_loader.load(params)
    return module.attach(params)
