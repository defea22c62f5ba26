"""Steps that are kept and hashed later: what is answered is what would have been answered at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from blendwright.blender import fingerprint as fp
from blendwright.blender.step import Stepper, StepRun
from blendwright.plan.validate import validate_arguments
from blendwright.tools.catalog import tools
from blendwright.wire.methods import StepAnswer, StepRequest
from support.stage.stage import Stage

Call = tuple[str, dict[str, Any]]

BOX: Call = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
BALL: Call = ("mesh.create_primitive", {"kind": "ico_sphere", "name": "Ball"})
YARD: Call = ("collection.create", {"name": "Yard"})
MOVE: Call = ("object.transform", {"name": "Box", "location": [1, 2, 3]})
HOUSE: Call = ("collection.link_object", {"object": "Box", "collection": "Yard"})
RENAME: Call = ("object.rename", {"name": "Box", "new_name": "Crate"})
DELETE: Call = ("object.delete", {"name": "Box"})
LOOK: Call = ("object.inspect", {"name": "Box"})
TAKEN: Call = ("object.create_empty", {"name": "Box"})
SHADE: Call = ("mesh.shade", {"object": "Box", "shading": "smooth"})
PAINT: Call = ("material.ensure_principled", {"name": "Red", "base_color": [1, 0, 0]})
COAT: Call = ("material.assign", {"object": "Box", "material": "Red"})

STORIES: dict[str, list[Call]] = {
    "apart": [BOX, BALL, YARD],
    "the same datablock": [BOX, MOVE, SHADE],
    "a look in between": [BOX, LOOK, MOVE, LOOK],
    "a refusal in between": [BOX, TAKEN, BALL],
    "membership": [BOX, YARD, HOUSE, HOUSE],
    "another name": [BOX, RENAME, BOX],
    "gone and made again": [BOX, DELETE, BOX, MOVE],
    "materials": [BOX, PAINT, COAT, DELETE],
}


def played(place: Path, story: list[Call], *, at_once: bool) -> list[dict[str, Any]]:
    """The answers to a story, settled after each call or all at the end, without their times."""
    stage = Stage(place)
    stepper = Stepper(stage.state, tools(), place)
    begun: list[StepAnswer | StepRun] = []
    for tool, raw in story:
        args, findings, _ = validate_arguments(tools()[tool], raw)
        assert not findings
        step = stepper.begin(cast("StepRequest", {"tool": tool, "version": tools()[tool].version, "args": args}))
        begun.append(step.finish() if at_once and isinstance(step, StepRun) else step)
    answers = [step.finish() if isinstance(step, StepRun) else step for step in begun]
    assert stage.state.root() == stage.state.full_root()
    return [{key: value for key, value in answer.items() if not key.endswith("_ms")} for answer in answers]


@pytest.mark.parametrize("name", STORIES)
def test_answers_are_the_same_at_once_and_later(name: str, tmp_path: Path) -> None:
    story = STORIES[name]
    assert played(tmp_path, story, at_once=False) == played(tmp_path, story, at_once=True)


def test_a_kept_step_waits_until_somebody_asks(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stepper = Stepper(stage.state, tools(), tmp_path)
    args, _, _ = validate_arguments(tools()[BOX[0]], BOX[1])
    step = stepper.begin({"tool": BOX[0], "version": 1, "args": args})
    assert isinstance(step, StepRun)
    assert stage.state.fingerprint.get(("objects", "Box")) is None, "it is not hashed yet"
    assert stage.state.leaf_hash(("objects", "Box")) is not None, "and is when it matters"
    assert step.finish()["ok"]


def test_a_step_that_cannot_be_hashed_is_a_failed_one_that_the_core_must_rebuild(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path)
    stepper = Stepper(stage.state, tools(), tmp_path)
    args, _, _ = validate_arguments(tools()[BOX[0]], BOX[1])
    step = stepper.begin({"tool": BOX[0], "version": 1, "args": args})
    assert isinstance(step, StepRun)

    def unreadable(*_: object) -> bytes:
        raise ReferenceError("on purpose")

    with monkeypatch.context() as broken:
        broken.setattr("blendwright.blender.fingerprint.leaf", unreadable)
        broken.setattr("blendwright.blender.fingerprint.leaves", unreadable)
        answer = step.finish()
    assert (answer["ok"], answer["reverted_by"]) == (False, "failed")


def test_of_steps_that_wait_together_only_the_one_that_cannot_be_hashed_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path)
    stepper = Stepper(stage.state, tools(), tmp_path)
    begun: list[StepRun] = []
    for tool, raw in (BOX, BALL, YARD):
        args, _, _ = validate_arguments(tools()[tool], raw)
        step = stepper.begin(cast("StepRequest", {"tool": tool, "version": tools()[tool].version, "args": args}))
        assert isinstance(step, StepRun)
        begun.append(step)
    readable = fp.leaf

    def leaf(block: Any) -> bytes:
        if block.name == "Ball":
            raise ReferenceError("on purpose")
        return readable(block)

    def leaves(blocks: list[Any], _grouped: object) -> list[bytes]:
        return [leaf(block) for block in blocks]

    with monkeypatch.context() as broken:
        broken.setattr(fp, "leaf", leaf)
        broken.setattr(fp, "leaves", leaves)
        answers = [step.finish() for step in begun]
    assert [(answer["ok"], answer["reverted_by"]) for answer in answers] == [
        (True, None),
        (False, "failed"),
        (True, None),
    ]
