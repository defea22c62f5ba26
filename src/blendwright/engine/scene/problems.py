"""What keeps a workspace from being used, and the named ways to repair it.

The journal must have been opened for recovery: it is then writable in quarantine too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from blendwright.engine.files.scratch import SCENE_FILE, open_scene_file
from blendwright.engine.moves.commit_names import refusal, require_head
from blendwright.engine.moves.navigation import adoption
from blendwright.engine.scene.external_files import current_externals
from blendwright.engine.scene.fingerprint_scheme import other_scheme, scheme_of
from blendwright.engine.scene.rebuild import open_checkpoint, rebuild_commit, redo
from blendwright.journal import Journal
from blendwright.records.commits import Commit
from blendwright.records.recovery import Intent, OpenBoundary, Quarantine
from blendwright.util import crash_points
from blendwright.values.errors import JournalError
from blendwright.wire.remote_scene import RemoteScene

# Commits that are offered to go back to.
OFFERED = 5


@dataclass(frozen=True, slots=True)
class WorkspaceProblems:
    """`lost` says why HEAD's scene cannot be rebuilt; `reachable` are commits whose scenes can, newest first."""

    head: Commit | None
    quarantine: Quarantine | None
    indeterminate: tuple[Intent, ...]
    boundary: OpenBoundary | None
    lost: str | None
    reachable: tuple[int, ...]
    contradictions: tuple[str, ...] = ()
    """What says that an older journal was put in the place of this workspace's own."""

    @property
    def fit(self) -> bool:
        return self.quarantine is None and self.lost is None and not self.contradictions

    def ways_out(self) -> Iterator[str]:
        if self.contradictions:
            yield "put the newest copy of the workspace back"
            yield "blendwright recover --accept-restored: goes on with the journal as it is, and records that in its audit chain"
        if self.quarantine is not None or self.lost is not None:
            if self.lost is None:
                yield (
                    "blendwright recover --adopt: goes on with the newest scene as Blender finds it today, as a commit of its own"
                )
            yield "blendwright replay: shows up to which commit journal and scenes agree"
            for number in self.reachable:
                yield f"blendwright recover --to {number}: goes on from commit {number}, once its scene has been proved"
            yield "blendwright export FILE.blend --at N: takes the scene of any commit out; changes nothing here"
        if self.boundary is not None:
            yield (
                f"the plan '{self.boundary.request_id}', kept whole or not at all, is taken back to commit {self.boundary.base}"
                " by the next command that writes"
            )
        for intent in self.indeterminate:
            yield f'blendwright recover --resolve {intent.id} --note "…": once you know whether {intent.effect}'


def find_problems(journal: Journal) -> WorkspaceProblems:
    """Without Blender: which scenes are truly there only a rebuild tells."""
    head = journal.head
    if head is None:
        lost = None
    else:
        lost = _why_lost(journal, head.number)
    quarantine = journal.recovery.quarantine()
    reachable: list[int] = []
    if lost is not None or quarantine is not None:
        # HEAD's own scene is what went wrong, but may be right again: a fault of the disk, another Blender.
        for commit in journal.log(limit=OFFERED * 4):
            if len(reachable) < OFFERED and _why_lost(journal, commit.number) is None:
                reachable.append(commit.number)
    return WorkspaceProblems(
        head,
        quarantine,
        journal.recovery.indeterminate(),
        journal.recovery.open_boundary(),
        lost,
        tuple(reachable),
        journal.contradictions,
    )


def return_to(journal: Journal, worker: RemoteScene, number: int) -> Commit:
    """End the quarantine on a commit whose scene is proved. Raises RebuildFailed, and leaves all as it is, where it is not.

    Safe to be killed in: the quarantine ends last.
    """
    rebuild_commit(worker, journal, number)
    crash_points.reach("repair.proved")
    boundary = journal.recovery.open_boundary()
    if boundary is not None:
        journal.roll_back(boundary.id)
    crash_points.reach("repair.rolled_back")
    journal.move_head("checkout", number)
    crash_points.reach("repair.moved")
    if journal.recovery.quarantine() is not None:
        journal.recovery.end_quarantine(f"checked out commit {number}")
    crash_points.reach("repair.ended")
    return journal.show(number)


@dataclass(frozen=True, slots=True)
class AdoptedHead:
    """The commit of HEAD's scene as it is found today, and what could not be redone in it."""

    commit: Commit
    missing: tuple[str, ...]


def adopt_head(journal: Journal, maker: RemoteScene, finder: RemoteScene) -> AdoptedHead:
    """End the quarantine with HEAD's scene as Blender finds it today, whatever its hash, as a commit of its own.

    The newest scene that anybody saw is in the file of its checkpoint and in the arguments behind it: a hash that nobody can reach
    any more is no reason to lose it. `maker` rebuilds it, `finder` opens what was saved. Raises Refusal when nothing leads to HEAD,
    RebuildFailed when Blender cannot open the file. Safe to be killed in: the quarantine ends last.
    """
    boundary = journal.recovery.open_boundary()
    if boundary is not None:
        # Nobody was told that it was done.
        journal.roll_back(boundary.id)
    head = require_head(journal)
    try:
        route = journal.checkpoints.route(head.number)
    except JournalError as error:
        cure = "Go on from a commit that `blendwright recover` names: blendwright recover --to N"
        raise refusal(error.message, cure) from error
    open_checkpoint(maker, route.checkpoint)
    missing = tuple(
        f"commit {commit.number} ({commit.tool}) is not in it: {answer['message']}"
        for commit, answer in redo(maker, route.redo)
        if not answer["ok"]
    )
    maker.save(SCENE_FILE, full=False)
    found = open_scene_file(finder, maker.require_process().scratch / SCENE_FILE, "the newest scene")
    if scheme_of(found) != scheme_of(head.hash_after):
        raise other_scheme(head.hash_after, found)
    staged = journal.checkpoints.stage(finder.require_process().scratch / SCENE_FILE, found)
    externals = current_externals(journal)
    journal.commit([adoption(f"the scene of commit {head.number}", head.hash_after, staged, externals)])
    if journal.recovery.quarantine() is not None:
        journal.recovery.end_quarantine(f"adopted the scene of commit {head.number}")
    return AdoptedHead(require_head(journal), missing)


def _why_lost(journal: Journal, number: int) -> str | None:
    try:
        journal.checkpoints.route(number)
    except JournalError as error:
        return error.message
    return None
