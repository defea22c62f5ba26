"""Rebuilds scenes from the journal: open a checkpoint, redo the commits behind it, compare every hash.

Says where journal and scene part. What follows from that is for the caller: a quarantine, an error, or a line of a report.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from blendwright.journal import JournalView
from blendwright.records.checkpoints import Checkpoint
from blendwright.records.commits import Commit
from blendwright.records.recovery import RebuildRoute
from blendwright.run.hash_scheme import other_scheme, scheme_of
from blendwright.run.scratch_files import open_scene_file
from blendwright.values import crash_points
from blendwright.values.errors import EnvironmentUnfit, RebuildFailed, WorkerFault
from blendwright.wire.methods import StepAnswer, StepRequest
from blendwright.wire.remote_scene import HANG_SECONDS, RemoteScene
from blendwright.wire.worker_port import WorkerPool

# Steps on their way at once: enough that the worker never waits.
WINDOW = 64


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where journal and scene part: what the journal says, and what was found."""

    commit: int
    what: str
    expected: Any
    found: Any

    def reason(self) -> str:
        return f"{self.what} led to another scene than the journal says"


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild led to. With a mismatch, which is the first one, the worker holds no scene that could be used."""

    hash: str
    redone: int = 0
    redo_ms: float = 0.0
    mismatch: Mismatch | None = None


def take_worker(pool: WorkerPool, catalogue: str, *, bare: bool = False) -> RemoteScene:
    """A ready worker that knows the same tools. Raises EnvironmentUnfit."""
    worker = pool.take(bare=bare)
    if worker.catalogue != catalogue:
        worker.abandon()
        raise EnvironmentUnfit(
            "the Blender process has another tool catalogue than this one",
            cure="Use one version of blendwright on both sides.",
        )
    return worker


def rebuild(worker: RemoteScene, route: RebuildRoute, target: Commit) -> Rebuilt:
    """Bring the scene of a commit into the worker. Raises RebuildFailed when a file or a step cannot be used at all."""
    reached = open_checkpoint(worker, route.checkpoint)
    if reached != route.start_hash:
        mismatch = Mismatch(route.to, "the scene that redo starts from", route.start_hash, reached)
        return Rebuilt(reached, mismatch=mismatch)
    crash_points.reach("rebuild.opened")
    started, redone = perf_counter(), 0
    for commit, answer in redo(worker, route.redo):
        if not answer["ok"] or answer["after"] != commit.hash_after:
            mismatch = Mismatch(commit.number, _redoing(commit), commit.hash_after, answer["after"])
            return Rebuilt(answer["after"], redone, mismatch=mismatch)
        reached, redone = commit.hash_after, redone + 1
        crash_points.reach("rebuild.redone")
    spent = (perf_counter() - started) * 1000
    if reached != target.hash_after:
        mismatch = Mismatch(route.to, f"redo up to commit {route.to}", target.hash_after, reached)
        return Rebuilt(reached, redone, spent, mismatch)
    return Rebuilt(reached, redone, spent)


def rebuild_commit(worker: RemoteScene, journal: JournalView, number: int) -> Rebuilt:
    """The same where nothing but the commit's own scene will do: raises RebuildFailed, with both hashes, on a mismatch."""
    rebuilt = rebuild(worker, journal.route(number), journal.show(number))
    mismatch = rebuilt.mismatch
    if mismatch is None:
        return rebuilt
    if scheme_of(mismatch.expected) != scheme_of(mismatch.found):
        raise other_scheme(mismatch.expected, mismatch.found)
    raise RebuildFailed(
        f"{mismatch.reason()}: expected {mismatch.expected}, found {mismatch.found}",
        cure="Run `blendwright replay` to see up to where the journal agrees.",
        details={"expected": mismatch.expected, "found": mismatch.found},
    )


def open_checkpoint(worker: RemoteScene, checkpoint: Checkpoint | None) -> str:
    """The hash of a saved scene, or of an empty one where there is none, which is then the worker's. Raises RebuildFailed."""
    if checkpoint is None:
        return worker.reset()
    return open_scene_file(worker, checkpoint.path, f"the checkpoint {checkpoint.path.name}")


def redo(worker: RemoteScene, commits: Iterable[Commit]) -> Iterator[tuple[Commit, StepAnswer]]:
    """Run the steps of commits again, many on their way at once. Raises RebuildFailed when the worker refuses one.

    What left the scene as it was needs no redo; an export among it must not happen twice either.
    """
    waiting = deque(commit for commit in commits if commit.hash_before != commit.hash_after)
    pending: deque[tuple[Commit, Future[StepAnswer]]] = deque()
    while waiting or pending:
        while waiting and len(pending) < WINDOW:
            commit = waiting.popleft()
            request = StepRequest(tool=commit.tool, version=commit.tool_version, args=dict(commit.args))
            pending.append((commit, worker.submit_step(request)))
        commit, future = pending.popleft()
        try:
            answer = future.result(HANG_SECONDS)
        except TimeoutError as error:
            worker.abandon()
            raise RebuildFailed(f"{_redoing(commit)}: it did not end") from error
        except WorkerFault as error:
            message = f"{_redoing(commit)}: {error.message}"
            raise RebuildFailed(message, cure="Use the blendwright that wrote it.") from error
        yield commit, answer


def _redoing(commit: Commit) -> str:
    return f"redoing commit {commit.number} ({commit.tool})"
