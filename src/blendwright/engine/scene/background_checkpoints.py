"""Checkpoints of a long session, made beside it: a Blender that follows the commits saves the scene whenever redo gets long.

So a rebuild, after a failure or for a preview, costs the same after a hundred thousand commits as after a hundred. No run waits for any
of this: the Blender that follows has a low priority, and the only thing done between two commits is one row of the journal. Such
a checkpoint is a convenience: whatever goes wrong with one is told to observers, and nothing else follows from it.
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

# Less redo than this is never worth a checkpoint: a hundred small operations take about as long.
LEAST_MS = 50.0
# Of what saving takes: opening a checkpoint takes as long, so redo lengthens a rebuild by half of it at most.
SHARE_OF_SAVING = 0.5
# Checkpoints of a session that are thinned out stay for so many more: whoever reads the journal meanwhile may be about to open one.
NEWEST = 2
# Scenes of the session are not further than this many commits from a checkpoint; as far as `gc` keeps them.
MOST_COMMITS_BETWEEN = 5000
NEVER = float("inf")
# Of 19: behind everything that a person waits for, and not behind what is itself to run behind everything else.
LOW_PRIORITY = 15


@dataclass(frozen=True, slots=True)
class _SavedScene:
    commit: Commit
    staged: StagedCheckpoint
    redo_ms: float
    save_ms: float


class BackgroundCheckpoints:
    """Follows one session. Everything but `_save`, which has a thread of its own, is called by whoever writes the journal."""

    def __init__(
        self, pool: WorkerPool, journal: Journal, workspace: Path, catalogue: str, *, observe: Observer = silent
    ) -> None:
        self._pool = pool
        self._journal = journal
        self._workspace = workspace
        self._catalogue = catalogue
        self._observe = observe
        self._worth_ms = LEAST_MS
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="blendwright-checkpoint")
        self._underway: Future[_SavedScene | Mismatch] | None = None
        self._made: list[Checkpoint] = []
        self._readable: Sequence[ReadableFile] = ()
        self.due_ms = LEAST_MS
        """From so much redo on `advance` has something to do."""
        self.disagreed = False
        """Whether redo led elsewhere here: only the session's own worker can tell then what the scene is."""
        # Of the thread: who follows, where it is, and what it may read.
        self._worker: RemoteScene | None = None
        self._at: int | None = None
        self._worker_reads: Sequence[ReadableFile] = ()

    def allow(self, readable: Sequence[ReadableFile]) -> None:
        """What workers may read from now on; one that was started before is not followed with any further."""
        self._readable = tuple(readable)

    def advance(self, redo_ms: float) -> float:
        """Record the checkpoint that is ready, and begin the next one where it is worth it; returns how much redo is left."""
        redo_ms = self.record(redo_ms)
        if self._underway is None and redo_ms > self._worth_ms:
            head = self._journal.head
            # A plan that is kept whole or not at all may be taken back yet.
            if head is not None and self._journal.recovery.open_boundary() is None:
                self.due_ms = NEVER
                self._underway = self._thread.submit(self._save, head, redo_ms, self._readable)
                self._underway.add_done_callback(self._become_due)
        return redo_ms

    def record(self, redo_ms: float) -> float:
        """Give the journal the checkpoint that is ready, if one is; returns how much redo is left."""
        underway = self._underway
        if underway is None or not underway.done():
            return redo_ms
        self._underway = None
        # Whatever it was: nothing of the session depends on it.
        error = underway.exception()
        if error is not None:
            return self._put_off(f"{type(error).__name__}: {error}", redo_ms)
        saved = underway.result()
        if isinstance(saved, Mismatch):
            self.disagreed = True
            return self._put_off(f"{saved.reason()}: expected {saved.expected}, found {saved.found}", redo_ms)
        crash_points.reach("background.before_row")
        superfluous = self._superfluous(saved.commit.generation)
        try:
            made = self._journal.checkpoints.add(saved.staged, saved.commit.number, instead_of=superfluous)
        except BlendwrightError as refused:
            return self._put_off(refused.message, redo_ms)
        crash_points.reach("background.recorded")
        self._made = [*(one for one in self._made if one != superfluous), made]
        self._worth_ms = self.due_ms = max(LEAST_MS, saved.save_ms * SHARE_OF_SAVING)
        return max(0.0, redo_ms - saved.redo_ms)

    def _put_off(self, why: str, redo_ms: float) -> float:
        """Not before there is twice as much to redo; never, where following led elsewhere."""
        self._worth_ms = self.due_ms = NEVER if self.disagreed else max(self._worth_ms, redo_ms) * 2
        self._observe(Remark(f"no checkpoint was made in the background: {why}"))
        return redo_ms

    def wait(self) -> None:
        """Until the checkpoint that is under way is ready, for those who have time."""
        if self._underway is not None:
            self._underway.exception()

    def close(self) -> None:
        """Begin nothing any more; what is under way ends with the pool, whose workers are gone then."""
        self._thread.shutdown(wait=False)

    def join(self) -> None:
        """After the pool was closed: wait for the end of the thread, so that nothing is written behind the session's back."""
        self._thread.shutdown(wait=True)

    def _become_due(self, underway: Future[_SavedScene | Mismatch]) -> None:
        self.due_ms = 0.0

    def _superfluous(self, generation: int) -> Checkpoint | None:
        """Of the checkpoints that were made here the one that nobody needs once there is another at this generation."""
        if len(self._made) <= NEWEST:
            return None
        candidate = self._made[-NEWEST - 1]
        if len(self._made) > NEWEST + 1:
            before = self._made[-NEWEST - 2].generation
        else:
            before = 0
        following = self._made[-NEWEST].generation
        if not before < candidate.generation < following < generation or following - before > MOST_COMMITS_BETWEEN:
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
        """The Blender that follows, with the scene of the commit in it, or where it came to another one."""
        worker = self._worker
        if worker is None or not worker.alive or self._worker_reads != readable:
            self._drop_worker()
            worker = self._worker = take_worker(self._pool, self._catalogue)
            self._pool.warm()
            self._worker_reads = readable
            _lower_priority(worker)
        if self._at is None:
            steps = None
        else:
            steps = journal.checkpoints.steps_between(self._at, target.number)
        self._at = None
        if steps is None:
            mismatch = rebuild(worker, journal, target).mismatch
        else:
            found = (mismatch for _, mismatch in redo_in_batches(worker, steps) if mismatch is not None)
            mismatch = next(found, None)
        if mismatch is not None:
            return mismatch
        self._at = target.number
        return worker

    def _drop_worker(self) -> None:
        if self._worker is not None:
            self._worker.abandon()
        self._worker = self._at = None


def _lower_priority(worker: RemoteScene) -> None:
    """Let it run only when nobody else wants to; where the system has no such thing, it runs like the others."""
    if worker.process is None:
        return
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{worker.process.pid}/task").iterdir():
            os.setpriority(os.PRIO_PROCESS, int(thread.name), LOW_PRIORITY)
