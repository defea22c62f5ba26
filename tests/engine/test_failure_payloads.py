"""Whatever goes wrong with a plan of operations while it runs, on a real worker, its answer is the failure payload and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from blendwright.dialects import operations
from blendwright.policy.policy import Constraints, Policy
from blendwright.util.cancel import CancelToken
from blendwright.values.faults import Fault
from support.engine.engine import Engine
from support.plans.documents import box
from support.plans.named_plans import plan_of, trial

pytestmark = pytest.mark.usefixtures("checked")

ACTIONS = {"retry", "replace_args", "drop", "insert_precondition"}
NOBODY = {"tool_name": "object.delete", "args": {"name": "Nobody"}, "safety_level": "destructive"}
FAILING: dict[Fault, dict[str, Any]] = {
    Fault.EXECUTION_FAILED: trial("b", "raise", "a"),
    Fault.SCENE_CONFLICT: trial("b", "fail", "a"),
    Fault.VERIFICATION_FAILED: trial("b", "unverified", "a"),
    Fault.INTERNAL_ERROR: trial("b", "undeclared", "a"),
    Fault.WORKER_LOST: trial("b", "crash", "a"),
    Fault.TOOL_TIMEOUT: trial("b", "run_away", "a"),
    Fault.TARGET_NOT_FOUND: box("b", "a", **NOBODY),
}


def is_the_payload(payload: dict[str, Any], fault: Fault) -> None:
    assert set(payload) == {"error_code", "recoverable", "retry_hint", "minimal_repair_plan"}
    assert payload["error_code"] == fault.value
    assert isinstance(payload["recoverable"], bool) and payload["retry_hint"].strip()
    for entry in payload["minimal_repair_plan"]:
        assert set(entry) == {"operation_id", "action"} and entry["action"] in ACTIONS


@pytest.mark.proves("OPS-FAIL-01")
@pytest.mark.parametrize("fault", FAILING)
def test_what_fails_in_blender_is_answered_by_the_payload(engine: Engine, fault: Fault) -> None:
    with (
        engine.under(Policy(constraints=Constraints(call_seconds=1.0)))
        if fault is Fault.TOOL_TIMEOUT
        else engine.under()
    ):
        report = engine.run(plan_of(f"payload-{fault.value}", box("a"), FAILING[fault], box("c")))
    assert not report.ok
    is_the_payload(operations.render(report), fault)


@pytest.mark.proves("OPS-FAIL-01")
def test_what_is_known_before_blender_is_asked_is_answered_by_the_payload_too(engine: Engine) -> None:
    engine.run(plan_of("payload-twice", box("a")))
    conflict = engine.run(plan_of("payload-twice", box("a", args={"kind": "torus", "name": ""})))
    is_the_payload(operations.render(conflict), Fault.IDEMPOTENCY_CONFLICT)
    token = CancelToken()
    token.cancel()
    cancelled = engine.run(plan_of("payload-cancelled", box("a")), cancel=token)
    is_the_payload(operations.render(cancelled), Fault.CANCELLED)
