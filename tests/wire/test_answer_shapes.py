"""What a worker may answer to a step: the fields that its readers go by, and nothing that they would stumble over."""

from __future__ import annotations

from typing import Any

import pytest

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire.answer_shapes import STEP, fits
from blendwright.wire.step import StepAnswer

KEPT: dict[str, Any] = {
    "ok": True, "fault": None, "message": "", "findings": [], "result": {"name": "Box"},
    "changes": [["objects", "Box", "created"], ["edge", "Scene", "Box", "created"]], "before": "a", "after": "b",
    "reverted_by": None, "artifacts": ["preview.png"], "plan_ms": 0.1, "execute_ms": 1, "verify_ms": None,
}  # fmt: skip
FINDING = Finding(Fault.ARGS_INVALID, "no", "/name", "Another.").to_json()
FAILED = KEPT | {"ok": False, "fault": "ARGS_INVALID", "findings": [FINDING], "result": None, "reverted_by": "inverse"}


def test_the_shape_names_every_field_of_an_answer() -> None:
    assert STEP.keys() == StepAnswer.__annotations__.keys() - {"unchanged"}, "which the core alone says"


def test_answers_of_steps_fit() -> None:
    assert fits("scene.step", KEPT) and fits("scene.step", FAILED)


ODD: list[Any] = [
    *(KEPT | {name: odd} for name in STEP for odd in (5j, [5])),
    *({name: value for name, value in KEPT.items() if name != left_out} for left_out in STEP),
    KEPT | {"more": 1},
    KEPT | {"ok": 1},
    KEPT | {"ok": False},
    FAILED | {"ok": True},
    FAILED | {"findings": [FINDING | {"code": "NO_SUCH_FAULT"}]},
    FAILED | {"findings": [FINDING | {"message": None}]},
    FAILED | {"findings": [None]},
    KEPT | {"changes": [["objects", "Box"]]},
    KEPT | {"changes": ["abc"]},
    KEPT | {"artifacts": [None]},
    KEPT | {"plan_ms": True},
]


@pytest.mark.parametrize("answer", ODD, ids=ascii)
def test_anything_else_does_not(answer: Any) -> None:
    assert not fits("scene.step", answer)
