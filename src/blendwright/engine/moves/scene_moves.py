"""Moves of HEAD for a scene in a worker process.

Every move rebuilds the target's scene and compares its hash before HEAD moves. If a commit cannot be reached,
everything stays as it was.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter

from blendwright.blendfile.comparison import same_content
from blendwright.engine.files.scratch import copy_scene
from blendwright.engine.moves.commit_names import refusal, require_head
from blendwright.engine.moves.navigation import adoption
from blendwright.engine.moves.replaced_plans import last_plan, replaced_commit
from blendwright.engine.scene.fingerprint_scheme import other_scheme, scheme_of
from blendwright.engine.scene.host import ProcessScene
from blendwright.engine.scene.rebuild import rebuild_commit
from blendwright.journal import Journal
from blendwright.records.branches import SwitchTo
from blendwright.records.commits import Commit
from blendwright.records.results import Moved, MoveKind
from blendwright.util import crash_points
from blendwright.wire.remote_scene import RemoteScene


class SceneMoves:
    """The moves of HEAD with a worker process. Not thread-safe: one caller at a time."""

    def __init__(self, journal: Journal, scene: ProcessScene) -> None:
        self._journal = journal
        self._scene = scene

    def undo(self, count: int = 1) -> Moved:
        """Go back over the last `count` commits before HEAD in one move. Raises Refusal when there are fewer."""
        path = self._journal.log(limit=count + 1)
        if len(path) <= count:
            undoable = max(len(path) - 1, 0)
            if undoable == 0:
                message = "there is nothing to undo"
            elif undoable == 1:
                message = "there is only 1 commit to undo"
            else:
                message = f"there are only {undoable} commits to undo"
            raise refusal(message, "List the commits: blendwright log")
        return self.move("undo", path[-1])

    def undo_plan(self) -> Moved:
        """Go back over all commits of HEAD's plan in one move. If the plan had replaced another plan, restore that
        plan.

        Raises Refusal when there is no plan.
        """
        require_head(self._journal)
        first, count = last_plan(self._journal)
        replaced = replaced_commit(self._journal, first)
        if replaced is None:
            return self.undo(count)
        return replace(self.move("undo", replaced), brought_back=True)

    def redo(self) -> Moved:
        """Go forward over the last undo. Raises Refusal when other work has happened since."""
        target = self._journal.redo_target()
        if target is None:
            raise refusal(
                "there is nothing to redo: the last change is not an undo",
                "Go to any commit with `blendwright checkout N`; `blendwright log --moves` shows the earlier positions of HEAD.",
            )
        return self.move("redo", self._journal.show(target))

    def adopt(self, file: Path) -> Commit | None:
        """Commit an edited .blend file as the new scene. Return None when the file certainly has the same content
        as HEAD.

        An equal hash does not prove that, because a file may contain data that no hash covers. Earlier operations
        no longer count as done, because the file may lack their results.
        """
        if not file.is_file():
            raise refusal(f"there is no file {file}", "Check the path.")
        before = self._scene.hash
        worker = self._scene.release_worker() or self._scene.take_worker()
        try:
            opened = self._scene.externals.open_file(worker, file, str(file), file.resolve().parent)
            if scheme_of(opened.hash) != scheme_of(before):
                raise other_scheme(before, opened.hash)
            if opened.hash == before and self._is_head_scene(worker, opened.file):
                self._scene.adopt_worker(worker, 0.0)
                return None
            # Stage the opened copy and not the named file, which may have changed meanwhile.
            crash_points.reach("adopt.opened")
            checkpoint = self._journal.checkpoints.stage(opened.file, opened.hash)
            crash_points.reach("adopt.staged")
            self._journal.commit([adoption(file.name, before, checkpoint, opened.externals)])
            crash_points.reach("adopt.committed")
        except BaseException:
            # An interruption may come after the commit, when HEAD has already moved.
            worker.abandon()
            self._scene.follow_head()
            raise
        if self._scene.allow_externals():
            # Only a new worker may read the external files.
            worker.abandon()
            self._scene.follow_head()
        else:
            self._scene.adopt_worker(worker, 0.0)
        return require_head(self._journal)

    def _is_head_scene(self, worker: RemoteScene, opened: Path) -> bool:
        """Return True if the opened file has the content of HEAD's scene. The worker then holds HEAD's scene,
        otherwise the file again.

        Blender saves a scene that it has just read differently from a scene in memory. So both scenes are saved
        after opening them.
        """
        scratch = worker.require_process().scratch
        adopted = scratch / "adopted.blend"
        theirs = scratch / "theirs.blend"
        ours = scratch / "ours.blend"
        copy_scene(opened, adopted)
        worker.save(theirs.name)
        rebuild_commit(worker, self._journal, require_head(self._journal).number)
        for _ in range(2):
            worker.save(ours.name)
            worker.open(ours.name)
        same = same_content(ours, theirs)
        if not same:
            copy_scene(adopted, opened)
            worker.open(opened.name)
        for file in (adopted, theirs, ours):
            file.unlink()
        return same

    def move(self, kind: MoveKind, target: Commit, switch: SwitchTo | None = None) -> Moved:
        """Open the scene of `target` and move HEAD there. Raises an error and leaves HEAD unchanged if the rebuild
        fails.
        """
        origin = require_head(self._journal).number
        if switch is not None and target.number == origin:
            self._journal.move_head(kind, origin, switch)
            return Moved(kind, origin, target, self._journal.branches.current())
        worker = self._scene.release_worker() or self._scene.take_worker()
        started = perf_counter()
        try:
            rebuild_commit(worker, self._journal, target.number)
            crash_points.reach("move.rebuilt")
            self._journal.move_head(kind, target.number, switch)
            crash_points.reach("move.moved")
        except BaseException:
            # The next use of the scene rebuilds HEAD, which has already moved if the interruption came after the
            # move.
            worker.abandon()
            self._scene.follow_head()
            raise
        self._scene.adopt_worker(worker, (perf_counter() - started) * 1000)
        return Moved(kind, origin, target, self._journal.branches.current())
