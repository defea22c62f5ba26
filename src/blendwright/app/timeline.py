"""The history of a workspace as people look at it: any page of it, each commit with who asked for it and what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blendwright.app.queries import commit_details
from blendwright.app.read_workspace import read_journal
from blendwright.journal import JournalView
from blendwright.journal.lock import current_holder
from blendwright.records.commits import Commit

LONGEST_TEXT = 240
MOST_NAMES = 4
# What changes in a scene whenever something is put into it: the thing itself says more.
MEMBERSHIP = "member"
COMMAND_LINE = "command_line"


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
        head, quarantine = journal.head, journal.quarantined()
        audit = journal.audit_head
        return {
            "head": None if head is None else head.number,
            "hash": None if head is None else head.hash_after,
            "length": 0 if head is None else head.generation + 1,
            "total": journal.count,
            "redo": journal.redo_target(),
            "tags": dict(journal.tags()),
            "approvals": len(journal.approvals()),
            "quarantine": None if quarantine is None else quarantine.reason,
            "audit": {"sequence": audit.sequence, "hash": audit.hash},
            "holder": current_holder(directory),
        }


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
            commits = journal.log(limit=limit, before=total + 1 - offset, all_lines=True) if offset < total else ()
        else:
            total = 0 if head is None else head.generation + 1
            commits = journal.log_from(offset=offset, limit=limit) if offset < total else ()
        rows = _Rows(journal, commits)
        return TimelinePage(tuple(map(rows.row, commits)), offset, total)


def commit_page(workspace: str | Path, number: int) -> dict[str, Any]:
    """All that is stored of a commit, but for what the policy redacts, with who asked for it. Raises Refusal where there is none."""
    details = commit_details(workspace, str(number))
    with read_journal(workspace) as journal:
        commit = journal.show(number)
        row = _Rows(journal, [commit]).row(commit)
    return {**details, **{name: row[name] for name in ("who", "asked", "about", "tags", "current")}}


class _Rows:
    """What is asked once for many commits: of their requests, their contracts, HEAD's line and the tags."""

    def __init__(self, journal: JournalView, commits: Sequence[Commit]) -> None:
        self._journal = journal
        self._head = journal.head_number
        self._current = journal.before_head(commits)
        self._tags: dict[int, list[str]] = {}
        for name, number in journal.tags().items():
            self._tags.setdefault(number, []).append(name)
        self._requests: dict[str, tuple[str | None, str, bool]] = {}
        self._hosts: dict[str, Mapping[str, Any]] = {}

    def row(self, commit: Commit) -> dict[str, Any]:
        model, asked, program = self._request(commit.request_id)
        approval: Mapping[str, Any] = commit.receipt.get("approval") or {}
        return {
            "number": commit.number,
            "parent": commit.parent,
            "kind": commit.kind,
            "request": commit.request_id,
            "operation": commit.operation_id,
            "tool": commit.tool,
            "time": commit.timestamp,
            "hash": commit.hash_after,
            "changed": commit.hash_after != commit.hash_before,
            "who": self._who(commit, model, program),
            "asked": asked,
            "about": about(commit),
            "head": commit.number == self._head,
            "current": commit.number in self._current,
            "tags": self._tags.get(commit.number, []),
            "approved_by": approval.get("by"),
        }

    def _request(self, request_id: str) -> tuple[str | None, str, bool]:
        known = self._requests.get(request_id)
        if known is None:
            attempts = self._journal.attempts(request_id)
            model, asked = (attempts[-1].model, attempts[-1].asked[:LONGEST_TEXT]) if attempts else (None, "")
            known = self._requests[request_id] = model, asked, bool(self._journal.programs(request_id))
        return known

    def _who(self, commit: Commit, model: str | None, program: bool) -> dict[str, str]:
        """A model that planned it, a host whose model called for it, or a person at the command line; and whether code was written."""
        if commit.kind != "operation":
            return {"kind": "workspace", "name": commit.kind}
        code = "program" if program else "code" if commit.tool.startswith("python.") else ""
        if model is not None:
            return {"kind": "model", "name": model, "by": code}
        host = self._host(str(commit.receipt.get("contract")))
        name = str(host.get("name", ""))
        if not name or host.get("transport") == COMMAND_LINE:
            return {"kind": "person", "name": "command line" if name else "", "by": code}
        return {"kind": "model", "name": name, "by": code}

    def _host(self, contract: str) -> Mapping[str, Any]:
        if contract not in self._hosts:
            found = self._journal.contract(contract)
            self._hosts[contract] = {} if found is None else found.get("host", {})
        return self._hosts[contract]


def about(commit: Commit) -> list[str]:
    """The names of what a commit made or changed, the few that say most."""
    if commit.kind != "operation":
        file = commit.args.get("file")
        return [str(file)[:LONGEST_TEXT]] if file else []
    changes = commit.receipt.get("changes") or ()
    objects = [each["name"] for each in changes if each["kind"] == "objects"]
    others = [each["name"] for each in changes if each["kind"] not in ("objects", MEMBERSHIP)]
    return [str(name)[:LONGEST_TEXT] for name in dict.fromkeys(objects or others)][:MOST_NAMES]
