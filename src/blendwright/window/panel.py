"""What the sidebar of the window shows of us, and the answers that a person gives there.

Telling the window is never waited for: it comes behind the steps that are on their way. Asking is, until there is an answer.
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

MOST_PLANS = 8
# Between two messages about the progress of one run.
PAUSE = 0.25
# How often the window is asked whether the person has answered, and for how long.
LOOK_SECONDS = 0.2
ANSWER_SECONDS = 120.0
LONGEST_TEXT = 2000
TOO_LONG = "too long for here, run: blendwright approve"
ANSWERS = {"approve": ApprovalAnswer.APPROVED, "decline": ApprovalAnswer.DECLINED}


class WindowPanel:
    """An observer of the session that tells the window, and the prompt that asks there."""

    name = "window"

    def __init__(self, core: dict[str, Any]) -> None:
        self._core = core
        self._scene: WindowScene | None = None
        self._plans: deque[dict[str, Any]] = deque(maxlen=MOST_PLANS)
        self._running: dict[str, Any] = {}
        self._told = 0.0

    def show_in(self, scene: WindowScene) -> None:
        self._scene = scene

    def __call__(self, event: Event) -> None:
        """One event of the session. Raises nothing: whatever the window does, the work goes on."""
        match event:
            case RunStarted(request_id=label, operations=total):
                self._running = {"label": label, "operation": "", "done": 0, "total": total}
                self._tell()
            case Committed(records=records) if self._running:
                self._running["done"] += len(records)
                if records:
                    self._running["operation"] = str(records[-1].get("tool", ""))
                else:
                    self._running["operation"] = ""
                if monotonic() - self._told > PAUSE:
                    self._tell()
            case RunEnded(report=report):
                self._end(report.request_id, report.status)
            case CallEnded(outcome=outcome):
                self._end(outcome.tool, "succeeded" if outcome.ok else "failed")
            case _:
                pass

    def _end(self, label: str, state: str) -> None:
        self._running = {}
        self._plans.appendleft({"label": label, "state": state, "time": time()})
        self._tell()

    def _tell(self) -> None:
        self._told = monotonic()
        self._show(())

    def _show(self, asked: tuple[ApprovalRequest, ...]) -> Future[ShowAnswer] | None:
        if self._scene is None:
            window = None
        else:
            window = self._scene.open_window
        if window is None or not window.alive:
            return None
        request: ShowRequest = {
            "plans": list(self._plans),
            "running": dict(self._running),
            "approvals": [_question(one) for one in asked],
            "core": self._core,
        }
        try:
            return window.submit(SHOW.name, request)
        except WorkerError:
            return None

    # ------------------------------------------------------------------ asking

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        """Show the question in the sidebar until the person presses one of the two buttons. What does not go there whole is not asked
        there: nobody may say yes to what they cannot see."""
        if len(request.what) > LONGEST_TEXT or len(_detail(request)) > LONGEST_TEXT:
            self._plans.appendleft({"label": TOO_LONG, "state": "not asked", "time": time()})
            self._tell()
            return ApprovalAnswer.NONE
        ends = monotonic() + min(ANSWER_SECONDS, max(0.0, request.expires - time()))
        try:
            while monotonic() < ends and not (cancel is not None and cancel.cancelled):
                shown = self._show((request,))
                if shown is None:
                    return ApprovalAnswer.NONE
                for given in shown.result(ANSWER_SECONDS)["answers"]:
                    answer = ANSWERS.get(str(given.get("answer")))
                    if given.get("id") == request.id and answer is not None:
                        return self._unless_edited(answer)
                sleep(LOOK_SECONDS)
        except (WorkerError, TimeoutError):
            return ApprovalAnswer.NONE
        finally:
            self._tell()
        return ApprovalAnswer.NONE

    def _unless_edited(self, answer: ApprovalAnswer) -> ApprovalAnswer:
        """A yes is for the scene that was asked about: where the person has edited meanwhile, it counts for nothing."""
        assert self._scene is not None
        edited = self._scene.window().hash(full=True) != self._scene.hash
        if edited and answer is ApprovalAnswer.APPROVED:
            return ApprovalAnswer.NONE
        return answer


def _question(request: ApprovalRequest) -> dict[str, Any]:
    return {"id": request.id, "question": request.what, "detail": _detail(request)}


def _detail(request: ApprovalRequest) -> str:
    return "\n".join([*request.why, request.shown])
