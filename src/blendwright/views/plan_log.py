"""The history of a workspace plan by plan: what each was, how much it did, who asked for it, and the commit that has its scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from blendwright.engine.moves.commit_names import find
from blendwright.journal import JournalView
from blendwright.records.commits import Commit, PlanSpan
from blendwright.records.requests import StoredProgram
from blendwright.views.authors import Who, commit_authors
from blendwright.views.queries import named_commits
from blendwright.views.timeline import about
from blendwright.workspace.reading import read_journal

# Of what a plan was, in one line.
LONGEST_TITLE = 72
MOST_TOOLS = 2


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """A plan, or a call, which is a plan of one. `commit` is its last one and has the scene that it left; `before` is the one that it
    began with, None for the first of all. `names` are the branches and tags of its commits."""

    span: PlanSpan
    commit: Commit
    before: int | None
    what: str
    who: Who
    began: str
    program: str | None
    names: tuple[str, ...]
    head: bool

    def to_json(self) -> dict[str, Any]:
        commit, span = self.commit, self.span
        return {
            "request_id": span.request_id, "kind": commit.kind, "what": self.what, "operations": span.operations,
            "tools": dict(span.tools), "commit": commit.number, "first": span.first, "before": self.before,
            "scene_hash": commit.hash_after, "began": self.began, "timestamp": commit.timestamp,
            "program": self.program, "who": asdict(self.who), "head": self.head, "names": list(self.names),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlanPage:
    """Plans, newest first; the rest as in `queries.LogPage`."""

    plans: tuple[PlanEntry, ...]
    head: int | None
    redo: int | None
    next_before: int | None
    branch: str | None

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": True, "head": self.head, "branch": self.branch, "redo": self.redo,
            "plans": [plan.to_json() for plan in self.plans], "next_before": self.next_before,
        }  # fmt: skip


def plan_log(workspace: str | Path, *, limit: int = 20, before: str | None = None, all_lines: bool = False) -> PlanPage:
    """The plans that led to HEAD, or every one there is; `before` names the first commit of the last plan of the page before."""
    with read_journal(workspace) as journal:
        if before is None:
            below = None
        else:
            below = find(journal, before).number
        # One more than is shown tells whether there is a next page.
        spans = journal.plan_spans(limit=limit + 1, before=below, all_lines=all_lines)
        shown = spans[:limit]
        entries = _Entries(journal)
        return PlanPage(
            tuple(map(entries.of, shown)),
            journal.head_number,
            journal.redo_target(),
            shown[-1].first if len(spans) > limit else None,
            journal.branches.current(),
        )


class _Entries:
    """What is asked once for many plans."""

    def __init__(self, journal: JournalView) -> None:
        self._journal = journal
        self._who = commit_authors(journal)
        self._head = journal.head
        self._names = {number: (journal.show(number), names) for number, names in named_commits(journal).items()}

    def of(self, span: PlanSpan) -> PlanEntry:
        first, last = self._journal.show(span.first), self._journal.show(span.last)
        programs = self._journal.programs.of_request(span.request_id)
        who = self._who(last)
        # Numbers between its own may be those of another line.
        named = (
            name
            for commit, names in self._names.values()
            if span.holds(commit.number) and commit.request_id == span.request_id
            for name in names
        )
        return PlanEntry(
            span,
            last,
            first.parent,
            _what(span, last, who, programs),
            who,
            first.timestamp,
            programs[-1].hash if programs else None,
            tuple(named),
            self._head is not None and span.holds(self._head.number) and self._head.request_id == span.request_id,
        )


def _what(span: PlanSpan, last: Commit, who: Who, programs: Sequence[StoredProgram]) -> str:
    """In one line: the words that somebody asked with, how its program calls itself, or its tools."""
    if who.asked:
        return _cut(f'"{who.asked}"')
    if programs:
        given = " ".join(f"{name}={value}" for name, value in programs[-1].params.items())
        return _cut(" ".join(filter(None, (program_title(programs[-1].program) or _tools(span), given))))
    if last.kind == "baseline" and "scene" in last.args:
        file = [str(last.args["scene"])]
    else:
        file = about(last)
    return _cut(" ".join((last.tool, *file)) if span.operations == 1 else _tools(span))


def _tools(span: PlanSpan) -> str:
    names = [tool for tool, _ in span.tools.most_common(MOST_TOOLS)]
    more = len(span.tools) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def program_title(text: str) -> str | None:
    """The first comment of a program that has words, where nothing but comments comes before it."""
    for line in text.splitlines():
        words = line.strip()
        if words and not words.startswith("#"):
            return None
        title = words.lstrip("# ")
        if any(map(str.isalnum, title)) and not words.startswith("#!"):
            return title
    return None


def _cut(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= LONGEST_TITLE:
        return line
    return line[: LONGEST_TITLE - 1] + "…"
