"""What keeps a workspace from being used, and the named ways to repair it.

The journal must have been opened for recovery: it is then writable in quarantine too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from blendwright.journal import Journal
from blendwright.records.commits import Commit
from blendwright.records.recovery import Intent, OpenBoundary, Quarantine
from blendwright.run.rebuild import rebuild_commit
from blendwright.values import crash_points
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
    lost = None if head is None else _why_lost(journal, head.number)
    quarantine = journal.quarantined()
    reachable: list[int] = []
    if lost is not None or quarantine is not None:
        # HEAD's own scene is what went wrong, but may be right again: a fault of the disk, another Blender.
        for commit in journal.log(limit=OFFERED * 4):
            if len(reachable) < OFFERED and _why_lost(journal, commit.number) is None:
                reachable.append(commit.number)
    return WorkspaceProblems(
        head,
        quarantine,
        journal.indeterminate(),
        journal.open_boundary(),
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
    boundary = journal.open_boundary()
    if boundary is not None:
        journal.roll_back(boundary.id)
    crash_points.reach("repair.rolled_back")
    journal.move_head("checkout", number)
    crash_points.reach("repair.moved")
    if journal.quarantined() is not None:
        journal.end_quarantine(f"checked out commit {number}")
    crash_points.reach("repair.ended")
    return journal.show(number)


def _why_lost(journal: Journal, number: int) -> str | None:
    try:
        journal.route(number)
    except JournalError as error:
        return error.message
    return None
