"""What is told of work that was broken off: what code had printed, what stands, what was taken back, and when the answer comes."""

from __future__ import annotations

import time
from typing import Any

import pytest

from blendwright.dialects.envelopes import core_envelope, plan_outcome, result_envelope
from blendwright.policy.policy import Policy, Rules
from blendwright.values.approval import ApprovalAnswer, Approver
from blendwright.values.faults import Fault
from blendwright.values.outcome import Outcome
from support.engine.engine import Engine
from support.engine.people import Person
from support.plans.documents import box, of_operations

TRUSTING = Policy(policy=Rules(trusted_python="ask"))
LATE = "import bpy\nprint('begun')\nbpy.data.objects.new('Half', None)\nprint('half done')\nwhile True: pass\n"


ENGINE_CALLS = (("mesh.create_primitive", {"kind": "cube", "name": "Crate"}),)


def partial_work(outcome: Outcome) -> dict[str, Any]:
    """As both envelopes have it."""
    assert outcome.fault is Fault.TOOL_TIMEOUT, (outcome.fault, outcome.message)
    result, core = result_envelope(outcome), core_envelope(outcome)
    assert core.error is not None and result.error_code == core.error.code == "timeout"
    assert result.details["partial_work"] == core.error.details["partial_work"]
    return result.details["partial_work"]


@pytest.mark.proves("CORE-TIME-01")
@pytest.mark.parametrize("mode", ["safe", pytest.param("trusted", marks=pytest.mark.slow)])
def test_code_past_its_time_tells_what_it_had_printed_and_that_nothing_of_it_stands(engine: Engine, mode: str) -> None:
    before = engine.scene.hash
    with engine.under(TRUSTING):
        approver = Approver(Person(ApprovalAnswer.APPROVED))
        args = {"code": LATE, "mode": mode, "timeout_ms": 1000}
        work = partial_work(engine.call("python.run", args, approver=approver))
    assert (work["kept"], work["printed"], work["deadline_seconds"]) == ([], "begun\nhalf done\n", 1.0)
    assert work["scene"].startswith("as before the call; ")
    assert engine.full_hash() == before


def test_what_late_code_prints_is_bounded_and_tells_no_paths(engine: Engine) -> None:
    code = "import bpy\nprint(bpy.data.filepath)\nwhile True: print('x' * 999)"
    printed = partial_work(engine.call("python.run", {"code": code, "timeout_ms": 1000}))["printed"]
    assert len(printed) <= 65_536 and "xxx" in printed
    assert str(engine.place) not in printed


def test_a_plan_that_runs_out_of_time_names_what_stands_and_what_was_begun(engine: Engine) -> None:
    late = box("b", "a", tool_name="python.run", args={"code": LATE, "timeout_ms": 1000})
    report = engine.run(of_operations(box("a"), late, box("c", "b"), request_id="late"))
    begun = report.operations[1].partial_work
    assert begun is not None and begun["printed"] == "begun\nhalf done\n"
    assert report.to_json()["operations"][1]["partial_work"] == begun
    assert [one.partial_work for one in report.operations if one.operation_id != "b"] == [None, None]
    work = partial_work(plan_outcome("plan_execute", report, {}))
    assert (work["kept"], work["failed"], work["begun"]) == (["a"], ["b"], {"b": begun})
    assert work["totals"]["not_run"] == 1


SOONEST = {
    "a tool that does not end": ("trial.misbehave", {"how": "run_away", "name": "Late"}),
    "code that does not end": ("python.run", {"code": LATE, "timeout_ms": 60_000}),
}


@pytest.mark.slow
@pytest.mark.proves("EXEC-TIME-01")
@pytest.mark.parametrize("what", SOONEST)
def test_a_deadline_is_answered_within_half_a_second(engine: Engine, what: str) -> None:
    name, args = SOONEST[what]
    engine.full_hash()
    late: list[float] = []
    for _ in range(3):
        began = time.perf_counter()
        outcome = engine.call(name, args, timeout=2.0)
        late.append(time.perf_counter() - began - 2.0)
        assert outcome.fault is Fault.TOOL_TIMEOUT
        engine.full_hash()
    assert min(late) < 0.5, late
