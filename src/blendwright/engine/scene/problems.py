"""Problems that make a workspace unusable, and their repairs.

Open the journal for recovery first: it is then writable in quarantine too.
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

# Commits that `recover` offers as targets.
MAX_OFFERED_COMMITS = 5


@dataclass(frozen=True, slots=True)
class WorkspaceProblems:
    """The problems of one workspace.

    `lost` is the reason why HEAD's scene cannot be rebuilt, or None. `reachable` are commits whose scenes can be
    rebuilt, newest first.
    """

    head: Commit | None
    quarantine: Quarantine | None
    indeterminate: tuple[Intent, ...]
    boundary: OpenBoundary | None
    lost: str | None
    reachable: tuple[int, ...]
    contradictions: tuple[str, ...] = ()
    """Evidence that an older journal replaced the workspace's own."""

    @property
    def fit(self) -> bool:
        return self.quarantine is None and self.lost is None and not self.contradictions

    def ways_out(self) -> Iterator[str]:
        if self.contradictions:
            yield "restore the newest copy of the workspace"
            yield "blendwright recover --accept-restored: continues with this journal, and records that in its audit chain"
        if self.quarantine is not None or self.lost is not None:
            if self.lost is None:
                yield "blendwright recover --adopt: commits the newest scene as Blender finds it now, and continues with it"
            yield "blendwright replay: shows up to which commit the journal and the scenes agree"
            for number in self.reachable:
                yield f"blendwright recover --to {number}: rebuilds and checks the scene of commit {number}, and continues there"
            yield "blendwright export FILE.blend --at N: saves the scene of any commit to a file; changes nothing here"
        if self.boundary is not None:
            yield (
                f"the next command that writes rolls the unfinished all-or-nothing plan '{self.boundary.request_id}' back"
                f" to commit {self.boundary.base}"
            )
        for intent in self.indeterminate:
            yield f'blendwright recover --resolve {intent.id} --note "…": after you have checked whether {intent.effect}'


def find_problems(journal: Journal) -> WorkspaceProblems:
    """Return the problems of a workspace, without starting Blender. Only a rebuild proves that a scene is intact."""
    head = journal.head
    if head is None:
        lost = None
    else:
        lost = _why_lost(journal, head.number)
    quarantine = journal.recovery.quarantine()
    reachable: list[int] = []
    if lost is not None or quarantine is not None:
        # HEAD's scene failed, but may work again, for example after a fault of the disk or with another Blender.
        for commit in journal.log(limit=MAX_OFFERED_COMMITS * 4):
            if len(reachable) < MAX_OFFERED_COMMITS and _why_lost(journal, commit.number) is None:
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
    """Rebuild the scene of a commit, move HEAD there and end the quarantine. Return the commit.

    Raises RebuildFailed, without any change, when the rebuild fails. A crash at any point is safe, because the
    quarantine ends last.
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
    """The commit of HEAD's scene as Blender finds it now, and messages for steps that could not be redone."""

    commit: Commit
    missing: tuple[str, ...]


def adopt_head(journal: Journal, maker: RemoteScene, finder: RemoteScene) -> AdoptedHead:
    """Commit HEAD's scene as Blender finds it now, whatever its hash, and end the quarantine.

    The checkpoint and the later arguments contain the newest scene, so an unreachable hash is no reason to lose
    it. `maker` rebuilds the scene, and `finder` opens the saved file. Raises Refusal when no route leads to HEAD,
    and RebuildFailed when Blender cannot open the file. A crash at any point is safe, because the quarantine ends
    last.
    """
    boundary = journal.recovery.open_boundary()
    if boundary is not None:
        # No client has received an acknowledgement of this plan.
        journal.roll_back(boundary.id)
    head = require_head(journal)
    try:
        route = journal.checkpoints.route(head.number)
    except JournalError as error:
        cure = "Continue from a commit that `blendwright recover` lists: blendwright recover --to N"
        raise refusal(error.message, cure) from error
    open_checkpoint(maker, route.checkpoint)
    missing: list[str] = []
    for commit, answer in redo(maker, route.redo):
        if not answer["ok"]:
            missing.append(f"commit {commit.number} ({commit.tool}) is not in the scene: {answer['message']}")

    maker.save(SCENE_FILE, full=False)
    opened_hash = open_scene_file(finder, maker.require_process().scratch / SCENE_FILE, "the newest scene")
    if scheme_of(opened_hash) != scheme_of(head.hash_after):
        raise other_scheme(head.hash_after, opened_hash)

    staged = journal.checkpoints.stage(finder.require_process().scratch / SCENE_FILE, opened_hash)
    externals = current_externals(journal)
    journal.commit([adoption(f"the scene of commit {head.number}", head.hash_after, staged, externals)])
    if journal.recovery.quarantine() is not None:
        journal.recovery.end_quarantine(f"adopted the scene of commit {head.number}")
    return AdoptedHead(require_head(journal), tuple(missing))


def _why_lost(journal: Journal, number: int) -> str | None:
    try:
        journal.checkpoints.route(number)
    except JournalError as error:
        return error.message
    return None
