"""What only a window that a person has open can be asked, beside the methods of any scene: the beginning and the end of a plan's turn,
the person's own undo, and what its sidebar shows."""

from __future__ import annotations

from typing import Any, TypedDict

from blendwright.wire.methods import Method, NoArguments, SceneHash
from blendwright.wire.shape_check import shape

# The error codes with which a window refuses.
NOT_IN_A_WINDOW = "not_in_a_window"
WINDOW_MOVED = "window_moved"
DETACHED = "detached"


class BeginRequest(TypedDict):
    """A turn of this name; `wait` are the seconds for which it may be put off until nothing speaks against it."""

    label: str
    wait: float


class BeginAnswer(SceneHash):
    """The full fingerprint, or why the turn cannot begin. `moved` counts the person's undo, redo and loads since the connection."""

    reasons: list[str]
    file: str
    moved: int


class EndRequest(TypedDict):
    """The end of a turn: one undo step of this name, where something was changed."""

    label: str
    changed: bool


class WindowSaveRequest(TypedDict):
    """Where to write the scene, as an absolute path; the person's own file is left alone."""

    path: str


class LoadRequest(TypedDict):
    """A .blend file that a person asked for, as an absolute path: opened in the window in place of what is there."""

    path: str


class BringRequest(TypedDict):
    """A .blend file that a Blender without a window saved, what is different in it, and the hash that the window must come to."""

    path: str
    changes: list[list[str]]
    after: str


class BringAnswer(SceneHash):
    """The full fingerprint afterwards; `problem` says why what is different could not be brought over, and nothing of it stays then."""

    problem: str


class ShowRequest(TypedDict):
    """What the sidebar shows."""

    plans: list[dict[str, Any]]
    running: dict[str, Any]
    approvals: list[dict[str, Any]]
    core: dict[str, Any]


class ShowAnswer(TypedDict):
    """What the person has pressed since."""

    answers: list[dict[str, Any]]


def _method(name: str, request: type, answer: type) -> Method:
    return Method(f"window.{name}", shape(request), shape(answer))


BEGIN = _method("begin", BeginRequest, BeginAnswer)
END = _method("end", EndRequest, SceneHash)
TAKE_BACK = _method("take_back", NoArguments, SceneHash)
UNDO = _method("undo", NoArguments, SceneHash)
REDO_STEP = _method("redo", NoArguments, SceneHash)
SAVE_COPY = _method("save", WindowSaveRequest, SceneHash)
BRING = _method("bring", BringRequest, BringAnswer)
LOAD = _method("load", LoadRequest, SceneHash)
SHOW = _method("show", ShowRequest, ShowAnswer)

WINDOW_METHODS: dict[str, Method] = {
    method.name: method for method in (BEGIN, END, TAKE_BACK, UNDO, REDO_STEP, SAVE_COPY, BRING, LOAD, SHOW)
}
