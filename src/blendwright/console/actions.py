"""The actions of a person in a workspace: moves of HEAD, tags, branches, merges, and plans that run again. The policy applies to each
action, and the audit records it with the person's session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from blendwright.approvals import pending as approving
from blendwright.engine.invocation import new_id
from blendwright.engine.moves.commit_names import HEAD, find, refusal, require_head, require_name
from blendwright.engine.options import RunOptions
from blendwright.history.fork import fork
from blendwright.history.merge import MERGE, Merged, plan_merge_of
from blendwright.history.merge import merge as merge_source
from blendwright.journal import Journal
from blendwright.records.audit import AuditDetails
from blendwright.records.commits import NewAudit
from blendwright.records.requests import StoredApproval
from blendwright.records.results import Moved
from blendwright.tool_api.promises import SafetyLevel
from blendwright.util.cancel import CancelToken
from blendwright.values.approval import Approval, ApprovalAnswer, ApprovalRequest, Approver
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.report import RunReport
from blendwright.workspace.open_scene import OpenScene

Move = Literal["undo", "redo", "checkout"]
BISECT = "history.bisect"


@dataclass(frozen=True, slots=True)
class Person:
    """The person who acts. `session` is the id that the audit records."""

    session: str

    @property
    def by(self) -> str:
        return f"console {self.session}"

    @property
    def options(self) -> RunOptions:
        """Return run options that approve whatever the pressed button needs, without a further question."""
        return RunOptions(approver=Approver(_ApproveAll(self.by)))


@dataclass(frozen=True, slots=True)
class _ApproveAll:
    """An approver that approves a request unless a person must read it in full."""

    name: str

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        if request.in_person:
            return ApprovalAnswer.NONE
        return ApprovalAnswer.APPROVED


@dataclass(frozen=True, slots=True)
class _ApproveShown:
    """An approver that approves only the operation with this hash, which the person has seen."""

    name: str
    operation_hash: str

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        if request.operation_hash == self.operation_hash:
            return ApprovalAnswer.APPROVED
        return ApprovalAnswer.NONE


def move(opened: OpenScene, person: Person, kind: Move, to: int | str | None = None) -> Moved:
    """Undo, redo, or check out a commit. Raise Refusal if the policy forbids the move or there is no target."""
    journal, before = opened.journal, require_head(opened.journal).hash_after
    target = _target(journal, kind, to)
    opened.require_move(target, person.options)
    match kind:
        case "undo":
            moved = opened.history.undo()
        case "redo":
            moved = opened.history.redo()
        case "checkout":
            moved = opened.history.checkout(target)
    record(journal, person, f"history.{kind}", before, moved.commit.hash_after)
    return moved


def _target(journal: Journal, kind: Move, to: int | str | None) -> int:
    """Return the number of the commit that a move leads to. Raise Refusal if there is none."""
    if kind == "checkout":
        if to is None:
            to = HEAD
        return find(journal, to).number
    if kind == "redo":
        target = journal.redo_target()
        if target is None:
            raise refusal("there is nothing to redo: the last action was not an undo", "Check out any commit instead.")
        return target
    parent = require_head(journal).parent
    if parent is None:
        raise refusal("there is nothing to undo", "Run a plan first.")
    return parent


def tag(opened: OpenScene, person: Person, name: str, number: int) -> None:
    """Give a commit a tag. Raise Refusal for a name that could be mistaken for something else."""
    commit = opened.history.set_tag(name, number)
    record(opened.journal, person, "history.tag", commit.hash_after, commit.hash_after)


def switch(opened: OpenScene, person: Person, name: str, create_at: int | None = None) -> Moved:
    """Switch to a branch, or create it at a commit first. Raise Refusal if that is not possible."""
    journal, before = opened.journal, require_head(opened.journal).hash_after
    start = name
    if create_at is not None:
        start = create_at
    opened.require_move(find(journal, start).number, person.options)
    moved = opened.history.switch(name, create_at=create_at)
    record(journal, person, "history.switch", before, moved.commit.hash_after)
    return moved


def merge(opened: OpenScene, person: Person, source: str, into: str) -> Merged:
    """Merge one line of work into another, completely or not at all. Raise Refusal with the conflicts.

    The merge switches to `into` first, and back if it fails."""
    journal = opened.journal
    head = require_head(journal)
    current = next((branch.name for branch in journal.branches.listed() if branch.current), None)
    plan = plan_merge_of(journal, source, into)
    if not plan.ok:
        raise Refusal(plan.findings())
    moves = into not in (HEAD, current)
    if moves:
        switch(opened, person, into)

    def go_back() -> None:
        if moves and current is not None:
            switch(opened, person, current)
        elif moves:
            move(opened, person, "checkout", head.number)

    try:
        merged = merge_source(opened, source, person.options)
    except Refusal:
        go_back()
        raise
    if not merged.ok:
        go_back()
        return merged
    record(journal, person, MERGE, head.hash_after, merged.scene_hash)
    return merged


def allow_bisect(opened: OpenScene, person: Person, expect: str) -> None:
    """Ask the policy for permission to search for the commit that broke a check. The search changes nothing. Raise Refusal if denied."""
    scene = require_head(opened.journal).hash_after
    opened.require_allowed(BISECT, SafetyLevel.READ_ONLY, {"expect": expect}, person.options)
    record(opened.journal, person, BISECT, scene, scene, safety_level="read_only")


def fork_beside(opened: OpenScene, person: Person, name: str, number: int, *, blender: str | None = None) -> Path:
    """Create a workspace next to this one that begins with the scene of a commit. Return its directory. Raise Refusal for a path."""
    require_name(name)
    if name in (".", "..") or "/" in name or os.sep in name:
        fix = "Use the name of a new directory next to this workspace, without a path."
        raise Refusal.of(Fault.ARGS_INVALID, f"'{name[:100]}' is not the name of a directory", fix)
    workspace = opened.journal.workspace
    forked = fork(workspace, number, workspace.parent / name, blender=blender)
    record(opened.journal, person, "history.fork", forked.origin.hash_after, forked.origin.hash_after)
    return forked.directory


def answer(workspace: str | Path, person: Person, id: str, operation_hash: str, *, approved: bool) -> StoredApproval:
    """Answer a pending approval and return it. An approval counts only for the operation that the person has seen.

    Raise Refusal if it waits for another operation now, or can no longer be answered."""
    if not approved:
        return approving.decline(workspace, [id], by=person.by)[0]
    stored = approving.approve(workspace, [id], _ApproveShown(person.by, operation_hash), by=person.by)[0]
    if stored.state != "approved":
        message = f"{id} is now another question than the one that the page showed"
        raise Refusal.of(Fault.POLICY_BLOCKED, message, "Load the page again.")
    return stored


def run_again(opened: OpenScene, person: Person, document: Mapping[str, Any], boundary: Any) -> RunReport:
    """Run a plan again. Operations that need an approval wait for it, as in any run."""
    scene = require_head(opened.journal).hash_after
    record(opened.journal, person, "plan.run_again", scene, scene)
    return opened.run(document, boundary=boundary)


def record(
    journal: Journal, person: Person, act: str, before: str, after: str, *, safety_level: str = "safe_write"
) -> None:
    """Write the action into the audit chain, with the session of the person."""
    details = AuditDetails(
        new_id(), safety_level, approval=Approval(person.session, ApprovalAnswer.APPROVED, person.by)
    )
    journal.commit([NewAudit(new_id(), act.rpartition(".")[2], act, "succeeded", before, after, details)])
