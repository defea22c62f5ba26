"""Questions about a workspace, answered without its lock and without changing it: its history, its scene, its files, its numbers.

A workspace that is not there is never begun by asking: EnvironmentUnfit is raised. A commit that is not there is a Refusal.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Mapping
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

SUMMARY_FIELDS = ("number", "parent", "kind", "request_id", "operation_id", "tool", "tool_version", "timestamp",
                  "hash_before", "hash_after", "replayable")  # fmt: skip


@dataclass(frozen=True, slots=True)
class LogPage:
    """Commits, newest first. `redo` is where redo would lead; `next_before` is what to ask for the next page with. `branch` is the one that
    HEAD is on, None where it is detached; `names` are the branches and tags of each commit that has some."""

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
    """Audit records, oldest first; `next_after` is what to ask for the next page with."""

    records: tuple[AuditRecord, ...]
    next_after: int | None

    def to_json(self) -> dict[str, Any]:
        records = [{"sequence": one.sequence, "hash": one.hash, **one.record} for one in self.records]
        return {"ok": True, "records": records, "next_after": self.next_after}


@dataclass(frozen=True, slots=True)
class RequestHistory:
    """What planners made of a request, the programs that it was written as, and what it did to the scene."""

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
        ends = {
            name: {"commit": commit.number, "scene_hash": commit.hash_after}
            for name, commit in (("a", self.before), ("b", self.after))
        }
        return {"ok": True, **ends, "equal": self.difference.is_empty, **self.difference.to_json()}


def commit_log(
    workspace: str | Path, *, limit: int = 20, before: str | None = None, all_lines: bool = False
) -> LogPage:
    """The commits that led to HEAD, or every one there is; `before` names the last commit of the page before."""
    with read_journal(workspace) as journal:
        head = journal.head
        if before is None:
            below = None
        else:
            below = find(journal, before).number
        # One more than is shown tells whether there is a next page.
        commits = journal.log(limit=limit + 1, before=below, all_lines=all_lines)
        redo = journal.redo_target()
        branch, names = journal.branches.current(), named_commits(journal)
    page = commits[:limit]
    if len(commits) > limit:
        following = page[-1].number
    else:
        following = None
    return LogPage(page, None if head is None else head.number, redo, following, branch, names)


def named_commits(journal: JournalView) -> dict[int, tuple[str, ...]]:
    """The branches and tags that name each commit."""
    named: dict[int, tuple[str, ...]] = {}
    for name, commit in (
        *((one.name, one.commit) for one in journal.branches.listed()),
        *journal.branches.tags().items(),
    ):
        if commit is not None:
            named[commit] = (*named.get(commit, ()), name)
    return named


def audit_page(workspace: str | Path, *, after: int, limit: int, **fields: str | None) -> AuditPage:
    """Audit records in order; `fields` are names of fields with the values that they must have, None for any."""
    wanted = {name: value for name, value in fields.items() if value is not None}
    with read_journal(workspace) as journal:
        # One more than is shown tells whether there is a next page.
        records = journal.audit.records(after=after, limit=limit + 1, **wanted)
    page = records[:limit]
    return AuditPage(page, page[-1].sequence if len(records) > limit else None)


def head_moves(workspace: str | Path, *, limit: int = 20) -> tuple[HeadMove, ...]:
    with read_journal(workspace) as journal:
        return journal.moves(limit=limit)


def request_history(workspace: str | Path, request_id: str) -> RequestHistory:
    """Its id, or how that begins where no other one does. Raises Refusal for a request that nobody made here."""
    with read_journal(workspace) as journal:
        request_id = _whole_id(journal, request_id)
        attempts = journal.attempts.of_request(request_id)
        # Rounds of a plan that says that it is not done run under ids of their own.
        ids = dict.fromkeys([request_id, *(str(attempt.outcome["request_id"]) for attempt in attempts)])
        commits = tuple(commit for id in ids for commit in journal.commits_of(id))
        programs = tuple(program for id in ids for program in journal.programs.of_request(id))
    if not attempts and not commits and not programs:
        cure = "See which there are: blendwright log"
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"there is no request {request_id}", cure)
    return RequestHistory(request_id, attempts, commits, programs)


# Of an id, as `log` shows it, so much is enough.
LEAST_OF_ID = 6


def _whole_id(journal: JournalView, start: str) -> str:
    """The id that begins so, where there is one such; ids of programs are long."""
    if len(start) >= LEAST_OF_ID:
        found = journal.requests_like(start)
    else:
        found = ()
    if start in found or journal.attempts.of_request(start):
        return start
    if len(found) > 1:
        message = f"several requests begin with {start}"
        raise Refusal.of(
            Fault.TARGET_NOT_FOUND, message, "Give more of it: blendwright log --plans --json has all of it."
        )
    return next(iter(found), start)


def programs_of(workspace: str | Path, request_id: str) -> tuple[StoredProgram, ...]:
    """The programs that plans of a request came from, oldest first."""
    with read_journal(workspace) as journal:
        return journal.programs.of_request(request_id)


def commit_details(workspace: str | Path, number: str) -> dict[str, Any]:
    """All that is stored of a commit, but for what the policy redacts."""
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
    """What differs between the scenes of two commits. Both are rebuilt, each in a Blender of its own; cancelling ends those.

    Raises RebuildFailed with both hashes when a scene is not what the journal says."""
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
        first, second = (start.result() for start in [starting.submit(workers.worker) for _ in range(2)])
    old, new = _snapshot(journal, first, before), _snapshot(journal, second, after)
    names = objects_to_inspect(old, new)
    renamed = renamed_between(journal, before, after)
    return compare(with_modifier_settings(old, names, first), with_modifier_settings(new, names, second), renamed)


# Commits that are read one by one to follow names.
MOST_FOLLOWED = 10_000


def renamed_between(journal: JournalView, before: Commit, after: Commit) -> dict[str, str]:
    """The objects that the commits from one to the other renamed; none where the one is not on the line of the other."""
    if not 0 < after.generation - before.generation <= MOST_FOLLOWED:
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
    """Run all commits of HEAD's line again in a fresh Blender and compare."""
    with read_journal(workspace) as journal:
        require_head(journal)
        with inspection_workers(workspace, blender=blender) as inspection:
            return replay_journal(inspection.worker(), journal)


def call_reader(
    tool: str, args: Mapping[str, Any], workspace: str, *, scene: str | None = None, blender: str | None = None
) -> Outcome:
    """Ask a read-only tool about the scene of a workspace, or about that of a .blend file."""
    with tempfile.TemporaryDirectory() as temporary:
        if scene is None:
            with read_journal(workspace):
                pass  # there is one: asking begins none
        with open(workspace if scene is None else temporary, scene=scene, blender=blender, spare=False) as opened:
            return opened.outcome(tool, dict(args))


def take_picture(
    tool: str, args: Mapping[str, Any], workspace: str, scene: str | None = None, blender: str | None = None
) -> tuple[Outcome, bytes | None]:
    """The same of a tool that takes a picture, with the picture. Without a camera to look through, it is taken from a corner above."""
    with tempfile.TemporaryDirectory() as temporary:
        if scene is None:
            with read_journal(workspace):
                pass
        with open(workspace if scene is None else temporary, scene=scene, blender=blender, spare=False) as opened:
            outcome = opened.outcome(tool, dict(args))
            if outcome.fault is Fault.SCENE_CONFLICT and not {"view", "camera"} & args.keys():
                outcome = opened.outcome(
                    tool, {**args, "view": "ISO", **({"render_shape": False} if "show" in args else {})}
                )
            return outcome, read_file(Path(outcome.artifacts[0])) if outcome.ok else None


def external_files(workspace: str | Path) -> tuple[tuple[External, ...], tuple[Finding, ...]]:
    """The files that the scene refers to, as they are now, and what is wrong with them."""
    directory = Path(workspace).resolve()
    with read_journal(directory) as journal:
        recorded = recorded_externals(journal)
    reader = Externals(workspace_roots(directory))
    current = tuple(reader.now(external) for external in recorded)
    return current, tuple(findings_about(current))


def external_findings(journal: JournalView) -> tuple[Finding, ...]:
    """What was wrong with the files that HEAD's scene refers to when it was taken in."""
    return tuple(findings_about(recorded_externals(journal)))


def recorded_externals(journal: JournalView) -> tuple[External, ...]:
    """Those that HEAD's scene names."""
    return current_externals(journal)


def journal_metrics(workspace: str | Path) -> Metrics:
    """What the journal says in numbers, whichever processes wrote it."""
    from blendwright.workspace.observing.counters import count_journal
    from blendwright.workspace.observing.metrics import Metrics

    with read_journal(workspace) as journal:
        return Metrics(count_journal(journal))
