"""Named heads: branches as the journal has them, and what a move of HEAD does to the one that it is on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

# The branch that a workspace begins on.
MAIN = "main"
BranchMoveKind = Literal["created", "entered", "left", "deleted"]


@dataclass(frozen=True, slots=True)
class Branch:
    """`commit` is where it leads, None before the first commit; `current` says that HEAD is on it, and takes it along."""

    name: str
    commit: int | None
    current: bool

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Merge:
    """Commits of one line that were run again on another, under the id `request_id`: those of `source` from `base` to `theirs`, on top of
    `ours`. The operation id of each is the number of the commit that it repeats."""

    request_id: str
    source: str
    base: int
    ours: int
    theirs: int


class SwitchTo(NamedTuple):
    """HEAD leaves its branch for another one; for none at all where `branch` is None: it is detached then."""

    branch: str | None
    create: bool = False
