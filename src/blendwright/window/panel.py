"""The panel in the window's sidebar: its content, and the answers that a person gives there.

Blendwright never waits for an update of the panel. It waits only for the answer to a question.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from time import monotonic, sleep, time
from typing import Any

from blendwright.util.cancel import CancelToken
from blendwright.values.approval import ApprovalAnswer, ApprovalRequest
from blendwright.values.errors import WorkerError
from blendwright.values.events import CallEnded, Committed, Event, RunEnded, RunStarted
from blendwright.window.attached_scene import WindowScene
from blendwright.wire.window_methods import SHOW, ShowAnswer, ShowRequest

MAX_PLANS = 8
# Seconds between two progress messages of one run.
PROGRESS_INTERVAL_SECONDS = 0.25
# Seconds between two checks for an answer, and seconds until a question ends without one.
LOOK_SECONDS = 0.2
ANSWER_SECONDS = 120.0
MAX_TEXT_CHARACTERS = 2000
TOO_LONG = "too long to show here, run: blendwright approve"
ANSWERS = {"approve": ApprovalAnswer.APPROVED, "decline": ApprovalAnswer.DECLINED}


class WindowPanel:
    """An observer of the session that updates the panel, and a prompt that asks for approvals there."""

    name = "window"

    def __init__(self, core: dict[str, Any]) -> None:
        self._core = core
        self._scene: WindowScene | None = None
        self._plans: deque[dict[str, Any]] = deque(maxlen=MAX_PLANS)
        self._running: dict[str, Any] = {}
        self._updated = 0.0

    def show_in(self, scene: WindowScene) -> None:
        self._scene = scene

    def __call__(self, event: Event) -> None:
        """Handle one event of the session. Raises nothing, so that a problem of the window never stops the work."""
        match event:
            case RunStarted(request_id=label, operations=total):
                self._running = {"label": label, "operation": "", "done": 0, "total": total}
                self._update()
            case Committed(records=records) if self._running:
                self._running["done"] += len(records)
                if records:
                    self._running["operation"] = str(records[-1].get("tool", ""))
                else:
                    self._running["operation"] = ""
                if monotonic() - self._updated > PROGRESS_INTERVAL_SECONDS:
                    self._update()
            case RunEnded(report=report):
                self._end(report.request_id, report.status)
            case CallEnded(outcome=outcome):
                if outcome.ok:
                    self._end(outcome.tool, "succeeded")
                else:
                    self._end(outcome.tool, "failed")
            case _:
                pass

    def _end(self, label: str, state: str) -> None:
        self._running = {}
        self._plans.appendleft({"label": label, "state": state, "time": time()})
        self._update()

    def _update(self) -> None:
        self._updated = monotonic()
        self._show(())

    def _show(self, requests: tuple[ApprovalRequest, ...]) -> Future[ShowAnswer] | None:
        if self._scene is None:
            window = None
        else:
            window = self._scene.open_window
        if window is None or not window.alive:
            return None
        request: ShowRequest = {
            "plans": list(self._plans),
            "running": dict(self._running),
            "approvals": [_question(approval_request) for approval_request in requests],
            "core": self._core,
        }
        try:
            return window.submit(SHOW.name, request)
        except WorkerError:
            return None

    # ------------------------------------------------------------------ asking

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        """Show the question in the sidebar until the person presses one of the two buttons, and return the answer.

        A question that is too long for the panel is not asked there, because a person must not approve unseen
        parts.
        """
        if len(request.what) > MAX_TEXT_CHARACTERS or len(_detail(request)) > MAX_TEXT_CHARACTERS:
            self._plans.appendleft({"label": TOO_LONG, "state": "not asked", "time": time()})
            self._update()
            return ApprovalAnswer.NONE
        ends = monotonic() + min(ANSWER_SECONDS, max(0.0, request.expires - time()))
        try:
            while monotonic() < ends and not (cancel is not None and cancel.cancelled):
                shown = self._show((request,))
                if shown is None:
                    return ApprovalAnswer.NONE
                for entry in shown.result(ANSWER_SECONDS)["answers"]:
                    answer = ANSWERS.get(str(entry.get("answer")))
                    if entry.get("id") == request.id and answer is not None:
                        return self._unless_edited(answer)
                sleep(LOOK_SECONDS)
        except (WorkerError, TimeoutError):
            return ApprovalAnswer.NONE
        finally:
            self._update()
        return ApprovalAnswer.NONE

    def _unless_edited(self, answer: ApprovalAnswer) -> ApprovalAnswer:
        """Return the answer, or NONE for a yes after the person has edited the scene of the question."""
        assert self._scene is not None
        edited = self._scene.window().hash(full=True) != self._scene.hash
        if edited and answer is ApprovalAnswer.APPROVED:
            return ApprovalAnswer.NONE
        return answer


def _question(request: ApprovalRequest) -> dict[str, Any]:
    return {"id": request.id, "question": request.what, "detail": _detail(request)}


def _detail(request: ApprovalRequest) -> str:
    return "\n".join([*request.why, request.shown])
