"""Rebuilds scenes from the journal: open a checkpoint, redo the commits behind it, compare every hash.

Says where journal and scene part. What follows from that is for the caller: a quarantine, an error, or a line of a report.
Hashes of different methods or Blenders cannot be compared at all.
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
# Steps on their way at once, or in one request: enough that the worker never waits.
WINDOW = 64
# Requests with that many steps on their way at once, and the size of arguments that one of them takes (a frame holds 32 MiB).
BATCHES_UNDERWAY = 2
BATCH_SIZE = 8 << 20


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild led to. With a mismatch, which is the first one, the worker holds no scene that could be used."""

    hash: str
    redone: int = 0
    redo_ms: float = 0.0
    mismatch: Mismatch | None = None
    passed_over: tuple[str, ...] = ()
    """Checkpoints that Blender opens to another scene than was saved, and that nobody needed."""


def take_worker(pool: WorkerPool, catalogue: str, *, bare: bool = False, seconds: float | None = None) -> RemoteScene:
    """A ready worker that knows the same tools. Raises EnvironmentUnfit; DeadlinePassed where there is none in so many seconds."""
    worker = pool.take(bare=bare, seconds=seconds)
    if worker.catalogue != catalogue:
        worker.abandon()
        raise EnvironmentUnfit(
            "the Blender process has another tool catalogue than this one",
            cure="Use one version of blendwright on both sides.",
        )
    return worker


def rebuild(worker: RemoteScene, journal: JournalView, target: Commit) -> Rebuilt:
    """Bring the scene of a commit into the worker. Raises RebuildFailed when a file or a step cannot be used at all.

    A checkpoint is a short cut. One that Blender opens to another scene is passed over where a longer way leads to the commit: what
    counts is that the end has the hash that the journal says. With a mismatch, it is that of the shortest way.
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
    """The same by one way."""
    reached = open_checkpoint(worker, route.checkpoint)
    if reached != route.start_hash:
        mismatch = Mismatch(route.to, START, route.start_hash, reached)
        return Rebuilt(reached, mismatch=mismatch)
    crash_points.reach("rebuild.opened")
    started, redone = perf_counter(), 0
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
    """Raises EnvironmentUnfit where another Blender or method made the hash: what that one saved may open here in part, or not at all."""
    ours = hash_scheme(worker.profile.version)
    if scheme_of(scene_hash) != ours:
        raise other_scheme(scene_hash, f"{ours}:", commit)


def _comparable(mismatch: Mismatch) -> bool:
    return scheme_of(mismatch.expected) == scheme_of(mismatch.found)


def rebuild_commit(worker: RemoteScene, journal: JournalView, number: int) -> Rebuilt:
    """The same where nothing but the commit's own scene will do: raises RebuildFailed, with both hashes, on a mismatch."""
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
        cure="Run `blendwright replay` to see up to where the journal agrees.",
        details={"expected": mismatch.expected, "found": mismatch.found},
    )


def open_checkpoint(worker: RemoteScene, checkpoint: Checkpoint | None) -> str:
    """The hash of a saved scene, or of an empty one where there is none, which is then the worker's. Raises RebuildFailed."""
    if checkpoint is None:
        return worker.reset()
    return open_scene_file(worker, checkpoint.path, f"the checkpoint {checkpoint.path.name}")


def redo_in_batches(worker: RemoteScene, steps: Iterable[CommittedStep]) -> Iterator[tuple[int, Mismatch | None]]:
    """Run committed steps again, many in one request: for each request how many led where they did, and the first that did not.

    Raises RebuildFailed when the worker cannot do it at all. What left the scene as it was needs no redo; an export among it must
    not happen twice either.
    """
    batches = _batches(step for step in steps if step.changed)
    pending: deque[tuple[list[CommittedStep], Future[RedoAnswer]]] = deque()
    while True:
        while len(pending) < BATCHES_UNDERWAY and (batch := next(batches, None)) is not None:
            pending.append((batch, worker.submit_redo([_redo_step(step) for step in batch])))
        if not pending:
            return
        batch, future = pending.popleft()
        if len(batch) == 1:
            what = _redoing(batch[0])
        else:
            what = f"redoing commits {batch[0].number} to {batch[-1].number}"
        with _explained(worker, what):
            answer = future.result(HANG_SECONDS * len(batch))
        yield answer["redone"], _mismatch_in(batch, answer)


def _step_of(commit: Commit) -> CommittedStep:
    args = orjson.dumps(commit.args).decode()
    return CommittedStep(commit.number, commit.tool, commit.tool_version, args, commit.hash_before, commit.hash_after)


def _batches(steps: Iterable[CommittedStep]) -> Iterator[list[CommittedStep]]:
    batch: list[CommittedStep] = []
    size = 0
    for step in steps:
        if batch and (len(batch) >= WINDOW or size + len(step.args) > BATCH_SIZE):
            yield batch
            batch, size = [], 0
        batch.append(step)
        size += len(step.args)
    if batch:
        yield batch


def _redo_step(step: CommittedStep) -> RedoStep:
    # The arguments go on as the text that the journal has.
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
def _explained(worker: RemoteScene, what: str) -> Generator[None]:
    """A worker that does not answer, or refuses, as the rebuild that failed with it."""
    try:
        yield
    except TimeoutError as error:
        worker.abandon()
        raise RebuildFailed(f"{what}: it did not end") from error
    except WorkerFault as error:
        raise RebuildFailed(f"{what}: {error.message}", cure="Use the blendwright that wrote it.") from error


def redo(worker: RemoteScene, commits: Iterable[Commit]) -> Iterator[tuple[Commit, StepAnswer]]:
    """The same one by one, for those who compare more than hashes: the answer to each."""
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
# Another Blender rounds elsewhere: numbers that agree to this share are the same result.
TOLERANCE = 1e-5


def head_line(journal: JournalView) -> list[Commit]:
    """All commits of HEAD's line, oldest first."""
    commits: list[Commit] = []
    while page := journal.log(limit=PAGE, before=commits[-1].number if commits else None):
        commits += page
    return commits[::-1]


def replay(worker: RemoteScene, journal: JournalView) -> Replay:
    """HEAD's line from its baseline on. Raises RebuildFailed when a file or a step cannot be used at all."""
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
        own = sum(scheme_of(commit.hash_after) == scheme_of(empty) for commit in self._commits)
        if not own:
            self._by = "results"
        mismatch = next(self._mismatches(empty), None)
        count = len(self._commits)
        if own:
            other = count - own
        else:
            other = 0
        return Replay(
            self._commits[-1].number, count, self._by, self._redone, self._opened, other, self._agreed, mismatch
        )

    def _mismatches(self, empty: str) -> Iterator[Mismatch]:
        """Everything that does not agree; only the first one means anything, since what follows builds on it."""
        parent_hash = self._commits[0].hash_before
        steps: list[Commit] = []
        for commit in self._commits:
            if commit.hash_before != parent_hash:
                yield from self._redo(steps)
                yield Mismatch(
                    commit.number, "it starts from another scene than its parent left", parent_hash, commit.hash_before
                )
            parent_hash = commit.hash_after
            if self._by == "hashes" and scheme_of(commit.hash_after) != scheme_of(empty):
                # A commit that moved the workspace brings its scene, so that what follows does not need what was left out.
                continue
            if commit.replayable and commit.parent is not None:
                steps.append(commit)
                continue
            yield from self._redo(steps)
            steps = []
            yield from self._start(commit, empty)
        yield from self._redo(steps)

    def _start(self, commit: Commit, empty: str) -> Iterator[Mismatch]:
        """A baseline, or a commit that has its scene from a file."""
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
        what = f"{commit.tool} of operation '{commit.operation_id}'"
        if not answer["ok"]:
            yield Mismatch(commit.number, f"{what} failed: {answer['message']}", commit.hash_after, answer["after"])
        elif self._by == "hashes" and answer["after"] != commit.hash_after:
            yield Mismatch(commit.number, what, commit.hash_after, answer["after"])
        elif self._by == "results" and not same_result(commit.receipt.get("result"), answer["result"]):
            yield Mismatch(commit.number, f"the result of {what}", commit.receipt.get("result"), answer["result"])


def same_result(one: Any, other: Any) -> bool:
    """Whether two Blenders gave the same answer: numbers within the tolerance, fingerprints left out."""
    match one, other:
        case Mapping(), Mapping():
            ours, theirs = cast("Mapping[str, Any]", one), cast("Mapping[str, Any]", other)
            keys = {key for key in (*ours, *theirs) if not key.endswith("fingerprint")}
            return all(same_result(ours.get(key), theirs.get(key)) for key in keys)
        case list(), list():
            first, second = cast("list[Any]", one), cast("list[Any]", other)
            return len(first) == len(second) and all(map(same_result, first, second))
        case float(), (float() | int()):
            return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        case _:
            return one == other
