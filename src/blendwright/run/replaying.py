"""Runs commits again in a worker of its own, every hash compared. Writes nothing to the journal and quarantines nothing.

`rebuild` brings the scene of one commit into a worker. `replay` runs a whole line from its baseline and says where journal and
scene part. A commit that cannot be replayed is entered by its checkpoint; one that left the scene as it was is not run again,
since what it did outside the scene must not happen twice.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from blendwright.records.commits import Commit
from blendwright.records.journal_port import JournalReader
from blendwright.run.handover import bring_in
from blendwright.run.hash_scheme import other_scheme, scheme_of
from blendwright.values.errors import EnvironmentUnfit, RebuildFailed, WorkerError, WorkerFault
from blendwright.wire.remote_scene import HANG_SECONDS, RemoteScene
from blendwright.wire.step import StepAnswer, StepRequest
from blendwright.wire.worker_port import WorkerPool

# Steps on their way at once: enough that the worker never waits.
WINDOW = 64
# A file in the worker's scratch, for what is opened and saved there.
EXCHANGED = "scene.blend"
PAGE = 1000
# Another Blender rounds elsewhere: numbers that agree to this share are the same result.
TOLERANCE = 1e-5

By = Literal["hashes", "results"]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where journal and scene part: what the journal says, and what was found."""

    commit: int
    what: str
    expected: Any
    found: Any


@dataclass(frozen=True, slots=True)
class Replay:
    """`agreed` is the last commit up to which everything agreed; `by` says what could be compared."""

    head: int
    commits: int
    by: By
    redone: int
    opened: int
    agreed: int | None
    mismatch: Mismatch | None

    @property
    def ok(self) -> bool:
        return self.mismatch is None


def fresh(pool: WorkerPool, catalogue: str) -> RemoteScene:
    """A worker that knows the same tools; raises EnvironmentUnfit."""
    worker = pool.take()
    if worker.catalogue != catalogue:
        worker.abandon()
        raise EnvironmentUnfit(
            "the Blender process has another tool catalogue than this one",
            cure="Use one version of blendwright on both sides.",
        )
    return worker


def line(journal: JournalReader) -> list[Commit]:
    """All commits of HEAD's line, oldest first."""
    found: list[Commit] = []
    while page := journal.log(limit=PAGE, before=found[-1].number if found else None):
        found += page
    return found[::-1]


def open_file(worker: RemoteScene, path: Path, what: str) -> str:
    """The hash of a .blend file, which is then the worker's scene. Raises RebuildFailed."""
    scratch = worker.require_process().scratch
    try:
        bring_in(path.resolve(), scratch, EXCHANGED)
        return worker.open(EXCHANGED)
    except WorkerFault as error:
        # Blender names the copy that it was given; the caller knows the file.
        reason = error.message.replace(str(scratch / EXCHANGED), what)
        raise RebuildFailed(
            f"{what} cannot be opened: {reason}",
            cure="Check that it is a .blend file that this Blender can read.",
        ) from error
    except OSError as error:
        raise RebuildFailed(f"{what} cannot be read: {error.strerror}", cure="Check the file.") from error


def rebuild(worker: RemoteScene, journal: JournalReader, number: int) -> str:
    """Bring the scene of a commit into the worker; returns its hash. Raises RebuildFailed with both hashes where they differ."""
    commit, route = journal.show(number), journal.route(number)
    if route.checkpoint is None:
        reached = worker.reset()
    else:
        reached = open_file(worker, route.checkpoint.path, f"the checkpoint {route.checkpoint.path.name}")
    if reached != route.start_hash:
        raise _parted(f"the scene that commit {number} is redone from", route.start_hash, reached)
    for redone, answer in _answers(worker, [each for each in route.redo if _changes(each)]):
        if not answer["ok"] or answer["after"] != redone.hash_after:
            raise _parted(f"commit {redone.number} ({redone.tool})", redone.hash_after, answer["after"])
        reached = redone.hash_after
    if reached != commit.hash_after:
        raise _parted(f"commit {number}", commit.hash_after, reached)
    return reached


def replay(worker: RemoteScene, journal: JournalReader) -> Replay:
    """HEAD's line from its baseline on. Where the Blender is another one than the journal's, results are compared, not hashes."""
    commits = line(journal)
    if not commits:
        raise EnvironmentUnfit("the workspace has no commit yet", cure="Run a plan first.")
    return _Replayer(worker, journal, commits).run()


class _Replayer:
    def __init__(self, worker: RemoteScene, journal: JournalReader, commits: Sequence[Commit]) -> None:
        self._worker = worker
        self._journal = journal
        self._commits = commits
        self._by: By = "hashes"
        self._redone = 0
        self._opened = 0
        self._agreed: int | None = None

    def run(self) -> Replay:
        empty = self._worker.reset()
        if scheme_of(empty) != scheme_of(self._commits[0].hash_after):
            self._by = "results"
        mismatch = next(self._mismatches(empty), None)
        return Replay(
            self._commits[-1].number, len(self._commits), self._by, self._redone, self._opened, self._agreed, mismatch
        )

    def _mismatches(self, empty: str) -> Iterator[Mismatch]:
        """Everything that does not agree; only the first one means anything, since what follows builds on it."""
        said = self._commits[0].hash_before
        steps: list[Commit] = []
        for commit in self._commits:
            if commit.hash_before != said:
                yield from self._steps(steps)
                yield Mismatch(
                    commit.number, "it starts from another scene than its parent left", said, commit.hash_before
                )
            said = commit.hash_after
            if commit.replayable and commit.parent is not None:
                steps.append(commit)
                continue
            yield from self._steps(steps)
            steps = []
            yield from self._entered(commit, empty)
        yield from self._steps(steps)

    def _entered(self, commit: Commit, empty: str) -> Iterator[Mismatch]:
        """A baseline, or a commit that has its scene from a file."""
        found = empty
        if not commit.replayable:
            checkpoint = self._journal.route(commit.number).checkpoint
            assert checkpoint is not None
            found = open_file(self._worker, checkpoint.path, f"the checkpoint {checkpoint.path.name}")
            self._opened += 1
        if self._by == "hashes" and found != commit.hash_after:
            yield Mismatch(commit.number, "the scene it begins with", commit.hash_after, found)
        self._agreed = commit.number

    def _steps(self, commits: Sequence[Commit]) -> Iterator[Mismatch]:
        for commit, answer in _answers(self._worker, [each for each in commits if _changes(each)]):
            yield from self._judged(commit, answer)
            self._redone += 1
            self._agreed = commit.number
        if commits:
            self._agreed = commits[-1].number

    def _judged(self, commit: Commit, answer: StepAnswer) -> Iterator[Mismatch]:
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


def _changes(commit: Commit) -> bool:
    return commit.hash_before != commit.hash_after


def _answers(worker: RemoteScene, commits: Sequence[Commit]) -> Iterator[tuple[Commit, StepAnswer]]:
    """Run the steps, many on their way at once. Raises RebuildFailed when Blender does not answer at all."""
    waiting = deque(commits)
    pending: deque[tuple[Commit, Future[StepAnswer]]] = deque()
    while waiting or pending:
        while waiting and len(pending) < WINDOW:
            commit = waiting.popleft()
            request = StepRequest(tool=commit.tool, version=commit.tool_version, args=dict(commit.args))
            pending.append((commit, worker.submit_step(request)))
        commit, future = pending.popleft()
        what = f"commit {commit.number} ({commit.tool})"
        try:
            answer = future.result(HANG_SECONDS)
        except TimeoutError as error:
            raise RebuildFailed(f"{what} did not end") from error
        except WorkerError as error:
            raise RebuildFailed(
                f"{what} cannot be run again: {error.message}", cure="Use the blendwright that wrote it."
            ) from error
        yield commit, answer


def _parted(what: str, expected: str, found: str) -> RebuildFailed | EnvironmentUnfit:
    if scheme_of(expected) != scheme_of(found):
        return other_scheme(expected, found)
    details = {"expected": expected, "found": found}
    return RebuildFailed(
        f"{what} led to another scene than the journal says: expected {expected}, found {found}",
        cure="Run `blendwright replay` to see up to where the journal agrees.",
        details=details,
    )
