"""One core and one window: the requests that a window answers, and the turns in which plans change it.

The window is a peer, not a cache. A plan has a turn: `window.begin` reads the whole scene anew, `window.end` leaves one undo step and
nothing of ours. What the person undoes, redoes or opens in between ends the turn, and what was queued for it is refused.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import bpy

from blendwright.blender.confinement import Confinement
from blendwright.blender.confinement.selftest import ACTS
from blendwright.blender.scene.state import hide
from blendwright.blender.window import readiness
from blendwright.blender.window.console_page import write_console_page
from blendwright.blender.window.display import Display
from blendwright.blender.window.events import WindowEvents
from blendwright.blender.window.scene_methods import WindowSceneMethods
from blendwright.blender.window.scene_state import WindowState
from blendwright.blender.window.status import Status
from blendwright.blender.window.turns import Turns
from blendwright.blender.worker import handlers as worker
from blendwright.blender.worker.conversation import Conversation, Handler, Refused, error_answer
from blendwright.tools.catalog import tools
from blendwright.wire.package_version import PACKAGE_MISMATCH
from blendwright.wire.window_methods import DETACHED

DROPPED = "dropped"
# The first request was `window.attach`, which came before this package.
ATTACHED_ID = 1


class WindowSession:
    """From the moment at which a core is attached until it hangs up, the person disconnects, or another file is opened."""

    def __init__(self, core: dict[str, Any]) -> None:
        self.status = Status()
        self.status.show({"core": core})
        self._display = Display(self.status)
        self.ended: str | None = None
        # Our own: what a core saves and exports here never meets a file of the person's.
        self.scratch = Path(tempfile.mkdtemp(prefix="blendwright-window-"))
        state = WindowState()
        self._events = WindowEvents(moved=self._moved, loaded=self._loaded, saving=state.leave_nothing)
        self._turns = Turns(state, self._events, self.status, readiness.resident_operators())
        scene = WindowSceneMethods(self.scratch, tools(), state, self._turns)
        self._conversation = Conversation(self._methods(scene), ATTACHED_ID)
        self._events.register()

    def _methods(self, scene: WindowSceneMethods) -> dict[str, Handler]:
        reason = "the window is a person's own Blender"
        unconfined = Confinement("none", 0, False, False, tuple(ACTS), reason)
        return {
            "hello": _advising(worker.hello(tools(), unconfined)),
            "ping": worker.ping,
            "window.show": self._display.show,
            **scene.handlers(),
            **self._turns.handlers(),
        }

    # ------------------------------------------------------------------ what the pump calls, in Blender's main thread

    @property
    def is_waiting(self) -> bool:
        """Whether a request waits for the window to be ready: `retry` before anything else is taken."""
        return self._conversation.is_waiting

    def take(self, body: bytes) -> list[bytes]:
        """Run one request; the answers that go out now."""
        return self._in_window(lambda: self._conversation.receive(body))

    def retry(self) -> list[bytes]:
        return self._in_window(self._conversation.retry)

    def drop_waiting(self) -> list[bytes]:
        """The core does not wait any longer for the request that waits."""
        self._turns.stop_waiting()
        return self._in_window(lambda: self._conversation.drop(DROPPED, "nobody waits for this request any more"))

    def answer_pending(self) -> list[bytes]:
        """The answers of steps that wait to be hashed: before Blender goes on with anything else."""
        if self._conversation.has_pending:
            return self._in_window(self._conversation.answer_pending)
        return []

    def must_answer_pending(self) -> bool:
        return self._conversation.must_answer_pending()

    def refusal(self, request_id: int | None) -> bytes:
        """The answer to a request that comes after the end."""
        return error_answer(request_id, DETACHED, self.ended or "the window was disconnected")

    def console_page(self) -> str:
        """The address of a page that leads into the console of the core, once. Raises OSError where there is none to be had."""
        return write_console_page(self.scratch, self.status.core)

    def close(self) -> None:
        """Leave the window as if nobody had been here."""
        self._events.unregister()
        if self.ended is None:
            self._turns.abandon()
        self._display.clear()
        hide(())
        shutil.rmtree(self.scratch, ignore_errors=True)

    @staticmethod
    def _in_window(act: Callable[[], list[bytes]]) -> list[bytes]:
        """With a window in the context, as operators want it: in a timer there is none."""
        windows = readiness.windows()
        if not windows or bpy.context.window is not None:
            return act()
        with bpy.context.temp_override(window=windows[0]):
            return act()

    # ------------------------------------------------------------------ what happens to the window

    def _moved(self) -> None:
        self._turns.moved()

    def _loaded(self) -> None:
        self._turns.moved()
        self.ended = "another file was opened in the window"


def _advising(hello: Handler) -> Handler:
    """What is loaded stays loaded: after an update of the package only a new Blender has the new one."""

    def say_hello(params: dict[str, Any]) -> object:
        try:
            return hello(params)
        except Refused as refusal:
            if refusal.code != PACKAGE_MISMATCH:
                raise
            raise Refused(refusal.code, f"{refusal}; restart Blender to attach this core") from refusal

    return say_hello


def attach(params: dict[str, Any]) -> tuple[WindowSession, dict[str, Any]]:
    """Begin with a core whose token was checked; the answer to its `window.attach`."""
    core: object = params.get("core")
    if isinstance(core, dict):
        about = cast("dict[str, Any]", core)
    else:
        about = {}
    session = WindowSession(about)
    answer = {"ok": True, "pid": os.getpid(), "blender": bpy.app.version_string, "scratch": str(session.scratch)}
    return session, answer
