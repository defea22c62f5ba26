"""The window of this Blender, to which cores can attach while it is connected. Panel, timer and tests share this object."""

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
    """The connection state of this Blender: rendezvous, listener and pump exist only while it is connected."""

    def __init__(self) -> None:
        self._rendezvous: Rendezvous | None = None
        self._listener: Listener | None = None
        self.pump: Pump | None = None

    @property
    def is_connected(self) -> bool:
        """True while cores can find this window."""
        return self._rendezvous is not None

    @property
    def core(self) -> Core | None:
        """The attached core, or None."""
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
        """The plans that previously attached cores ran in the open file."""
        if self.pump is None:
            return []
        return self.pump.former_plans

    def connect(self, path: Path | None = None, *, timer: bool = True) -> None:
        """Start to listen for cores. Raises OSError, or NotPrivate if other users could access the directory."""
        if self.is_connected:
            return
        self._rendezvous = Rendezvous(path or directory())
        self._rendezvous.write(_facts())
        self._listener = Listener(self._rendezvous.listener, self._rendezvous.token)
        self.pump = Pump(self._listener, _attach)
        _app.handlers.load_post.append(_forget_plans)
        _app.handlers.load_post.append(_note_file)
        _app.handlers.save_post.append(_note_file)
        # Blender normally unregisters extensions when it closes. This removes the files if it does not.
        atexit.register(self._rendezvous.close)
        if timer:
            _app.timers.register(_tick, first_interval=0.0, persistent=True)

    def disconnect(self) -> None:
        """Hang up, and remove the socket, the note, the timer and the handlers."""
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
    """Clear the list of plans after another file was opened, since undo cannot revert them there."""
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
