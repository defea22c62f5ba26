"""The current scene in a worker process, and its rebuild from the journal when the worker is gone.

HEAD determines the scene. If the journal leads to another scene, Blendwright quarantines the workspace and reports
both hashes; it never accepts the other scene silently.
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

RECOVER = "Run `blendwright recover` to see the possible repairs."


class LiveScene:
    """The scene host without a window: the memory of its worker is the scene. Not thread-safe: one caller at a
    time.
    """

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
        """Initialize the host. It starts no worker.

        `start` is the first scene of a workspace without commits, or None for an empty scene. Relative paths in it
        start from `origin`, or from its own directory. `externals` decides which of them may be read. `background`
        saves checkpoints during a long session.
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
        """The external files that the uncommitted step has named."""
        self.epoch = 1
        self.allow_externals()
        self.follow_head()

    @property
    def adopted(self) -> frozenset[tuple[str, str]]:
        """Always empty, because no person can change a scene that is open in no window."""
        return frozenset()

    @property
    def profile(self) -> WorkerProfile:
        return self.worker().profile

    @property
    def hash(self) -> str:
        """The hash of the scene. HEAD determines it; no worker is necessary."""
        if self.head.known_hash is None:
            self.worker()
        assert self.head.known_hash is not None
        return self.head.known_hash

    @property
    def ready(self) -> bool:
        """True when a living worker holds the scene."""
        return self._worker is not None and self._worker.alive

    def worker(self) -> RemoteScene:
        """Return a living worker that holds the scene. Rebuild the scene if necessary."""
        if self._worker is None or not self._worker.alive:
            self._worker = self._rebuilt()
            if self._spare:
                self._pool.warm()
        return self._worker

    def turn(self, label: str) -> contextlib.AbstractContextManager[None]:
        """Return an empty context. Only a window needs to group a plan or call."""
        return contextlib.nullcontext()

    def step(self, request: StepRequest, *, deadline: float, cancel: CancelToken | None) -> StepAnswer:
        """Run one step. If the worker fails, the next worker starts from HEAD."""
        return self.worker().step(request, deadline=deadline, cancel=cancel)

    def record_commit(self, hash: str, redo_ms: float, *, saved: bool) -> None:
        self._arriving = ()
        self.head.record_commit(hash, redo_ms, saved=saved)

    def close(self) -> None:
        self.head.join_background()

    @property
    def worth_saving(self) -> bool:
        """True when only this worker has the right scene, because redo led to another one."""
        return self.head.background_disagreed

    def exclusive_runner(self, ledger: Ledger, files: FileAccess) -> ExclusiveStep:
        return ExclusiveStep(self, self, self._journal, ledger, files)

    def history(self) -> History:
        return History(self._journal, SceneMoves(self._journal, self))

    def follow_head(self) -> None:
        """Drop the worker's scene because HEAD moved. The next use rebuilds it."""
        self.discard()
        self.head.follow_head()

    def follow_rollback(self) -> None:
        """Drop the worker's scene after a rollback. The next rebuild uses the same worker again."""
        worker = self.release_worker()
        self.follow_head()
        self._reusable = worker

    def release_worker(self) -> RemoteScene | None:
        """Give a living worker, if one exists, to a caller that loads another scene than HEAD's into it."""
        if self.ready:
            worker = self._worker
        else:
            worker = None
        self._worker = None
        return worker

    def adopt_worker(self, worker: RemoteScene, redo_ms: float) -> None:
        """Continue with a worker that holds the scene of the moved HEAD. `redo_ms` is the cost of that move."""
        self.follow_head()
        self._worker = worker
        self.head.redo_ms = redo_ms

    def take_worker(self) -> RemoteScene:
        return take_worker(self._pool, self.catalogue)

    def fresh_worker(self, *, bare: bool = False, seconds: float | None = None) -> RemoteScene:
        """Return a ready worker without a scene, which the caller owns, and start the next spare worker.

        A `bare` worker reads no external files. Raises DeadlinePassed when no worker is ready within `seconds`.
        """
        self.allow_externals()
        worker = take_worker(self._pool, self.catalogue, bare=bare, seconds=seconds)
        if self._spare:
            self._pool.warm()
        return worker

    def replace_worker(self, worker: RemoteScene) -> None:
        """Continue with a worker that holds the scene of the next commit, and end the previous worker."""
        self.discard()
        self._worker = worker

    def allow_externals(self) -> bool:
        """Let new workers read the external files of this workspace in their present state. Return True when there
        are any.
        """
        readable = self.externals.readable(self._journal, self._arriving)
        self._pool.allow(readable)
        self.head.allow(readable)
        return bool(readable)

    def discard(self) -> None:
        """End the worker because its scene does not match the journal."""
        for worker in (self._worker, self._reusable):
            if worker is not None:
                worker.abandon()
        self._worker = self._reusable = None
        self._arriving = ()

    def report_loss(self, error: BlendwrightError, ids: CallIds) -> None:
        """Report why a worker failed in a call, with the end of its log, and end the worker."""
        pid = error.details.get("pid")
        if not pid and self._worker is not None:
            pid = self._worker.profile.pid
        log = error.details.get("log") or _log_tail(self._worker)
        self._observe(WorkerTrouble(ids, pid, error.message, log, lost=True))
        self.discard()

    def report_log(self, ids: CallIds, message: str) -> None:
        """Report the end of the worker's log after a tool raised in it."""
        if self._worker is not None:
            self._observe(WorkerTrouble(ids, self._worker.profile.pid, message, _log_tail(self._worker), lost=False))

    def checkpoint(self) -> None:
        """Save HEAD's scene if a worker holds it, so that later sessions need no redo."""
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
        """Return HEAD's scene as a file. Its recomputed hash must equal the journal's.

        After a difference, a scene rebuilt from the journal gets a second try, because only that scene can prove
        the journal wrong.
        """
        file = self._saved_head(deadline) or self._saved_head(deadline)
        if file is None:
            raise EnvironmentUnfit("the scene that Blender saves differs from the journal's", cure=RECOVER)
        return file

    def _saved_head(self, deadline: float) -> Path | None:
        """Save the worker's scene. If it is not HEAD's scene, end the worker and return None; the next worker
        starts from the journal.
        """
        worker = self.worker()
        saved_hash, file = _save(worker, deadline)
        if saved_hash == self.hash:
            return file
        message = f"the scene in Blender has hash {saved_hash}, but the journal has {self.hash}: rebuilding the scene"
        self._observe(Remark(message))
        self.discard()
        return None

    def start_proof(self) -> None:
        """Start another process for `prove_step` while the step runs."""
        if self._reusable is None:
            self._pool.warm()

    def arriving_files(self, reads: Collection[str]) -> tuple[External, ...]:
        """Return the external files that the uncommitted step has named. `reads` are the paths in its arguments."""
        self._arriving = self.externals.named_since(self.worker(), current_externals(self._journal), reads)
        return self._arriving

    def prove_step(self, made: str, *, seconds: float) -> tuple[Path, str]:
        """Save the scene with the uncommitted step, open the file in another process, and continue there.

        Return the file and the hash that the other process found; it may differ from `made`, the hash in memory.
        If the step named files, the other process is a new one, because a process gets its readable files at its
        start.
        """
        worker = self._worker
        # Not `worker()`, because a rebuilt worker would not have the step.
        assert worker is not None
        ends = monotonic() + seconds
        _, file = _save(worker, seconds, full=False)
        next_worker = self._reusable
        self._reusable = None
        names_files = bool(self.externals.readable_files(self._arriving))
        if next_worker is not None and names_files:
            next_worker.abandon()
        if next_worker is None or not next_worker.alive or names_files:
            next_worker = self.fresh_worker(seconds=max(0.001, ends - monotonic()))
        try:
            deadline = max(0.001, ends - monotonic())
            opened_hash = open_scene_file(next_worker, file, "the saved scene", deadline=deadline)
        except BaseException:
            next_worker.abandon()
            raise

        # Keep the old worker to open the next file: opening a file removes everything that a process held before.
        if names_files:
            worker.abandon()
        else:
            worker.submit(RESET.name, {})
        if opened_hash != made:
            message = f"a step has hash {made} in memory and {opened_hash} in the saved file; the file's hash counts"
            self._observe(Remark(message))
        self._worker = next_worker
        if names_files:
            self._reusable = None
        else:
            self._reusable = worker
        crash_points.reach("save.proved")
        return next_worker.require_process().scratch / SCENE_FILE, opened_hash

    # ------------------------------------------------------------------ rebuilding

    def _rebuilt(self) -> RemoteScene:
        started = perf_counter()
        is_new = self._journal.head is None
        self.head.record_background()

        reusable = self._reusable
        self._reusable = None
        if reusable is not None:
            # If this fails, the result of a new worker counts.
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
            # A worker gets its readable files at its start, and the references of the file are known only now.
            worker.abandon()
            return self._rebuilt()
        return worker

    def _bring_to_head(self, worker: RemoteScene, started: float) -> Mismatch | None:
        """Load HEAD's scene into the worker. If that fails or leads to another scene, abandon the worker."""
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
        """Commit the first scene of a workspace and return its hash."""
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
        """Quarantine the workspace and return the error. Hashes with different schemes cannot be compared, so they
        cause no quarantine.
        """
        if scheme_of(expected) != scheme_of(actual):
            return other_scheme(expected, actual)
        self._journal.recovery.begin_quarantine(reason, expected=expected, found=actual)
        message = f"{reason}: expected {expected}, found {actual}. The workspace is quarantined"
        details = {"expected": expected, "found": actual, "quarantined": True}
        return EnvironmentUnfit(message, cure=RECOVER, details=details)


def _save(worker: RemoteScene, deadline: float, *, full: bool = True) -> tuple[str, Path]:
    saved_hash = worker.save(SCENE_FILE, full=full, deadline=deadline)
    crash_points.reach("save.written")
    return saved_hash, worker.require_process().scratch / SCENE_FILE


def _log_tail(worker: RemoteScene | None) -> list[str]:
    """Return the last lines of the worker's log, or an empty list without a process."""
    if worker is None or worker.process is None:
        return []
    return worker.process.log_tail()
