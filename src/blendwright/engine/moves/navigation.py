"""Moves through the history of a workspace: checkout, switch, undo, redo, adopt, gc.

Commits do not change; only HEAD and its branch move. A move rebuilds the scene and compares its hash before HEAD
moves. If a commit cannot be reached, everything stays as it was.
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
# The name of a move of HEAD in policy rules.
CHECKOUT = "history.checkout"


class HeadMoves(Protocol):
    """The moves that depend on where the scene is open. Each method raises Refusal when the move is not possible."""

    def move(self, kind: MoveKind, target: Commit, switch: SwitchTo | None = None) -> Moved:
        """Open the scene of `target` and move HEAD there."""
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
        """Open the scene of a commit and move HEAD there.

        HEAD then is on the named branch, or on no branch, so that later work leaves the previous branch alone.
        With `take_branch`, the present branch moves along.
        """
        name = str(to)
        if take_branch or name.upper() == HEAD:
            return self._moves.move("checkout", find(self._journal, to))
        if any(branch.name == name for branch in self._journal.branches.listed()):
            return self.switch(name)
        return self._moves.move("checkout", find(self._journal, to), SwitchTo(None))

    def switch(self, name: str, *, create_at: int | str | None = None) -> Moved:
        """Switch to a branch and open its scene. With `create_at`, first create the branch at that commit.

        Raises Refusal when the branch does not exist, or already exists with `create_at`.
        """
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
        """Create a branch at a commit without switching to it. Raises Refusal for an invalid or existing name."""
        return branches.create_branch(self._journal, name, at)

    def delete_branch(self, name: str) -> Branch:
        """Delete a branch and keep its commits. Raises Refusal for the branch that HEAD is on."""
        return branches.delete_branch(self._journal, name)

    def set_tag(self, name: str, at: int | str = HEAD) -> Commit:
        """Set a tag to a commit and return the commit. An existing tag moves. Raises Refusal for an invalid name."""
        return branches.set_tag(self._journal, name, at)

    def delete_tag(self, name: str) -> Commit:
        """Delete a tag and return its commit. Raises Refusal when the tag does not exist."""
        return branches.delete_tag(self._journal, name)

    def undo(self, count: int = 1) -> Moved:
        """Go back over the last `count` commits before HEAD in one move. Raises Refusal when there are fewer."""
        return self._moves.undo(count)

    def undo_plan(self) -> Moved:
        """Go back over all commits of HEAD's plan in one move. If the plan had replaced another plan, restore that
        plan.

        Raises Refusal when there is no plan.
        """
        return self._moves.undo_plan()

    def redo(self) -> Moved:
        """Go forward over the last undo. Raises Refusal when other work has happened since."""
        return self._moves.redo()

    def adopt(self, file: Path) -> Commit | None:
        """Commit an edited .blend file as the new scene. Return None when the file certainly has the same content
        as HEAD.

        An equal hash does not prove that, because a file may contain data that no hash covers. Earlier operations
        no longer count as done, because the file may lack their results.
        """
        return self._moves.adopt(file)

    def gc(self, *, redo_budget: int = REDO_BUDGET, drop_other_lines: bool = False, dry_run: bool = False) -> GcReport:
        """Remove checkpoints that no commit needs. With `drop_other_lines`, also remove those that HEAD, redo,
        branches and tags do not need.
        """
        return self._journal.checkpoints.collect_garbage(
            redo_budget=redo_budget, drop_other_lines=drop_other_lines, dry_run=dry_run
        )


def adoption(name: str, before: str, checkpoint: StagedCheckpoint, externals: Sequence[External]) -> NewCommit:
    """Return the commit that adopts a whole scene from a file."""
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
        # The file may lack anything that the scene had.
        audit=AuditDetails(new_id(), "destructive", mutation),
        kind="adopt",
        checkpoint=checkpoint,
    )
