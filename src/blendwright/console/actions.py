"""What a person does to a workspace by hand: moves of HEAD, tags, merges, plans run again. The policy holds for them, and each is in the
audit with the session that it was done in."""

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
    """Who acts. `session` is what the audit names."""

    session: str

    @property
    def by(self) -> str:
        return f"console {self.session}"

    @property
    def options(self) -> RunOptions:
        """Whoever presses the button of an act is asked about nothing else by it."""
        return RunOptions(approver=Approver(_Yes(self.by)))


@dataclass(frozen=True, slots=True)
class _Yes:
    """To everything but what a person must have seen whole: pressing a button of something else is no answer to that."""

    name: str

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        return ApprovalAnswer.NONE if request.in_person else ApprovalAnswer.APPROVED


@dataclass(frozen=True, slots=True)
class _Seen:
    """The person has seen the question with this hash, and no other."""

    name: str
    operation_hash: str

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        return ApprovalAnswer.APPROVED if request.operation_hash == self.operation_hash else ApprovalAnswer.NONE


def move(opened: OpenScene, person: Person, kind: Move, to: int | str | None = None) -> Moved:
    """Undo, redo, or go to a commit. Raises Refusal where the policy does not allow it or there is nowhere to go."""
    journal, before = opened.journal, require_head(opened.journal).hash_after
    target = _target(journal, kind, to)
    opened.require_move(target, person.options)
    history = opened.history
    moved = history.undo() if kind == "undo" else history.redo() if kind == "redo" else history.checkout(target)
    record(journal, person, f"history.{kind}", before, moved.commit.hash_after)
    return moved


def _target(journal: Journal, kind: Move, to: int | str | None) -> int:
    if kind == "checkout":
        return find(journal, to if to is not None else HEAD).number
    if kind == "redo":
        target = journal.redo_target()
        if target is None:
            raise refusal("there is nothing to redo: the last thing that happened is not an undo", "Go to any commit.")
        return target
    parent = require_head(journal).parent
    if parent is None:
        raise refusal("there is nothing to undo", "Run a plan first.")
    return parent


def tag(opened: OpenScene, person: Person, name: str, number: int) -> None:
    """Give a commit a name. Raises Refusal for one that could be taken for something else."""
    commit = opened.history.set_tag(name, number)
    record(opened.journal, person, "history.tag", commit.hash_after, commit.hash_after)


def switch(opened: OpenScene, person: Person, name: str, create_at: int | None = None) -> Moved:
    """Go on with a branch, or with a new one from a commit on. Raises Refusal."""
    journal, before = opened.journal, require_head(opened.journal).hash_after
    opened.require_move(find(journal, name if create_at is None else create_at).number, person.options)
    moved = opened.history.switch(name, create_at=create_at)
    record(journal, person, "history.switch", before, moved.commit.hash_after)
    return moved


def merge(opened: OpenScene, person: Person, source: str, into: str) -> Merged:
    """The work of one line on another one, all of it or none. HEAD goes to `into` for it, and back where nothing came of it. Raises
    Refusal, with what is in the way."""
    journal = opened.journal
    head = require_head(journal)
    current = next((one.name for one in journal.branches.listed() if one.current), None)
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
    """Before commits are looked through for the one that broke a check, which changes nothing. Raises Refusal where the policy does not
    let them."""
    scene = require_head(opened.journal).hash_after
    opened.require_allowed(BISECT, SafetyLevel.READ_ONLY, {"expect": expect}, person.options)
    record(opened.journal, person, BISECT, scene, scene, safety_level="read_only")


def fork_beside(opened: OpenScene, person: Person, name: str, number: int, *, blender: str | None = None) -> Path:
    """A new workspace beside this one that begins with the scene of a commit. Raises Refusal for a name that leads elsewhere."""
    require_name(name)
    if name in (".", "..") or "/" in name or os.sep in name:
        cure = "Name a new directory beside this workspace, without a path."
        raise Refusal.of(Fault.ARGS_INVALID, "that is not the name of a directory", cure)
    workspace = opened.journal.workspace
    forked = fork(workspace, number, workspace.parent / name, blender=blender)
    record(opened.journal, person, "history.fork", forked.origin.hash_after, forked.origin.hash_after)
    return forked.directory


def answer(workspace: str | Path, person: Person, id: str, operation_hash: str, *, approved: bool) -> StoredApproval:
    """Answer a question that waits. A yes is for the very operation that the person saw. Raises Refusal where it is another, or cannot
    be answered any more."""
    if not approved:
        return approving.decline(workspace, [id], by=person.by)[0]
    stored = approving.approve(workspace, [id], _Seen(person.by, operation_hash), by=person.by)[0]
    if stored.state != "approved":
        raise Refusal.of(Fault.POLICY_BLOCKED, f"{id} is another question than the one that was shown", "Look again.")
    return stored


def run_again(opened: OpenScene, person: Person, document: Mapping[str, Any], boundary: Any) -> RunReport:
    """Run a plan once more. What it needs a person's yes for waits among the approvals, as it does for any run."""
    scene = require_head(opened.journal).hash_after
    record(opened.journal, person, "plan.run_again", scene, scene)
    return opened.run(document, boundary=boundary)


def record(
    journal: Journal, person: Person, act: str, before: str, after: str, *, safety_level: str = "safe_write"
) -> None:
    """The act in the audit chain, with the session of whoever did it."""
    details = AuditDetails(
        new_id(), safety_level, approval=Approval(person.session, ApprovalAnswer.APPROVED, person.by)
    )
    journal.commit([NewAudit(new_id(), act.rpartition(".")[2], act, "succeeded", before, after, details)])
