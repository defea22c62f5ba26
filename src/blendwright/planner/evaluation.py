"""Measurement of a planner: it carries out requests with expectations, each on the empty scene, and counts the results.

The model never sees the expectations; names in them are patterns, since a model chooses its own names. Each request
starts from the first commit of one workspace, so that one Blender serves all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from blendwright.planner.budget import Budget
from blendwright.planner.loop import PlannerRun
from blendwright.planner.plannable import PlannableDialect
from blendwright.planner.port import Planner
from blendwright.planner.prompt import build_first_request
from blendwright.planner.prompt_data import collection_names, read_scene
from blendwright.planner.result import PlannerResult
from blendwright.schemas.check import model_problems
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, pointer_of
from blendwright.workspace.open_scene import OpenScene

PAGE = 1000
FORM = "The form of a request is in docs/planner.md, under Measuring a planner."


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class ObjectsExpected(Strict):
    """Expected objects by name and type. With `size` or `location`, at least one of them must have it."""

    name: str = Field(default="*", description="A pattern of the name with * and ?; case does not matter.")
    type: Literal["MESH", "CURVE", "FONT", "EMPTY", "LIGHT", "CAMERA"] | None = None
    at_least: int = Field(default=1, ge=0)
    at_most: int | None = Field(default=None, ge=0)
    size: tuple[float, float, float] | None = Field(default=None, description="Size along X, Y and Z, in metres.")
    location: tuple[float, float, float] | None = None
    tolerance: float = Field(
        default=0.05, gt=0, description="In metres or as a fraction of the size, whichever is larger."
    )
    parent: str | None = Field(default=None, description="A pattern of the name of every object's parent.")
    modifier: str | None = Field(default=None, description="The type of a modifier that at least one object must have.")


class Expectations(Strict):
    objects: tuple[ObjectsExpected, ...] = ()
    materials: tuple[str, ...] = Field(default=(), description="Patterns that each match at least one material.")
    collections: tuple[str, ...] = Field(default=(), description="Patterns that each match at least one collection.")
    camera: bool | None = Field(default=None, description="True if the scene has an active camera.")
    gates: tuple[str, ...] = Field(
        default=(), description="Patterns of objects whose node trees must pass their gates."
    )

    @model_validator(mode="after")
    def _something(self) -> Expectations:
        if self == Expectations.model_construct():
            raise ValueError("nothing is expected")
        return self


def unmet_expectations(opened: OpenScene, expected: Expectations) -> Iterator[str]:
    """Yield a sentence for each expectation that the scene does not meet."""
    scene = read_scene(opened, "scene.snapshot", {"limit": PAGE})
    objects: list[dict[str, Any]] = scene["objects"]["items"]
    for group in expected.objects:
        yield from _objects(opened, objects, group)

    for kind, patterns in (("materials", expected.materials), ("collections", expected.collections)):
        names = list(collection_names(scene[kind]["items"]))
        for pattern in patterns:
            if not any(_fits(name, pattern) for name in names):
                yield f"there is none among the {kind} named {pattern}"

    has_camera = scene["render"]["camera"] is not None
    if expected.camera and not has_camera:
        yield "there is no camera to render through"
    elif expected.camera is False and has_camera:
        yield "there is a camera"

    for pattern in expected.gates:
        matches = [item["name"] for item in objects if _fits(item["name"], pattern)]
        if not matches:
            yield f"there is no object named {pattern} whose gates could be checked"
        for name in matches:
            gates = opened.outcome("geonodes.gates", {"object": name})
            if not gates.ok or gates.result is None or not gates.result["success"]:
                yield f"{name} does not pass its gates: {gates.message}".removesuffix(": ")


def _objects(opened: OpenScene, objects: list[dict[str, Any]], expected: ObjectsExpected) -> Iterator[str]:
    matches: list[dict[str, Any]] = []
    for item in objects:
        if _fits(item["name"], expected.name) and expected.type in (None, item["type"]):
            matches.append(item)

    subject = f"{expected.type or 'object'} named {expected.name}"
    if len(matches) < expected.at_least:
        yield f"{subject}: {len(matches)}, expected at least {expected.at_least}"
    if expected.at_most is not None and len(matches) > expected.at_most:
        yield f"{subject}: {len(matches)}, expected at most {expected.at_most}"
    if not matches:
        return

    if expected.location is not None:
        locations = [item["transform"]["location"] for item in matches]
        if not any(_near(location, expected.location, expected.tolerance) for location in locations):
            yield f"{subject}: none is at {list(expected.location)}, but at {locations[:5]}"
    if expected.size is not None:
        sizes = [list(read_scene(opened, "mesh.measure", {"object": item["name"]})["dimensions"]) for item in matches]
        if not any(_near(size, expected.size, expected.tolerance) for size in sizes):
            yield f"{subject}: none has the size {list(expected.size)}, but {sizes[:5]}"
    if expected.parent is not None:
        for item in matches:
            if item["parent"] is None or not _fits(item["parent"]["object"], expected.parent):
                yield f"{item['name']} has no parent named {expected.parent}"
    if expected.modifier is not None:
        types = {modifier["type"] for item in matches for modifier in item["modifiers"]}
        if expected.modifier not in types:
            yield f"{subject}: none has a modifier {expected.modifier}"


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name.casefold(), pattern.casefold())


def _near(actual: Any, expected: tuple[float, float, float], tolerance: float) -> bool:
    pairs = zip(actual, expected, strict=True)
    return all(abs(have - want) <= max(tolerance, tolerance * abs(want)) for have, want in pairs)


class EvaluatedRequest(Strict):
    """A request file. `solution` is a plan that meets the expectations, which proves that they can be met."""

    name: str = Field(pattern=r"^[a-z0-9_-]{1,60}$")
    request: str = Field(min_length=1)
    dialect: PlannableDialect = "operations"
    expect: Expectations
    solution: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """The result of one request; `unmet` lists the expectations that the scene does not meet."""

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
        if self.results:
            return sum(result.ok for result in self.results) / len(self.results)
        return 0.0

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
    """Return the requests of all *.json files in the folder, by name. Raise Refusal with all findings."""
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
            for loc, message in model_problems(error):
                problem = f"{file.name}{pointer_of(loc)}: {message}"
                findings.append(Finding(Fault.SCHEMA_INVALID, problem, "", FORM))
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
    """Carry out all requests in order. `opened` must be a separate workspace, because each request resets its scene."""
    opened.warm()
    start = opened.journal.origins(all_lines=True)[-1].number
    results: list[EvaluationResult] = []
    for number, request in enumerate(requests, 1):
        opened.history.checkout(start)
        request_id = f"eval-{number:03}-{request.name}"
        first = build_first_request(opened, request.request, request.dialect, request_id)
        planner_run = PlannerRun(
            opened, planner, first, request_id, budget=budget, preview=False, cancel=cancel or CancelToken()
        )
        run = asyncio.run(planner_run.run())
        unmet: tuple[str, ...] = ()
        if run.ending == "done":
            unmet = tuple(unmet_expectations(opened, request.expect))
        results.append(EvaluationResult(request.name, run, unmet))
        on_result(results[-1])
        if run.ending == "interrupted":
            break
    return Evaluation(planner.model, tuple(results))
