"""Queries about a workspace: its history, scene, files and numbers. They take no lock and change nothing.

A query never creates a workspace: it raises EnvironmentUnfit when the workspace does not exist, and Refusal when a
commit does not exist.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blendwright.engine.moves.commit_names import find, require_head
from blendwright.engine.scene.differences import (
    SceneSnapshot,
    compare,
    objects_to_inspect,
    take_snapshot,
    with_modifier_settings,
)
from blendwright.engine.scene.external_files import External, Externals, current_externals, findings_about
from blendwright.engine.scene.rebuild import rebuild_commit
from blendwright.engine.scene.rebuild import replay as replay_journal
from blendwright.engine.scene.renames import renaming_calls
from blendwright.journal import JournalView
from blendwright.policy.redaction import redacted, redacted_receipt
from blendwright.records.audit import AuditRecord
from blendwright.records.commits import Commit, HeadMove
from blendwright.records.requests import Attempt, StoredProgram
from blendwright.records.results import Difference, Replay
from blendwright.util.cancel import CancelToken
from blendwright.util.no_follow import read_file
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.outcome import Outcome
from blendwright.wire.remote_scene import RemoteScene
from blendwright.workspace.opening import open
from blendwright.workspace.policy_files import load_policy
from blendwright.workspace.reading import InspectionWorkers, inspection_workers, read_journal
from blendwright.workspace.settings import workspace_roots

if TYPE_CHECKING:
    from blendwright.workspace.observing.metrics import Metrics
    from blendwright.workspace.open_scene import OpenScene

SUMMARY_FIELDS = ("number", "parent", "kind", "request_id", "operation_id", "tool", "tool_version", "timestamp",
                  "hash_before", "hash_after", "replayable")  # fmt: skip


@dataclass(frozen=True, slots=True)
class LogPage:
    """A page of commits, newest first. `redo` is the target of redo, and `next_before` is the argument for the next
    page.

    `branch` is the branch that HEAD is on, or None when HEAD is detached. `names` has the branches and tags of
    commits.
    """

    commits: tuple[Commit, ...]
    head: int | None
    redo: int | None
    next_before: int | None
    branch: str | None = None
    names: Mapping[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])

    def to_json(self) -> dict[str, Any]:
        commits = [
            summary(commit) | {"head": commit.number == self.head, "names": list(self.names.get(commit.number, ()))}
            for commit in self.commits
        ]
        return {
            "ok": True, "head": self.head, "branch": self.branch, "redo": self.redo, "commits": commits,
            "next_before": self.next_before,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page of audit records, oldest first. `next_after` is the argument for the next page."""

    records: tuple[AuditRecord, ...]
    next_after: int | None

    def to_json(self) -> dict[str, Any]:
        records = [{"sequence": record.sequence, "hash": record.hash, **record.record} for record in self.records]
        return {"ok": True, "records": records, "next_after": self.next_after}


@dataclass(frozen=True, slots=True)
class RequestHistory:
    """The history of a request: the attempts of planners, its programs, and its commits."""

    request_id: str
    attempts: tuple[Attempt, ...]
    commits: tuple[Commit, ...]
    programs: tuple[StoredProgram, ...] = ()

    def to_json(self) -> dict[str, Any]:
        fields = ("number", "operation_id", "tool", "hash_after", "timestamp")
        return {
            "ok": True,
            "request_id": self.request_id,
            "attempts": [attempt.to_json() for attempt in self.attempts],
            "programs": [program.to_json() for program in self.programs],
            "commits": [{name: getattr(commit, name) for name in fields} for commit in self.commits],
        }


@dataclass(frozen=True, slots=True)
class ComparedCommits:
    before: Commit
    after: Commit
    difference: Difference

    def to_json(self) -> dict[str, Any]:
        before = {"commit": self.before.number, "scene_hash": self.before.hash_after}
        after = {"commit": self.after.number, "scene_hash": self.after.hash_after}
        return {"ok": True, "a": before, "b": after, "equal": self.difference.is_empty, **self.difference.to_json()}


def commit_log(
    workspace: str | Path, *, limit: int = 20, before: str | None = None, all_lines: bool = False
) -> LogPage:
    """Return the commits that led to HEAD, or all commits. `before` is the last commit of the previous page."""
    with read_journal(workspace) as journal:
        head = journal.head
        if before is None:
            below = None
        else:
            below = find(journal, before).number
        # One more commit than shown, to know whether a next page exists.
        commits = journal.log(limit=limit + 1, before=below, all_lines=all_lines)
        redo = journal.redo_target()
        branch, names = journal.branches.current(), named_commits(journal)
    page = commits[:limit]
    next_before = None
    if len(commits) > limit:
        next_before = page[-1].number
    head_number = None
    if head is not None:
        head_number = head.number
    return LogPage(page, head_number, redo, next_before, branch, names)


def named_commits(journal: JournalView) -> dict[int, tuple[str, ...]]:
    """Return the branches and tags of each commit that has some, by commit number."""
    names: dict[int, tuple[str, ...]] = {}
    commits_by_name: list[tuple[str, int | None]] = [
        (branch.name, branch.commit) for branch in journal.branches.listed()
    ]
    commits_by_name.extend(journal.branches.tags().items())
    for name, commit in commits_by_name:
        if commit is not None:
            names[commit] = (*names.get(commit, ()), name)
    return names


def audit_page(workspace: str | Path, *, after: int, limit: int, **fields: str | None) -> AuditPage:
    """Return audit records in order. `fields` maps field names to required values; None accepts any value."""
    required = {name: value for name, value in fields.items() if value is not None}
    with read_journal(workspace) as journal:
        # One more record than shown, to know whether a next page exists.
        records = journal.audit.records(after=after, limit=limit + 1, **required)
    page = records[:limit]
    next_after = None
    if len(records) > limit:
        next_after = page[-1].sequence
    return AuditPage(page, next_after)


def head_moves(workspace: str | Path, *, limit: int = 20) -> tuple[HeadMove, ...]:
    with read_journal(workspace) as journal:
        return journal.moves(limit=limit)


def request_history(workspace: str | Path, request_id: str) -> RequestHistory:
    """Return the history of a request, by its id or by an unambiguous beginning of the id.

    Raise Refusal for an unknown request.
    """
    with read_journal(workspace) as journal:
        request_id = _complete_id(journal, request_id)
        attempts = journal.attempts.of_request(request_id)
        # Each further round of a planner's unfinished plan runs under an id of its own.
        ids = dict.fromkeys([request_id, *(str(attempt.outcome["request_id"]) for attempt in attempts)])
        commits: list[Commit] = []
        programs: list[StoredProgram] = []
        for id in ids:
            commits.extend(journal.commits_of(id))
            programs.extend(journal.programs.of_request(id))
    if not attempts and not commits and not programs:
        fix = "List the requests: blendwright log"
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"there is no request {request_id}", fix)
    return RequestHistory(request_id, attempts, tuple(commits), tuple(programs))


# The number of characters of an id, as `log` shows it, that are enough to find it.
MIN_ID_CHARACTERS = 6


def _complete_id(journal: JournalView, start: str) -> str:
    """Return the request id that begins with `start`, because ids of programs are long. Without a match, return `start` itself."""
    matches: Sequence[str] = ()
    if len(start) >= MIN_ID_CHARACTERS:
        matches = journal.requests_like(start)
    if start in matches or journal.attempts.of_request(start):
        return start
    if len(matches) > 1:
        message = f"several requests begin with {start}"
        fix = "Give more of the id: blendwright log --plans --json shows it completely."
        raise Refusal.of(Fault.TARGET_NOT_FOUND, message, fix)
    return next(iter(matches), start)


def programs_of(workspace: str | Path, request_id: str) -> tuple[StoredProgram, ...]:
    """Return the programs that produced plans of a request, oldest first."""
    with read_journal(workspace) as journal:
        return journal.programs.of_request(request_id)


def commit_details(workspace: str | Path, number: str) -> dict[str, Any]:
    """Return all stored fields of a commit, redacted according to the policy."""
    with read_journal(workspace) as journal:
        commit, head = find(journal, number), journal.head
    hidden = load_policy(Path(workspace).resolve()).policy.audit.redact
    return summary(commit) | {
        "operation_key": commit.operation_key,
        "args": redacted(commit.args, hidden),
        "receipt": redacted_receipt(commit.receipt, hidden),
        "audit_sequence": commit.audit_sequence,
        "head": head is not None and head.number == commit.number,
    }


def summary(commit: Commit) -> dict[str, Any]:
    return {name: getattr(commit, name) for name in SUMMARY_FIELDS}


def compare_commits(
    workspace: str | Path, a: str, b: str, *, blender: str | None = None, cancel: CancelToken | None = None
) -> ComparedCommits:
    """Return the differences between the scenes of two commits. Two separate Blenders rebuild them; `cancel` ends
    these.

    Raise RebuildFailed with both hashes when a scene differs from the journal.
    """
    with (
        read_journal(workspace) as journal,
        inspection_workers(workspace, blender=blender) as inspection,
        contextlib.ExitStack() as end,
    ):
        if cancel is not None:
            end.callback(cancel.subscribe(inspection.pool.close))
        before, after = find(journal, a), find(journal, b)
        return ComparedCommits(before, after, difference(journal, inspection, before, after))


def difference(journal: JournalView, workers: InspectionWorkers, before: Commit, after: Commit) -> Difference:
    with ThreadPoolExecutor(2) as starting:
        starts = [starting.submit(workers.worker), starting.submit(workers.worker)]
    first, second = starts[0].result(), starts[1].result()
    old, new = _snapshot(journal, first, before), _snapshot(journal, second, after)
    names = objects_to_inspect(old, new)
    renamed = renamed_between(journal, before, after)
    return compare(with_modifier_settings(old, names, first), with_modifier_settings(new, names, second), renamed)


# The number of commits that `renamed_between` reads at most, one by one.
MAX_FOLLOWED_COMMITS = 10_000


def renamed_between(journal: JournalView, before: Commit, after: Commit) -> dict[str, str]:
    """Return the new names of objects that the commits between two commits renamed, by old name.

    Return nothing if `before` is not an ancestor of `after`, or too far away.
    """
    if not 0 < after.generation - before.generation <= MAX_FOLLOWED_COMMITS:
        return {}
    calls: list[tuple[str, Mapping[str, Any]]] = []
    commit = after
    while commit.number != before.number:
        if commit.parent is None:
            return {}
        calls.append((commit.tool, commit.args))
        commit = journal.show(commit.parent)
    return renaming_calls(reversed(calls))


def _snapshot(journal: JournalView, worker: RemoteScene, commit: Commit) -> SceneSnapshot:
    rebuild_commit(worker, journal, commit.number)
    return take_snapshot(worker)


def replay(workspace: str | Path, *, blender: str | None = None) -> Replay:
    """Run all commits of HEAD's line again in a fresh Blender, and compare the hashes with the journal."""
    with read_journal(workspace) as journal:
        require_head(journal)
        with inspection_workers(workspace, blender=blender) as inspection:
            return replay_journal(inspection.worker(), journal)


def call_reader(
    tool: str, args: Mapping[str, Any], workspace: str, *, scene: str | None = None, blender: str | None = None
) -> Outcome:
    """Call a read-only tool on the scene of a workspace, or on the scene of a .blend file."""
    with _opened_for_query(workspace, scene, blender) as opened:
        return opened.outcome(tool, dict(args))


@contextlib.contextmanager
def _opened_for_query(workspace: str, scene: str | None, blender: str | None) -> Generator[OpenScene]:
    """Open an existing workspace, or a temporary workspace that starts from a .blend file."""
    with tempfile.TemporaryDirectory() as temporary:
        target = temporary
        if scene is None:
            target = workspace
            with read_journal(workspace):
                pass  # raises if the workspace does not exist, because `open` would create it
        with open(target, scene=scene, blender=blender, spare=False) as opened:
            yield opened


def take_picture(
    tool: str, args: Mapping[str, Any], workspace: str, scene: str | None = None, blender: str | None = None
) -> tuple[Outcome, bytes | None]:
    """Call a tool that takes a picture, and return the outcome and the picture.

    Without a camera, take it from a corner above.
    """
    with _opened_for_query(workspace, scene, blender) as opened:
        outcome = opened.outcome(tool, dict(args))
        if outcome.fault is Fault.SCENE_CONFLICT and not {"view", "camera"} & args.keys():
            corner_args = {**args, "view": "ISO"}
            if "show" in args:
                corner_args["render_shape"] = False
            outcome = opened.outcome(tool, corner_args)
        if not outcome.ok:
            return outcome, None
        return outcome, read_file(Path(outcome.artifacts[0]))


def external_files(workspace: str | Path) -> tuple[tuple[External, ...], tuple[Finding, ...]]:
    """Return the current state of the files that HEAD's scene refers to, and findings about them."""
    directory = Path(workspace).resolve()
    with read_journal(directory) as journal:
        recorded = recorded_externals(journal)
    reader = Externals(workspace_roots(directory))
    current = tuple(reader.now(external) for external in recorded)
    return current, tuple(findings_about(current))


def external_findings(journal: JournalView) -> tuple[Finding, ...]:
    """Return findings about the external files of HEAD's scene, as they were when the scene was adopted."""
    return tuple(findings_about(recorded_externals(journal)))


def recorded_externals(journal: JournalView) -> tuple[External, ...]:
    """Return the recorded external files of HEAD's scene."""
    return current_externals(journal)


def journal_metrics(workspace: str | Path) -> Metrics:
    """Return metrics for the content of the journal, whichever processes wrote it."""
    from blendwright.workspace.observing.counters import count_journal
    from blendwright.workspace.observing.metrics import Metrics

    with read_journal(workspace) as journal:
        return Metrics(count_journal(journal))
