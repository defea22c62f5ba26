"""The binding of a workspace to the window whose scene it follows, and the headless Blenders that may run next to
it.

The binding is a file in the workspace. It names a process: the window must still offer a connection, otherwise a
person decides how to continue.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from blendwright.bridge.environments.records import environments
from blendwright.bridge.environments.series import own_blender
from blendwright.bridge.sources import worker_source
from blendwright.bridge.sources.blender_executable import BlenderExecutable
from blendwright.bridge.sources.named_blender import source_of
from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.bridge.worker_source import WorkerSource
from blendwright.util.invisible_text import escape_invisible
from blendwright.util.no_follow import open_directory, write_whole
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault
from blendwright.window.connection.rendezvous import OpenWindow, open_windows
from blendwright.window.connection.window import WindowConnection, connect
from blendwright.workspace.ownership import read_own_file
from blendwright.workspace.scene_hosts import WINDOW_BINDING

FILE = WINDOW_BINDING
AUTO = "auto"
MAX_TEXT_CHARACTERS = 400
PRESS_CONNECT = (
    "In Blender, press N in the 3D view, then Connect under Blendwright. "
    "`blendwright extension` writes the extension with this button."
)


@dataclass(frozen=True, slots=True)
class BoundWindow:
    """The window that a workspace is bound to."""

    pid: int
    started: float
    blender: str
    diverged: str = ""


class WindowBinding:
    """The binding of one workspace, read from its file."""

    def __init__(self, workspace: Path) -> None:
        self._file = workspace / FILE

    def read(self) -> BoundWindow | None:
        """Return the bound window, or None for an unbound workspace. Raises EnvironmentUnfit for an invalid file."""
        try:
            if not stat.S_ISREG(self._file.lstat().st_mode):
                raise ValueError("it is not a plain file")
            data = json.loads(read_own_file(self._file))
            blender = _one_line(str(data["blender"]))
            diverged = _one_line(str(data["diverged"]))
            return BoundWindow(int(data["pid"]), float(data["started"]), blender, diverged)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            message = f"{self._file} is not a valid record of the attached window: {error}"
            cure = f"Remove {FILE} from the workspace, then: blendwright attach"
            raise EnvironmentUnfit(message, cure=cure) from error

    def write(self, bound: BoundWindow) -> None:
        # Follow no link in the workspace, because another user may have made it.
        with tempfile.TemporaryFile() as source, open_directory(self._file.parent.resolve()) as directory:
            source.write(json.dumps(asdict(bound)).encode() + b"\n")
            source.seek(0)
            write_whole(directory, self._file.name, source, 0o600)

    def bind(self, window: OpenWindow) -> None:
        self.write(BoundWindow(window.pid, window.started, window.blender))

    def remove(self) -> BoundWindow | None:
        bound = self.read()
        self._file.unlink(missing_ok=True)
        return bound

    @property
    def diverged(self) -> str:
        bound = self.read()
        if bound is None:
            return ""
        return bound.diverged

    def set_diverged(self, reason: str) -> None:
        bound = self.read()
        if bound is not None:
            self.write(replace(bound, diverged=reason))

    def window(self) -> OpenWindow | None:
        """Return the bound window, or None for an unbound workspace. Raises EnvironmentUnfit when the window is
        closed.
        """
        bound = self.read()
        if bound is None:
            return None

        for window in open_windows():
            if (window.pid, window.started) == (bound.pid, bound.started):
                return window
        raise EnvironmentUnfit(
            f"the workspace is attached to a window of Blender {bound.blender} (pid {bound.pid}), which is no longer open",
            cure="Open Blender, press Connect, then run `blendwright attach` (the window's scene) or "
            "`blendwright attach --restore` (the journal's scene); or continue without a window: blendwright detach",
        )


def _one_line(text: str) -> str:
    return escape_invisible(" ".join(text[:MAX_TEXT_CHARACTERS].split()))


def connect_bound(workspace: Path, core: Mapping[str, Any] | None = None) -> WindowConnection:
    """Connect to the window of a workspace, possibly again. `core` is the information about this process for its
    sidebar.

    Raises EnvironmentUnfit when no connection is possible.
    """
    window = WindowBinding(workspace).window()
    if window is None:
        raise EnvironmentUnfit("the workspace is no longer attached to a window", cure="Attach it: blendwright attach")
    return connect(window, core)


def choose_window(window_choice: str | None) -> OpenWindow:
    """Return the window with this pid, or the only window. Raises Refusal, which lists the windows, in other
    cases.
    """
    windows = open_windows()
    if window_choice is not None and window_choice != AUTO:
        for window in windows:
            if str(window.pid) == window_choice:
                return window
        message = f"no window with pid {window_choice} offers a connection"
        raise Refusal.of(Fault.TARGET_NOT_FOUND, message, _window_list(windows))

    if not windows:
        raise Refusal.of(Fault.TARGET_NOT_FOUND, "no window offers a connection", PRESS_CONNECT)
    if len(windows) > 1:
        raise Refusal.of(
            Fault.ARGS_INVALID, f"{len(windows)} windows are open", f"Pass the pid of one. {_window_list(windows)}"
        )
    return windows[0]


def _window_list(windows: list[OpenWindow]) -> str:
    if windows:
        return f"Open windows: {'; '.join(window.name for window in windows)}."
    return PRESS_CONNECT


def spare_source(window: OpenWindow, blender: str | Path | WorkerSource | None) -> WorkerSource:
    """Return the source of headless Blenders of the window's version.

    It is the named one, a wheel of the same series, or the window's own program. Raises EnvironmentUnfit when
    there is none.
    """
    if blender is not None:
        return worker_source(blender)
    installed_version = own_blender()
    if installed_version is not None and installed_version.startswith(f"{window.series}."):
        return PythonEnvironment()
    for environment in environments():
        if environment.blender.startswith(f"{window.series}.") and environment.problem() is None:
            return source_of(environment)
    if window.binary and os.access(window.binary, os.X_OK):
        return BlenderExecutable(Path(window.binary))
    raise EnvironmentUnfit(
        f"no headless Blender {window.series} is available to work next to the window",
        cure=f"Install one with `blendwright blender add {window.series}`, or pass one with --blender.",
    )


@dataclass(frozen=True, slots=True)
class Attached:
    """The result of attaching a workspace to a window."""

    window: OpenWindow
    commit: int
    taken_in: str
    """A summary of the person's changes since the workspace's last commit, or "" when there were none."""
    restored: Path | None = None
