"""The result of a planner run: its calls and its ending, as plain values."""

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
    """A call of the planner, and the stage that its plan reached."""

    number: int
    stage: Stage
    message: str
    usage: Usage
    model: str
    prompt_hash: str


@dataclass(frozen=True, slots=True)
class PlannerResult:
    """The result of a planner run.

    `ending`: done; proposed (a dry run that would succeed); declined by a person; gave_up (no more attempts, or no
    progress); failed (the engine cannot continue); service (the planner cannot); interrupted. `reason` explains every
    ending except done.
    """

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
        """The number of plans, without the calls that the service failed."""
        return sum(call.stage != "service" for call in self.calls)

    def to_json(self) -> dict[str, Any]:
        preview = result = report = None
        if self.preview is not None:
            preview = self.preview.to_json()
        if self.report is not None:
            result, report = render(self.report), self.report.to_json()
        return {
            "ok": self.ok,
            "ending": self.ending,
            "reason": self.reason,
            "request_id": self.request_id,
            "asked": self.request,
            "dialect": self.dialect,
            "attempts": list(map(asdict, self.calls)),
            "usage": self.usage.to_json(),
            "seconds": round(self.seconds, 3),
            "cost": self.cost,
            "plan": self.document,
            "preview": preview,
            "result": result,
            "report": report,
        }
