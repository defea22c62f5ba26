"""The methods that only a person's open window answers: the turns of plans, the person's undo, and the sidebar."""

from __future__ import annotations

from typing import Any, TypedDict

from blendwright.wire.methods import Method, NoArguments, SceneHash
from blendwright.wire.shape_check import shape

# The error codes of a window's refusals.
NOT_IN_A_WINDOW = "not_in_a_window"
WINDOW_MOVED = "window_moved"
DETACHED = "detached"


class BeginRequest(TypedDict):
    """The beginning of a turn with this label.

    `wait` is the time in seconds that the window may wait until no reason prevents the turn.
    """

    label: str
    wait: float


class BeginAnswer(SceneHash):
    """The full hash, or the reasons that prevent the turn.

    `moved` counts the person's undo, redo and loads since the connection.
    """

    reasons: list[str]
    file: str
    moved: int


class EndRequest(TypedDict):
    """The end of a turn, with one undo step of this label if something changed."""

    label: str
    changed: bool


class WindowSaveRequest(TypedDict):
    """The absolute path to write the scene to. The person's own file stays unchanged."""

    path: str


class LoadRequest(TypedDict):
    """The absolute path of a .blend file that a person requested, to open in place of the current one."""

    path: str


class BringRequest(TypedDict):
    """A .blend file saved by a headless Blender, its differences, and the hash that the window must reach."""

    path: str
    changes: list[list[str]]
    after: str


class BringAnswer(SceneHash):
    """The full hash afterwards. If the window did not reach the expected hash, `problem` is the reason, else it is empty.

    After a problem, the core reverts the turn.
    """

    problem: str


class ShowRequest(TypedDict):
    """The content of the sidebar."""

    plans: list[dict[str, Any]]
    running: dict[str, Any]
    approvals: list[dict[str, Any]]
    core: dict[str, Any]


class ShowAnswer(TypedDict):
    """The buttons that the person has pressed since the last request."""

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
