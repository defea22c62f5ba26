"""The requests that are shipped, and how a planner is measured by them: a regression test of the loop on a real Blender."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import blendwright
from blendwright.dialects.registry import parse_plan
from blendwright.planner.budget import Budget
from blendwright.planner.evaluation import EvaluatedRequest, evaluate, read_requests
from blendwright.planner.port import PlanRequest, PlanResponse, ServiceUnavailable
from blendwright.values.approval import Approver
from blendwright.values.errors import Refusal
from planner.scripted import USAGE, Scripted, op, plan
from support.plans.documents import findings

FOLDER = Path(__file__).parents[2] / "examples" / "requests"
REQUESTS = read_requests(FOLDER)


class Knowing:
    """Knows the solutions; makes the mistakes that it is totals to, once each."""

    model = "knowing-1"

    def __init__(self, mistakes: dict[str, str]) -> None:
        self._answers = {request.request: json.dumps(request.solution) for request in REQUESTS}
        self._mistakes = {request.request: mistakes.get(request.name) for request in REQUESTS}

    async def plan(self, request: PlanRequest) -> PlanResponse:
        said = self._mistakes.pop(request.request, None)
        if said == "busy":
            raise ServiceUnavailable("busy", status=503, retry_after=0.0)
        return PlanResponse(said or self._answers[request.request], USAGE, self.model, "STOP")


def test_at_least_twenty_requests_are_shipped_under_their_own_names() -> None:
    assert len(REQUESTS) >= 20
    assert {request.name for request in REQUESTS} == {path.stem for path in FOLDER.glob("*.json")}
    assert all(request.solution is not None for request in REQUESTS)


# That of product-shot calls a macro, which only a workspace has.
@pytest.mark.parametrize("name", sorted({request.name for request in REQUESTS} - {"product-shot"}))
def test_every_solution_keeps_the_contract(name: str) -> None:
    (request,) = (request for request in REQUESTS if request.name == name)
    assert findings(parse_plan(request.solution, dialect="operations")) == ()


def test_all_requests_come_out_as_expected_and_mistakes_are_repaired_and_counted(tmp_path: Path) -> None:
    mistakes = {
        "one-cube": json.dumps(plan(op("a", kind="cubus"))),
        "table": "I would love to!",
        "snowman": "busy",
        "tower": json.dumps(
            plan(
                op("b1", name="Block 1", size=1, location=[0, 0, 0.5]),
                op("x", "object.set_parent", "b1", child="No", parent="one"),
            )
        ),
    }
    with blendwright.open(
        tmp_path / "workspace", spare=False, approver=Approver(grants=frozenset({"destructive"}))
    ) as opened:
        measured = evaluate(opened, Knowing(mistakes), REQUESTS, budget=Budget(attempts=3))
    totals = measured.to_json()
    failed = {result.name: (result.run.reason, result.unmet) for result in measured.results if not result.ok}
    attempts = {result.name: result.run.attempts for result in measured.results}
    assert not failed and totals["success_rate"] == 1.0
    assert {name for name, count in attempts.items() if count != 1} == {"one-cube", "table", "tower"}
    assert totals["right_at_first"] == len(REQUESTS) - 3 and totals["attempts"] == len(REQUESTS) + 3
    assert totals["tokens"] == USAGE.total * totals["attempts"]


def test_what_is_not_as_expected_is_said(tmp_path: Path) -> None:
    expect = {
        "objects": [
            {"name": "box*", "at_least": 2},
            {"name": "Box", "at_most": 0},
            {"name": "Box", "size": [5, 5, 5]},
            {"name": "Box", "location": [9, 0, 0], "parent": "*", "modifier": "BEVEL"},
        ],
        "materials": ["gold"],
        "collections": ["Props"],
        "camera": True,
        "gates": ["Tower"],
    }
    wanted = EvaluatedRequest.model_validate({"name": "x", "request": REQUESTS[0].request, "expect": expect})
    planner = Scripted(plan(op("a", name="Box")))
    with blendwright.open(tmp_path / "workspace", spare=False) as opened:
        (result,) = evaluate(opened, planner, [wanted]).results
    assert not result.ok and result.run.ending == "done" and len(result.unmet) == 10, result.unmet


def test_files_that_are_no_requests_are_refused_all_at_once(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="no requests"):
        read_requests(tmp_path)
    (tmp_path / "a.json").write_text("{")
    (tmp_path / "b.json").write_text('{"name": "b", "request": "x", "expect": {}, "more": 1}')
    with pytest.raises(Refusal) as caught:
        read_requests(tmp_path)
    assert {finding.message.split(".json")[0] for finding in caught.value.findings} == {"a", "b"}
