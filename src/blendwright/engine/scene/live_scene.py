"""The current scene: the worker that holds it, and its rebuild from the journal when that worker is gone.

HEAD decides what the scene is. A journal that leads to another scene is quarantined, with both hashes; it is never silently accepted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

from blendwright.engine.files.access import FileAccess
from blendwright.engine.files.scratch import SCENE_FILE, open_scene_file
from blendwright.engine.invocation import new_id
from blendwright.engine.ledger import Ledger
from blendwright.engine.moves.navigation import History
from blendwright.engine.moves.scene_moves import SceneMoves
from blendwright.engine.scene.background_checkpoints import BackgroundCheckpoints
from blendwright.engine.scene.external_files import External, Externals, OpenedFile, current_externals
from blendwright.engine.scene.fingerprint_scheme import other_scheme, scheme_of
from blendwright.engine.scene.head_state import HeadState
from blendwright.engine.scene.rebuild import Rebuilt, rebuild, require_same_blender, take_worker
from blendwright.engine.sending.exclusive_step import ExclusiveStep
from blendwright.journal import Journal
from blendwright.records.audit import AuditDetails
from blendwright.records.commits import Commit, NewCommit
from blendwright.records.results import Mismatch
from blendwright.util import crash_points
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import BlendwrightError, EnvironmentUnfit, JournalError, RebuildFailed
from blendwright.values.events import CallIds, Observer, Remark, SceneBuilt, WorkerTrouble, silent
from blendwright.wire.blender_profile import WorkerProfile
from blendwright.wire.methods import RESET, StepAnswer, StepRequest
from blendwright.wire.remote_scene import HANG_SECONDS, RemoteScene
from blendwright.wire.worker_port import WorkerPool

RECOVER = "Run `blendwright recover` to see the ways out."


class LiveScene:
    """The scene host without a window: the memory of its worker is the scene. Not thread-safe: one caller at a time."""

    def __init__(
        self,
        pool: WorkerPool,
        journal: Journal,
        catalogue: str,
        *,
        spare: bool,
        start: Path | None = None,
        origin: Path | None = None,
        externals: Externals | None = None,
        background: BackgroundCheckpoints | None = None,
        observe: Observer = silent,
    ) -> None:
        """`start` is the file that a workspace without a baseline begins with; an empty scene otherwise.

        Paths in it are relative to `origin`, its own directory when left out. `externals` says which of them may be read.
        `background` makes checkpoints beside a long session.
        """
        self._pool = pool
        self._journal = journal
        self.catalogue = catalogue
        """The fingerprint of the tools that the worker must know."""
        self._spare = spare
        self._start = start
        self._origin = origin
        self.externals = externals or Externals()
        self.head = HeadState(journal, background)
        self._observe = observe
        self._built = 0
        self._worker: RemoteScene | None = None
        self._reusable: RemoteScene | None = None
        self._arriving: tuple[External, ...] = ()
        """What the step that is about to be committed has named."""
        self.epoch = 1
        self.allow_externals()
        self.follow_head()

    @property
    def adopted(self) -> frozenset[tuple[str, str]]:
        """Nobody changes a scene by hand that is open in no window."""
        return frozenset()

    @property
    def profile(self) -> WorkerProfile:
        return self.worker().profile

    @property
    def hash(self) -> str:
        """The hash of the scene, which HEAD alone decides; the worker may be gone."""
        if self.head.known_hash is None:
            self.worker()
        assert self.head.known_hash is not None
        return self.head.known_hash

    @property
    def ready(self) -> bool:
        """Whether a living worker holds the scene already."""
        return self._worker is not None and self._worker.alive

    def worker(self) -> RemoteScene:
        """A living worker with the scene in it, rebuilt when need be."""
        if self._worker is None or not self._worker.alive:
            self._worker = self._rebuilt()
            if self._spare:
                self._pool.warm()
        return self._worker

    def turn(self, label: str) -> contextlib.AbstractContextManager[None]:
        """One plan or call, named for people. Only a window that a person has open needs to know."""
        return contextlib.nullcontext()

    def step(self, request: StepRequest, *, deadline: float, cancel: CancelToken | None) -> StepAnswer:
        """One step; a worker that fails in it is gone, and the next one starts from HEAD."""
        return self.worker().step(request, deadline=deadline, cancel=cancel)

    def record_commit(self, hash: str, redo_ms: float, *, saved: bool) -> None:
        self._arriving = ()
        self.head.record_commit(hash, redo_ms, saved=saved)

    def close(self) -> None:
        self.head.join_background()

    @property
    def worth_saving(self) -> bool:
        """Whether only this worker can tell what the scene is, since redo led elsewhere."""
        return self.head.background_disagreed

    def exclusive_runner(self, ledger: Ledger, files: FileAccess) -> ExclusiveStep:
        return ExclusiveStep(self, self, self._journal, ledger, files)

    def history(self) -> History:
        return History(self._journal, SceneMoves(self._journal, self))

    def follow_head(self) -> None:
        """HEAD is elsewhere than the worker: the next need for the scene rebuilds it."""
        self.discard()
        self.head.follow_head()

    def follow_rollback(self) -> None:
        """The same after a rollback, where nothing is wrong with the worker but its scene: the next rebuild uses it again."""
        worker = self.release_worker()
        self.follow_head()
        self._reusable = worker

    def release_worker(self) -> RemoteScene | None:
        """Give the worker, where one is alive, to a caller who brings another scene than HEAD's into it."""
        if self.ready:
            worker = self._worker
        else:
            worker = None
        self._worker = None
        return worker

    def adopt_worker(self, worker: RemoteScene, redo_ms: float) -> None:
        """Go on with a worker that holds the scene which HEAD has moved to; `redo_ms` is what it took to get there."""
        self.follow_head()
        self._worker, self.head.redo_ms = worker, redo_ms

    def take_worker(self) -> RemoteScene:
        return take_worker(self._pool, self.catalogue)

    def fresh_worker(self, *, bare: bool = False, seconds: float | None = None) -> RemoteScene:
        """A ready worker without a scene, the caller's; the next spare is started behind it. A `bare` one reads no external files.

        Raises DeadlinePassed where there is none in so many seconds."""
        self.allow_externals()
        worker = take_worker(self._pool, self.catalogue, bare=bare, seconds=seconds)
        if self._spare:
            self._pool.warm()
        return worker

    def replace_worker(self, worker: RemoteScene) -> None:
        """Go on with a worker that holds the scene which is about to be committed; the one before it is ended."""
        self.discard()
        self._worker = worker

    def allow_externals(self) -> bool:
        """Let workers that are started from now on read the external files of this workspace, as they are now; says whether there are
        any."""
        readable = self.externals.readable(self._journal, self._arriving)
        self._pool.allow(readable)
        self.head.allow(readable)
        return bool(readable)

    def discard(self) -> None:
        """End the worker: its scene is not what the journal says."""
        for worker in (self._worker, self._reusable):
            if worker is not None:
                worker.abandon()
        self._worker = self._reusable = None
        self._arriving = ()

    def report_loss(self, error: BlendwrightError, ids: CallIds) -> None:
        """Report why a worker failed in a call, with what it wrote last, and end it."""
        pid = error.details.get("pid") or (None if self._worker is None else self._worker.profile.pid)
        log = error.details.get("log") or _log_tail(self._worker)
        self._observe(WorkerTrouble(ids, pid, error.message, log, lost=True))
        self.discard()

    def report_log(self, ids: CallIds, message: str) -> None:
        """Report what the worker wrote when a tool raised in it."""
        if self._worker is not None:
            self._observe(WorkerTrouble(ids, self._worker.profile.pid, message, _log_tail(self._worker), lost=False))

    def checkpoint(self) -> None:
        """Save HEAD's scene, so that nobody has to redo what led to it. Only where a worker holds it."""
        head = self._journal.head
        if head is None or not self.ready:
            return
        file = self._saved_head(HANG_SECONDS)
        if file is not None:
            staged = self._journal.checkpoints.stage(file, head.hash_after)
            crash_points.reach("save.staged")
            self._journal.checkpoints.add(staged, head.number)
            crash_points.reach("save.recorded")
            self.head.redo_ms = 0.0

    def save(self, *, deadline: float = HANG_SECONDS) -> Path:
        """HEAD's scene as a file, accepted only when a full recomputation agrees with the hash that the journal says.

        Only a scene that was rebuilt from the journal can say that the journal is wrong."""
        file = self._saved_head(deadline) or self._saved_head(deadline)
        if file is None:
            raise EnvironmentUnfit("Blender saves another scene than the journal says", cure=RECOVER)
        return file

    def _saved_head(self, deadline: float) -> Path | None:
        """None where the worker's scene is not HEAD's any more: the worker is ended, and the next one begins from the journal."""
        worker = self.worker()
        found, file = _save(worker, deadline)
        if found == self.hash:
            return file
        message = f"the scene in Blender is {found}, and the journal says {self.hash}: it is rebuilt"
        self._observe(Remark(message))
        self.discard()
        return None

    def start_proof(self) -> None:
        """Have another process started, for `prove_step`, while the step runs."""
        if self._reusable is None:
            self._pool.warm()

    def arriving_files(self, reads: Collection[str]) -> tuple[External, ...]:
        """The external files that the step which is about to be committed has named; `reads` are those that it was given."""
        self._arriving = self.externals.named_since(self.worker(), current_externals(self._journal), reads)
        return self._arriving

    def prove_step(self, made: str, *, seconds: float) -> tuple[Path, str]:
        """Save the scene with the step that is about to be committed, and go on in another process that has opened the file.

        Returns the file and its hash: what one process `made` in its memory is not always what others find in the file. Where the step
        named files, the process that goes on is one that may read them, which no other can be told."""
        worker = self._worker
        # Not `worker()`: where ours is lost by now, a rebuilt one would not have the step.
        assert worker is not None
        ends = monotonic() + seconds
        _, file = _save(worker, seconds, full=False)
        other, self._reusable = self._reusable, None
        names_files = bool(self.externals.readable_files(self._arriving))
        if other is not None and names_files:
            other.abandon()
        if other is None or not other.alive or names_files:
            other = self.fresh_worker(seconds=max(0.001, ends - monotonic()))
        try:
            found = open_scene_file(other, file, "the saved scene", deadline=max(0.001, ends - monotonic()))
        except BaseException:
            other.abandon()
            raise
        # The one that made the step opens the next file: a process that has opened one has nothing left of what it held before.
        if names_files:
            worker.abandon()
        else:
            worker.submit(RESET.name, {})
        if found != made:
            self._observe(
                Remark(f"a step left {made} in Blender, and {found} in the file that was saved, which counts")
            )
        self._worker, self._reusable = other, None if names_files else worker
        crash_points.reach("save.proved")
        return other.require_process().scratch / SCENE_FILE, found

    # ------------------------------------------------------------------ rebuilding

    def _rebuilt(self) -> RemoteScene:
        started, is_new = perf_counter(), self._journal.head is None
        self.head.record_background()
        reusable, self._reusable = self._reusable, None
        if reusable is not None:
            # Where it fails, what a worker without a past makes of it is what counts.
            with contextlib.suppress(BlendwrightError):
                if self._bring_to_head(reusable, started) is None:
                    return reusable
        if not is_new:
            self.allow_externals()
        worker = self.take_worker()
        mismatch = self._bring_to_head(worker, started)
        if mismatch is not None:
            raise self._quarantine(mismatch.reason(), mismatch.expected, mismatch.found)
        if is_new and self.allow_externals():
            # What a worker may read is fixed when it starts, before anybody knows what a file refers to.
            worker.abandon()
            return self._rebuilt()
        return worker

    def _bring_to_head(self, worker: RemoteScene, started: float) -> Mismatch | None:
        """Give the worker HEAD's scene. Where that fails, or leads to another scene, the worker is abandoned."""
        crash_points.reach("rebuild.started")
        head = self._journal.head
        try:
            if head is None:
                rebuilt = Rebuilt(self._begin(worker))
            else:
                rebuilt = self._rebuild(worker, head)
        except BaseException:
            worker.abandon()
            raise
        if rebuilt.mismatch is not None:
            worker.abandon()
            return rebuilt.mismatch
        self.head.known_hash = rebuilt.hash
        if head is not None:
            self.head.redo_ms = rebuilt.redo_ms
        spent = perf_counter() - started
        self._observe(
            SceneBuilt(worker.profile.pid, self.head.known_hash, rebuilt.redone, spent, again=self._built > 0)
        )
        self._built += 1
        crash_points.reach("rebuild.done")
        return None

    def _rebuild(self, worker: RemoteScene, head: Commit) -> Rebuilt:
        require_same_blender(worker, head.hash_after)
        try:
            return rebuild(worker, self._journal, head)
        except JournalError as error:
            raise EnvironmentUnfit(error.message, cure=error.cure, details=error.details) from error
        except RebuildFailed as error:
            if error.cure:
                cure = f"{error.cure} {RECOVER}"
            else:
                cure = RECOVER
            raise EnvironmentUnfit(error.message, cure=cure) from error

    def _begin(self, worker: RemoteScene) -> str:
        """The first commit of a workspace: the scene it starts from."""
        checkpoint = None
        args: dict[str, Any] = {}
        receipt: dict[str, Any] = {"status": "succeeded"}
        if self._start is None:
            scene_hash = worker.reset()
        else:
            opened = self._open_start(worker, self._start)
            scene_hash = opened.hash
            checkpoint = self._journal.checkpoints.stage(opened.file, scene_hash)
            args["scene"] = self._start.name
            receipt["externals"] = [external.to_json() for external in opened.externals]
        ids = AuditDetails(new_id(), "safe_write")
        receipt["scene_hash_after"] = scene_hash
        entry = NewCommit(None, "workspace", "baseline", "workspace.new", 1, args, scene_hash, scene_hash, checkpoint is None,
                          receipt, ids, "baseline", checkpoint)  # fmt: skip
        crash_points.reach("baseline.before_commit")
        self._journal.commit([entry])
        crash_points.reach("baseline.committed")
        return scene_hash

    def _open_start(self, worker: RemoteScene, start: Path) -> OpenedFile:
        try:
            return self.externals.open_file(worker, start, start.name, self._origin or start.parent)
        except RebuildFailed as error:
            raise EnvironmentUnfit(error.message, cure=error.cure) from error

    def _quarantine(self, reason: str, expected: str, actual: str) -> EnvironmentUnfit:
        """Quarantine, and the error that says so. Hashes of different methods or Blenders cannot be compared at all."""
        if scheme_of(expected) != scheme_of(actual):
            return other_scheme(expected, actual)
        self._journal.recovery.begin_quarantine(reason, expected=expected, found=actual)
        message = f"{reason}: expected {expected}, found {actual}. The workspace is quarantined"
        details = {"expected": expected, "found": actual, "quarantined": True}
        return EnvironmentUnfit(message, cure=RECOVER, details=details)


def _save(worker: RemoteScene, deadline: float, *, full: bool = True) -> tuple[str, Path]:
    found = worker.save(SCENE_FILE, full=full, deadline=deadline)
    crash_points.reach("save.written")
    return found, worker.require_process().scratch / SCENE_FILE


def _log_tail(worker: RemoteScene | None) -> list[str]:
    """What a worker wrote last, where it is a process that has a log."""
    if worker is None or worker.process is None:
        return []
    return worker.process.log_tail()
