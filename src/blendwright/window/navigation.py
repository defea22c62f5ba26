"""The history of a scene in a window: undo and redo are the window's own, and Blendwright never loads another
scene into it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from blendwright.engine.moves.commit_names import refusal, require_head
from blendwright.journal import Journal
from blendwright.records.branches import SwitchTo
from blendwright.records.commits import Commit
from blendwright.records.results import Moved, MoveKind
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

if TYPE_CHECKING:
    from blendwright.window.attached_scene import WindowScene

DETACH = (
    "Press Ctrl-Z in Blender, or run `blendwright undo`. Or run `blendwright detach` and continue without the window."
)


class WindowMoves:
    """The moves of HEAD in a window: the window's own undo, which the journal follows."""

    def __init__(self, journal: Journal, scene: WindowScene) -> None:
        self._journal = journal
        self._scene = scene

    def move(self, kind: MoveKind, target: Commit, switch: SwitchTo | None = None) -> Moved:
        """Switch the branch at HEAD's own commit. Raises Refusal for every move that needs another scene."""
        if switch is not None and target.number == require_head(self._journal).number:
            self._journal.move_head(kind, target.number, switch)
            return Moved(kind, target.number, target, self._journal.branches.current())
        raise _not_in_window(f"commit {target.number} cannot be loaded into a window that a person has open")

    def adopt(self, file: Path) -> Commit | None:
        raise _not_in_window(f"{file} cannot be loaded into a window that a person has open")

    def undo(self, count: int = 1) -> Moved:
        return self._press("undo", count)

    def undo_plan(self) -> Moved:
        return self._press("undo", 1)  # a plan is one step in a window

    def redo(self) -> Moved:
        return self._press("redo", 1)

    def _press(self, kind: Literal["undo", "redo"], count: int) -> Moved:
        with self._scene.turn(kind):
            origin = require_head(self._journal)
        for _ in range(count):
            self._scene.press(kind)
        with self._scene.turn(kind):
            head = require_head(self._journal)
        if head.number == origin.number:
            raise refusal(f"there is nothing to {kind} in the window", "List the commits: blendwright log")
        return Moved(kind, origin.number, head, self._journal.branches.current())


def _not_in_window(message: str) -> Refusal:
    return Refusal.of(Fault.SCENE_CONFLICT, message, DETACH)
