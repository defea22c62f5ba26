"""A planner that says what a test has written down, and remembers what it was told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from blendwright.planner.port import PlannerError, PlanRequest, PlanResponse, Turn, Usage

USAGE = Usage(prompt_tokens=100, output_tokens=50, thinking_tokens=10, total=160)

Said = str | dict[str, Any] | list[Any] | PlannerError


class Scripted:
    """Answers in order; the last answer is given again and again."""

    model = "scripted-1"

    def __init__(self, *answers: Said) -> None:
        self._answers = list(answers)
        self.heard: list[PlanRequest] = []

    async def plan(self, request: PlanRequest) -> PlanResponse:
        self.heard.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, PlannerError):
            raise answer
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return PlanResponse(text, USAGE, self.model, "STOP")


def first(request: str = "a box", **fields: Any) -> PlanRequest:
    return PlanRequest(request, fields.pop("dialect", "operations"), "You plan.", (Turn("user", request),), **fields)


def op(id: str, tool: str = "mesh.create_primitive", *waits_for: str, **args: Any) -> dict[str, Any]:
    if tool == "mesh.create_primitive":
        args = {"kind": "cube", "name": f"Box {id}"} | args
    return {
        "operation_id": id,
        "tool_name": tool,
        "args": args,
        "depends_on": list(waits_for),
        "safety_level": "safe_write",
    }


def plan(*operations: dict[str, Any], request_id: str = "whatever") -> dict[str, Any]:
    return {"request_id": request_id, "operations": list(operations)}


def told(request: PlanRequest) -> dict[str, Any]:
    """What a repair call says was wrong."""
    text = request.turns[-1].text
    return json.loads(text.split("<data failure>")[1].split("</data failure>")[0])


def codes(request: PlanRequest) -> Sequence[str]:
    return [finding["code"] for finding in told(request)["findings"]]
