"""The journal of a workspace for readers, which need no lock: HEAD, the commits, and one reader for each other part."""

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
    """A reader of a workspace's journal. Raise EnvironmentUnfit when the directory has no journal."""

    def __init__(self, workspace: Path) -> None:
        if not (workspace / FILE).is_file():
            head_notes.require_unused(workspace)
            raise EnvironmentUnfit(
                f"{workspace} is not a workspace",
                cure="Name another directory, or create a workspace: blendwright new.",
            )
        self._store = Store(workspace, writable=False, before_create=head_notes.require_unused)
        self._prepare(workspace)

    def _prepare(self, workspace: Path) -> None:
        self._files = CheckpointFiles(workspace, durable=self._store.durable)
        self._ancestry = Ancestry(self._store)
        self._naming_files: list[Commit] = []
        self._last_read = 0

    @property
    def identity(self) -> str:
        """The id that the workspace got when it was created."""
        return self._store.identity

    @property
    def head_number(self) -> int | None:
        """The number of HEAD's commit. Reading it costs less than reading the whole commit."""
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
        """The hash-chained record of every operation that ran or failed."""
        return AuditReader(self._store, self._files)

    @cached_property
    def approvals(self) -> ApprovalReader:
        """The questions to a person, and the answers."""
        return ApprovalReader(self._store)

    @cached_property
    def checkpoints(self) -> CheckpointReader:
        """The saved scenes, and the routes from them to each commit."""
        return CheckpointReader(self._store, self._ancestry, self._files)

    @cached_property
    def branches(self) -> BranchReader:
        """Branches, tags and merges."""
        return BranchReader(self._store)

    @cached_property
    def recovery(self) -> RecoveryReader:
        """The work that an ended or failing process left open."""
        return RecoveryReader(self._store, self.checkpoints)

    @cached_property
    def programs(self) -> ProgramReader:
        """The programs that produced plans."""
        return ProgramReader(self._store)

    @cached_property
    def attempts(self) -> AttemptReader:
        """The plans that planners made for requests."""
        return AttemptReader(self._store)

    @cached_property
    def contracts(self) -> ContractReader:
        """The contracts of sessions."""
        return ContractReader(self._store)

    def knows_request(self, request_id: str) -> bool:
        """Return whether any commit, reading or open intent has this request id."""
        return operation_lookup.knows_request(self._store, request_id)

    def find_many(
        self, queries: Sequence[OperationQuery], *, scene_hash: str | None = None
    ) -> tuple[OperationMatch, ...]:
        """Return one match per query, in order.

        Readings must have the scene `scene_hash`, or HEAD's scene when it is None.
        """
        return operation_lookup.find_many(self._store, self._ancestry, queries, scene_hash)

    def arguments_of(self, stored: MatchedCommit | Reading) -> Any:
        """Return the stored arguments of a commit or reading that `find_many` returned."""
        return operation_lookup.arguments_of(self._store, stored)

    def superseded_by(self, request_id: str, commits: Sequence[MatchedCommit]) -> dict[int, int]:
        """Return, for each of these commits whose effect a later commit of another request cancelled, that later
        commit.
        """
        return superseded.superseded_by(self._store, self._ancestry, request_id, commits)

    def show(self, number: int) -> Commit:
        """Return a commit. Raise JournalError when no commit has this number."""
        with self._store.snapshot():
            return commit_numbered(self._store, number)

    def log(self, *, limit: int = 50, before: int | None = None, all_lines: bool = False) -> tuple[Commit, ...]:
        """Return the commits of HEAD's line or of all lines, newest first.

        `before` is the last number of the previous page.
        """
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
        """Return the plans of HEAD's line or of all lines, newest first.

        Consecutive commits of one request form one plan.
        """
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
        """Return the ids of requests with commits whose id starts with `start`."""
        sql = "SELECT DISTINCT request_id FROM commits WHERE request_id >= ? AND substr(request_id, 1, ?) = ? LIMIT ?"
        with self._store.snapshot():
            return tuple(id for (id,) in self._store.rows(sql, (start, len(start), start, limit)))

    def changes_to(self, to: int, *, since: int | None = None) -> tuple[CommitChanges, ...]:
        """Return the changes of datablocks by the commits that lead to `to`, oldest first.

        With `since`, which must be an ancestor of `to`, return only the changes of the commits after it.
        """
        with self._store.snapshot():
            if since is None:
                above = -1
            else:
                above = commit_numbered(self._store, since).generation
            return tuple(line_changes.read(self._store, self._ancestry.of(to), above))

    def log_from(self, *, offset: int, limit: int) -> tuple[Commit, ...]:
        """Return a page of HEAD's line, newest first, without the first `offset` commits."""
        with self._store.snapshot():
            head = head_row(self._store)
            if head is None:
                return ()
            below = commit_numbered(self._store, head[0]).generation + 1 - offset
            ancestors = self._ancestry.of(head[0])
            return tuple(islice(commits_among(self._store, ancestors, below=below, newest_first=True), limit))

    def before_head(self, commits: Sequence[Commit]) -> frozenset[int]:
        """Return the numbers of the given commits that lie on HEAD's line."""
        with self._store.snapshot():
            head = head_row(self._store)
            if head is None:
                return frozenset()
            ancestors = self._ancestry.of(head[0])
            return frozenset(commit.number for commit in commits if ancestors.holds(commit.line, commit.generation))

    @property
    def changes(self) -> int:
        """A number that changes when another connection writes. Reading it costs next to nothing."""
        return self._store.one("PRAGMA data_version")[0]

    @property
    def count(self) -> int:
        """The number of commits on all lines."""
        return self._store.one("SELECT coalesce(max(number), 0) FROM commits")[0]

    def origins(self, *, all_lines: bool = False) -> tuple[Commit, ...]:
        """Return the commits that took in a complete scene (baseline and adopted files), newest first.

        Without `all_lines`, return only ancestors of HEAD.
        """
        # Each kind has its own index. With OR, or with an order that no index has, SQLite would read all commits.
        sql = " UNION ALL ".join(
            f"SELECT {row.COMMIT} FROM commits WHERE kind = '{kind}'" for kind in ("baseline", "adopt")
        )
        with self._store.snapshot():
            head = head_row(self._store)
            if head is None:
                return ()
            commits = sorted(map(row.commit_of, self._store.rows(sql)), key=lambda commit: commit.number, reverse=True)
            if all_lines:
                return tuple(commits)
            ancestors = self._ancestry.of(head[0])
            return tuple(commit for commit in commits if ancestors.holds(commit.line, commit.generation))

    def naming_files(self, *, all_lines: bool = False, at: int | None = None) -> tuple[Commit, ...]:
        """Return the commits whose receipts record external files, and the commits that took in a complete scene,
        newest first.

        Without `all_lines`, return only ancestors of HEAD, or of the commit `at`.
        """
        # A commit that names a file cannot be replayed from its arguments. Commits never change, so each query reads only new ones.
        sql = (
            f"SELECT {row.COMMIT} FROM commits WHERE number > ? AND replayable = 0 AND kind = 'operation'"
            """ AND instr(receipt, '"externals"')"""
        )
        with self._store.snapshot():
            head = head_row(self._store)
            if head is None:
                return ()
            self._naming_files += map(row.commit_of, self._store.rows(sql, (self._last_read,)))
            self._last_read = self._store.one("SELECT max(number) FROM commits")[0]
            commits = sorted((*self._naming_files, *self.origins(all_lines=True)), key=lambda commit: -commit.number)
            if all_lines:
                return tuple(commits)
            tip: int = head[0]
            if at is not None:
                tip = at
            ancestors = self._ancestry.of(tip)
            return tuple(commit for commit in commits if ancestors.holds(commit.line, commit.generation))

    def moves(self, *, limit: int = 50) -> tuple[HeadMove, ...]:
        """The latest moves of HEAD, newest first."""
        with self._store.snapshot():
            return head_moves.moves(self._store, limit)

    def redo_target(self) -> int | None:
        """Return the commit that `redo` would lead to: back over the last undo, unless something else has happened
        since.
        """
        with self._store.snapshot():
            return next(iter(head_moves.redo_targets(self._store)), None)

    def common_ancestor(self, one: int, other: int) -> int:
        """Return the nearest common ancestor of two commits."""
        with self._store.snapshot():
            return self._ancestry.common(one, other)

    @property
    def workspace(self) -> Path:
        """The directory of the workspace."""
        return self._store.path.parent

    def commits_of(self, request_id: str) -> tuple[Commit, ...]:
        """Return the commits of a request on all lines, oldest first."""
        sql = f"SELECT {row.COMMIT} FROM commits WHERE request_id = ? ORDER BY number"
        with self._store.snapshot():
            return tuple(map(row.commit_of, self._store.rows(sql, (request_id,))))

    def copy_for_request(
        self, target: Path, request_id: str, *, without: Collection[int] = (), at: int | None = None
    ) -> None:
        """Make `target` a temporary workspace in which a plan with this request id can run.

        `without` has the same meaning as in `checkpoints.route`. HEAD can move to `at` in the copy.
        """
        journal_copy.copy_for_request(self._store, self._ancestry, self._files, target, request_id, without, at)

    def statistics(self) -> Statistics:
        return statistics.read(self._store)

    def release_memory(self) -> None:
        """Drop caches that only make the next answer faster."""
        self._store.release_memory()

    def close(self) -> None:
        self._store.close()
