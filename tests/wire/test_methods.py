"""What requests and answers of a worker's methods may hold: the listed fields, each of its type, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire import methods
from blendwright.wire.methods import ADDED_BY_CORE, METHODS, StepAnswer
from support.suite.in_one_test import in_one_test

KEPT: dict[str, Any] = {
    "ok": True, "fault": None, "message": "", "findings": [], "result": {"name": "Box"},
    "changes": [["objects", "Box", "created"], ["edge", "Scene", "Box", "created"]], "before": "a", "after": "b",
    "reverted_by": None, "artifacts": ["preview.png"], "plan_ms": 0.1, "execute_ms": 1, "verify_ms": None,
}  # fmt: skip
FINDING = Finding(Fault.ARGS_INVALID, "no", "/name", "Another.").to_json()
FAILED = KEPT | {"ok": False, "fault": "ARGS_INVALID", "findings": [FINDING], "result": None, "reverted_by": "inverse"}


FIELDS = tuple(KEPT)
SCRIPT = {"what": "OSL script", "kind": "cameras", "name": "Eye", "where": ""}
ITEM = SCRIPT | {"digest": "d"}
SWAPPED: dict[str, Any] = {"hash": "a", "changes": [["objects", "Box", "created"]], "active_content": [ITEM]}


def test_every_method_is_listed_under_its_name() -> None:
    defined: list[Any] = [each for each in vars(methods).values() if isinstance(each, methods.Method)]
    assert defined == list(METHODS.values())


def test_answers_of_steps_fit() -> None:
    assert KEPT.keys() == StepAnswer.__annotations__.keys() - ADDED_BY_CORE
    assert METHODS["scene.step"].answer_fits(KEPT) and METHODS["scene.step"].answer_fits(FAILED)


ODD: list[Any] = [
    *(KEPT | {name: odd} for name in FIELDS for odd in (5j, [5])),
    *({name: value for name, value in KEPT.items() if name != left_out} for left_out in FIELDS),
    KEPT | {"more": 1},
    KEPT | {"unchanged": True},
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


@in_one_test({ascii(answer): answer for answer in ODD})
def test_any_other_answer_of_a_step_does_not_fit(answer: Any) -> None:
    assert not METHODS["scene.step"].answer_fits(answer)


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("scene.open", {"hash": "a"}),
        ("scene.export", {"hash": "a", "cleaned": [SCRIPT]}),
        ("scene.swap", SWAPPED),
        ("scene.external_files", {"paths": [{"kind": "images", "name": "A", "path": "/a.png"}]}),
        ("scene.active_content", {"active_content": []}),
    ],
)
def test_answers_of_other_methods_fit(method: str, answer: Any) -> None:
    assert METHODS[method].answer_fits(answer)


ODD_SWAPS: list[Any] = [
    SWAPPED | {"hash": None},
    SWAPPED | {"changes": [["objects", 5]]},
    SWAPPED | {"changes": ["objects"]},
    SWAPPED | {"active_content": [SCRIPT]},
    SWAPPED | {"active_content": [ITEM | {"digest": 5}]},
    SWAPPED | {"active_content": {}},
    [SWAPPED],
    None,
]


@pytest.mark.parametrize("answer", ODD_SWAPS, ids=ascii)
def test_any_other_answer_of_a_swap_does_not_fit(answer: Any) -> None:
    assert not METHODS["scene.swap"].answer_fits(answer)


REQUEST: dict[str, Any] = {"tool": "scene.find", "version": 1, "args": {"name": "*"}}
ALL_OPTIONS: dict[str, Any] = {
    "call": "c", "files": {"a.png": "/scratch/a.png"}, "verify": True, "rehearse": "inverse", "epoch": 3, "prompt": True,
    "cross_check": True,
}  # fmt: skip


@pytest.mark.parametrize("name", ["none", *ALL_OPTIONS, "all"])
def test_requests_of_steps_fit_with_any_of_their_options(name: str) -> None:
    options = ALL_OPTIONS if name == "all" else {key: value for key, value in ALL_OPTIONS.items() if key == name}
    assert methods.STEP.request_fits(REQUEST | options)


@pytest.mark.parametrize(
    "request_",
    [
        *({key: value for key, value in REQUEST.items() if key != left_out} for left_out in REQUEST),
        *(REQUEST | {name: odd} for name in REQUEST | ALL_OPTIONS for odd in (None, [5])),
        REQUEST | {"version": True},
        REQUEST | {"epoch": 1.5},
        REQUEST | {"files": {"a": 5}},
        REQUEST | {"unknown": 1},
        None,
    ],
    ids=ascii,
)
def test_any_other_request_of_a_step_does_not_fit(request_: Any) -> None:
    assert not methods.STEP.request_fits(request_)
