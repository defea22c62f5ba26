"""Moves of HEAD for a scene in a worker process: every move rebuilds the target's scene and compares its hash before HEAD moves.

A commit that cannot be reached therefore leaves everything as it was.
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
    """Not thread-safe: one caller at a time."""

    def __init__(self, journal: Journal, scene: ProcessScene) -> None:
        self._journal = journal
        self._scene = scene

    def undo(self, count: int = 1) -> Moved:
        """Back over the last commits of HEAD's line, in one move. Raises Refusal when there are not so many."""
        path = self._journal.log(limit=count + 1)
        if len(path) <= count:
            most = max(len(path) - 1, 0)
            only = f"there {'is' if most == 1 else 'are'} only {most} commit{'' if most == 1 else 's'} to undo"
            if most:
                message = only
            else:
                message = "there is nothing to undo"
            raise refusal(message, "See what there is: blendwright log")
        return self.move("undo", path[-1])

    def undo_plan(self) -> Moved:
        """Back over all that HEAD's plan did, in one move: every commit of the same request. Where it had taken the place of another plan,
        that one is there again. Raises Refusal when there is none."""
        require_head(self._journal)
        first, count = last_plan(self._journal)
        replaced = replaced_commit(self._journal, first)
        if replaced is None:
            return self.undo(count)
        return replace(self.move("undo", replaced), brought_back=True)

    def redo(self) -> Moved:
        """Forward over the last undo. Raises Refusal when something else has happened since."""
        target = self._journal.redo_target()
        if target is None:
            raise refusal(
                "there is nothing to redo: the last thing that happened is not an undo",
                "Go to any commit with `blendwright checkout N`; `blendwright log --moves` shows where HEAD has been.",
            )
        return self.move("redo", self._journal.show(target))

    def adopt(self, file: Path) -> Commit | None:
        """Take an edited .blend file in as a commit of its own; None when it is certain that it holds what HEAD has already.

        Its hash alone is no proof of that: a file may hold what no hash covers. Whatever ran before it is not taken for done any
        more, since the file may have lost it.
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
            # What was opened, not the file that was named: that one may have been replaced meanwhile.
            crash_points.reach("adopt.opened")
            checkpoint = self._journal.checkpoints.stage(opened.file, opened.hash)
            crash_points.reach("adopt.staged")
            self._journal.commit([adoption(file.name, before, checkpoint, opened.externals)])
            crash_points.reach("adopt.committed")
        except BaseException:
            # An interruption may come behind the commit: then HEAD is elsewhere already.
            worker.abandon()
            self._scene.follow_head()
            raise
        if self._scene.allow_externals():
            # Only a worker that starts now may read them.
            worker.abandon()
            self._scene.follow_head()
        else:
            self._scene.adopt_worker(worker, 0.0)
        return require_head(self._journal)

    def _is_head_scene(self, worker: RemoteScene, opened: Path) -> bool:
        """Whether a file, which the worker has opened, is HEAD's scene. If so, the worker has that one, else it has the file again.

        Both are compared as Blender writes what it has just opened: what it was told and what it read it writes differently."""
        scratch = worker.require_process().scratch
        adopted, theirs, ours = (scratch / name for name in ("adopted.blend", "theirs.blend", "ours.blend"))
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
            # The next need for the scene rebuilds what HEAD still is, or is already, where an interruption came behind its move.
            worker.abandon()
            self._scene.follow_head()
            raise
        self._scene.adopt_worker(worker, (perf_counter() - started) * 1000)
        return Moved(kind, origin, target, self._journal.branches.current())
