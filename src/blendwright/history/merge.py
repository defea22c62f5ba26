"""Merging: the commits of another line run again on top of HEAD, where neither line touched what the other did. All of them or none.

It is rehearsed first, in a Blender of its own: what either line made must be in the joined scene as it is in that line's own, or nothing is
written. Then it is a run like any other, under the policy, kept whole or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
# Follows from other datablocks than the one that says it.
DERIVED = ("matrix_world", "users", "data_users")
# Belongs to what an object is made of, which it may share with others.
OF_ITS_DATA = ("data_fingerprint", "materials")
CURE = "Undo one of the two, or do their work on this branch again."
CURE_OF_UNMERGEABLE = {
    "theirs": "Do it again on this branch, or go on there: blendwright switch",
    "ours": "Merge the other way round where that side can be run again, or do their work on this branch again.",
}


@dataclass(frozen=True, slots=True)
class MergePlan:
    """What a merge would do. `taken` are the commits of `theirs` since `base` that would be run again; `kind` says whether there is
    anything to be done. With conflicts, or with commits that cannot be merged, it is refused."""

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
        """Why it is refused."""
        found = [Finding(Fault.SCENE_CONFLICT, one.message, "", CURE) for one in self.conflicts]
        return found + [
            Finding(Fault.SCENE_CONFLICT, one.message, "", CURE_OF_UNMERGEABLE[one.side]) for one in self.unmergeable
        ]

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok, "kind": self.kind, "source": self.source, "base": self.base, "ours": self.ours, "theirs": self.theirs,
            "taken": [commit.number for commit in self.taken], "conflicts": [one.to_json() for one in self.conflicts],
            "unmergeable": [one.to_json() for one in self.unmergeable],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge has done. `taken` are pairs: the commit of the other line, and the one here that repeats it. `report` is that of the
    run, None where none was needed; one that failed left everything as it was."""

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
    """What a merge of a branch, or of any commit, into HEAD or another line would do; starts no Blender. Raises Refusal where there is no
    such commit."""
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
    our_own, their_own = own_commits(
        journal.changes_to(ours, since=base), journal.changes_to(theirs, since=base), journal.branches.merges()
    )
    # What changed nothing is not run again: an export need not happen twice.
    taken = [commit for commit in their_own if commit.touches]
    if not taken:
        return MergePlan("up_to_date", *ends)
    catalogue = tools()
    conflicts = [one for one, _ in zip(find_conflicts(our_own, taken, catalogue), range(MOST_CONFLICTS), strict=False)]
    # Nor does it matter which version of a tool it was of: an old render stands in nobody's way.
    touching = [commit for commit in our_own if commit.touches]
    stuck = [*unmergeable("theirs", taken, catalogue), *unmergeable("ours", touching, catalogue)][:MOST_CONFLICTS]
    return MergePlan("merge", *ends, tuple(taken), tuple(conflicts), tuple(stuck), tuple(our_own))


def merge(opened: OpenScene, source: int | str, options: RunOptions = DEFAULT_OPTIONS) -> Merged:
    """Run the commits of a branch, or of any line, again on top of HEAD: all of them or none.

    Neither line may have touched what the other one did. The rules for `history.merge`, a safe_write, and the rules for each operation
    decide. Raises Refusal with everything that is in the way, before anything is written."""
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
    done = [(int(one.operation_id), one.commit) for one in report.operations if one.commit is not None]
    head = require_head(journal)
    return Merged(plan, head.number, head.hash_after, request_id, tuple(done) if report.ok else (), report)


class _Rehearsal:
    """The merge in a Blender that is thrown away."""

    def __init__(self, journal: JournalView, worker: RemoteScene) -> None:
        self._journal = journal
        self._worker = worker

    def run(self, plan: MergePlan) -> str:
        """The hash of the joined scene. Raises Refusal where a commit cannot be run again here, or turns out otherwise."""
        worker = self._worker
        rebuild_commit(worker, self._journal, plan.theirs)
        theirs = take_snapshot(worker)
        rebuild_commit(worker, self._journal, plan.ours)
        ours = take_snapshot(worker)
        reached = ours.hash
        for commit, answer in redo(worker, [self._journal.show(commit.number) for commit in plan.taken]):
            if not answer["ok"]:
                message = f"commit {commit.number} ({commit.tool}) cannot be run here: {answer['message']}"
                raise Refusal.of(Fault.SCENE_CONFLICT, message, CURE)
            reached = answer["after"]
        joined = take_snapshot(worker)
        for side, snapshot, commits in (("theirs", theirs, plan.taken), ("ours", ours, plan.ours_since)):
            self._require_same(side, snapshot, joined, commits)
        return reached

    def _require_same(
        self, side: str, own: SceneSnapshot, joined: SceneSnapshot, commits: Sequence[CommitChanges]
    ) -> None:
        """What the commits of one line made is in the joined scene as in that line's own: no tool looked at what the other changed."""
        catalogue = tools()
        changed = {key: commit for commit in commits for key in touched_by(commit, catalogue).changes}
        for key, commit in sorted(changed.items()):
            before, after = own.entries.get(key), joined.entries.get(key)
            if before is None or key[0] == "collections":
                continue  # gone by then, or a list of what both have put into it
            if after is None or any(
                before.get(name) != after.get(name)
                for name in before.keys() | after.keys()
                if _is_own(name, before, changed)
            ):
                message = (
                    f"'{key[1]}' ({key[0]}) would not be as commit {commit.number} ({commit.tool} of request {commit.request_id})"
                    f" left it ({side}): it depends on what the other line changed"
                )
                raise Refusal.of(Fault.SCENE_CONFLICT, message, CURE)


def _is_own(name: str, properties: dict[str, Any], changed: dict[tuple[str, str], CommitChanges]) -> bool:
    """Whether a property of a datablock is its own, and not one of what others made of it or of the data that it shares."""
    if name.partition(".")[0] in OF_ITS_DATA:
        return any((kind, properties.get("data")) in changed for kind in DATA)
    return name.rpartition(".")[2] not in DERIVED
