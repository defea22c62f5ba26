"""Merges: the commits of another line run again on top of HEAD, all of them or none. Both lines must have touched
different data.

A rehearsal in a separate Blender comes first. Everything that either line made must be the same in the merged scene
as in that line's own scene, or nothing is written. Then the merge is an ordinary all-or-nothing run under the policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from blendwright.engine.invocation import new_id
from blendwright.engine.moves.commit_names import HEAD, find, require_head
from blendwright.engine.moves.replaced_plans import operations_of
from blendwright.engine.options import DEFAULT_OPTIONS, RunOptions
from blendwright.engine.scene.differences import SceneSnapshot, take_snapshot
from blendwright.engine.scene.rebuild import rebuild_commit, redo
from blendwright.history.merge_rules import (
    MOST_CONFLICTS,
    MergeConflict,
    Unmergeable,
    find_conflicts,
    own_commits,
    touched_by,
    unmergeable,
)
from blendwright.journal import JournalView
from blendwright.records.branches import Merge
from blendwright.records.changes import CommitChanges
from blendwright.records.touched import DATA
from blendwright.tool_api.promises import SafetyLevel
from blendwright.tools.catalog import tools
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.plan import Plan
from blendwright.values.report import RunReport
from blendwright.wire.remote_scene import RemoteScene
from blendwright.workspace.reading import read_journal

if TYPE_CHECKING:
    from blendwright.workspace.open_scene import OpenScene

MergeKind = Literal["up_to_date", "fast_forward", "merge"]
MERGE = "history.merge"
# Properties that follow from other datablocks.
DERIVED = ("matrix_world", "users", "data_users")
# Properties that belong to the data of an object, which other objects may share.
OF_ITS_DATA = ("data_fingerprint", "materials")
CURE = "Undo one of the two, or repeat their work on this branch."
CURE_OF_UNMERGEABLE = {
    "theirs": "Repeat it on this branch, or switch to the other branch: blendwright switch",
    "ours": "Merge in the other direction if that side can run again, or repeat their work on this branch.",
}


@dataclass(frozen=True, slots=True)
class MergePlan:
    """The effects that a merge would have. `taken` are the commits of `theirs` since `base` that would run again.

    A plan with conflicts, or with commits that cannot be merged, is refused.
    """

    kind: MergeKind
    source: str
    base: int
    ours: int
    theirs: int
    taken: tuple[CommitChanges, ...] = ()
    conflicts: tuple[MergeConflict, ...] = ()
    unmergeable: tuple[Unmergeable, ...] = ()
    ours_since: tuple[CommitChanges, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.conflicts and not self.unmergeable

    def findings(self) -> list[Finding]:
        """Return the reasons for a refusal, one per conflict or unmergeable commit."""
        findings = [Finding(Fault.SCENE_CONFLICT, conflict.message, "", CURE) for conflict in self.conflicts]
        for commit in self.unmergeable:
            findings.append(Finding(Fault.SCENE_CONFLICT, commit.message, "", CURE_OF_UNMERGEABLE[commit.side]))
        return findings

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok, "kind": self.kind, "source": self.source, "base": self.base, "ours": self.ours, "theirs": self.theirs,
            "taken": [commit.number for commit in self.taken],
            "conflicts": [conflict.to_json() for conflict in self.conflicts],
            "unmergeable": [commit.to_json() for commit in self.unmergeable],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of a merge. `taken` pairs each commit of the other line with the new commit that repeats it.

    `report` is the report of the run, or None if no run was needed. A failed run changes nothing.
    """

    plan: MergePlan
    head: int
    scene_hash: str
    request_id: str | None = None
    taken: tuple[tuple[int, int], ...] = ()
    report: RunReport | None = None

    @property
    def ok(self) -> bool:
        return self.report is None or self.report.ok

    def to_json(self) -> dict[str, Any]:
        pairs = [{"from": origin, "commit": commit} for origin, commit in self.taken]
        if self.ok or self.report is None:
            failed = {}
        else:
            failed = {"report": self.report.to_json()}
        return {
            **self.plan.to_json(), "ok": self.ok, "head": self.head, "scene_hash": self.scene_hash,
            "request_id": self.request_id, "taken": pairs, **failed,
        }  # fmt: skip


def plan_merge(workspace: str | Path, source: int | str, into: int | str = HEAD) -> MergePlan:
    """Return the effects of merging a branch or commit into HEAD or another line, without Blender.

    Raise Refusal for a missing commit.
    """
    with read_journal(workspace) as journal:
        return plan_merge_of(journal, source, into)


def plan_merge_of(journal: JournalView, source: int | str, into: int | str = HEAD) -> MergePlan:
    theirs, ours = find(journal, source).number, find(journal, into).number
    base = journal.common_ancestor(ours, theirs)
    ends = (str(source), base, ours, theirs)
    if base == theirs:
        return MergePlan("up_to_date", *ends)
    if base == ours:
        return MergePlan("fast_forward", *ends, taken=journal.changes_to(theirs, since=base))
    our_commits, their_commits = own_commits(
        journal.changes_to(ours, since=base), journal.changes_to(theirs, since=base), journal.branches.merges()
    )
    # Commits without changes, for example exports, do not run again.
    taken = [commit for commit in their_commits if commit.touches]
    if not taken:
        return MergePlan("up_to_date", *ends)
    catalogue = tools()
    conflicts = list(islice(find_conflicts(our_commits, taken, catalogue), MOST_CONFLICTS))
    # Our commits without changes, for example old renders, cannot block a merge, whatever the version of their tool.
    touching = [commit for commit in our_commits if commit.touches]
    unmergeable_commits = [*unmergeable("theirs", taken, catalogue), *unmergeable("ours", touching, catalogue)][
        :MOST_CONFLICTS
    ]
    return MergePlan("merge", *ends, tuple(taken), tuple(conflicts), tuple(unmergeable_commits), tuple(our_commits))


def merge(opened: OpenScene, source: int | str, options: RunOptions = DEFAULT_OPTIONS) -> Merged:
    """Run the commits of a branch, or of any line, again on top of HEAD, either all of them or none.

    Neither line may have touched the data of the other one. The policy rules for `history.merge`, a safe_write, and
    for each operation apply. Raise Refusal with every conflict, before anything is written.
    """
    journal = opened.journal
    target = find(journal, source).number
    opened.require_allowed(MERGE, SafetyLevel.SAFE_WRITE, {"commit": target}, options)
    plan = plan_merge_of(journal, source)
    if not plan.ok:
        raise Refusal(plan.findings())
    if plan.kind == "fast_forward":
        opened.history.checkout(plan.theirs, take_branch=True)
    if plan.kind != "merge":
        head = require_head(journal)
        return Merged(plan, head.number, head.hash_after)
    with opened.spare_worker() as worker:
        expected = _Rehearsal(journal, worker).run(plan)
    request_id = f"merge-{new_id()}"
    operations = operations_of(plan.taken, [str(commit.number) for commit in plan.taken])
    journal.branches.record_merge(Merge(request_id, plan.source, plan.base, plan.ours, plan.theirs))
    report = opened.run(Plan("operations", request_id, operations, "position", "stop", boundary="plan"), options)
    if report.ok and opened.hash != expected:
        opened.history.undo(len(operations))
        raise Refusal.of(Fault.VERIFICATION_FAILED, "the merge led to another scene than its rehearsal", "Try again.")
    taken: list[tuple[int, int]] = []
    if report.ok:
        for operation in report.operations:
            if operation.commit is not None:
                taken.append((int(operation.operation_id), operation.commit))
    head = require_head(journal)
    return Merged(plan, head.number, head.hash_after, request_id, tuple(taken), report)


class _Rehearsal:
    """A rehearsal of a merge in a temporary Blender."""

    def __init__(self, journal: JournalView, worker: RemoteScene) -> None:
        self._journal = journal
        self._worker = worker

    def run(self, plan: MergePlan) -> str:
        """Return the hash of the merged scene.

        Raise Refusal when a commit cannot run again here, or has another effect.
        """
        worker = self._worker
        rebuild_commit(worker, self._journal, plan.theirs)
        theirs = take_snapshot(worker)
        rebuild_commit(worker, self._journal, plan.ours)
        ours = take_snapshot(worker)
        reached = ours.hash
        for commit, answer in redo(worker, [self._journal.show(commit.number) for commit in plan.taken]):
            if not answer["ok"]:
                message = f"commit {commit.number} ({commit.tool}) cannot run here: {answer['message']}"
                raise Refusal.of(Fault.SCENE_CONFLICT, message, CURE)
            reached = answer["after"]
        joined = take_snapshot(worker)
        for side, snapshot, commits in (("theirs", theirs, plan.taken), ("ours", ours, plan.ours_since)):
            self._require_same(side, snapshot, joined, commits)
        return reached

    def _require_same(
        self, side: str, snapshot: SceneSnapshot, joined: SceneSnapshot, commits: Sequence[CommitChanges]
    ) -> None:
        """Raise Refusal if the merged scene changes a datablock of one line, because a tool used data that the other line changed."""
        catalogue = tools()
        changed = {key: commit for commit in commits for key in touched_by(commit, catalogue).changes}
        for key, commit in sorted(changed.items()):
            before, after = snapshot.entries.get(key), joined.entries.get(key)
            if before is None or key[0] == "collections":
                continue  # the line removed it later, or it lists objects of both lines
            if after is None or _differs(before, after, changed):
                message = (
                    f"'{key[1]}' ({key[0]}) would differ from the result of commit {commit.number} ({commit.tool} of request"
                    f" {commit.request_id}; {side}): it depends on data that the other line changed"
                )
                raise Refusal.of(Fault.SCENE_CONFLICT, message, CURE)


def _differs(before: dict[str, Any], after: dict[str, Any], changed: dict[tuple[str, str], CommitChanges]) -> bool:
    """Return whether any property that a datablock owns differs."""
    differing = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
    return any(_is_own(name, before, changed) for name in differing)


def _is_own(name: str, properties: dict[str, Any], changed: dict[tuple[str, str], CommitChanges]) -> bool:
    """Return whether a datablock owns a property.

    Derived properties, and properties of shared data that the line did not change, are not its own.
    """
    if name.partition(".")[0] in OF_ITS_DATA:
        return any((kind, properties.get("data")) in changed for kind in DATA)
    return name.rpartition(".")[2] not in DERIVED
