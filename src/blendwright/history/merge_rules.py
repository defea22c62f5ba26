"""Rules for merging two lines: the datablocks that each commit touches, and the conflicts between commits.

A commit touches the changes in its receipt and the names in its arguments. Two commits conflict if one of them
changes data that the other one changes or uses. The module is pure: it knows only the journal and the tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from blendwright.records.branches import Merge
from blendwright.records.changes import CommitChanges
from blendwright.tool_api.mentions import ANY_KIND, Mention, Role
from blendwright.tool_api.scene import Kind
from blendwright.tool_api.tool import AnyTool

# The number of conflicts that a merge reports at most.
MOST_CONFLICTS = 20
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Touched:
    """The datablocks that a commit changes or only uses, by kind and name.

    A use without a kind refers to every kind.
    """

    changes: frozenset[Key]
    uses: frozenset[Key]


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """Two commits that conflict at one datablock."""

    kind: str
    name: str
    ours: CommitChanges
    theirs: CommitChanges

    @property
    def message(self) -> str:
        return (
            f"'{self.name}' ({self.kind}): commit {self.theirs.number} ({self.theirs.tool} of request {self.theirs.request_id}) and commit"
            f" {self.ours.number} ({self.ours.tool} of request {self.ours.request_id}) both touch it"
        )

    def to_json(self) -> dict[str, Any]:
        ends = {side: _commit_json(commit) for side, commit in (("ours", self.ours), ("theirs", self.theirs))}
        return {"kind": self.kind, "name": self.name, **ends}


def _commit_json(commit: CommitChanges) -> dict[str, Any]:
    return {
        "commit": commit.number, "tool": commit.tool, "request_id": commit.request_id, "operation_id": commit.operation_id,
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unmergeable:
    """A commit that cannot run again elsewhere, or whose touched datablocks are unknown."""

    side: Literal["ours", "theirs"]
    commit: CommitChanges
    why: str

    @property
    def message(self) -> str:
        return f"commit {self.commit.number} ({self.commit.tool} of request {self.commit.request_id}) {self.why}"

    def to_json(self) -> dict[str, Any]:
        return {"side": self.side, "why": self.why, **_commit_json(self.commit)}


def own_commits(
    ours: Sequence[CommitChanges], theirs: Sequence[CommitChanges], merges: Mapping[str, Merge]
) -> tuple[list[CommitChanges], list[CommitChanges]]:
    """Return the commits that each of two lines has and the other lacks, since their common ancestor.

    A commit that an earlier merge repeated counts as the commit that it repeats.
    """
    by_number = {commit.number: commit for commit in (*ours, *theirs)}

    def first(commit: CommitChanges) -> int:
        """Return the number of the original commit that this one repeats, through any number of merges."""
        while commit.request_id in merges and commit.operation_id.isdigit():
            repeated = by_number.get(int(commit.operation_id))
            if repeated is None or (repeated.tool, repeated.args) != (commit.tool, commit.args):
                break
            commit = repeated
        return commit.number

    our_ids, their_ids = {first(commit) for commit in ours}, {first(commit) for commit in theirs}
    return (
        [commit for commit in ours if first(commit) not in their_ids],
        [commit for commit in theirs if first(commit) not in our_ids],
    )


def unmergeable(
    side: Literal["ours", "theirs"], commits: Iterable[CommitChanges], tools: Mapping[str, AnyTool]
) -> Iterator[Unmergeable]:
    for commit in commits:
        tool = tools.get(commit.tool)
        if commit.kind != "operation":
            yield Unmergeable(side, commit, "adopted a complete scene")
        elif tool is None or tool.version != commit.tool_version:
            yield Unmergeable(side, commit, "was made by another version of the tool")
        elif not commit.replayable:
            yield Unmergeable(side, commit, "cannot run again: it came from a file or from code")
        elif tool.makes_others:
            yield Unmergeable(side, commit, "touches datablocks that no argument names")
        elif not commit.complete:
            yield Unmergeable(side, commit, "touched more than its receipt lists")


def find_conflicts(
    ours: Sequence[CommitChanges], theirs: Sequence[CommitChanges], tools: Mapping[str, AnyTool]
) -> Iterator[MergeConflict]:
    """Yield one conflict per datablock, with the first commit of each side."""
    changed: dict[Key, CommitChanges] = {}
    used: dict[Key, CommitChanges] = {}
    for commit in ours:
        touched = touched_by(commit, tools)
        for key in sorted(touched.changes):
            changed.setdefault(key, commit)
        for key in sorted(touched.uses):
            used.setdefault(key, commit)
    changed_by_name: dict[str, list[Key]] = {}
    for key in changed:
        changed_by_name.setdefault(key[1], []).append(key)

    reported: set[Key] = set()
    for commit in theirs:
        touched = touched_by(commit, tools)
        candidates: list[tuple[Key, CommitChanges | None]] = []
        for key in sorted(touched.changes):
            candidates.append((key, changed.get(key) or used.get(key) or used.get((ANY_KIND, key[1]))))
        for kind, name in sorted(touched.uses):
            for key in changed_by_name.get(name, ()):
                if kind in (ANY_KIND, key[0]):
                    candidates.append((key, changed[key]))
        for key, our_commit in candidates:
            if our_commit is not None and key not in reported:
                reported.add(key)
                yield MergeConflict(*key, ours=our_commit, theirs=commit)


def touched_by(commit: CommitChanges, tools: Mapping[str, AnyTool]) -> Touched:
    changes = {(change.kind, change.name) for change in commit.changes}
    uses: set[Key] = set()
    for mention in _mentions(commit, tools):
        if mention.owner:
            key = (Kind.OBJECT.blocks, mention.owner)
        else:
            key = (mention.kind, mention.name)
        if mention.role is Role.MAKES and not mention.owner:
            changes.add(key)
        else:
            uses.add(key)
    return Touched(frozenset(changes), frozenset(uses - changes))


def _mentions(commit: CommitChanges, tools: Mapping[str, AnyTool]) -> Iterable[Mention]:
    tool = tools.get(commit.tool)
    if tool is None:
        return ()
    try:
        return tool.mentions_for(tool.args_model.model_validate(dict(commit.args)))
    except ValidationError:
        return ()  # the arguments fit another version of the tool, which `unmergeable` reports
