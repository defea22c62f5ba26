"""The last compiled plan: when it is used again, and what is never taken for it."""

from __future__ import annotations

from typing import Any

from blendwright.plan.validate import ValidPlan
from blendwright.policy.session_contract import ContractTerms
from blendwright.tools import catalog
from blendwright.values.report import RunReport
from blendwright.workspace.open_scene import Compiler
from support.plans.documents import box


def compiler() -> Compiler:
    return Compiler(catalog.tools(), {}, ContractTerms())


def document(**args: Any) -> dict[str, Any]:
    operation = box("a")
    return {"request_id": "r", "operations": [operation | {"args": operation["args"] | args}]}


def test_the_same_document_is_compiled_once() -> None:
    one = compiler()
    first = one.compile(document(), None, "operation")
    assert isinstance(first, ValidPlan)
    assert one.compile(document(), None, "operation") is first
    assert one.compile(document(), None, "plan") is not first


def test_a_document_that_was_changed_in_place_is_compiled_anew() -> None:
    one, plan = compiler(), document()
    one.compile(plan, None, "operation")
    plan["operations"][0]["args"]["size"] = 3.0
    again = one.compile(plan, None, "operation")
    assert isinstance(again, ValidPlan) and again.plan.operations[0].args["size"] == 3.0


def test_values_that_only_look_equal_are_told_apart() -> None:
    one = compiler()
    assert isinstance(one.compile(document(segments=5), None, "operation"), ValidPlan)
    for other in (True, float("nan"), "5"):
        assert isinstance(one.compile(document(segments=other), None, "operation"), RunReport)
    assert isinstance(one.compile(document(collection=None), None, "operation"), ValidPlan)
    assert isinstance(one.compile(document(collection=float("nan")), None, "operation"), RunReport)
