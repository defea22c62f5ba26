"""The history of a workspace as people look at it: any page of it, each commit with who asked for it and what it is about."""

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

LONGEST_TEXT = 240
MOST_NAMES = 4
# What changes in a scene whenever something is put into it: the thing itself says more.
MEMBERSHIP = "member"


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """`commits` are newest first; `total` is how many there are in this list, of which these begin at `offset`."""

    commits: tuple[Mapping[str, Any], ...]
    offset: int
    total: int

    def to_json(self) -> dict[str, Any]:
        return {"commits": list(self.commits), "offset": self.offset, "total": self.total}


def workspace_overview(workspace: str | Path) -> dict[str, Any]:
    """Where a workspace stands, in a few hundred bytes. Raises EnvironmentUnfit where there is none."""
    directory = Path(workspace).resolve()
    with read_journal(directory) as journal:
        head, quarantine = journal.head, journal.recovery.quarantine()
        audit = journal.audit.head
        return {
            "head": None if head is None else head.number,
            "hash": None if head is None else head.hash_after,
            "length": 0 if head is None else head.generation + 1,
            "total": journal.count,
            "redo": journal.redo_target(),
            "tags": dict(journal.branches.tags()),
            "branches": branch_list(journal),
            "approvals": len(journal.approvals.listed()),
            "quarantine": None if quarantine is None else quarantine.reason,
            "audit": {"sequence": audit.sequence, "hash": audit.hash},
            "holder": current_holder(directory),
        }


def branch_list(journal: JournalView) -> list[dict[str, Any]]:
    """The branches by name; HEAD is on the one that is current, or on none."""
    return [{"name": one.name, "commit": one.commit, "current": one.current} for one in journal.branches.listed()]


def workspace_holder(workspace: str | Path) -> dict[str, Any] | None:
    """The process that holds a workspace now, None where nobody does."""
    return current_holder(Path(workspace).resolve())


def timeline(
    workspace: str | Path, *, offset: int = 0, limit: int = 50, all_lines: bool = False, request: str | None = None
) -> TimelinePage:
    """A page of the commits that led to HEAD, or of every one there is, or of those of one request."""
    with read_journal(workspace) as journal:
        head = journal.head
        if request is not None:
            found = journal.commits_of(request)[::-1]
            total, commits = len(found), found[offset : offset + limit]
        elif all_lines:
            total = journal.count
            if offset < total:
                commits = journal.log(limit=limit, before=total + 1 - offset, all_lines=True)
            else:
                commits = ()
        else:
            if head is None:
                total = 0
            else:
                total = head.generation + 1
            if offset < total:
                commits = journal.log_from(offset=offset, limit=limit)
            else:
                commits = ()
        rows = _Rows(journal, commits)
        return TimelinePage(tuple(map(rows.row, commits)), offset, total)


def commit_page(workspace: str | Path, number: int) -> dict[str, Any]:
    """All that is stored of a commit, but for what the policy redacts, with who asked for it. Raises Refusal where there is none."""
    details = commit_details(workspace, str(number))
    with read_journal(workspace) as journal:
        commit = journal.show(number)
        row = _Rows(journal, [commit]).row(commit)
    return {
        **details,
        **{name: row[name] for name in ("who", "asked", "approved_by", "about", "tags", "branches", "current")},
    }


class _Rows:
    """What is asked once for many commits: who is behind them, HEAD's line, and the names that people gave them."""

    def __init__(self, journal: JournalView, commits: Sequence[Commit]) -> None:
        self._who = commit_authors(journal)
        self._head = journal.head_number
        self._current = journal.before_head(commits)
        self._tags = _by_commit(journal.branches.tags().items())
        self._branches = _by_commit((one.name, one.commit) for one in journal.branches.listed())

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
            "asked": (who.asked or "")[:LONGEST_TEXT],
            "approved_by": who.approved_by,
            "about": about(commit),
            "head": commit.number == self._head,
            "current": commit.number in self._current,
            "tags": self._tags.get(commit.number, []),
            "branches": self._branches.get(commit.number, []),
        }


def _by_commit(names: Iterable[tuple[str, int | None]]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for name, number in names:
        if number is not None:
            found.setdefault(number, []).append(name)
    return found


def about(commit: Commit) -> list[str]:
    """The names of what a commit made or changed, the few that say most."""
    if commit.kind != "operation":
        file = commit.args.get("file")
        if file:
            return [str(file)[:LONGEST_TEXT]]
        return []
    changes = commit.receipt.get("changes") or ()
    objects = [each["name"] for each in changes if each["kind"] == "objects"]
    others = [each["name"] for each in changes if each["kind"] not in ("objects", MEMBERSHIP)]
    return [str(name)[:LONGEST_TEXT] for name in dict.fromkeys(objects or others)][:MOST_NAMES]
