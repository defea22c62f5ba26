"""Rebuilds of scenes from the journal: open a checkpoint, redo the later commits, compare every hash.

A rebuild reports where the journal and the scene disagree. The caller decides what follows: a quarantine, an
error, or a line of a report. Hashes of different methods or Blender versions cannot be compared.
"""

from __future__ import annotations

import contextlib
import math
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, cast

import orjson

from blendwright.engine.files.scratch import open_scene_file
from blendwright.engine.scene.fingerprint_scheme import other_scheme, scheme_of
from blendwright.journal import JournalView
from blendwright.records.checkpoints import Checkpoint
from blendwright.records.commits import Commit, CommittedStep
from blendwright.records.recovery import RebuildRoute
from blendwright.records.results import By, Mismatch, Replay
from blendwright.util import crash_points
from blendwright.values.errors import EnvironmentUnfit, JournalError, RebuildFailed, WorkerFault
from blendwright.wire.blender_profile import hash_scheme
from blendwright.wire.methods import RedoAnswer, RedoStep, StepAnswer, StepRequest
from blendwright.wire.remote_scene import HANG_SECONDS, RemoteScene
from blendwright.wire.worker_port import WorkerPool

START = "the scene that redo starts from"
# Steps on their way at once, or in one request. With this number the worker never waits.
WINDOW = 64
# Batch requests on their way at once, and bytes of arguments in one of them (a frame holds 32 MiB).
BATCHES_UNDERWAY = 2
MAX_BATCH_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The result of a rebuild. With a mismatch, which is the first one, the worker holds no usable scene."""

    hash: str
    redone: int = 0
    redo_ms: float = 0.0
    mismatch: Mismatch | None = None
    passed_over: tuple[str, ...] = ()
    """Names of skipped checkpoints, which Blender opened with another scene than was saved."""


def take_worker(pool: WorkerPool, catalogue: str, *, bare: bool = False, seconds: float | None = None) -> RemoteScene:
    """Return a ready worker with the same tool catalogue.

    Raises EnvironmentUnfit when the catalogues differ, and DeadlinePassed when no worker is ready within
    `seconds`.
    """
    worker = pool.take(bare=bare, seconds=seconds)
    if worker.catalogue != catalogue:
        worker.abandon()
        raise EnvironmentUnfit(
            "the Blender process has a different tool catalogue than this blendwright",
            cure="Use the same version of blendwright on both sides.",
        )
    return worker


def rebuild(worker: RemoteScene, journal: JournalView, target: Commit) -> Rebuilt:
    """Load the scene of a commit into the worker. Raises RebuildFailed when a file or a step is not usable.

    Checkpoints only shorten the way. If Blender opens one with another scene, a longer route without it may still
    lead to the journal's hash, which decides. A returned mismatch is that of the shortest route.
    """
    passed_over: list[Checkpoint] = []
    shortest: Rebuilt | None = None
    while True:
        try:
            route = journal.checkpoints.route(target.number, without=[checkpoint.id for checkpoint in passed_over])
        except JournalError:
            if shortest is None:
                raise
            return shortest
        rebuilt = follow_route(worker, route, target)
        if rebuilt.mismatch is None:
            return replace(rebuilt, passed_over=tuple(checkpoint.path.name for checkpoint in passed_over))
        shortest = shortest or rebuilt
        if route.checkpoint is None or rebuilt.mismatch.what != START or not _comparable(rebuilt.mismatch):
            return shortest
        passed_over.append(route.checkpoint)


def follow_route(worker: RemoteScene, route: RebuildRoute, target: Commit) -> Rebuilt:
    """Rebuild the scene of a commit along one route."""
    reached = open_checkpoint(worker, route.checkpoint)
    if reached != route.start_hash:
        mismatch = Mismatch(route.to, START, route.start_hash, reached)
        return Rebuilt(reached, mismatch=mismatch)
    crash_points.reach("rebuild.opened")
    started = perf_counter()
    redone = 0
    for count, mismatch in redo_in_batches(worker, map(_step_of, route.redo)):
        redone += count
        if mismatch is not None:
            return Rebuilt(mismatch.found, redone, mismatch=mismatch)
        crash_points.reach("rebuild.redone")
    spent = (perf_counter() - started) * 1000
    if route.redo:
        reached = route.redo[-1].hash_after
    if reached != target.hash_after:
        mismatch = Mismatch(route.to, f"redo up to commit {route.to}", target.hash_after, reached)
        return Rebuilt(reached, redone, spent, mismatch)
    return Rebuilt(reached, redone, spent)


def require_same_blender(worker: RemoteScene, scene_hash: str, commit: int | None = None) -> None:
    """Raise EnvironmentUnfit if another Blender or method made the hash. This Blender may open such a scene only
    in part.
    """
    ours = hash_scheme(worker.profile.version)
    if scheme_of(scene_hash) != ours:
        raise other_scheme(scene_hash, f"{ours}:", commit)


def _comparable(mismatch: Mismatch) -> bool:
    return scheme_of(mismatch.expected) == scheme_of(mismatch.found)


def rebuild_commit(worker: RemoteScene, journal: JournalView, number: int) -> Rebuilt:
    """Load exactly the scene of a commit into the worker. Raises RebuildFailed, with both hashes, on a mismatch."""
    target = journal.show(number)
    require_same_blender(worker, target.hash_after, number)
    rebuilt = rebuild(worker, journal, target)
    mismatch = rebuilt.mismatch
    if mismatch is None:
        return rebuilt
    if not _comparable(mismatch):
        raise other_scheme(mismatch.expected, mismatch.found, number)
    raise RebuildFailed(
        f"{mismatch.reason()}: expected {mismatch.expected}, found {mismatch.found}",
        cure="Run `blendwright replay` to see up to which commit the journal agrees.",
        details={"expected": mismatch.expected, "found": mismatch.found},
    )


def open_checkpoint(worker: RemoteScene, checkpoint: Checkpoint | None) -> str:
    """Load a checkpoint into the worker, or an empty scene without one, and return its hash. Raises RebuildFailed."""
    if checkpoint is None:
        return worker.reset()
    return open_scene_file(worker, checkpoint.path, f"the checkpoint {checkpoint.path.name}")


def redo_in_batches(worker: RemoteScene, steps: Iterable[CommittedStep]) -> Iterator[tuple[int, Mismatch | None]]:
    """Run committed steps again, many in one request. Raises RebuildFailed when the worker cannot run them.

    Yield, for each request, the number of steps with the right hash, and the first mismatch or None. Steps that
    left the scene unchanged are skipped: they need no redo, and an export must not happen twice.
    """
    batches = _batches(step for step in steps if step.changed)
    pending: deque[tuple[list[CommittedStep], Future[RedoAnswer]]] = deque()
    while True:
        while len(pending) < BATCHES_UNDERWAY:
            batch = next(batches, None)
            if batch is None:
                break
            pending.append((batch, worker.submit_redo([_redo_step(step) for step in batch])))
        if not pending:
            return

        batch, future = pending.popleft()
        if len(batch) == 1:
            action = _redoing(batch[0])
        else:
            action = f"redoing commits {batch[0].number} to {batch[-1].number}"
        with _explained(worker, action):
            answer = future.result(HANG_SECONDS * len(batch))
        yield answer["redone"], _mismatch_in(batch, answer)


def _step_of(commit: Commit) -> CommittedStep:
    args = orjson.dumps(commit.args).decode()
    return CommittedStep(commit.number, commit.tool, commit.tool_version, args, commit.hash_before, commit.hash_after)


def _batches(steps: Iterable[CommittedStep]) -> Iterator[list[CommittedStep]]:
    batch: list[CommittedStep] = []
    size = 0
    for step in steps:
        if batch and (len(batch) >= WINDOW or size + len(step.args) > MAX_BATCH_BYTES):
            yield batch
            batch = []
            size = 0
        batch.append(step)
        size += len(step.args)
    if batch:
        yield batch


def _redo_step(step: CommittedStep) -> RedoStep:
    # Pass the arguments on as the JSON text from the journal.
    args: Any = orjson.Fragment(step.args)
    return {"tool": step.tool, "version": step.tool_version, "args": args, "after": step.hash_after}


def _mismatch_in(batch: Sequence[CommittedStep], answer: RedoAnswer) -> Mismatch | None:
    last = batch[-1]
    if answer["redone"] == len(batch) and answer["hash"] == last.hash_after:
        return None
    if 0 <= answer["redone"] < len(batch):
        culprit = batch[answer["redone"]]
    else:
        culprit = last
    return Mismatch(culprit.number, _redoing(culprit), culprit.hash_after, answer["hash"])


@contextlib.contextmanager
def _explained(worker: RemoteScene, action: str) -> Generator[None]:
    """Turn a missing or refusing answer of the worker into RebuildFailed."""
    try:
        yield
    except TimeoutError as error:
        worker.abandon()
        raise RebuildFailed(f"{action}: the worker did not answer in time") from error
    except WorkerFault as error:
        raise RebuildFailed(f"{action}: {error.message}", cure="Use the blendwright that wrote it.") from error


def redo(worker: RemoteScene, commits: Iterable[Commit]) -> Iterator[tuple[Commit, StepAnswer]]:
    """Run commits again one by one and yield each commit with the worker's answer, for callers that compare
    results.
    """
    waiting = deque(commit for commit in commits if commit.hash_before != commit.hash_after)
    pending: deque[tuple[Commit, Future[StepAnswer]]] = deque()
    while waiting or pending:
        while waiting and len(pending) < WINDOW:
            commit = waiting.popleft()
            request = StepRequest(tool=commit.tool, version=commit.tool_version, args=dict(commit.args))
            pending.append((commit, worker.submit_step(request)))
        commit, future = pending.popleft()
        with _explained(worker, _redoing(commit)):
            answer = future.result(HANG_SECONDS)
        yield commit, answer


def _redoing(commit: Commit | CommittedStep) -> str:
    return f"redoing commit {commit.number} ({commit.tool})"


PAGE = 1000
# Relative and absolute tolerance for numbers, because another Blender rounds differently.
TOLERANCE = 1e-5


def head_line(journal: JournalView) -> list[Commit]:
    """Return all commits from the first one to HEAD, oldest first."""
    commits: list[Commit] = []
    before: int | None = None
    while page := journal.log(limit=PAGE, before=before):
        commits += page
        before = page[-1].number
    return commits[::-1]


def replay(worker: RemoteScene, journal: JournalView) -> Replay:
    """Redo all commits from the first one to HEAD and compare them with the journal.

    Raises RebuildFailed when a file or a step is not usable, and EnvironmentUnfit when there are no commits.
    """
    commits = head_line(journal)
    if not commits:
        raise EnvironmentUnfit("the workspace has no commit yet", cure="Run a plan first.")
    return _Replayer(worker, journal, commits).run()


class _Replayer:
    def __init__(self, worker: RemoteScene, journal: JournalView, commits: Sequence[Commit]) -> None:
        self._worker = worker
        self._journal = journal
        self._commits = commits
        self._by: By = "hashes"
        self._redone = 0
        self._opened = 0
        self._agreed: int | None = None

    def run(self) -> Replay:
        empty = self._worker.reset()
        comparable = sum(scheme_of(commit.hash_after) == scheme_of(empty) for commit in self._commits)
        if not comparable:
            self._by = "results"
        mismatch = next(self._mismatches(empty), None)
        count = len(self._commits)
        if comparable:
            skipped = count - comparable
        else:
            skipped = 0

        return Replay(
            self._commits[-1].number, count, self._by, self._redone, self._opened, skipped, self._agreed, mismatch
        )

    def _mismatches(self, empty: str) -> Iterator[Mismatch]:
        """Yield every mismatch. Only the first one is meaningful, because later commits build on it."""
        parent_hash = self._commits[0].hash_before
        steps: list[Commit] = []
        for commit in self._commits:
            if commit.hash_before != parent_hash:
                yield from self._redo(steps)
                message = "the commit does not start from the scene of its parent"
                yield Mismatch(commit.number, message, parent_hash, commit.hash_before)
            parent_hash = commit.hash_after
            if self._by == "hashes" and scheme_of(commit.hash_after) != scheme_of(empty):
                # The commit that moved the workspace to this Blender has a scene of its own, so earlier commits
                # may be skipped.
                continue
            if commit.replayable and commit.parent is not None:
                steps.append(commit)
                continue
            yield from self._redo(steps)
            steps = []
            yield from self._start(commit, empty)
        yield from self._redo(steps)

    def _start(self, commit: Commit, empty: str) -> Iterator[Mismatch]:
        """Load the first scene, or the scene of a commit that has a file."""
        actual_hash = empty
        if not commit.replayable:
            actual_hash = open_checkpoint(self._worker, self._journal.checkpoints.route(commit.number).checkpoint)
            self._opened += 1
        if self._by == "hashes" and actual_hash != commit.hash_after:
            yield Mismatch(commit.number, "the scene it begins with", commit.hash_after, actual_hash)
        self._agreed = commit.number

    def _redo(self, commits: Sequence[Commit]) -> Iterator[Mismatch]:
        for commit, answer in redo(self._worker, commits):
            yield from self._compare(commit, answer)
            self._redone += 1
            self._agreed = commit.number
        if commits:
            self._agreed = commits[-1].number

    def _compare(self, commit: Commit, answer: StepAnswer) -> Iterator[Mismatch]:
        subject = f"{commit.tool} of operation '{commit.operation_id}'"
        if not answer["ok"]:
            yield Mismatch(commit.number, f"{subject} failed: {answer['message']}", commit.hash_after, answer["after"])
        elif self._by == "hashes" and answer["after"] != commit.hash_after:
            yield Mismatch(commit.number, subject, commit.hash_after, answer["after"])
        elif self._by == "results" and not same_result(commit.receipt.get("result"), answer["result"]):
            yield Mismatch(commit.number, f"the result of {subject}", commit.receipt.get("result"), answer["result"])


def same_result(first: Any, second: Any) -> bool:
    """Return True when two Blenders gave the same answer: numbers within the tolerance, fingerprints ignored."""
    match first, second:
        case Mapping(), Mapping():
            first_fields, second_fields = cast("Mapping[str, Any]", first), cast("Mapping[str, Any]", second)
            keys = {key for key in (*first_fields, *second_fields) if not key.endswith("fingerprint")}
            return all(same_result(first_fields.get(key), second_fields.get(key)) for key in keys)
        case list(), list():
            first_items, second_items = cast("list[Any]", first), cast("list[Any]", second)
            return len(first_items) == len(second_items) and all(map(same_result, first_items, second_items))
        case float(), (float() | int()):
            return math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        case _:
            return first == second
