"""The result of a planner run: its calls, and how it ended. Plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from blendwright.dialects.registry import render
from blendwright.planner.answers import Stage
from blendwright.planner.port import PlannerError, Usage
from blendwright.records.results import Preview
from blendwright.values.report import RunReport

Ending = Literal["done", "proposed", "declined", "gave_up", "failed", "service", "interrupted"]


@dataclass(frozen=True, slots=True)
class PlannerAttempt:
    """One call of the planner, and how far its plan came."""

    number: int
    stage: Stage
    message: str
    usage: Usage
    model: str
    prompt_hash: str


@dataclass(frozen=True, slots=True)
class PlannerResult:
    """`ending`: done; proposed (a dry run that would succeed); declined by a person; gave_up (no more attempts, or no use);
    failed (the engine cannot go on); service (the planner cannot); interrupted. `reason` says why, for everything but done."""

    request_id: str
    request: str
    dialect: str
    ending: Ending
    reason: str
    calls: tuple[PlannerAttempt, ...]
    usage: Usage
    seconds: float
    cost: float
    document: Any = None
    preview: Preview | None = None
    report: RunReport | None = None
    error: PlannerError | None = None

    @property
    def ok(self) -> bool:
        return self.ending in ("done", "proposed")

    @property
    def attempts(self) -> int:
        """How many plans there were: calls that the service failed are not counted."""
        return sum(each.stage != "service" for each in self.calls)

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "ending": self.ending,
            "reason": self.reason,
            "request_id": self.request_id,
            "asked": self.request,
            "dialect": self.dialect,
            "attempts": [asdict(each) for each in self.calls],
            "usage": self.usage.to_json(),
            "seconds": round(self.seconds, 3),
            "cost": self.cost,
            "plan": self.document,
            "preview": None if self.preview is None else self.preview.to_json(),
            "result": None if self.report is None else render(self.report),
            "report": None if self.report is None else self.report.to_json(),
        }
