"""The history of a workspace for people: any page of it, each commit with its author and the datablocks that it
changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blendwright.journal import JournalView
from blendwright.journal.lock import current_holder
from blendwright.records.commits import Commit
from blendwright.views.authors import commit_authors
from blendwright.views.queries import commit_details
from blendwright.workspace.reading import read_journal

# The number of characters of a text in a row.
MAX_TEXT_CHARACTERS = 240
# The number of names in a row.
MAX_NAMES = 4
# The kind of changes that add a datablock to a collection. The datablock itself says more.
MEMBERSHIP = "member"


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """A page of commits, newest first. `total` is the length of the whole list, and the page begins at `offset`."""

    commits: tuple[Mapping[str, Any], ...]
    offset: int
    total: int

    def to_json(self) -> dict[str, Any]:
        return {"commits": list(self.commits), "offset": self.offset, "total": self.total}


def workspace_overview(workspace: str | Path) -> dict[str, Any]:
    """Return the state of a workspace in a few hundred bytes. Raise EnvironmentUnfit when it does not exist."""
    directory = Path(workspace).resolve()
    with read_journal(directory) as journal:
        head, quarantine = journal.head, journal.recovery.quarantine()
        audit = journal.audit.head
        number = scene_hash = None
        length = 0
        if head is not None:
            number, scene_hash, length = head.number, head.hash_after, head.generation + 1
        reason = None
        if quarantine is not None:
            reason = quarantine.reason
        return {
            "head": number,
            "hash": scene_hash,
            "length": length,
            "total": journal.count,
            "redo": journal.redo_target(),
            "tags": dict(journal.branches.tags()),
            "branches": branch_list(journal),
            "approvals": len(journal.approvals.listed()),
            "quarantine": reason,
            "audit": {"sequence": audit.sequence, "hash": audit.hash},
            "holder": current_holder(directory),
        }


def branch_list(journal: JournalView) -> list[dict[str, Any]]:
    """Return the branches by name. HEAD is on the current one, or on none."""
    return [
        {"name": branch.name, "commit": branch.commit, "current": branch.current}
        for branch in journal.branches.listed()
    ]


def workspace_holder(workspace: str | Path) -> dict[str, Any] | None:
    """Return the process that holds a workspace now, or None."""
    return current_holder(Path(workspace).resolve())


def timeline(
    workspace: str | Path, *, offset: int = 0, limit: int = 50, all_lines: bool = False, request: str | None = None
) -> TimelinePage:
    """Return a page of the commits that led to HEAD, of all commits, or of the commits of one request."""
    with read_journal(workspace) as journal:
        head = journal.head
        commits: tuple[Commit, ...] = ()
        total = 0
        if request is not None:
            request_commits = journal.commits_of(request)[::-1]
            total, commits = len(request_commits), request_commits[offset : offset + limit]
        elif all_lines:
            total = journal.count
            if offset < total:
                commits = journal.log(limit=limit, before=total + 1 - offset, all_lines=True)
        elif head is not None:
            total = head.generation + 1
            if offset < total:
                commits = journal.log_from(offset=offset, limit=limit)
        rows = _Rows(journal, commits)
        return TimelinePage(tuple(map(rows.row, commits)), offset, total)


def commit_page(workspace: str | Path, number: int) -> dict[str, Any]:
    """Return all stored fields of a commit with its author, redacted according to the policy.

    Raise Refusal when it does not exist.
    """
    details = commit_details(workspace, str(number))
    with read_journal(workspace) as journal:
        commit = journal.show(number)
        row = _Rows(journal, [commit]).row(commit)
    return {
        **details,
        **{name: row[name] for name in ("who", "asked", "approved_by", "about", "tags", "branches", "current")},
    }


class _Rows:
    """A builder of timeline rows.

    It reads data that many commits share only once: authors, HEAD's line, tags and branches.
    """

    def __init__(self, journal: JournalView, commits: Sequence[Commit]) -> None:
        self._who = commit_authors(journal)
        self._head = journal.head_number
        self._current = journal.before_head(commits)
        self._tags = _by_commit(journal.branches.tags().items())
        self._branches = _by_commit((branch.name, branch.commit) for branch in journal.branches.listed())

    def row(self, commit: Commit) -> dict[str, Any]:
        who = self._who(commit)
        return {
            "number": commit.number,
            "parent": commit.parent,
            "kind": commit.kind,
            "request": commit.request_id,
            "operation": commit.operation_id,
            "tool": commit.tool,
            "time": commit.timestamp,
            "hash": commit.hash_after,
            "who": {"by": who.by, "name": who.model or who.host or "", "program": who.program is not None},
            "asked": (who.asked or "")[:MAX_TEXT_CHARACTERS],
            "approved_by": who.approved_by,
            "about": about(commit),
            "head": commit.number == self._head,
            "current": commit.number in self._current,
            "tags": self._tags.get(commit.number, []),
            "branches": self._branches.get(commit.number, []),
        }


def _by_commit(names: Iterable[tuple[str, int | None]]) -> dict[int, list[str]]:
    names_by_commit: dict[int, list[str]] = {}
    for name, number in names:
        if number is not None:
            names_by_commit.setdefault(number, []).append(name)
    return names_by_commit


def about(commit: Commit) -> list[str]:
    """Return the names of the datablocks that a commit made or changed, the most important ones first."""
    if commit.kind != "operation":
        file = commit.args.get("file")
        if file:
            return [str(file)[:MAX_TEXT_CHARACTERS]]
        return []
    changes = commit.receipt.get("changes") or ()
    objects = [change["name"] for change in changes if change["kind"] == "objects"]
    datablocks = [change["name"] for change in changes if change["kind"] not in ("objects", MEMBERSHIP)]
    return [str(name)[:MAX_TEXT_CHARACTERS] for name in dict.fromkeys(objects or datablocks)][:MAX_NAMES]
