"""Moves through the history of a workspace: checkout, switch, undo, redo, adopt, gc. Commits stay where they are; only HEAD moves, and
with it the branch that it is on.

A scene is rebuilt and its hash compared before HEAD moves to it, so a commit that cannot be reached leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from blendwright.blendfile.comparison import same_content
from blendwright.engine.files.scratch import copy_scene
from blendwright.engine.invocation import new_id
from blendwright.engine.moves import branch_names as branches
from blendwright.engine.moves.commit_names import HEAD, find, find_branch, refusal, require_head, require_name
from blendwright.engine.moves.replaced_plans import last_plan, replaced_commit
from blendwright.engine.scene.external_files import External
from blendwright.engine.scene.fingerprint_scheme import other_scheme, scheme_of
from blendwright.engine.scene.live_scene import LiveScene
from blendwright.engine.scene.rebuild import rebuild_commit, take_worker
from blendwright.journal import Journal
from blendwright.records.audit import AuditDetails
from blendwright.records.branches import Branch, SwitchTo
from blendwright.records.checkpoints import REDO_BUDGET, GcReport, StagedCheckpoint
from blendwright.records.commits import Commit, NewCommit
from blendwright.records.results import Moved, MoveKind
from blendwright.util import crash_points
from blendwright.values.errors import JournalError, Refusal
from blendwright.values.faults import Fault
from blendwright.wire.remote_scene import RemoteScene
from blendwright.wire.worker_port import WorkerPool

ADOPT = "workspace.adopt"
# What the rules know a move of HEAD by.
CHECKOUT = "history.checkout"


class History:
    """The history of an open workspace. Not thread-safe: one caller at a time."""

    def __init__(self, journal: Journal, scene: LiveScene, pool: WorkerPool, catalogue: str) -> None:
        self._journal = journal
        self._scene = scene
        self._pool = pool
        self._catalogue = catalogue

    def checkout(self, to: int | str, *, take_branch: bool = False) -> Moved:
        """Make the scene of any commit the current one. HEAD is then on the branch that was named, or on none: what is done from there on
        leaves the branch alone that it was on, unless that one is to be taken along."""
        name = str(to)
        if take_branch or name.upper() == HEAD:
            return self._move("checkout", find(self._journal, to))
        if any(branch.name == name for branch in self._journal.branches()):
            return self.switch(name)
        return self._move("checkout", find(self._journal, to), SwitchTo(None))

    def switch(self, name: str, *, create_at: int | str | None = None) -> Moved:
        """Go on with a branch: its scene becomes the current one. With `create_at`, with a new one from that commit on.

        Raises Refusal where there is no such branch, or one of that name already."""
        if create_at is not None:
            require_name(name)
            target = find(self._journal, create_at)
            try:
                return self._move("checkout", target, SwitchTo(name, create=True))
            except JournalError as error:
                raise Refusal.of(Fault.SCENE_CONFLICT, error.message, "Choose another name.") from error
        branch = find_branch(self._journal, name)
        if branch.commit is None:
            raise refusal("the workspace has no commit yet", "Run a plan first.")
        return self._move("checkout", self._journal.show(branch.commit), SwitchTo(name))

    def create_branch(self, name: str, at: int | str = HEAD) -> Branch:
        """A branch at a commit; HEAD stays on its own. Raises Refusal for a name that cannot be one, or is taken."""
        return branches.create_branch(self._journal, name, at)

    def delete_branch(self, name: str) -> Branch:
        """Give up a name, and no commit. Raises Refusal for the branch that HEAD is on."""
        return branches.delete_branch(self._journal, name)

    def set_tag(self, name: str, at: int | str = HEAD) -> Commit:
        """Name a commit; a tag that is there is moved. Raises Refusal for a name that cannot be one."""
        return branches.set_tag(self._journal, name, at)

    def delete_tag(self, name: str) -> Commit:
        """Raises Refusal where there is none."""
        return branches.delete_tag(self._journal, name)

    def undo(self, count: int = 1) -> Moved:
        """Back over the last commits of HEAD's line, in one move. Raises Refusal when there are not so many."""
        path = self._journal.log(limit=count + 1)
        if len(path) <= count:
            most = max(len(path) - 1, 0)
            only = f"there {'is' if most == 1 else 'are'} only {most} commit{'' if most == 1 else 's'} to undo"
            message = only if most else "there is nothing to undo"
            raise refusal(message, "See what there is: blendwright log")
        return self._move("undo", path[-1])

    def undo_plan(self) -> Moved:
        """Back over all that HEAD's plan did, in one move: every commit of the same request. Where it had taken the place of another plan,
        that one is there again. Raises Refusal when there is none."""
        require_head(self._journal)
        first, count = last_plan(self._journal)
        replaced = replaced_commit(self._journal, first)
        return self.undo(count) if replaced is None else replace(self._move("undo", replaced), brought_back=True)

    def redo(self) -> Moved:
        """Forward over the last undo. Raises Refusal when something else has happened since."""
        target = self._journal.redo_target()
        if target is None:
            raise refusal(
                "there is nothing to redo: the last thing that happened is not an undo",
                "Go to any commit with `blendwright checkout N`; `blendwright log --moves` shows where HEAD has been.",
            )
        return self._move("redo", self._journal.show(target))

    def adopt(self, file: Path) -> Commit | None:
        """Take an edited .blend file in as a commit of its own; None when it is certain that it holds what HEAD has already.

        Its hash alone is no proof of that: a file may hold what no hash covers. Whatever ran before it is not taken for done any
        more, since the file may have lost it.
        """
        if not file.is_file():
            raise refusal(f"there is no file {file}", "Check the path.")
        before = self._scene.hash
        worker = self._scene.release_worker() or take_worker(self._pool, self._catalogue)
        try:
            opened = self._scene.externals.open_file(worker, file, str(file), file.resolve().parent)
            if scheme_of(opened.hash) != scheme_of(before):
                raise other_scheme(before, opened.hash)
            if opened.hash == before and self._is_head_scene(worker, opened.file):
                self._scene.adopt_worker(worker, 0.0)
                return None
            # What was opened, not the file that was named: that one may have been replaced meanwhile.
            crash_points.reach("adopt.opened")
            checkpoint = self._journal.stage_checkpoint(opened.file, opened.hash)
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

    def gc(self, *, redo_budget: int = REDO_BUDGET, drop_other_lines: bool = False, dry_run: bool = False) -> GcReport:
        """Remove the checkpoints that no commit needs, or that HEAD, redo, the branches and the tags do not need."""
        return self._journal.gc(redo_budget=redo_budget, drop_other_lines=drop_other_lines, dry_run=dry_run)

    def _move(self, kind: MoveKind, target: Commit, switch: SwitchTo | None = None) -> Moved:
        origin = require_head(self._journal).number
        if switch is not None and target.number == origin:
            self._journal.move_head(kind, origin, switch)
            return Moved(kind, origin, target, self._journal.current_branch())
        worker = self._scene.release_worker() or take_worker(self._pool, self._catalogue)
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
        return Moved(kind, origin, target, self._journal.current_branch())


def adoption(name: str, before: str, checkpoint: StagedCheckpoint, externals: Sequence[External]) -> NewCommit:
    """The commit of a scene that was taken in as a whole."""
    mutation = new_id()
    receipt = {
        "status": "succeeded",
        "file": name,
        "file_sha256": checkpoint.sha256,
        "externals": [external.to_json() for external in externals],
        "blender_mutation_id": mutation,
        "scene_hash_before": before,
        "scene_hash_after": checkpoint.scene_hash,
    }
    return NewCommit(
        operation_key=None,
        request_id=new_id(),
        operation_id="adopt",
        tool=ADOPT,
        tool_version=1,
        args={"file": name, "sha256": checkpoint.sha256},
        hash_before=before,
        hash_after=checkpoint.scene_hash,
        replayable=False,
        receipt=receipt,
        # It may lose anything that was there.
        audit=AuditDetails(new_id(), "destructive", mutation),
        kind="adopt",
        checkpoint=checkpoint,
    )
