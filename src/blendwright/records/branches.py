"""Branches and merges as values, and the effect of a HEAD move on the current branch."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

# The branch of a new workspace.
MAIN = "main"
BranchMoveKind = Literal["created", "entered", "left", "deleted"]


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch: `commit` is its tip, or None before the first commit. If `current`, HEAD is on it and moves it
    along.
    """

    name: str
    commit: int | None
    current: bool

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge: commits of one line that ran again on another line, under the id `request_id`.

    These are the commits of `source` from `base` to `theirs`, applied after `ours`. The operation id of each new
    commit is the number of the repeated commit.
    """

    request_id: str
    source: str
    base: int
    ours: int
    theirs: int


class SwitchTo(NamedTuple):
    """The branch that HEAD moves to. None detaches HEAD from its branch."""

    branch: str | None
    create: bool = False
