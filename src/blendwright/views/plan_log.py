"""The history of a workspace as plans: description, size, author, and the commit with the resulting scene."""

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

# The maximum number of characters of a plan's title.
MAX_TITLE_CHARACTERS = 72
# The number of tools that a title names.
MAX_TITLE_TOOLS = 2


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """A plan, or a call, which counts as a plan of one operation. `commit` is its last commit, with the resulting
    scene.

    `before` is the commit that it started from, or None for the first plan. `names` are the branches and tags of its
    commits.
    """

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
    """A page of plans, newest first. The other fields have the same meaning as in `queries.LogPage`."""

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
    """Return the plans that led to HEAD, or all plans.

    `before` is the first commit of the last plan on the previous page.
    """
    with read_journal(workspace) as journal:
        if before is None:
            below = None
        else:
            below = find(journal, before).number
        # One more plan than shown, to know whether a next page exists.
        spans = journal.plan_spans(limit=limit + 1, before=below, all_lines=all_lines)
        page = spans[:limit]
        next_before = None
        if len(spans) > limit:
            next_before = page[-1].first
        entries = _Entries(journal)
        return PlanPage(
            tuple(map(entries.of, page)),
            journal.head_number,
            journal.redo_target(),
            next_before,
            journal.branches.current(),
        )


class _Entries:
    """A builder of plan entries. It reads data that many plans share only once."""

    def __init__(self, journal: JournalView) -> None:
        self._journal = journal
        self._who = commit_authors(journal)
        self._head = journal.head
        self._names = {number: (journal.show(number), names) for number, names in named_commits(journal).items()}

    def of(self, span: PlanSpan) -> PlanEntry:
        first, last = self._journal.show(span.first), self._journal.show(span.last)
        programs = self._journal.programs.of_request(span.request_id)
        who = self._who(last)
        names: list[str] = []
        for commit, commit_names in self._names.values():
            # The request too, because commits of other lines can have numbers within the span.
            if span.holds(commit.number) and commit.request_id == span.request_id:
                names.extend(commit_names)
        program = None
        if programs:
            program = programs[-1].hash
        head = self._head
        is_head = head is not None and span.holds(head.number) and head.request_id == span.request_id
        return PlanEntry(
            span,
            last,
            first.parent,
            _title(span, last, who, programs),
            who,
            first.timestamp,
            program,
            tuple(names),
            is_head,
        )


def _title(span: PlanSpan, last: Commit, who: Who, programs: Sequence[StoredProgram]) -> str:
    """Return one line about a plan: the words of the request, the title of its program with parameters, or its tools."""
    if who.asked:
        return _cut(f'"{who.asked}"')
    if programs:
        title = program_title(programs[-1].program) or _tools(span)
        params = [f"{name}={value}" for name, value in programs[-1].params.items()]
        return _cut(" ".join([title, *params]))
    if span.operations > 1:
        return _cut(_tools(span))
    if last.kind == "baseline" and "scene" in last.args:
        return _cut(f"{last.tool} {last.args['scene']}")
    return _cut(" ".join((last.tool, *about(last))))


def _tools(span: PlanSpan) -> str:
    names = [tool for tool, _ in span.tools.most_common(MAX_TITLE_TOOLS)]
    text = ", ".join(names)
    remaining = len(span.tools) - len(names)
    if remaining:
        text += f" and {remaining} more"
    return text


def program_title(text: str) -> str | None:
    """Return the first comment of a program that has words, or None if code comes before it."""
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
    if len(line) <= MAX_TITLE_CHARACTERS:
        return line
    return line[: MAX_TITLE_CHARACTERS - 1] + "…"
