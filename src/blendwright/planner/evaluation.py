"""A planner measured: requests with expectations carried through one after the other, each on the empty scene, and counted.

Expectations are never told to the model. Each request starts from the first commit of one workspace, so that one Blender does for all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from blendwright.app.open_scene import OpenScene
from blendwright.planner.budget import Budget
from blendwright.planner.expectations import Expectations, Strict, unmet_expectations
from blendwright.planner.first_request import build_first_request
from blendwright.planner.loop import PlannerRun
from blendwright.planner.plannable import PlannableDialect
from blendwright.planner.port import Planner
from blendwright.planner.result import PlannerResult
from blendwright.schemas.check import model_problems
from blendwright.values.cancel import CancelToken
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, pointer_of

FORM = "The form of a request is in docs/planner.md, under Measuring a planner."


class EvaluatedRequest(Strict):
    """One file of the folder. `solution` is a plan that meets the expectations: it shows that they can be met."""

    name: str = Field(pattern=r"^[a-z0-9_-]{1,60}$")
    request: str = Field(min_length=1)
    dialect: PlannableDialect = "operations"
    expect: Expectations
    solution: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """What became of one request; `unmet` says what the scene lacks."""

    name: str
    run: PlannerResult
    unmet: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return self.run.ending == "done" and not self.unmet

    def to_json(self) -> dict[str, Any]:
        run = self.run
        return {
            "name": self.name,
            "ok": self.ok,
            "ending": run.ending,
            "reason": run.reason,
            "unmet": list(self.unmet),
            "attempts": run.attempts,
            "calls": len(run.calls),
            "usage": run.usage.to_json(),
            "seconds": round(run.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Evaluation:
    model: str
    results: tuple[EvaluationResult, ...]

    @property
    def success_rate(self) -> float:
        return sum(result.ok for result in self.results) / len(self.results) if self.results else 0.0

    def to_json(self) -> dict[str, Any]:
        done = [result for result in self.results if result.ok]
        return {
            "model": self.model,
            "requests": len(self.results),
            "succeeded": len(done),
            "success_rate": round(self.success_rate, 4),
            "right_at_first": sum(result.run.attempts == 1 for result in done),
            "attempts": sum(result.run.attempts for result in self.results),
            "tokens": sum(result.run.usage.total for result in self.results),
            "seconds": round(sum(result.run.seconds for result in self.results), 3),
            "results": [result.to_json() for result in self.results],
        }


def read_requests(folder: Path) -> tuple[EvaluatedRequest, ...]:
    """Every *.json of the folder, by name. Raises Refusal with everything that is wrong."""
    files = sorted(folder.glob("*.json"))
    findings: list[Finding] = []
    requests: list[EvaluatedRequest] = []
    if not files:
        findings.append(
            Finding(Fault.SCHEMA_INVALID, f"there are no requests in {folder}", "", "Name a folder of *.json files.")
        )
    for file in files:
        try:
            request = EvaluatedRequest.model_validate_json(file.read_bytes())
        except ValidationError as error:
            problems = (f"{file.name}{pointer_of(loc)}: {message}" for loc, message in model_problems(error))
            findings += [Finding(Fault.SCHEMA_INVALID, problem, "", FORM) for problem in problems]
        except OSError as error:
            findings.append(Finding(Fault.SCHEMA_INVALID, f"{file} cannot be read: {error.strerror}", "", "Check it."))
        else:
            requests.append(request)
    if findings:
        raise Refusal(findings)
    return tuple(requests)


def evaluate(
    opened: OpenScene,
    planner: Planner,
    requests: Sequence[EvaluatedRequest],
    *,
    budget: Budget | None = None,
    on_result: Callable[[EvaluationResult], None] = lambda result: None,
    cancel: CancelToken | None = None,
) -> Evaluation:
    """Carry every request through, in order. `opened` must be a workspace of its own: its scene is reset before each of them."""
    opened.warm()
    start = opened.journal.origins(all_lines=True)[-1].number
    results: list[EvaluationResult] = []
    for number, request in enumerate(requests, 1):
        opened.history.checkout(start)
        id = f"eval-{number:03}-{request.name}"
        first = build_first_request(opened, request.request, request.dialect, id)
        planner_run = PlannerRun(
            opened, planner, first, id, budget=budget, preview=False, cancel=cancel or CancelToken()
        )
        run = asyncio.run(planner_run.run())
        missing = unmet_expectations(opened, request.expect) if run.ending == "done" else ()
        results.append(EvaluationResult(request.name, run, missing))
        on_result(results[-1])
        if run.ending == "interrupted":
            break
    return Evaluation(planner.model, tuple(results))
