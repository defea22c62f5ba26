"""The named commits of a workspace, for those who only read: its branches and its tags. `OpenScene.history` makes and removes them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from blendwright.records.branches import Branch
from blendwright.workspace.reading import read_journal


@dataclass(frozen=True, slots=True)
class BranchList:
    """By name. `current` is the one that HEAD is on, None where it is detached; `head` is its commit, None before the first."""

    branches: tuple[Branch, ...]
    current: str | None
    head: int | None

    def to_json(self) -> dict[str, Any]:
        branches = [branch.to_json() for branch in self.branches]
        return {"ok": True, "current": self.current, "head": self.head, "branches": branches}


@dataclass(frozen=True, slots=True)
class Tag:
    name: str
    commit: int


@dataclass(frozen=True, slots=True)
class TagList:
    """By name."""

    tags: tuple[Tag, ...]

    def to_json(self) -> dict[str, Any]:
        return {"ok": True, "tags": [asdict(tag) for tag in self.tags]}


def list_branches(workspace: str | Path) -> BranchList:
    """Raises EnvironmentUnfit where there is no workspace."""
    with read_journal(workspace) as journal:
        branches, head = journal.branches.listed(), journal.head_number
    return BranchList(branches, next((branch.name for branch in branches if branch.current), None), head)


def list_tags(workspace: str | Path) -> TagList:
    """Raises EnvironmentUnfit where there is no workspace."""
    with read_journal(workspace) as journal:
        return TagList(tuple(Tag(name, commit) for name, commit in journal.branches.tags().items()))
