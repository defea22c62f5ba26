"""A workspace and the window whose scene it follows: which one it is bound to, and what may stand beside it.

The binding is a file in the workspace. It names a process, not a program: a window is found among those that offer a connection, or it is
gone, and then a person says how to go on.
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
LONGEST_TEXT = 400
PRESS_CONNECT = (
    "In Blender: press N in the 3D view, then Connect under Blendwright. "
    "`blendwright extension` writes the extension that has it."
)


@dataclass(frozen=True, slots=True)
class BoundWindow:
    """The window that a workspace is bound to."""

    pid: int
    started: float
    blender: str
    diverged: str = ""


class WindowBinding:
    """The binding of one workspace, as its file says it."""

    def __init__(self, workspace: Path) -> None:
        self._file = workspace / FILE

    def read(self) -> BoundWindow | None:
        """None where the workspace is bound to none. Raises EnvironmentUnfit for a file that is no binding."""
        try:
            if not stat.S_ISREG(self._file.lstat().st_mode):
                raise ValueError("it is not a plain file")
            data = json.loads(read_own_file(self._file))
            texts = (_one_line(str(data[name])) for name in ("blender", "diverged"))
            return BoundWindow(int(data["pid"]), float(data["started"]), *texts)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            message = f"{self._file} does not say which window the workspace is attached to: {error}"
            raise EnvironmentUnfit(
                message, cure=f"Remove {FILE} from the workspace, then: blendwright attach"
            ) from error

    def write(self, bound: BoundWindow) -> None:
        # A workspace may be somebody else's: no link in it is followed.
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
        """The window itself. Raises EnvironmentUnfit where it has gone; None where the workspace is bound to none."""
        bound = self.read()
        if bound is None:
            return None
        found = next((one for one in open_windows() if (one.pid, one.started) == (bound.pid, bound.started)), None)
        if found is None:
            raise EnvironmentUnfit(
                f"the workspace is attached to a window of Blender {bound.blender} (pid {bound.pid}), which is not open any more",
                cure="Open Blender, press Connect, then `blendwright attach` (the window's scene) or `blendwright attach --restore` "
                "(the journal's); or go on without a window: blendwright detach",
            )
        return found


def _one_line(text: str) -> str:
    return escape_invisible(" ".join(text[:LONGEST_TEXT].split()))


def connect_bound(workspace: Path, core: Mapping[str, Any] | None = None) -> WindowConnection:
    """Connect to the window of a workspace, which may have been connected anew meanwhile; `core` is what its sidebar shows of us.
    Raises EnvironmentUnfit."""
    window = WindowBinding(workspace).window()
    if window is None:
        raise EnvironmentUnfit("the workspace is attached to no window any more", cure="blendwright attach")
    return connect(window, core)


def choose_window(which: str | None) -> OpenWindow:
    """The one of this pid, or the only one. Raises Refusal with those that there are."""
    windows = open_windows()
    if which is not None and which != AUTO:
        found = next((window for window in windows if str(window.pid) == which), None)
        if found is None:
            raise Refusal.of(Fault.TARGET_NOT_FOUND, f"no window with pid {which} offers a connection", _those(windows))
        return found
    if not windows:
        raise Refusal.of(Fault.TARGET_NOT_FOUND, "no window offers a connection", PRESS_CONNECT)
    if len(windows) > 1:
        raise Refusal.of(
            Fault.ARGS_INVALID, f"there are {len(windows)} windows", f"Name one by its pid. {_those(windows)}"
        )
    return windows[0]


def _those(windows: list[OpenWindow]) -> str:
    if windows:
        return f"There are: {'; '.join(window.name for window in windows)}."
    return PRESS_CONNECT


def spare_source(window: OpenWindow, blender: str | Path | WorkerSource | None) -> WorkerSource:
    """Where headless Blenders of the window's version come from: the one that is named, a wheel of the same series, or the window's own
    program."""
    if blender is not None:
        return worker_source(blender)
    own = own_blender()
    if own is not None and own.startswith(f"{window.series}."):
        return PythonEnvironment()
    fitting = (
        each for each in environments() if each.blender.startswith(f"{window.series}.") and each.problem() is None
    )
    added = next(fitting, None)
    if added is not None:
        return source_of(added)
    if window.binary and os.access(window.binary, os.X_OK):
        return BlenderExecutable(Path(window.binary))
    raise EnvironmentUnfit(
        f"there is no Blender {window.series} here that can work beside the window",
        cure=f"Get one: blendwright blender add {window.series}, or name one with --blender.",
    )


@dataclass(frozen=True, slots=True)
class Attached:
    """A workspace that was bound to a window, and what came of the first look at it."""

    window: OpenWindow
    commit: int
    taken_in: str
    """What the person had changed since the workspace's last commit; empty where nothing had to be taken in."""
    restored: Path | None = None
