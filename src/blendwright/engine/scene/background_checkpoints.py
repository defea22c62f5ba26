"""Checkpoints of a long session: a second Blender follows the commits and saves the scene when redo becomes long.

A rebuild therefore costs the same after a hundred thousand commits as after a hundred. No run waits for a
background checkpoint: the second Blender has a low priority, and the session only writes one journal row between
two commits. If a checkpoint fails, the session notifies its observer and continues.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from blendwright.engine.files.scratch import SCENE_FILE
from blendwright.engine.scene.rebuild import rebuild, redo_in_batches, take_worker
from blendwright.journal import Journal, JournalView
from blendwright.records.checkpoints import Checkpoint, StagedCheckpoint
from blendwright.records.commits import Commit
from blendwright.records.results import Mismatch
from blendwright.util import crash_points
from blendwright.values.errors import BlendwrightError
from blendwright.values.events import Observer, Remark, silent
from blendwright.wire.remote_scene import RemoteScene
from blendwright.wire.worker_port import ReadableFile, WorkerPool

# Milliseconds of redo below which no checkpoint is worth its cost. A hundred small operations take about this
# time.
MIN_REDO_MS = 50.0
# Redo that is worth a checkpoint, as a share of the saving time. Opening takes as long as saving, so redo
# lengthens a rebuild by half at most.
MIN_SHARE_OF_SAVING = 0.5
# The newest checkpoints are never thinned out, because a reader of the journal may be about to open one.
UNTHINNED_CHECKPOINTS = 2
# Commits between two checkpoints after thinning, the same limit as that of `gc`.
MAX_COMMITS_BETWEEN = 5000
NEVER = float("inf")
# A nice value out of 19: lower priority than anything a person waits for, but not the lowest.
LOW_PRIORITY = 15


@dataclass(frozen=True, slots=True)
class _SavedScene:
    commit: Commit
    staged: StagedCheckpoint
    redo_ms: float
    save_ms: float


class BackgroundCheckpoints:
    """The background checkpoints of one session. The writer of the journal calls every method except `_save`,
    which runs in a separate thread.
    """

    def __init__(
        self, pool: WorkerPool, journal: Journal, workspace: Path, catalogue: str, *, observe: Observer = silent
    ) -> None:
        self._pool = pool
        self._journal = journal
        self._workspace = workspace
        self._catalogue = catalogue
        self._observe = observe
        self._min_redo_ms = MIN_REDO_MS
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="blendwright-checkpoint")
        self._underway: Future[_SavedScene | Mismatch] | None = None
        self._checkpoints: list[Checkpoint] = []
        self._readable: Sequence[ReadableFile] = ()
        self.due_ms = MIN_REDO_MS
        """Milliseconds of redo from which `advance` has work to do."""
        self.disagreed = False
        """True when redo led to another scene. Only the session's own worker then holds the right scene."""
        # Used only by the thread: the following worker, the commit that it holds, and the files that it may read.
        self._worker: RemoteScene | None = None
        self._followed_commit: int | None = None
        self._worker_reads: Sequence[ReadableFile] = ()

    def allow(self, readable: Sequence[ReadableFile]) -> None:
        """Set the external files that workers may read. The present worker is replaced before the next checkpoint."""
        self._readable = tuple(readable)

    def advance(self, redo_ms: float) -> float:
        """Record a finished checkpoint and begin the next one if it is worth its cost. Return the remaining redo
        in milliseconds.
        """
        redo_ms = self.record(redo_ms)
        if self._underway is None and redo_ms > self._min_redo_ms:
            head = self._journal.head
            # The journal may still roll back an all-or-nothing plan.
            if head is not None and self._journal.recovery.open_boundary() is None:
                self.due_ms = NEVER
                self._underway = self._thread.submit(self._save, head, redo_ms, self._readable)
                self._underway.add_done_callback(self._become_due)
        return redo_ms

    def record(self, redo_ms: float) -> float:
        """Add a finished checkpoint to the journal. Return the remaining redo in milliseconds."""
        underway = self._underway
        if underway is None or not underway.done():
            return redo_ms
        self._underway = None
        # Report any error; the session does not depend on the checkpoint.
        error = underway.exception()
        if error is not None:
            return self._put_off(f"{type(error).__name__}: {error}", redo_ms)
        saved = underway.result()
        if isinstance(saved, Mismatch):
            self.disagreed = True
            return self._put_off(f"{saved.reason()}: expected {saved.expected}, found {saved.found}", redo_ms)
        crash_points.reach("background.before_row")
        superseded = self._superseded(saved.commit.generation)
        try:
            checkpoint = self._journal.checkpoints.add(saved.staged, saved.commit.number, instead_of=superseded)
        except BlendwrightError as refused:
            return self._put_off(refused.message, redo_ms)
        crash_points.reach("background.recorded")
        self._checkpoints = [earlier for earlier in self._checkpoints if earlier != superseded]
        self._checkpoints.append(checkpoint)
        self._min_redo_ms = self.due_ms = max(MIN_REDO_MS, saved.save_ms * MIN_SHARE_OF_SAVING)
        return max(0.0, redo_ms - saved.redo_ms)

    def _put_off(self, why: str, redo_ms: float) -> float:
        """Report the reason and wait for twice as much redo. After a disagreement, make no more checkpoints."""
        if self.disagreed:
            self._min_redo_ms = NEVER
        else:
            self._min_redo_ms = max(self._min_redo_ms, redo_ms) * 2
        self.due_ms = self._min_redo_ms
        self._observe(Remark(f"the background checkpoint failed: {why}"))
        return redo_ms

    def wait(self) -> None:
        """Wait until the running checkpoint is ready."""
        if self._underway is not None:
            self._underway.exception()

    def close(self) -> None:
        """Begin no more checkpoints. A running checkpoint ends with the worker pool."""
        self._thread.shutdown(wait=False)

    def join(self) -> None:
        """Wait for the end of the thread, so that it writes nothing after the session. Call this after closing the
        pool.
        """
        self._thread.shutdown(wait=True)

    def _become_due(self, underway: Future[_SavedScene | Mismatch]) -> None:
        self.due_ms = 0.0

    def _superseded(self, generation: int) -> Checkpoint | None:
        """Return the background checkpoint that a new one at this generation makes unnecessary, or None."""
        if len(self._checkpoints) <= UNTHINNED_CHECKPOINTS:
            return None
        candidate = self._checkpoints[-UNTHINNED_CHECKPOINTS - 1]
        if len(self._checkpoints) > UNTHINNED_CHECKPOINTS + 1:
            before = self._checkpoints[-UNTHINNED_CHECKPOINTS - 2].generation
        else:
            before = 0
        following = self._checkpoints[-UNTHINNED_CHECKPOINTS].generation
        if not before < candidate.generation < following < generation or following - before > MAX_COMMITS_BETWEEN:
            return None
        return candidate

    # ------------------------------------------------------------------ in the thread

    def _save(self, target: Commit, redo_ms: float, readable: Sequence[ReadableFile]) -> _SavedScene | Mismatch:
        try:
            with contextlib.closing(JournalView(self._workspace)) as journal:
                worker = self._follow(journal, target, readable)
            if isinstance(worker, Mismatch):
                return worker
            crash_points.reach("background.followed")
            started = perf_counter()
            reached = worker.save(SCENE_FILE)
            save_ms = (perf_counter() - started) * 1000
            if reached != target.hash_after:
                return Mismatch(target.number, "saving the scene", target.hash_after, reached)
            crash_points.reach("background.saved")
            staged = self._journal.checkpoints.stage(worker.require_process().scratch / SCENE_FILE, reached)
            crash_points.reach("background.staged")
        except BaseException:
            self._drop_worker()
            raise
        return _SavedScene(target, staged, redo_ms, save_ms)

    def _follow(self, journal: JournalView, target: Commit, readable: Sequence[ReadableFile]) -> RemoteScene | Mismatch:
        """Return the following worker with the scene of the commit, or the mismatch if it reached another scene."""
        worker = self._worker
        if worker is None or not worker.alive or self._worker_reads != readable:
            self._drop_worker()
            worker = self._worker = take_worker(self._pool, self._catalogue)
            self._pool.warm()
            self._worker_reads = readable
            _lower_priority(worker)
        if self._followed_commit is None:
            steps = None
        else:
            steps = journal.checkpoints.steps_between(self._followed_commit, target.number)
        self._followed_commit = None
        if steps is None:
            mismatch = rebuild(worker, journal, target).mismatch
        else:
            mismatch = None
            for _, batch_mismatch in redo_in_batches(worker, steps):
                if batch_mismatch is not None:
                    mismatch = batch_mismatch
                    break
        if mismatch is not None:
            return mismatch
        self._followed_commit = target.number
        return worker

    def _drop_worker(self) -> None:
        if self._worker is not None:
            self._worker.abandon()
        self._worker = self._followed_commit = None


def _lower_priority(worker: RemoteScene) -> None:
    """Lower the priority of the worker's threads. Does nothing on systems without thread priorities."""
    if worker.process is None:
        return
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{worker.process.pid}/task").iterdir():
            os.setpriority(os.PRIO_PROCESS, int(thread.name), LOW_PRIORITY)
