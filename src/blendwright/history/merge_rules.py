"""Whether the commits of two lines can be joined: what each of them touches, and where two touch the same.

Touched is what a receipt says was changed, and what the arguments name. Two commits are in each other's way where one of them changes
what the other changes or uses. Pure: it knows the journal and the tools.
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

MOST_CONFLICTS = 20
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Touched:
    """What a commit changes, and what it uses besides, by kind and name; a use without a kind is of anything of that name."""

    changes: frozenset[Key]
    uses: frozenset[Key]


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """Two commits that are in each other's way, at one datablock."""

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
        ends = {side: _told(commit) for side, commit in (("ours", self.ours), ("theirs", self.theirs))}
        return {"kind": self.kind, "name": self.name, **ends}


def _told(commit: CommitChanges) -> dict[str, Any]:
    return {
        "commit": commit.number, "tool": commit.tool, "request_id": commit.request_id, "operation_id": commit.operation_id,
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unmergeable:
    """A commit that cannot be run again elsewhere, or of which nobody can say what it touches."""

    side: Literal["ours", "theirs"]
    commit: CommitChanges
    why: str

    @property
    def message(self) -> str:
        return f"commit {self.commit.number} ({self.commit.tool} of request {self.commit.request_id}) {self.why}"

    def to_json(self) -> dict[str, Any]:
        return {"side": self.side, "why": self.why, **_told(self.commit)}


def own_commits(
    ours: Sequence[CommitChanges], theirs: Sequence[CommitChanges], merges: Mapping[str, Merge]
) -> tuple[list[CommitChanges], list[CommitChanges]]:
    """Of two lines since their common ancestor, what each has done that the other has not: an earlier merge repeated some."""
    by_number = {commit.number: commit for commit in (*ours, *theirs)}

    def first(commit: CommitChanges) -> int:
        """The commit that this one repeats, through however many merges; itself where it is none of a merge."""
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
            yield Unmergeable(side, commit, "took a whole scene in")
        elif tool is None or tool.version != commit.tool_version:
            yield Unmergeable(side, commit, "was made by another version of the tool")
        elif not commit.replayable:
            yield Unmergeable(side, commit, "cannot be run again: it came from a file or from code")
        elif tool.makes_others:
            yield Unmergeable(side, commit, "touches what no argument names")
        elif not commit.complete:
            yield Unmergeable(side, commit, "touched more than its receipt lists")


def find_conflicts(
    ours: Sequence[CommitChanges], theirs: Sequence[CommitChanges], tools: Mapping[str, AnyTool]
) -> Iterator[MergeConflict]:
    """For each datablock the first commit of either side; those of our line in its order."""
    changed: dict[Key, CommitChanges] = {}
    used: dict[Key, CommitChanges] = {}
    for commit in ours:
        touched = touched_by(commit, tools)
        for found, keys in ((changed, touched.changes), (used, touched.uses)):
            for key in sorted(keys):
                found.setdefault(key, commit)
    named: dict[str, list[Key]] = {}
    for key in changed:
        named.setdefault(key[1], []).append(key)
    told: set[Key] = set()
    for commit in theirs:
        touched = touched_by(commit, tools)
        meets = [
            (key, changed.get(key) or used.get(key) or used.get((ANY_KIND, key[1]))) for key in sorted(touched.changes)
        ]
        for kind, name in sorted(touched.uses):
            meets += [
                ((each, name), changed[each, name]) for each, _ in named.get(name, ()) if kind in (ANY_KIND, each)
            ]
        for key, other in meets:
            if other is not None and key not in told:
                told.add(key)
                yield MergeConflict(*key, ours=other, theirs=commit)


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
        return ()  # of another version of the tool, which is told as such
