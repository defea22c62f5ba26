"""History of a scene that a person has open: undo and redo are the window's own, and no other scene is ever put in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from blendwright.engine.moves.commit_names import refusal, require_head
from blendwright.engine.moves.navigation import History
from blendwright.engine.scene.live_scene import LiveScene
from blendwright.journal import Journal
from blendwright.records.branches import SwitchTo
from blendwright.records.commits import Commit
from blendwright.records.results import Moved
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.window.attached_scene import AttachedScene
from blendwright.wire.worker_port import WorkerPool

DETACH = "Press Ctrl-Z in Blender, or `blendwright undo`; or `blendwright detach` first, and go on without the window."


def history_of(journal: Journal, scene: LiveScene, pool: WorkerPool, catalogue: str) -> History:
    """The one that fits the scene."""
    if isinstance(scene, AttachedScene):
        return WindowHistory(journal, scene, pool, catalogue)
    return History(journal, scene, pool, catalogue)


class WindowHistory(History):
    """Undo does what Ctrl-Z does, and the journal follows."""

    def __init__(self, journal: Journal, scene: AttachedScene, pool: WorkerPool, catalogue: str) -> None:
        super().__init__(journal, scene, pool, catalogue)
        self._attached = scene

    def _move(self, kind: Literal["checkout", "undo", "redo"], target: Commit, switch: SwitchTo | None = None) -> Moved:
        if switch is not None and target.number == require_head(self._journal).number:
            return super()._move(kind, target, switch)
        raise _unasked(f"commit {target.number} is not brought into the window that a person has open")

    def adopt(self, file: Path) -> Commit | None:
        raise _unasked(f"{file} is not brought into the window that a person has open")

    def undo(self, count: int = 1) -> Moved:
        return self._pressed("undo", count)

    def undo_plan(self) -> Moved:
        return self._pressed("undo", 1)  # a plan is one step in a window

    def redo(self) -> Moved:
        return self._pressed("redo", 1)

    def _pressed(self, kind: Literal["undo", "redo"], count: int) -> Moved:
        with self._attached.turn(kind):
            origin = require_head(self._journal)
        for _ in range(count):
            self._attached.press(kind)
        with self._attached.turn(kind):
            head = require_head(self._journal)
        if head.number == origin.number:
            raise refusal(f"there is nothing to {kind} in the window", "See what there is: blendwright log")
        return Moved(kind, origin.number, head, self._journal.current_branch())


def _unasked(message: str) -> Refusal:
    return Refusal.of(Fault.SCENE_CONFLICT, message, DETACH)
