"""The session of one core with one window: the requests that the window answers, and the turns in which plans change it.

The window is a peer and not a cache. A plan runs in a turn. `window.begin` hashes the complete scene again, and `window.end` leaves a
single undo step and none of Blendwright's temporary data. If the user undoes, redoes or opens a file in between, the turn ends and
the window refuses the queued requests.
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
# The id of the first request, `window.attach`, which the extension answers before this package is loaded.
ATTACHED_ID = 1


class WindowSession:
    """A session that lasts until the attached core hangs up, the user disconnects, or another file is opened."""

    def __init__(self, core: dict[str, Any]) -> None:
        self.status = Status()
        self.status.show({"core": core})
        self._display = Display(self.status)
        self.ended: str | None = None
        # A private directory, so that files which a core saves or exports never overwrite a file of the user.
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
        """True while a request waits for the window to be ready. The pump must then call `retry` before `take`."""
        return self._conversation.is_waiting

    def take(self, body: bytes) -> list[bytes]:
        """Run one request and return the answers to send now."""
        return self._in_window(lambda: self._conversation.receive(body))

    def retry(self) -> list[bytes]:
        return self._in_window(self._conversation.retry)

    def drop_waiting(self) -> list[bytes]:
        """Drop the request that waits for the window, because the core no longer waits for it, and return its answer."""
        self._turns.stop_waiting()
        return self._in_window(lambda: self._conversation.drop(DROPPED, "the core no longer waits for this request"))

    def answer_pending(self) -> list[bytes]:
        """Hash the steps that wait for hashing and return their answers. Call it before control returns to Blender."""
        if self._conversation.has_pending:
            return self._in_window(self._conversation.answer_pending)
        return []

    def must_answer_pending(self) -> bool:
        return self._conversation.must_answer_pending()

    def refusal(self, request_id: int | None) -> bytes:
        """Return the answer to a request that arrives after the session ended."""
        return error_answer(request_id, DETACHED, self.ended or "the window was disconnected")

    def console_page(self) -> str:
        """Return the address of a page that opens the console of the core once. Raises OSError if the console gives no link."""
        return write_console_page(self.scratch, self.status.core)

    def close(self) -> None:
        """End the session: remove handlers, temporary data, texts on the screen, and the scratch directory."""
        self._events.unregister()
        if self.ended is None:
            self._turns.abandon()
        self._display.clear()
        hide(())
        shutil.rmtree(self.scratch, ignore_errors=True)

    @staticmethod
    def _in_window(act: Callable[[], list[bytes]]) -> list[bytes]:
        """Call `act` with a window in the context. Operators need one, and a timer provides none."""
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
    """Add advice to a version mismatch: Blender keeps the loaded package, so the user must restart Blender after an update."""

    def say_hello(params: dict[str, Any]) -> object:
        try:
            return hello(params)
        except Refused as refusal:
            if refusal.code != PACKAGE_MISMATCH:
                raise
            raise Refused(refusal.code, f"{refusal}; restart Blender to attach this core") from refusal

    return say_hello


def attach(params: dict[str, Any]) -> tuple[WindowSession, dict[str, Any]]:
    """Start a session with a core whose token the extension has checked. Return it with the answer to `window.attach`."""
    core: object = params.get("core")
    about: dict[str, Any] = {}
    if isinstance(core, dict):
        about = cast("dict[str, Any]", core)
    session = WindowSession(about)
    answer = {"ok": True, "pid": os.getpid(), "blender": bpy.app.version_string, "scratch": str(session.scratch)}
    return session, answer
