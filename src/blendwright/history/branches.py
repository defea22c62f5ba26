"""Branches and tags of a workspace, for readers. `OpenScene.history` creates and deletes them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from blendwright.records.branches import Branch
from blendwright.workspace.reading import read_journal


@dataclass(frozen=True, slots=True)
class BranchList:
    """The branches by name. `current` is None when HEAD is detached; `head` is None before the first commit."""

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
    """The tags by name."""

    tags: tuple[Tag, ...]

    def to_json(self) -> dict[str, Any]:
        return {"ok": True, "tags": [asdict(tag) for tag in self.tags]}


def list_branches(workspace: str | Path) -> BranchList:
    """Return the branches of a workspace. Raise EnvironmentUnfit when the workspace does not exist."""
    with read_journal(workspace) as journal:
        branches, head = journal.branches.listed(), journal.head_number
    current = next((branch.name for branch in branches if branch.current), None)
    return BranchList(branches, current, head)


def list_tags(workspace: str | Path) -> TagList:
    """Return the tags of a workspace. Raise EnvironmentUnfit when the workspace does not exist."""
    with read_journal(workspace) as journal:
        return TagList(tuple(Tag(name, commit) for name, commit in journal.branches.tags().items()))
