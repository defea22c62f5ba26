"""What the engine returns to its callers: a difference of scenes, a preview, a move of HEAD, a replay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from blendwright.records.commits import Commit
from blendwright.values.outcome import Outcome
from blendwright.values.report import ReceiptSummary, RunReport


@dataclass(frozen=True, slots=True)
class Entry:
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class PropertyChange:
    """None stands for what was not there, too."""

    property: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Changed:
    kind: str
    name: str
    properties: tuple[PropertyChange, ...]


@dataclass(frozen=True, slots=True)
class Renamed:
    kind: str
    old: str
    name: str


@dataclass(frozen=True, slots=True)
class Difference:
    """`unseen`: the scenes are not equal, in something that snapshots do not show. What was renamed is neither created nor removed;
    what else changed of it stands under its new name."""

    created: tuple[Entry, ...]
    changed: tuple[Changed, ...]
    removed: tuple[Entry, ...]
    unseen: bool
    renamed: tuple[Renamed, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.created or self.changed or self.removed or self.unseen or self.renamed)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class LimitedDifference:
    """A difference with at most so many entries and properties; `totals` counts all entries."""

    difference: Difference
    totals: Mapping[str, int]


NO_DIFFERENCE = LimitedDifference(
    Difference((), (), (), unseen=False), {"created": 0, "changed": 0, "removed": 0, "renamed": 0}
)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a plan would do. The report's hashes are those that a run would reach; it has no commits and no receipts.

    `receipts` sums up those of the copy: what a run would promise.
    `picture` is None when none was asked for, or there is nothing to see; it has findings when it could not be made.
    `asks` names the tools that a run would ask a person about, and why.
    """

    report: RunReport
    differences: LimitedDifference = NO_DIFFERENCE
    picture: Outcome | None = None
    receipts: ReceiptSummary | None = None
    asks: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return self.report.ok and (self.picture is None or self.picture.ok)

    @property
    def picture_notes(self) -> tuple[str, ...]:
        """What may surprise about the picture: that it is black."""
        if self.picture is not None:
            made = self.picture.result
        else:
            made = None
        return tuple((made or {}).get("notes", ()))

    def to_json(self) -> dict[str, Any]:
        """As the command prints it."""
        result = self.differences.difference.to_json()
        about: dict[str, Any] = {"totals": dict(self.differences.totals), "unseen": result.pop("unseen")}
        about |= {"asks": list(self.asks), "notes": [*self.report.notes, *self.picture_notes]}
        return {
            "dialect": self.report.dialect,
            "ok": self.ok,
            "result": result,
            "report": {**self.report.to_json(), **about},
        }


MoveKind = Literal["checkout", "undo", "redo"]


@dataclass(frozen=True, slots=True)
class Moved:
    """Where HEAD was, and the commit whose scene is now the current one; `branch` is the one that it is on now, None for none."""

    kind: MoveKind
    origin: int
    commit: Commit
    branch: str | None
    brought_back: bool = False
    """Whether an undone plan had taken the place of another one, whose scene this is."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where journal and scene part: what the journal says, and what was found."""

    commit: int
    what: str
    expected: Any
    found: Any

    def reason(self) -> str:
        return f"{self.what} led to another scene than the journal says"


By = Literal["hashes", "results"]


@dataclass(frozen=True, slots=True)
class Replay:
    """`agreed` is the last commit up to which everything agreed; `by` says what could be compared. `other` counts the commits of a
    workspace that was moved which belong to another Blender, and were left out."""

    head: int
    commits: int
    by: By
    redone: int
    opened: int
    other: int
    agreed: int | None
    mismatch: Mismatch | None

    @property
    def ok(self) -> bool:
        return self.mismatch is None
