"""The scene as it is now: one worker that holds it, and the way back to it from the journal when that worker is gone.

HEAD decides what the scene is. A journal that leads elsewhere is quarantined, with both hashes; it is never silently accepted.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from pathlib import Path
from time import perf_counter
from typing import Any

from blendwright.records.audit import AuditDetails
from blendwright.records.commits import Commit, NewCommit
from blendwright.records.journal_port import JournalPort
from blendwright.run.externals import Externals, TakenIn
from blendwright.run.handover import bring_in
from blendwright.run.hash_scheme import other_scheme, scheme_of
from blendwright.run.keys import new_id
from blendwright.values import crash_points
from blendwright.values.cancel import CancelToken
from blendwright.values.errors import (
    BlendwrightError,
    EnvironmentUnfit,
    JournalError,
    RebuildFailed,
    WorkerFault,
)
from blendwright.values.events import CallIds, Observer, SceneBuilt, WorkerTrouble, silent
from blendwright.wire.profiles import WorkerProfile
from blendwright.wire.remote_scene import HANG_SECONDS, RemoteScene
from blendwright.wire.step import StepAnswer, StepRequest
from blendwright.wire.worker_port import WorkerPool

# Steps that are on their way to the worker while it redoes one: enough that it never waits.
WINDOW = 64
# A file in the worker's scratch, for what is opened and saved there.
EXCHANGED = "scene.blend"
RECOVER = "Run `blendwright recover` to see the ways out."


def copy_scene(source: Path, target: Path) -> None:
    """From one place to another; raises EnvironmentUnfit where the disk says no."""
    try:
        bring_in(source, target.parent, target.name)
    except OSError as error:
        message = f"{source} cannot be copied to {target.parent}: {error.strerror}"
        raise EnvironmentUnfit(message, cure="Make room on the disk, or check who may write there.") from error


class _Parted(Exception):
    """A rebuild led elsewhere: what it was, the hash that was expected, and the one that was found."""


class LiveScene:
    """Holds the worker whose memory is the scene. Not thread-safe: one caller at a time."""

    def __init__(
        self,
        pool: WorkerPool,
        journal: JournalPort,
        catalogue: str,
        *,
        spare: bool,
        start: Path | None = None,
        origin: Path | None = None,
        externals: Externals | None = None,
        observe: Observer = silent,
    ) -> None:
        """`start` is the file that a workspace without a baseline begins with; an empty scene otherwise.

        Paths in it are relative to `origin`, its own directory when left out. `externals` says which of them may be read.
        """
        self._pool = pool
        self._journal = journal
        self._catalogue = catalogue
        self._spare = spare
        self._start = start
        self._origin = origin
        self.externals = externals or Externals()
        self._observe = observe
        self._built = 0
        self._redone = 0
        self._worker: RemoteScene | None = None
        self._left: RemoteScene | None = None
        self._hash: str | None = None
        self.epoch = 1
        """Of the steps that are sent without waiting; raised after one of them failed. Never lowered, whatever worker it is."""
        self.redo_ms = 0.0
        """What it would cost to redo everything since the newest checkpoint."""
        self.allow_externals()
        self.head_moved()

    @property
    def profile(self) -> WorkerProfile:
        return self.worker().profile

    @property
    def hash(self) -> str:
        """The hash of the scene, which HEAD alone decides; the worker may be gone."""
        if self._hash is None:
            self.worker()
        assert self._hash is not None
        return self._hash

    @property
    def known_hash(self) -> str | None:
        """The hash when it is known without starting Blender."""
        return self._hash

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

    def step(self, request: StepRequest, *, deadline: float, cancel: CancelToken | None) -> StepAnswer:
        """One step; a worker that fails in it is gone, and the next one starts from HEAD."""
        return self.worker().step(request, deadline=deadline, cancel=cancel)

    def stands_at(self, hash: str, redo_ms: float, *, saved: bool) -> None:
        """The scene in the worker was committed up to this hash; `saved` says that its last commit has a checkpoint."""
        self._hash = hash
        self.redo_ms = 0.0 if saved else self.redo_ms + redo_ms

    def head_moved(self) -> None:
        """HEAD is elsewhere than the worker: the next need for the scene rebuilds it."""
        self.discard()
        head = self._journal.head
        self._hash = None if head is None else head.hash_after

    def rolled_back(self) -> None:
        """The same, where nothing is wrong with the worker but its scene: it is the one that is brought to HEAD."""
        worker = self.hand_out()
        self.head_moved()
        self._left = worker

    def hand_out(self) -> RemoteScene | None:
        """The worker, where one is alive, for another scene than HEAD's: the caller's from now on."""
        worker = self._worker if self.ready else None
        self._worker = None
        return worker

    def take_over(self, worker: RemoteScene, redo_ms: float) -> None:
        """HEAD has moved to the scene that this worker holds, and this is what it cost to get there."""
        self.head_moved()
        self._worker, self.redo_ms = worker, redo_ms

    def another_worker(self, *, bare: bool = False) -> RemoteScene:
        """A ready worker without a scene, the caller's; the next spare is started behind it. A `bare` one reads no external files."""
        self.allow_externals()
        worker = self._pool.take(bare=bare)
        if self._spare:
            self._pool.warm()
        return self._known(worker)

    def go_on_with(self, worker: RemoteScene) -> None:
        """This worker holds the scene that is about to be committed; the one that held it is gone."""
        self.discard()
        self._worker = worker

    def allow_externals(self) -> bool:
        """Let workers that are started from now on read the external files of this workspace, as they are now; says whether there are
        any."""
        readable = self.externals.readable(self._journal)
        self._pool.allow(readable)
        return bool(readable)

    def discard(self) -> None:
        """End the worker: its scene is not what the journal says."""
        for worker in (self._worker, self._left):
            if worker is not None:
                worker.abandon()
        self._worker = self._left = None

    def lose(self, error: BlendwrightError, ids: CallIds) -> None:
        """A worker failed in a call: tell why, with what it wrote last, and end it."""
        pid = error.details.get("pid") or (None if self._worker is None else self._worker.profile.pid)
        log = error.details.get("log") or _log_tail(self._worker)
        self._observe(WorkerTrouble(ids, pid, error.message, log, lost=True))
        self.discard()

    def tell_log(self, ids: CallIds, message: str) -> None:
        """What the worker wrote when a tool raised in it."""
        if self._worker is not None:
            self._observe(WorkerTrouble(ids, self._worker.profile.pid, message, _log_tail(self._worker), lost=False))

    def checkpoint(self) -> None:
        """Save HEAD's scene, so that nobody has to redo what led to it. Only where a worker holds it."""
        head = self._journal.head
        if head is not None and self.ready:
            staged = self._journal.stage_checkpoint(self.save(head.hash_after), head.hash_after)
            crash_points.reach("save.staged")
            self._journal.add_checkpoint(staged, head.number)
            crash_points.reach("save.recorded")
            self.redo_ms = 0.0

    def save(self, expected: str) -> Path:
        """The scene as a file, accepted only when a full recomputation agrees with the hash that the steps led to."""
        # Not `worker()`: where ours is lost by now, a rebuilt one would not have the step that is to be saved.
        worker = self._worker
        assert worker is not None
        saved = worker.save(EXCHANGED)
        if saved != expected:
            raise self._disagreement("saving the scene", expected, saved)
        crash_points.reach("save.written")
        return worker.require_process().scratch / EXCHANGED

    # ------------------------------------------------------------------ rebuilding

    def _rebuilt(self) -> RemoteScene:
        started, anew = perf_counter(), self._journal.head is None
        left, self._left = self._left, None
        if left is not None:
            try:
                return self._filled(left, started)
            except (BlendwrightError, _Parted):
                pass  # it is ended; what a worker without a past makes of it is what counts
        if not anew:
            self.allow_externals()
        try:
            worker = self._filled(self._known(self._pool.take()), started)
        except _Parted as parted:
            raise self._disagreement(*parted.args) from parted
        if anew and self.allow_externals():
            # What a worker may read is fixed when it starts, before anybody knows what a file refers to.
            worker.abandon()
            return self._rebuilt()
        return worker

    def _filled(self, worker: RemoteScene, started: float) -> RemoteScene:
        """The worker with HEAD's scene in it; where that fails it is ended."""
        crash_points.reach("rebuild.started")
        try:
            head = self._journal.head
            self._redone = 0
            self._hash = self._begin(worker) if head is None else self._return_to(worker, head)
        except BaseException:
            worker.abandon()
            raise
        spent = perf_counter() - started
        self._observe(SceneBuilt(worker.profile.pid, self._hash, self._redone, spent, again=self._built > 0))
        self._built += 1
        crash_points.reach("rebuild.done")
        return worker

    def _known(self, worker: RemoteScene) -> RemoteScene:
        if worker.catalogue != self._catalogue:
            worker.abandon()
            raise EnvironmentUnfit(
                "the Blender process has another tool catalogue than this one",
                cure="Use one version of blendwright on both sides.",
            )
        return worker

    def _begin(self, worker: RemoteScene) -> str:
        """The first commit of a workspace: the scene it starts from."""
        checkpoint = None
        args: dict[str, Any] = {}
        receipt: dict[str, Any] = {"status": "succeeded"}
        if self._start is None:
            found = worker.reset()
        else:
            taken = self._taken_in(worker, self._start)
            found = taken.hash
            checkpoint = self._journal.stage_checkpoint(taken.saved, found)
            args["scene"] = self._start.name
            receipt["externals"] = [external.to_json() for external in taken.externals]
        ids = AuditDetails(new_id(), "safe_write")
        receipt["scene_hash_after"] = found
        entry = NewCommit(None, "workspace", "baseline", "workspace.new", 1, args, found, found, checkpoint is None,
                          receipt, ids, "baseline", checkpoint)  # fmt: skip
        crash_points.reach("baseline.before_commit")
        self._journal.commit([entry])
        crash_points.reach("baseline.committed")
        return found

    def _taken_in(self, worker: RemoteScene, start: Path) -> TakenIn:
        try:
            return self.externals.take_in(worker, start, start.name, self._origin or start.parent)
        except RebuildFailed as error:
            raise EnvironmentUnfit(error.message, cure=error.cure) from error

    def _return_to(self, worker: RemoteScene, head: Commit) -> str:
        try:
            route = self._journal.route(head.number)
        except JournalError as error:
            raise EnvironmentUnfit(error.message, cure=error.cure, details=error.details) from error
        if route.checkpoint is None:
            found = worker.reset()
        else:
            found = self._open(worker, route.checkpoint.path, f"the checkpoint {route.checkpoint.path.name}")
        if found != route.start_hash:
            raise _Parted("the scene that redo starts from", route.start_hash, found)
        crash_points.reach("rebuild.opened")
        started = perf_counter()
        # What left the scene as it was needs no redo; an export among it must not happen twice either.
        reached = self._redo(
            worker, found, [commit for commit in route.redo if commit.hash_before != commit.hash_after]
        )
        self.redo_ms = (perf_counter() - started) * 1000
        if reached != head.hash_after:
            raise _Parted(f"redo up to commit {head.number}", head.hash_after, reached)
        return reached

    def _open(self, worker: RemoteScene, path: Path, what: str) -> str:
        copy_scene(path, worker.require_process().scratch / EXCHANGED)
        try:
            return worker.open(EXCHANGED)
        except WorkerFault as error:
            message = f"{what} cannot be opened: {error.message}"
            raise EnvironmentUnfit(
                message, cure="Check that it is a .blend file that this Blender can read."
            ) from error

    def _redo(self, worker: RemoteScene, reached: str, commits: list[Commit]) -> str:
        """Run the steps again, many on their way at once, and compare every hash; returns the last."""
        waiting = deque(commits)
        self._redone = len(commits)
        pending: deque[tuple[Commit, Future[StepAnswer]]] = deque()
        while waiting or pending:
            while waiting and len(pending) < WINDOW:
                commit = waiting.popleft()
                request = StepRequest(tool=commit.tool, version=commit.tool_version, args=dict(commit.args))
                pending.append((commit, worker.submit_step(request)))
            commit, future = pending.popleft()
            what = f"redoing commit {commit.number} ({commit.tool})"
            try:
                answer = future.result(HANG_SECONDS)
            except TimeoutError as error:
                raise RebuildFailed(f"{what}: it did not end", cure=RECOVER) from error
            except WorkerFault as error:
                raise EnvironmentUnfit(
                    f"{what}: {error.message}", cure=f"Use the blendwright that wrote it. {RECOVER}"
                ) from error
            if not answer["ok"] or answer["after"] != commit.hash_after:
                raise _Parted(what, commit.hash_after, answer["after"])
            reached = commit.hash_after
            crash_points.reach("rebuild.redone")
        return reached

    def _disagreement(self, what: str, expected: str, found: str) -> EnvironmentUnfit:
        """Quarantine, and the error that says so. Hashes of different methods or Blenders cannot be compared at all."""
        if scheme_of(expected) != scheme_of(found):
            return other_scheme(expected, found)
        details = {"expected": expected, "found": found}
        reason = f"{what} led to another scene than the journal says"
        self._journal.quarantine(reason, expected=expected, found=found)
        message = f"{reason}: expected {expected}, found {found}. The workspace is quarantined"
        return EnvironmentUnfit(message, cure=RECOVER, details={**details, "quarantined": True})


def _log_tail(worker: RemoteScene | None) -> list[str]:
    """What a worker wrote last, where it is a process that has a log."""
    return [] if worker is None or worker.process is None else worker.process.log_tail()
