"""The scene in a person's open window, as the core uses it: a `RemoteScene` with turns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path

from blendwright.wire import window_methods
from blendwright.wire.remote_scene import RemoteScene
from blendwright.wire.window_methods import BeginAnswer, BringAnswer, ShowAnswer, ShowRequest

# The deadline in seconds of requests that the person waits for. A window that needs longer is busy with something else.
ANSWER_SECONDS = 60.0


class RemoteWindow(RemoteScene):
    """A window. Methods raise the errors of `RemoteScene`."""

    @property
    @abstractmethod
    def has_late_work(self) -> bool:
        """Return whether the window still works on an abandoned request."""

    def begin_turn(self, label: str, wait: float) -> BeginAnswer:
        """Begin a plan's turn. The window computes the full hash unless a reason prevents the turn."""
        request = {"label": label, "wait": wait}
        return self.call(window_methods.BEGIN.name, request, deadline=wait + ANSWER_SECONDS)

    def end_turn(self, label: str, *, changed: bool) -> str:
        """End the turn, with one undo step if `changed`, and return the hash. No Blendwright data stays in the file."""
        request = {"label": label, "changed": changed}
        return self.call(window_methods.END.name, request, deadline=ANSWER_SECONDS)["hash"]

    def take_back(self) -> str:
        """Restore the scene from the beginning of the turn, and return its full hash."""
        return self.call(window_methods.TAKE_BACK.name, {}, deadline=ANSWER_SECONDS)["hash"]

    def press_undo(self) -> str:
        """Undo like Ctrl-Z, and return the full hash afterwards."""
        return self.call(window_methods.UNDO.name, {}, deadline=ANSWER_SECONDS)["hash"]

    def press_redo(self) -> str:
        return self.call(window_methods.REDO_STEP.name, {}, deadline=ANSWER_SECONDS)["hash"]

    def save_copy(self, path: Path) -> str:
        """Write the scene to this path without touching the person's file or its name, and return the hash."""
        return self.call(window_methods.SAVE_COPY.name, {"path": str(path)}, deadline=ANSWER_SECONDS)["hash"]

    def bring(self, path: Path, changes: Sequence[Sequence[str]], after: str) -> BringAnswer:
        """Apply the differences of a file, so that the scene gets the hash `after`."""
        request = {"path": str(path), "changes": [[*change] for change in changes], "after": after}
        return self.call(window_methods.BRING.name, request, deadline=ANSWER_SECONDS)

    def load(self, path: Path) -> str:
        """Open a file that a person requested in the window, in place of the current one. Return its hash."""
        return self.call(window_methods.LOAD.name, {"path": str(path)}, deadline=ANSWER_SECONDS)["hash"]

    def show(self, request: ShowRequest) -> ShowAnswer:
        """Update the sidebar, and return what the person has pressed there."""
        return self.call(window_methods.SHOW.name, request, deadline=ANSWER_SECONDS)
