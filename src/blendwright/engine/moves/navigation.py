"""Moves through the history of a workspace: checkout, switch, undo, redo, adopt, gc. Commits stay where they are; only HEAD moves, and
with it the branch that it is on.

A scene is rebuilt and its hash compared before HEAD moves to it, so a commit that cannot be reached leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from blendwright.engine.invocation import new_id
from blendwright.engine.moves import branch_names as branches
from blendwright.engine.moves.commit_names import HEAD, find, find_branch, refusal, require_name
from blendwright.engine.scene.external_files import External
from blendwright.journal import Journal
from blendwright.records.audit import AuditDetails
from blendwright.records.branches import Branch, SwitchTo
from blendwright.records.checkpoints import REDO_BUDGET, GcReport, StagedCheckpoint
from blendwright.records.commits import Commit, NewCommit
from blendwright.records.results import Moved, MoveKind
from blendwright.values.errors import JournalError, Refusal
from blendwright.values.faults import Fault

ADOPT = "workspace.adopt"
# What the rules know a move of HEAD by.
CHECKOUT = "history.checkout"


class HeadMoves(Protocol):
    """The moves that depend on where the scene is open. Each raises Refusal where it is not possible."""

    def move(self, kind: MoveKind, target: Commit, switch: SwitchTo | None = None) -> Moved:
        """Make the scene of `target` the current one, and move HEAD there."""
        ...

    def undo(self, count: int = 1) -> Moved: ...

    def undo_plan(self) -> Moved: ...

    def redo(self) -> Moved: ...

    def adopt(self, file: Path) -> Commit | None: ...


class History:
    """The history of an open workspace. Not thread-safe: one caller at a time."""

    def __init__(self, journal: Journal, moves: HeadMoves) -> None:
        self._journal = journal
        self._moves = moves

    def checkout(self, to: int | str, *, take_branch: bool = False) -> Moved:
        """Make the scene of any commit the current one. HEAD is then on the branch that was named, or on none: what is done from there on
        leaves the branch alone that it was on, unless that one is to be taken along."""
        name = str(to)
        if take_branch or name.upper() == HEAD:
            return self._moves.move("checkout", find(self._journal, to))
        if any(branch.name == name for branch in self._journal.branches.listed()):
            return self.switch(name)
        return self._moves.move("checkout", find(self._journal, to), SwitchTo(None))

    def switch(self, name: str, *, create_at: int | str | None = None) -> Moved:
        """Go on with a branch: its scene becomes the current one. With `create_at`, with a new one from that commit on.

        Raises Refusal where there is no such branch, or one of that name already."""
        if create_at is not None:
            require_name(name)
            target = find(self._journal, create_at)
            try:
                return self._moves.move("checkout", target, SwitchTo(name, create=True))
            except JournalError as error:
                raise Refusal.of(Fault.SCENE_CONFLICT, error.message, "Choose another name.") from error
        branch = find_branch(self._journal, name)
        if branch.commit is None:
            raise refusal("the workspace has no commit yet", "Run a plan first.")
        return self._moves.move("checkout", self._journal.show(branch.commit), SwitchTo(name))

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
        """Go back over the last commits of HEAD's line in one move. Raises Refusal when there are fewer."""
        return self._moves.undo(count)

    def undo_plan(self) -> Moved:
        """Go back over every commit of HEAD's plan in one move. Where the plan had replaced another one, that one is back.

        Raises Refusal when there is no plan."""
        return self._moves.undo_plan()

    def redo(self) -> Moved:
        """Go forward over the last undo. Raises Refusal when something else has happened since."""
        return self._moves.redo()

    def adopt(self, file: Path) -> Commit | None:
        """Take an edited .blend file in as a commit of its own; None when it is certain that it holds what HEAD has already.

        Its hash alone is no proof of that: a file may hold what no hash covers. What ran before it does not count as done any more,
        because the file may have lost it."""
        return self._moves.adopt(file)

    def gc(self, *, redo_budget: int = REDO_BUDGET, drop_other_lines: bool = False, dry_run: bool = False) -> GcReport:
        """Remove the checkpoints that no commit needs, or that HEAD, redo, the branches and the tags do not need."""
        return self._journal.checkpoints.collect_garbage(
            redo_budget=redo_budget, drop_other_lines=drop_other_lines, dry_run=dry_run
        )


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
