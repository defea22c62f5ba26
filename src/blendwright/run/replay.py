"""Replays HEAD's line from its baseline and reports where journal and scene part. Writes nothing and quarantines nothing.

A commit that cannot be replayed is entered by its checkpoint. Where the Blender is another one than the journal's, results are compared
instead of hashes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from blendwright.journal import JournalView
from blendwright.records.commits import Commit
from blendwright.run.hash_scheme import scheme_of
from blendwright.run.rebuild import Mismatch, open_checkpoint, redo
from blendwright.values.errors import EnvironmentUnfit
from blendwright.wire.methods import StepAnswer
from blendwright.wire.remote_scene import RemoteScene

PAGE = 1000
# Another Blender rounds elsewhere: numbers that agree to this share are the same result.
TOLERANCE = 1e-5

By = Literal["hashes", "results"]


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
        if scheme_of(empty) != scheme_of(self._commits[0].hash_after):
            self._by = "results"
        mismatch = next(self._mismatches(empty), None)
        return Replay(
            self._commits[-1].number, len(self._commits), self._by, self._redone, self._opened, self._agreed, mismatch
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
            actual_hash = open_checkpoint(self._worker, self._journal.route(commit.number).checkpoint)
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
