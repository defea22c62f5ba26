"""The scene in a window that a person has open, seen from the core: a `RemoteScene` with turns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path

from blendwright.wire import window_methods
from blendwright.wire.remote_scene import RemoteScene
from blendwright.wire.window_methods import BeginAnswer, BringAnswer, ShowAnswer, ShowRequest

# For what the person waits for as well: a window that does not answer in this time is busy with something else.
ANSWER_SECONDS = 60.0


class RemoteWindow(RemoteScene):
    """One window. Methods raise as those of `RemoteScene`."""

    @property
    @abstractmethod
    def has_late_work(self) -> bool:
        """Whether the window still works on something that nobody waits for any more."""

    def begin_turn(self, label: str, wait: float) -> BeginAnswer:
        """Begin a plan: its scene is hashed in full, unless something speaks against beginning."""
        request = {"label": label, "wait": wait}
        return self.call(window_methods.BEGIN.name, request, deadline=wait + ANSWER_SECONDS)

    def end_turn(self, label: str, *, changed: bool) -> str:
        """End it, with one undo step where something was changed; nothing of ours is left in the file."""
        request = {"label": label, "changed": changed}
        return self.call(window_methods.END.name, request, deadline=ANSWER_SECONDS)["hash"]

    def take_back(self) -> str:
        """Bring back the scene with which the turn began; returns its full hash."""
        return self.call(window_methods.TAKE_BACK.name, {}, deadline=ANSWER_SECONDS)["hash"]

    def press_undo(self) -> str:
        """What Ctrl-Z does; returns the full hash afterwards."""
        return self.call(window_methods.UNDO.name, {}, deadline=ANSWER_SECONDS)["hash"]

    def press_redo(self) -> str:
        return self.call(window_methods.REDO_STEP.name, {}, deadline=ANSWER_SECONDS)["hash"]

    def save_copy(self, path: Path) -> str:
        """Write the scene to a file of ours; neither the person's file nor its name is touched."""
        return self.call(window_methods.SAVE_COPY.name, {"path": str(path)}, deadline=ANSWER_SECONDS)["hash"]

    def bring(self, path: Path, changes: Sequence[Sequence[str]], after: str) -> BringAnswer:
        """Take over what is different in a file, so that the scene has the hash `after`."""
        request = {"path": str(path), "changes": [[*change] for change in changes], "after": after}
        return self.call(window_methods.BRING.name, request, deadline=ANSWER_SECONDS)

    def load(self, path: Path) -> str:
        """Open a file in the window in place of what is there, which a person asked for; returns its hash."""
        return self.call(window_methods.LOAD.name, {"path": str(path)}, deadline=ANSWER_SECONDS)["hash"]

    def show(self, request: ShowRequest) -> ShowAnswer:
        """Tell the sidebar; returns what the person has pressed there."""
        return self.call(window_methods.SHOW.name, request, deadline=ANSWER_SECONDS)
