"""The turns of plans in a window: beginning when nothing is going on, ending with one undo step, and going back."""

import itertools
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
# How long anything but a beginning waits for the person to finish what they are in the middle of.
PATIENCE = 5.0
LONGEST_WAIT = 60.0
PREFIX = "Blendwright: "
# Of what a menu shows.
LONGEST_LABEL = 60

_ops: Any = bpy.ops


class Turns:
    """Whose turn it is, and what the scene was when it began."""

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
            # Edits since the last push survive an undo: the dirty state is pushed first.
            pushed = _ops.ed.undo_push(message=f"{PREFIX}taken back") == {"FINISHED"}
            if pushed:
                _undo(_ops.ed.undo)
            self._refresh()
            if self._state.root() == before:
                return {"hash": before}
            if pushed:
                _undo(_ops.ed.redo)
                self._refresh()
        message = (
            "undo in the window does not lead back to where the plan began: the person has worked on, or undo is off"
        )
        raise Refused(CANNOT_TAKE_BACK, message)

    def save(self, params: dict[str, Any]) -> dict[str, Any]:
        path = Path(_text(params, "path"))
        if not path.is_absolute():
            raise Refused("malformed_request", "path must be absolute")
        if os.path.lexists(path):
            # The person's own file may be this one; what is a pipe would be waited for.
            raise Refused("malformed_request", "path must not be there yet")
        self.require_calm()
        with self._events.own():
            self._state.save(path)
            self._refresh()
        return {"hash": self._state.root()}

    def bring(self, params: dict[str, Any]) -> dict[str, Any]:
        """Take over what is different in a file; where that does not lead to the hash, `problem` says so, and the core takes the turn
        back."""
        self.require_open()
        self.require_calm()
        changes: list[list[str]] = params["changes"]
        problem = bring(self._state, _file(params), changes)
        root = self._state.root()
        if not problem and root != params.get("after"):
            problem = "what is in the window then is not what was made"
        return {"hash": root, "problem": problem}

    def load(self, params: dict[str, Any]) -> dict[str, Any]:
        """Open a file because the person asked for it on the command line. What was open and not saved is kept beside it."""
        if self._began_with is not None:
            raise Refused(TURN_OPEN, "a plan is going on in the window")
        file = _file(params)
        self.require_calm()
        with self._events.own():
            if bpy.data.is_dirty or bpy.data.filepath in ("", str(file)):
                self._state.save(_free_name(file))
            _ops.wm.open_mainfile(filepath=str(file), load_ui=False, use_scripts=False)
            if bpy.app.background:
                _ops.ed.undo_push(message="Original")  # as a Blender with a screen does by itself
            self._refresh()
        return {"hash": self._state.root()}

    def _step_through_history(self, move: Any) -> dict[str, Any]:
        if self._began_with is not None:
            raise Refused(TURN_OPEN, "a plan is going on in the window")
        self.require_calm()
        with self._events.own():
            _undo(move)
            self._state.leave_nothing()
            self._refresh()
        return {"hash": self._state.root()}

    # ------------------------------------------------------------------ what holds for a turn

    @property
    def is_open(self) -> bool:
        """Whether a plan has begun, and nobody else has moved the window since."""
        return self._began_with is not None and not self._is_stale

    def require_open(self) -> None:
        """Before whatever goes by what the turn has seen."""
        if self._began_with is None:
            raise Refused(NO_TURN, "no plan has begun in the window: window.begin comes first")
        if self._is_stale:
            raise Refused(MOVED, "the person has pressed undo or redo, or opened a file, since the plan began")

    def require_calm(self) -> None:
        """Wait for the person to finish what they have begun between two steps; in edit mode a step would lose data."""
        reasons = readiness.is_busy(self._resident)
        if not reasons:
            self._waits_until = None
        elif self._may_wait(PATIENCE):
            raise NotYet
        else:
            self._waits_until = None
            raise Refused(BUSY, "; ".join(reasons))

    def moved(self) -> None:
        """Somebody else has moved Blender to another state."""
        self._is_stale = True
        self._state.forget()

    def abandon(self) -> None:
        """The core is gone in the middle of whatever it did."""
        self._state.leave_nothing()
        if self._began_with is not None and not self._is_stale and self._state.root() != self._began_with:
            # What was done so far is the person's to keep or to take back, with one key.
            _ops.ed.undo_push(message=f"{PREFIX}{self._status.turn} (not finished)")
            self._status.note_unfinished()
        self._close()

    def _close(self) -> None:
        self._began_with = None
        self._status.turn = None
        # The person may remove anything from now on.
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
        """Whether it is worth asking again: for so many seconds since the first time."""
        if self._waits_until is None:
            self._waits_until = monotonic() + seconds
        return monotonic() < self._waits_until


def _undo(move: Any) -> None:
    """What Ctrl-Z does. An operator that refuses (there is nothing to undo) raises; then nothing has moved."""
    try:
        move()
    except RuntimeError:
        return


def _text(params: dict[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise Refused("malformed_request", f"{name} must be a text")
    if name == "label":
        return one_line(value, LONGEST_LABEL)
    return value


def _file(params: dict[str, Any]) -> Path:
    """One that Blender can read: a pipe would be waited for."""
    path = Path(_text(params, "path"))
    if not path.is_absolute() or not path.is_file():
        raise Refused("malformed_request", "path must be absolute, and that of a file")
    return path


def _free_name(file: Path) -> Path:
    names = (file.with_name(f"{file.stem}-before{count or ''}{file.suffix}") for count in itertools.count())
    return next(path for path in names if not os.path.lexists(path))


def _seconds(params: dict[str, Any]) -> float:
    wait = params.get("wait", 0)
    if isinstance(wait, bool) or not isinstance(wait, int | float) or not 0 <= wait <= LONGEST_WAIT:
        raise Refused("malformed_request", f"wait must be seconds, at most {LONGEST_WAIT:g}")
    return float(wait)
