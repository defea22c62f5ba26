"""Bisection: a search for the first commit of HEAD's line whose scene fails a check.

It rebuilds few scenes, in a separate Blender.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blendwright.bridge.worker_source import WorkerSource
from blendwright.engine.moves.commit_names import find
from blendwright.engine.scene.predicate_values import scene_values
from blendwright.engine.scene.rebuild import rebuild_commit
from blendwright.journal import JournalView
from blendwright.programs.predicate import Verdict, judge
from blendwright.records.commits import Commit
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.views.queries import summary
from blendwright.wire.remote_scene import RemoteScene
from blendwright.workspace.reading import inspection_workers, read_journal


@dataclass(frozen=True, slots=True)
class Looked:
    """A rebuilt scene and the verdict of the check there."""

    commit: int
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        return {"commit": self.commit, "holds": self.verdict.holds, "message": self.verdict.message}


@dataclass(frozen=True, slots=True)
class Bisection:
    """The result of a bisection. `last_good` is the commit before `first_bad`, and `message` is the check's message
    about the bad one.

    `looked` has the rebuilt scenes in the order of their checks. `commits` counts the commits in question.
    """

    expect: str
    first_bad: Commit
    last_good: Commit
    message: str | None
    looked: tuple[Looked, ...]
    commits: int

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": True, "expect": self.expect, "first_bad": summary(self.first_bad), "last_good": summary(self.last_good),
            "message": self.message, "rebuilds": len(self.looked), "commits": self.commits,
            "looked": [scene.to_json() for scene in self.looked],
        }  # fmt: skip


def bisect(
    workspace: str | Path,
    expect: str,
    *,
    good: int | str | None = None,
    bad: int | str = "HEAD",
    blender: str | Path | WorkerSource | None = None,
    cancel: CancelToken | None = None,
    observe: Callable[[Looked], None] = lambda looked: None,
) -> Bisection:
    """Find the first commit after `good` at which `expect` no longer holds. By default `good` is the workspace's first commit.

    `expect` is an expression over `scene` and `audit`, whose values `engine/scene/predicate_values.py` makes. An expression that
    does not fit a scene does not hold there. Among n commits, at most log2(n) + 1 scenes are rebuilt.

    Raises Refusal if `expect` is not an expression, if the two commits are not on one line, or if the check holds at `bad` or fails
    at `good`. Raises RebuildFailed if a rebuilt scene differs from the journal."""
    with contextlib.ExitStack() as ends:
        journal = ends.enter_context(read_journal(workspace))
        line = _line(journal, good, bad)
        judge(expect, {"scene": {}, "named": [], "audit": None})  # refuse an invalid expression before Blender starts
        inspection = ends.enter_context(inspection_workers(workspace, blender=blender))
        if cancel is not None:
            ends.callback(cancel.subscribe(inspection.pool.close))
        return _Search(journal, inspection.worker(), expect, observe).run(line)


def _line(journal: JournalView, good: int | str | None, bad: int | str) -> Sequence[int]:
    """Return the numbers of the commits from the good one to the bad one.

    Raise Refusal when the good one is not an ancestor of the bad one.
    """
    last = find(journal, bad)
    numbers = [change.number for change in journal.changes_to(last.number)]
    if good is None:
        first = numbers[0]
    else:
        first = find(journal, good).number
    if first not in numbers[:-1]:
        message = f"commit {first} is not before commit {last.number}"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Name an ancestor of that commit: blendwright log")
    return numbers[numbers.index(first) :]


class _Search:
    def __init__(
        self, journal: JournalView, worker: RemoteScene, expect: str, observe: Callable[[Looked], None]
    ) -> None:
        self._journal = journal
        self._worker = worker
        self._expect = expect
        self._observe = observe
        self._looked: list[Looked] = []

    def run(self, line: Sequence[int]) -> Bisection:
        failed = self._look(line[-1])
        if failed.holds:
            message = f"'{self._expect}' holds at commit {line[-1]}, so no commit broke it"
            raise Refusal.of(Fault.SCENE_CONFLICT, message, "Name a commit at which it does not hold with --bad.")
        # The good commit is a candidate too: the search checks it only if the check fails at all commits after it.
        low, high = 0, len(line) - 1
        while low < high:
            middle = (low + high) // 2
            verdict = self._look(line[middle])
            if verdict.holds:
                low = middle + 1
            else:
                high, failed = middle, verdict
        if high == 0:
            if failed.message is None:
                reason = ""
            else:
                reason = f" ({failed.message})"
            message = f"'{self._expect}' does not hold at commit {line[0]} either{reason}"
            raise Refusal.of(Fault.SCENE_CONFLICT, message, "Name a commit at which it holds with --good.")
        first, last = self._journal.show(line[high]), self._journal.show(line[high - 1])
        return Bisection(self._expect, first, last, failed.message, tuple(self._looked), len(line))

    def _look(self, number: int) -> Verdict:
        rebuild_commit(self._worker, self._journal, number)
        verdict = judge(self._expect, scene_values(self._worker, self._expect))
        looked = Looked(number, verdict)
        self._looked.append(looked)
        self._observe(looked)
        return verdict
