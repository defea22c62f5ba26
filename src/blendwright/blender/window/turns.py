"""The turns of plans in a window: starting while the user does nothing else, ending with one undo step, and reverting."""

import os
from pathlib import Path
from time import monotonic
from typing import Any

import bpy

from blendwright.blender.window import readiness
from blendwright.blender.window.bringing import bring
from blendwright.blender.window.events import WindowEvents
from blendwright.blender.window.scene_state import WindowState
from blendwright.blender.window.status import Status, one_line
from blendwright.blender.worker.conversation import Handler, NotYet, Refused

MOVED = "window_moved"
BUSY = "window_busy"
NO_TURN = "no_turn"
TURN_OPEN = "turn_open"
CANNOT_TAKE_BACK = "cannot_take_back"
# The time in seconds that every method except `window.begin` waits for the user to finish a current activity.
PATIENCE_SECONDS = 5.0
# The longest wait in seconds that a core may request from `window.begin`.
MAX_WAIT_SECONDS = 60.0
PREFIX = "Blendwright: "
# The longest label of an undo step in Blender's menu.
MAX_LABEL_CHARACTERS = 60

_ops: Any = bpy.ops


class Turns:
    """The methods that start, end and revert turns, with the state of the current turn: its first hash and its label."""

    def __init__(self, state: WindowState, events: WindowEvents, status: Status, resident: frozenset[str]) -> None:
        self._state = state
        self._events = events
        self._status = status
        self._resident = resident
        self._began_with: str | None = None
        self._is_stale = False
        self._waits_until: float | None = None

    def handlers(self) -> dict[str, Handler]:
        return {
            "window.begin": self.begin,
            "window.end": self.end,
            "window.take_back": self.take_back,
            "window.undo": lambda params: self._step_through_history(_ops.ed.undo),
            "window.redo": lambda params: self._step_through_history(_ops.ed.redo),
            "window.save": self.save,
            "window.bring": self.bring,
            "window.load": self.load,
        }

    # ------------------------------------------------------------------ the methods

    def begin(self, params: dict[str, Any]) -> dict[str, Any]:
        label, wait = _text(params, "label"), _seconds(params)
        reasons = self._reasons()
        if reasons and self._may_wait(wait):
            raise NotYet
        self._waits_until = None
        answer = {"hash": "", "reasons": reasons, "file": bpy.data.filepath, "moved": self._events.moved_count}
        if reasons:
            return answer

        bpy.context.view_layer.update()
        self._state.leave_nothing()
        reserved = self._state.remove_leftovers()
        if reserved:
            return {**answer, "reasons": [f"'{name}' is a reserved name; rename it" for name in reserved]}
        self._state.refresh()
        self._began_with, self._is_stale = self._state.root(), False
        self._status.turn = label
        return {**answer, "hash": self._began_with}

    def end(self, params: dict[str, Any]) -> dict[str, Any]:
        self.require_open()
        label, changed = _text(params, "label"), params.get("changed")
        if not isinstance(changed, bool):
            raise Refused("malformed_request", "changed must be true or false")
        self._state.leave_nothing()
        root = self._state.root()
        if changed:
            _ops.ed.undo_push(message=PREFIX + label)
        self._close()
        return {"hash": root}

    def take_back(self, params: dict[str, Any]) -> dict[str, Any]:
        self.require_open()
        self.require_calm()
        before = self._began_with
        with self._events.own():
            self._state.leave_nothing()
            # An undo does not revert edits since the last undo step, so push these edits as a step first.
            pushed = _ops.ed.undo_push(message=f"{PREFIX}taken back") == {"FINISHED"}
            if pushed:
                _undo(_ops.ed.undo)
            self._refresh()
            if self._state.root() == before:
                return {"hash": before}
            if pushed:
                _undo(_ops.ed.redo)
                self._refresh()
        message = "undo in the window does not restore the scene from before the plan"
        raise Refused(CANNOT_TAKE_BACK, f"{message}: the user has edited the scene since, or undo is switched off")

    def save(self, params: dict[str, Any]) -> dict[str, Any]:
        path = Path(_text(params, "path"))
        if not path.is_absolute():
            raise Refused("malformed_request", "path must be absolute")
        if os.path.lexists(path):
            # The path may be the user's file, and saving to a pipe would block.
            raise Refused("malformed_request", "path must not exist yet")
        self.require_calm()
        with self._events.own():
            self._state.save(path)
            self._refresh()
        return {"hash": self._state.root()}

    def bring(self, params: dict[str, Any]) -> dict[str, Any]:
        """Transfer the changes in a file to the window.

        `problem` of the answer is the reason if the window does not get the expected hash. The core then reverts the turn."""
        self.require_open()
        self.require_calm()
        changes: list[list[str]] = params["changes"]
        problem = bring(self._state, _file(params), changes)
        root = self._state.root()
        if not problem and root != params.get("after"):
            problem = "the scene in the window differs from the scene that was transferred"
        return {"hash": root, "problem": problem}

    def load(self, params: dict[str, Any]) -> dict[str, Any]:
        """Open a file because the user requested it on the command line. Unsaved work is first saved next to that file."""
        if self._began_with is not None:
            raise Refused(TURN_OPEN, "a plan is running in the window")
        file = _file(params)
        self.require_calm()
        with self._events.own():
            if bpy.data.is_dirty or bpy.data.filepath in ("", str(file)):
                self._state.save(_free_name(file))
            _ops.wm.open_mainfile(filepath=str(file), load_ui=False, use_scripts=False)
            if bpy.app.background:
                _ops.ed.undo_push(message="Original")  # A Blender with a screen does this automatically.
            self._refresh()
        return {"hash": self._state.root()}

    def _step_through_history(self, move: Any) -> dict[str, Any]:
        if self._began_with is not None:
            raise Refused(TURN_OPEN, "a plan is running in the window")
        self.require_calm()
        with self._events.own():
            _undo(move)
            self._state.leave_nothing()
            self._refresh()
        return {"hash": self._state.root()}

    # ------------------------------------------------------------------ conditions for a turn

    @property
    def is_open(self) -> bool:
        """True if a plan has a turn and the user has not moved the window to another state since."""
        return self._began_with is not None and not self._is_stale

    def require_open(self) -> None:
        """Raise Refused unless a turn is open and its state is still valid."""
        if self._began_with is None:
            raise Refused(NO_TURN, "no plan has a turn in the window: call window.begin first")
        if self._is_stale:
            raise Refused(MOVED, "the user has pressed undo or redo, or opened a file, since the plan began")

    def require_calm(self) -> None:
        """Raise NotYet while the user is busy, and Refused after PATIENCE_SECONDS. For example, a step in edit mode would lose data."""
        reasons = readiness.is_busy(self._resident)
        if not reasons:
            self._waits_until = None
        elif self._may_wait(PATIENCE_SECONDS):
            raise NotYet
        else:
            self._waits_until = None
            raise Refused(BUSY, "; ".join(reasons))

    def moved(self) -> None:
        """Mark the turn as stale after the user moved Blender to another state."""
        self._is_stale = True
        self._state.forget()

    def abandon(self) -> None:
        """Close the turn after the core disappeared, and leave its work so far as an undo step."""
        self._state.leave_nothing()
        if self._began_with is not None and not self._is_stale and self._state.root() != self._began_with:
            # The user can keep this work, or undo it with a single key.
            _ops.ed.undo_push(message=f"{PREFIX}{self._status.turn} (not finished)")
            self._status.note_unfinished()
        self._close()

    def _close(self) -> None:
        self._began_with = None
        self._status.turn = None
        # From now on the user may remove any datablock.
        self._state.forget_names()

    def _refresh(self) -> None:
        self._state.forget()
        self._state.refresh()

    def _reasons(self) -> list[str]:
        if self._events.is_loading:
            return ["a file is being opened; wait for it"]
        return readiness.reasons(self._resident)

    def stop_waiting(self) -> None:
        self._waits_until = None

    def _may_wait(self, seconds: float) -> bool:
        """Return True until this many seconds have passed since the first call for the current request."""
        if self._waits_until is None:
            self._waits_until = monotonic() + seconds
        return monotonic() < self._waits_until


def _undo(move: Any) -> None:
    """Call Blender's undo or redo operator. It raises RuntimeError if there is nothing to undo; the scene is then unchanged."""
    try:
        move()
    except RuntimeError:
        return


def _text(params: dict[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise Refused("malformed_request", f"{name} must be a non-empty string")
    if name == "label":
        return one_line(value, MAX_LABEL_CHARACTERS)
    return value


def _file(params: dict[str, Any]) -> Path:
    """Return the path of the file to read. Refuses anything but a regular file, since reading a pipe would block."""
    path = Path(_text(params, "path"))
    if not path.is_absolute() or not path.is_file():
        raise Refused("malformed_request", "path must be the absolute path of a file")
    return path


def _free_name(file: Path) -> Path:
    """Return the first free path of the form `<name>-before<number>` next to the file."""
    path = file.with_name(f"{file.stem}-before{file.suffix}")
    count = 0
    while os.path.lexists(path):
        count += 1
        path = file.with_name(f"{file.stem}-before{count}{file.suffix}")
    return path


def _seconds(params: dict[str, Any]) -> float:
    wait = params.get("wait", 0)
    if isinstance(wait, bool) or not isinstance(wait, int | float) or not 0 <= wait <= MAX_WAIT_SECONDS:
        raise Refused("malformed_request", f"wait must be a number of seconds from 0 to {MAX_WAIT_SECONDS:g}")
    return float(wait)
