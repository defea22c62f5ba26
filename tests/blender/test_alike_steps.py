"""Alike steps that run together: what is answered and what is left is what each would have answered and left alone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Any, cast

import bpy
import pytest

from blendwright.blender.alike_steps import NEVER, begin_all
from blendwright.blender.scene.reader import SceneReader
from blendwright.blender.scene.tracking.undo_log import UndoLog
from blendwright.blender.step import Stepper, StepRun
from blendwright.tool_api.scene import Kind
from blendwright.tools.catalog import tools
from blendwright.tools.checks import differs
from blendwright.tools.mesh.create_primitive import CreatePrimitive
from blendwright.wire.methods import StepRequest
from support.stage.stage import Stage

Calls = Sequence[tuple[str, dict[str, Any]]]


def cube(name: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return ("mesh.create_primitive", {"kind": "cube", "name": name, **more})


def empty(name: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return ("object.create_empty", {"name": name, **more})


def requests_of(calls: Calls) -> list[StepRequest]:
    return [cast("StepRequest", {"tool": tool, "version": tools()[tool].version, "args": args}) for tool, args in calls]


def started(place: Path) -> tuple[Stage, Stepper]:
    stage = Stage(place)
    stepper = Stepper(stage.state, tools(), place)
    for request in requests_of([empty("Anchor"), cube("Taken", size=3.0), ("collection.create", {"name": "Yard"})]):
        assert stepper.run(request)["ok"]
    return stage, stepper


def together(place: Path, calls: Calls, ends: float = NEVER) -> tuple[list[Any], list[str]]:
    """The answers, without their times, and the names of what is there afterwards."""
    stage, stepper = started(place)
    begun = begin_all(stepper, requests_of(calls), ends)
    return told(stage, [step.finish() if isinstance(step, StepRun) else step for step in begun])


def one_by_one(place: Path, calls: Calls) -> tuple[list[Any], list[str]]:
    stage, stepper = started(place)
    answers: list[Any] = []
    for request in requests_of(calls):
        answers.append(stepper.run(request))
        if not answers[-1]["ok"]:
            break
    return told(stage, answers)


def told(stage: Stage, answers: list[Any]) -> tuple[list[Any], list[str]]:
    assert stage.state.root() == stage.state.full_root()
    left = [f"{kind}/{name}" for kind in ("objects", "meshes") for name in getattr(bpy.data, kind).keys()]  # noqa: SIM118
    return [{key: value for key, value in answer.items() if not key.endswith("_ms")} for answer in answers], left


STORIES: dict[str, Calls] = {
    "apart": [cube("a"), cube("b", location=[1, 2, 3]), cube("c", collection="Yard", shading="smooth")],
    "one hangs on another": [cube("a"), cube("b", parent="a"), cube("c", parent="b"), cube("d")],
    "the same twice": [cube("a"), cube("b"), cube("a"), cube("c")],
    "a name that is taken": [cube("a"), cube("b"), cube("Taken"), cube("c")],
    "a parent that is missing": [cube("a"), cube("b", parent="Nobody"), cube("c")],
    "a parent that comes later": [cube("a"), cube("b", parent="c"), cube("c")],
    "the first one fails": [cube("Taken"), cube("a")],
    "empties and cubes": [empty("a"), empty("b", parent="Anchor"), cube("c"), cube("d"), empty("e")],
    "an empty and a cube of one name": [empty("a"), cube("a"), cube("b")],
    "with a bevel": [cube("a", bevel=0.1), cube("b", bevel=0.2, parent="Anchor")],
}


@pytest.mark.parametrize("name", STORIES)
def test_answers_and_scenes_are_those_of_steps_that_run_alone(name: str, tmp_path: Path) -> None:
    expected = one_by_one(tmp_path, STORIES[name])
    assert together(tmp_path, STORIES[name]) == expected


@pytest.mark.parametrize("seed", range(8))
def test_random_stories_end_alike(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    names = [f"n{number}" for number in range(30)]
    calls: list[tuple[str, dict[str, Any]]] = []
    for number in range(30):
        more: dict[str, Any] = {"parent": chance.choice(["Anchor", *names[:number]])} if chance.random() < 0.2 else {}
        name = "Taken" if chance.random() < 0.02 else chance.choice(names) if chance.random() < 0.1 else names[number]
        calls.append((empty if chance.random() < 0.2 else cube)(name, **more))
    expected = one_by_one(tmp_path, calls)
    assert together(tmp_path, calls) == expected


@pytest.mark.parametrize("part", ["build", "finish", "differences", "object_differences"])
@pytest.mark.parametrize("bad", ["a", "c"])
def test_what_goes_wrong_with_one_is_its_own_affair(
    part: str, bad: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It raises while it is applied, or is found wrong when it is verified."""
    act = getattr(CreatePrimitive, part)

    def wrong(self: CreatePrimitive, scene: Any, args: Any, *data: Any) -> Any:
        if args.name != bad:
            return act(self, scene, args, *data)
        if part.endswith("differences"):
            return differs("that it is well", True, False, "/name")
        raise ValueError("no good")

    monkeypatch.setattr(CreatePrimitive, part, wrong)
    calls = [cube(name) for name in "abcde"]
    expected = one_by_one(tmp_path, calls)
    answers, left = together(tmp_path, calls)
    assert (answers, left) == expected
    assert [one["ok"] for one in answers] == [True] * "abcde".index(bad) + [False]
    assert answers[-1]["reverted_by"] == "inverse" and f"objects/{bad}" not in left and "objects/d" not in left


def test_every_part_is_done_for_all_of_them_before_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    for part in ("check", "build", "finish", "verify"):
        act = getattr(CreatePrimitive, part)

        def noting(self: Any, scene: Any, args: Any, *more: Any, act: Any = act, part: str = part) -> Any:
            seen.append(f"{part} {args.name}")
            return act(self, scene, args, *more)

        monkeypatch.setattr(CreatePrimitive, part, noting)
    _, stepper = started(tmp_path)
    seen.clear()
    assert len(begin_all(stepper, requests_of([cube("a"), cube("b"), cube("c")]))) == 3
    assert seen == [f"{part} {name}" for part in ("check", "build", "finish", "verify") for name in "abc"]


def test_when_the_time_is_over_those_behind_are_left_over(tmp_path: Path) -> None:
    answers, left = together(tmp_path, [cube("a"), cube("b"), cube("c")], monotonic())
    assert [one["result"]["object"] for one in answers] == ["a"]
    assert "meshes/a" in left and not {"meshes/b", "objects/b", "meshes/c"} & {*left}


def test_what_takes_long_in_the_midst_of_it_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    act, clock = CreatePrimitive.build, [0]

    def slow(self: CreatePrimitive, scene: Any, args: Any, data: Any) -> None:
        act(self, scene, args, data)
        clock[0] += args.name != "Taken"

    monkeypatch.setattr(CreatePrimitive, "build", slow)
    monkeypatch.setattr("blendwright.blender.alike_steps.monotonic", lambda: clock[0])
    answers, left = together(tmp_path, [cube(name) for name in "abcde"], 2.5)
    assert [one["result"]["object"] for one in answers] == ["a", "b", "c"]
    assert "objects/c" in left and not {"meshes/d", "meshes/e", "objects/d"} & {*left}


def test_a_tool_that_touches_what_it_does_not_name_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The core ends such a worker, and sends them one by one to the next."""
    act = CreatePrimitive.build
    _, stepper = started(tmp_path)

    def pushing(self: CreatePrimitive, scene: Any, args: Any, data: Any) -> None:
        act(self, scene, args, data)
        scene.set(scene.require(Kind.OBJECT, "Anchor"), "location", (1.0, 0.0, 0.0))

    monkeypatch.setattr(CreatePrimitive, "build", pushing)
    with pytest.raises(RuntimeError, match=r"touched the same: .*Anchor"):
        begin_all(stepper, requests_of([cube("a"), cube("b")]))


def test_a_step_that_cannot_be_taken_back_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The core ends such a worker, and sends them one by one to the next."""

    def without_the_last(self: UndoLog) -> None:
        self.keep()
        self.seal()

    monkeypatch.setattr(UndoLog, "revert", without_the_last)
    _, stepper = started(tmp_path)
    slow = [cube("a"), cube("b")]
    act = CreatePrimitive.finish

    def raising(self: CreatePrimitive, scene: Any, args: Any, obj: Any) -> None:
        act(self, scene, args, obj)
        if args.name == "b":
            raise ValueError("no good")

    monkeypatch.setattr(CreatePrimitive, "finish", raising)
    with pytest.raises(RuntimeError, match="left a different hash"):
        begin_all(stepper, requests_of(slow))


def test_tools_that_run_together_ask_for_no_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the scene comes to as a whole depends on more than a call names."""
    chosen = [tool for tool in tools().values() if tool.together]
    assert {"mesh.create_primitive", "mesh.create", "object.create_empty"} <= {tool.name for tool in chosen}
    for tool in chosen:
        for number, example in enumerate(tool.examples):
            place = tmp_path / f"{tool.name} {number}"
            place.mkdir()
            stepper = Stepper(Stage(place).state, tools(), place)
            for request in requests_of([(name, dict(args)) for name, args in example.given]):
                assert stepper.run(request)["ok"]
            with monkeypatch.context() as patched:
                patched.setattr(SceneReader, "depsgraph", None)
                assert stepper.run(requests_of([(tool.name, dict(example.args))])[0])["ok"]
