"""A worker holds nothing of the steps that are over: its collector comes by once in ten thousands of them, so cycles would pile up."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any, cast

from blendwright.blender.step import Stepper, StepRun
from blendwright.plan.validate import validate_arguments
from blendwright.tools.catalog import tools
from blendwright.wire.methods import StepRequest
from support.stage.stage import Stage

Call = tuple[str, dict[str, Any]]

# What is made is taken away again; two of the steps fail.
ROUND: tuple[Call, ...] = (
    ("object.create_empty", {"name": "Here"}),
    ("object.transform", {"name": "Here", "location": [1, 2, 3]}),
    ("object.transform", {"name": "Nobody", "location": [1, 2, 3]}),
    ("object.create_empty", {"name": "Here"}),
    ("collection.create", {"name": "Yard"}),
    ("collection.link_object", {"object": "Here", "collection": "Yard"}),
    ("mesh.create_primitive", {"kind": "cube", "name": "Box"}),
    ("material.ensure_principled", {"name": "Red", "base_color": [1, 0, 0]}),
    ("material.assign", {"object": "Box", "material": "Red"}),
    ("scene.find", {"name": "*"}),
    ("object.delete", {"name": "Box"}),
    ("object.delete", {"name": "Here"}),
    ("collection.delete", {"name": "Yard"}),
)


def requests() -> list[StepRequest]:
    made: list[StepRequest] = []
    for name, raw in ROUND:
        tool = tools()[name]
        args, findings, _ = validate_arguments(tool, raw)
        assert not findings
        made.append(cast("StepRequest", {"tool": name, "version": tool.version, "args": args}))
    return made


def play(stepper: Stepper, rounds: int) -> list[bool]:
    """Whether each step of the last round succeeded."""
    done: list[bool] = []
    for _ in range(rounds):
        answers = [stepper.begin(request) for request in requests()]
        done = [(one.finish() if isinstance(one, StepRun) else one)["ok"] for one in answers]
    return done


def test_steps_leave_no_cycles_to_the_collector(tmp_path: Path) -> None:
    stepper = Stepper(Stage(tmp_path).state, tools(), tmp_path)
    play(stepper, 2)
    gc.collect()
    gc.disable()
    flags = gc.get_debug()
    try:
        assert play(stepper, 5).count(False) == 2
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = {f"{type(each).__name__} {getattr(each, '__qualname__', '')}" for each in gc.garbage}
    finally:
        gc.set_debug(flags)
        gc.garbage.clear()
        gc.enable()
    assert left == set()
