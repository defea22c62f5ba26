"""Results of the engine for its callers: a difference of scenes, a preview, a move of HEAD, a replay."""

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
    """The change of one property. None also means that the property did not exist."""

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
    """The difference of two scenes.

    `unseen` means that they differ in something that snapshots do not show. A renamed datablock is neither created
    nor removed; its other changes are listed under its new name.
    """

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
    """A difference with limited lists. `totals` counts all entries."""

    difference: Difference
    totals: Mapping[str, int]


NO_DIFFERENCE = LimitedDifference(
    Difference((), (), (), unseen=False), {"created": 0, "changed": 0, "removed": 0, "renamed": 0}
)


@dataclass(frozen=True, slots=True)
class Preview:
    """The effects of a plan that did not run.

    The hashes of the report are those that a run would reach; it has no commits and no receipts. `receipts`
    summarizes the receipts of the copy, which a run would produce. `picture` is None when the caller requested
    none or the plan failed; it has findings when the render failed. `asks` names the tools that a run would ask a
    person about, with the reasons.
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
        """Warnings about the picture, for example that it is black."""
        if self.picture is None or not self.picture.result:
            return ()
        return tuple(self.picture.result.get("notes", ()))

    def to_json(self) -> dict[str, Any]:
        """Return the preview as the command prints it."""
        result = self.differences.difference.to_json()
        details: dict[str, Any] = {"totals": dict(self.differences.totals), "unseen": result.pop("unseen")}
        details |= {"asks": list(self.asks), "notes": [*self.report.notes, *self.picture_notes]}
        return {
            "dialect": self.report.dialect,
            "ok": self.ok,
            "result": result,
            "report": {**self.report.to_json(), **details},
        }


MoveKind = Literal["checkout", "undo", "redo"]


@dataclass(frozen=True, slots=True)
class Moved:
    """A move of HEAD: its previous commit, and the commit of the present scene. `branch` is HEAD's branch, or None
    when detached.
    """

    kind: MoveKind
    origin: int
    commit: Commit
    branch: str | None
    brought_back: bool = False
    """True when an undone plan had replaced another one, whose scene this is."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A disagreement of the journal and a scene: the expected and the found value."""

    commit: int
    what: str
    expected: Any
    found: Any

    def reason(self) -> str:
        return f"{self.what} gave a scene that differs from the journal's"


By = Literal["hashes", "results"]


@dataclass(frozen=True, slots=True)
class Replay:
    """The result of a replay.

    `agreed` is the last commit up to which everything agreed; `by` names what could be compared. `other` counts
    the skipped commits of another Blender, from before the workspace moved to this one.
    """

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
