"""The journal of a workspace for readers, who need no lock: HEAD, the commits, and one part for each other thing it keeps."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from blendwright.journal import journal_copy, statistics
from blendwright.journal import rows as row
from blendwright.journal.approvals import ApprovalReader
from blendwright.journal.audit import head_notes
from blendwright.journal.audit.reader import AuditReader
from blendwright.journal.checkpoints.files import CheckpointFiles
from blendwright.journal.checkpoints.reader import CheckpointReader
from blendwright.journal.commits import operation_lookup, plan_spans, superseded
from blendwright.journal.commits.reading import commit_numbered, head_commit
from blendwright.journal.contracts import ContractReader
from blendwright.journal.lines import head_moves, line_changes
from blendwright.journal.lines.ancestry import Ancestry, commits_among, head_row
from blendwright.journal.lines.branches import BranchReader
from blendwright.journal.planner_attempts import AttemptReader
from blendwright.journal.programs import ProgramReader
from blendwright.journal.recovery import RecoveryReader
from blendwright.journal.statistics import Statistics
from blendwright.journal.store import FILE, Store
from blendwright.records.changes import CommitChanges
from blendwright.records.commits import (
    Commit,
    HeadMove,
    MatchedCommit,
    OperationMatch,
    OperationQuery,
    PlanSpan,
    Reading,
)
from blendwright.values.errors import EnvironmentUnfit


class JournalView:
    """Reads a workspace's journal. Raises EnvironmentUnfit when there is none."""

    def __init__(self, workspace: Path) -> None:
        if not (workspace / FILE).is_file():
            head_notes.require_unused(workspace)
            raise EnvironmentUnfit(
                f"{workspace} is not a workspace", cure="Name another directory, or start one: blendwright new."
            )
        self._store = Store(workspace, writable=False, before_create=head_notes.require_unused)
        self._prepare(workspace)

    def _prepare(self, workspace: Path) -> None:
        self._files = CheckpointFiles(workspace, durable=self._store.durable)
        self._ancestry = Ancestry(self._store)
        self._naming_files: list[Commit] = []
        self._looked_through = 0

    @property
    def identity(self) -> str:
        """The name that the workspace was given when it was begun."""
        return self._store.identity

    @property
    def head_number(self) -> int | None:
        """The number alone, which costs less than all of the commit."""
        head = head_row(self._store)
        if head is None:
            return None
        return head[0]

    @property
    def head(self) -> Commit | None:
        with self._store.snapshot():
            return head_commit(self._store)

    @cached_property
    def audit(self) -> AuditReader:
        """The hash-chained record of everything that was tried."""
        return AuditReader(self._store, self._files)

    @cached_property
    def approvals(self) -> ApprovalReader:
        """The questions that a person is asked, and the answers."""
        return ApprovalReader(self._store)

    @cached_property
    def checkpoints(self) -> CheckpointReader:
        """The saved scenes, and the ways from them to each commit."""
        return CheckpointReader(self._store, self._ancestry, self._files)

    @cached_property
    def branches(self) -> BranchReader:
        """Branches, tags and merges."""
        return BranchReader(self._store)

    @cached_property
    def recovery(self) -> RecoveryReader:
        """What an ended or failing process left open."""
        return RecoveryReader(self._store, self.checkpoints)

    @cached_property
    def programs(self) -> ProgramReader:
        """The programs that plans came from."""
        return ProgramReader(self._store)

    @cached_property
    def attempts(self) -> AttemptReader:
        """What planners made of requests."""
        return AttemptReader(self._store)

    @cached_property
    def contracts(self) -> ContractReader:
        """The contracts that sessions were held to."""
        return ContractReader(self._store)

    def knows_request(self, request_id: str) -> bool:
        """Whether anything was done, read or begun under this id."""
        return operation_lookup.knows_request(self._store, request_id)

    def find_many(
        self, queries: Sequence[OperationQuery], *, scene_hash: str | None = None
    ) -> tuple[OperationMatch, ...]:
        """One answer for each, in order; readings are looked up at `scene_hash`, HEAD's when it is None."""
        return operation_lookup.find_many(self._store, self._ancestry, queries, scene_hash)

    def arguments_of(self, stored: MatchedCommit | Reading) -> Any:
        """The arguments that something found by `find_many` was run with, as they were written down then."""
        return operation_lookup.arguments_of(self._store, stored)

    def superseded_by(self, request_id: str, commits: Sequence[MatchedCommit]) -> dict[int, int]:
        """Of these commits of a request, those whose effect a later commit of another one took back, each with that commit."""
        return superseded.superseded_by(self._store, self._ancestry, request_id, commits)

    def show(self, number: int) -> Commit:
        """Raises JournalError for a number that is not there."""
        with self._store.snapshot():
            return commit_numbered(self._store, number)

    def log(self, *, limit: int = 50, before: int | None = None, all_lines: bool = False) -> tuple[Commit, ...]:
        """HEAD's line, or every commit there is, newest first; `before` is the last number of the page before."""
        with self._store.snapshot():
            if all_lines:
                newest_first = f"SELECT {row.COMMIT} FROM commits WHERE number < ? ORDER BY number DESC LIMIT ?"
                below = before or 2**63 - 1
                return tuple(map(row.commit_of, self._store.rows(newest_first, (below, limit))))
            head = head_row(self._store)
            if head is None:
                return ()
            if before is None:
                below = None
            else:
                below = commit_numbered(self._store, before).generation
            ancestors = self._ancestry.of(head[0])
            return tuple(islice(commits_among(self._store, ancestors, below=below, newest_first=True), limit))

    def plan_spans(self, *, limit: int, before: int | None = None, all_lines: bool = False) -> tuple[PlanSpan, ...]:
        """The same plan by plan: commits in a row that are of one request are one."""
        with self._store.snapshot():
            if all_lines:
                return tuple(islice(plan_spans.on_all_lines(self._store, before), limit))
            head = head_row(self._store)
            if head is None:
                return ()
            if before is None:
                below = None
            else:
                below = commit_numbered(self._store, before).generation
            return tuple(islice(plan_spans.on_line(self._store, self._ancestry.of(head[0]), below), limit))

    def requests_like(self, start: str, *, limit: int = 2) -> tuple[str, ...]:
        """The ids of requests that begin so, as far as they have left commits."""
        sql = "SELECT DISTINCT request_id FROM commits WHERE request_id >= ? AND substr(request_id, 1, ?) = ? LIMIT ?"
        with self._store.snapshot():
            return tuple(id for (id,) in self._store.rows(sql, (start, len(start), start, limit)))

    def changes_to(self, to: int, *, since: int | None = None) -> tuple[CommitChanges, ...]:
        """What the commits that led to one did to datablocks, oldest first; those after the commit `since`, which lies before it."""
        with self._store.snapshot():
            if since is None:
                above = -1
            else:
                above = commit_numbered(self._store, since).generation
            return tuple(line_changes.read(self._store, self._ancestry.of(to), above))

    def log_from(self, *, offset: int, limit: int) -> tuple[Commit, ...]:
        """HEAD's line, newest first, without the first `offset` commits: any page of it, whichever was read before."""
        with self._store.snapshot():
            head = head_row(self._store)
            if head is None:
                return ()
            below = commit_numbered(self._store, head[0]).generation + 1 - offset
            ancestors = self._ancestry.of(head[0])
            return tuple(islice(commits_among(self._store, ancestors, below=below, newest_first=True), limit))

    def before_head(self, commits: Sequence[Commit]) -> frozenset[int]:
        """Of these commits the numbers of those on HEAD's line."""
        with self._store.snapshot():
            head = head_row(self._store)
            if head is None:
                return frozenset()
            ancestors = self._ancestry.of(head[0])
            return frozenset(each.number for each in commits if ancestors.holds(each.line, each.generation))

    @property
    def changes(self) -> int:
        """A number that is another one as soon as somebody else has written. Costs next to nothing."""
        return self._store.one("PRAGMA data_version")[0]

    @property
    def count(self) -> int:
        """How many commits there are, on all lines."""
        return self._store.one("SELECT coalesce(max(number), 0) FROM commits")[0]

    def origins(self, *, all_lines: bool = False) -> tuple[Commit, ...]:
        """The commits that took a whole scene in (baseline, adopted files), newest first; those before HEAD unless all are asked for."""
        # Each kind has an index of its own. With OR, or with an order that no index has, all commits would be read.
        sql = " UNION ALL ".join(
            f"SELECT {row.COMMIT} FROM commits WHERE kind = '{kind}'" for kind in ("baseline", "adopt")
        )
        with self._store.snapshot():
            head = head_row(self._store)
            if head is None:
                return ()
            commits = sorted(map(row.commit_of, self._store.rows(sql)), key=lambda each: each.number, reverse=True)
            if all_lines:
                return tuple(commits)
            ancestors = self._ancestry.of(head[0])
            return tuple(each for each in commits if ancestors.holds(each.line, each.generation))

    def naming_files(self, *, all_lines: bool = False, at: int | None = None) -> tuple[Commit, ...]:
        """The commits whose receipts record external files, and those that took a whole scene in, newest first; those before HEAD, or
        before the commit `at`, unless all are asked for."""
        # Who names a file cannot be redone from its arguments. Commits stay as they are: each is looked at once.
        sql = (
            f"SELECT {row.COMMIT} FROM commits WHERE number > ? AND replayable = 0 AND kind = 'operation'"
            """ AND instr(receipt, '"externals"')"""
        )
        with self._store.snapshot():
            head = head_row(self._store)
            if head is None:
                return ()
            self._naming_files += map(row.commit_of, self._store.rows(sql, (self._looked_through,)))
            self._looked_through = self._store.one("SELECT max(number) FROM commits")[0]
            if all_lines:
                ancestors = None
            else:
                ancestors = self._ancestry.of(head[0] if at is None else at)
            found = sorted((*self._naming_files, *self.origins(all_lines=True)), key=lambda each: -each.number)
            return tuple(each for each in found if ancestors is None or ancestors.holds(each.line, each.generation))

    def moves(self, *, limit: int = 50) -> tuple[HeadMove, ...]:
        """The latest moves of HEAD, newest first."""
        with self._store.snapshot():
            return head_moves.moves(self._store, limit)

    def redo_target(self) -> int | None:
        """Where `redo` would lead: back over the last undo, unless something else has happened since."""
        with self._store.snapshot():
            return next(iter(head_moves.redo_targets(self._store)), None)

    def common_ancestor(self, one: int, other: int) -> int:
        """The nearest commit that led to both."""
        with self._store.snapshot():
            return self._ancestry.common(one, other)

    @property
    def workspace(self) -> Path:
        """The directory that it is the journal of."""
        return self._store.path.parent

    def commits_of(self, request_id: str) -> tuple[Commit, ...]:
        """What a request did to the scene, on any line, oldest first."""
        sql = f"SELECT {row.COMMIT} FROM commits WHERE request_id = ? ORDER BY number"
        with self._store.snapshot():
            return tuple(map(row.commit_of, self._store.rows(sql, (request_id,))))

    def copy_for_request(
        self, target: Path, request_id: str, *, without: Collection[int] = (), at: int | None = None
    ) -> None:
        """Make `target` a workspace to throw away, in which a plan with this request id can be run; `without` as in `route`. HEAD can be
        moved to `at` in it."""
        journal_copy.copy_for_request(self._store, self._ancestry, self._files, target, request_id, without, at)

    def statistics(self) -> Statistics:
        return statistics.read(self._store)

    def release_memory(self) -> None:
        """Give up what is kept only to answer the next question sooner."""
        self._store.release_memory()

    def close(self) -> None:
        self._store.close()
