"""A bulk inside Blender: answers to each step, up to a failure or to where it took long, and an epoch that is closed then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from blendwright.blender.scene import SceneState
from blendwright.blender.worker import handlers
from blendwright.blender.worker.conversation import Refused
from blendwright.blender.worker.handlers import SceneMethods
from blendwright.tools.catalog import tools
from blendwright.wire import methods
from blendwright.wire.methods import StepRequest


@pytest.fixture
def scene(tmp_path: Path) -> SceneMethods:
    state = SceneState()
    state.reset()
    return SceneMethods(tmp_path, tools(), state)


def cube(name: str, kind: str = "cube") -> StepRequest:
    tool = tools()["mesh.create_primitive"]
    return {"tool": tool.name, "version": tool.version, "args": {"kind": kind, "name": name}}


def bulk(scene: SceneMethods, *names: str, epoch: int = 1) -> list[Any]:
    answer = scene.bulk({"steps": [cube(name) for name in names], "epoch": epoch})
    assert methods.BULK.answer_fits(answer)
    return answer["answers"]


def test_every_step_of_a_bulk_is_answered_with_its_own_hashes(scene: SceneMethods) -> None:
    together = bulk(scene, "a", "b", "c")
    whole = scene.hash({"full": True})["hash"]
    scene.reset({})
    one_by_one: list[Any] = []
    for name in "abc":
        answer = scene.step({**cube(name), "prompt": True})
        assert isinstance(answer, dict)
        one_by_one.append(answer)
    parts = ("ok", "before", "after", "changes", "result", "reverted_by")
    assert [[one[part] for part in parts] for one in together] == [[one[part] for part in parts] for one in one_by_one]
    assert whole == together[-1]["after"] and together[0]["after"] == together[1]["before"]


def test_a_bulk_ends_with_the_step_that_failed_and_its_epoch_is_closed(scene: SceneMethods) -> None:
    answers = bulk(scene, "a", "b", "a", "c")
    # The third finds an equal cube of its name, and leaves it alone; another shape under that name is refused.
    assert [one["ok"] for one in answers] == [True] * 4 and answers[2]["before"] == answers[2]["after"]
    sphere = cube("a", "uv_sphere")
    answer = scene.bulk({"steps": [cube("d"), sphere, cube("e")], "epoch": 1})
    assert [one["ok"] for one in answer["answers"]] == [True, False]
    assert scene.hash({"full": True})["hash"] == answer["answers"][0]["after"] == answer["answers"][1]["after"]
    with pytest.raises(Refused, match="epoch 1"):
        bulk(scene, "e")
    assert bulk(scene, "e", epoch=2)[0]["ok"]


def test_a_bulk_that_takes_long_leaves_the_rest_over(scene: SceneMethods, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handlers, "MAX_BULK_SECONDS", 0.0)
    [answer] = bulk(scene, "a", "b", "c")
    assert answer["ok"] and scene.hash({"full": True})["hash"] == answer["after"]
    with pytest.raises(Refused, match="epoch 1"):
        bulk(scene, "b")


@pytest.mark.parametrize("answers", [[], [{}], "none", [{"ok": False}], None])
def test_what_is_no_answer_to_a_bulk_is_not_taken_for_one(answers: Any) -> None:
    assert not methods.BULK.answer_fits({"answers": answers})
    assert not methods.BULK.answer_fits(answers)


def test_nothing_follows_a_failure_in_the_answer_to_a_bulk(scene: SceneMethods) -> None:
    kept = bulk(scene, "a")[0]
    sphere = cube("a", "uv_sphere")
    failed = scene.bulk({"steps": [sphere], "epoch": 1})["answers"][0]
    assert methods.BULK.answer_fits({"answers": [kept, failed]})
    assert not methods.BULK.answer_fits({"answers": [failed, kept]})
