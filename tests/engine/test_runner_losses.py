"""Plans that are cut short on a real worker: by deadlines, by a person, by the death of the worker."""

from __future__ import annotations

import os
import signal
from time import monotonic

import pytest

from blendwright.dialects import operations, steps
from blendwright.policy.policy import Constraints, Policy
from blendwright.util.cancel import CancelToken
from blendwright.values.faults import Fault
from blendwright.values.report import OperationReport
from support.engine.engine import Engine
from support.plans.documents import box, step
from support.plans.named_plans import plan_of, statuses, steps_of, trial_step

pytestmark = pytest.mark.usefixtures("checked")


def enough_for(engine: Engine, operations: int, request: str) -> float:
    """Seconds in which this many ordinary operations end, however busy the machine is: ten times what they took it just now."""
    began = monotonic()
    assert engine.run(steps_of(f"before {request}", *(step(f"s{number}") for number in range(operations)))).ok
    return 0.5 + 10 * (monotonic() - began)


def test_an_operation_past_its_deadline_fails_and_independent_ones_go_on(engine: Engine) -> None:
    plan = steps_of("late", step("a"), trial_step("b", "run_away"), step("c", "b"), step("d"))
    seconds = enough_for(engine, 3, "late")
    with engine.under(Policy(constraints=Constraints(call_seconds=seconds))):
        report = engine.run(plan)
    assert statuses(report) == {"a": "succeeded", "b": "failed", "c": "skipped", "d": "succeeded"}
    assert report.operations[1].fault is Fault.TOOL_TIMEOUT


@pytest.mark.proves("EXEC-TIME-05")
def test_a_run_past_its_deadline_ends_and_what_was_done_stands(engine: Engine) -> None:
    plan = steps_of("over", step("a"), trial_step("b", "run_away"), step("c"))
    report = engine.run(plan, timeout=enough_for(engine, 3, "over"))
    assert statuses(report) == {"a": "succeeded", "b": "failed", "c": "skipped"}
    assert report.operations[1].fault is Fault.TOOL_TIMEOUT
    assert engine.head().operation_id == "a"


def test_a_cancelled_run_keeps_what_was_answered_and_says_what_stands(engine: Engine) -> None:
    token = CancelToken()

    def progress(report: OperationReport) -> None:
        if report.operation_id == "a":
            token.cancel()

    plan = steps_of("cancelled", step("a"), trial_step("b", "run_away"), step("c"))
    report = engine.run(plan, cancel=token, progress=progress)
    assert statuses(report) == {"a": "succeeded", "b": "skipped", "c": "skipped"}
    assert report.status == "partial" and report.operations[1].fault is Fault.CANCELLED
    result = steps.render(report)
    assert result is not None and result[-1]["task_status"] == "PARTIAL"
    assert engine.head().operation_id == "a"
    done = engine.run(steps_of("cancelled", step("a"), step("c")))
    assert statuses(done) == {"a": "skipped_idempotent", "c": "succeeded"}


def test_a_run_that_is_cancelled_before_it_begins_does_nothing(engine: Engine) -> None:
    head, token = engine.head(), CancelToken()
    token.cancel()
    report = engine.run(plan_of("never", box("a"), box("b")), cancel=token)
    assert statuses(report) == {"a": "skipped", "b": "skipped"}
    assert operations.render(report)["error_code"] == "CANCELLED"
    assert engine.head() == head


@pytest.mark.parametrize("at", [0, 100, *(pytest.param(at, marks=pytest.mark.slow) for at in (1, 40, 199))])
def test_a_worker_killed_in_the_middle_loses_nothing_that_was_answered(engine: Engine, at: int) -> None:
    listed = [step(f"s{number:03d}") for number in range(200)]
    seen: list[OperationReport] = []

    def progress(report: OperationReport) -> None:
        seen.append(report)
        if len(seen) == at + 1:
            os.kill(engine.scene.worker().profile.pid, signal.SIGKILL)

    report = engine.run(steps_of(f"killed-{at}", *listed), progress=progress)
    acknowledged = [operation.operation_id for operation in seen if operation.status == "succeeded"]
    assert [operation.operation_id for operation in report.operations if operation.done] == acknowledged
    lost = [operation for operation in report.operations if not operation.done]
    assert len(lost) <= 1 and all(operation.fault is Fault.WORKER_LOST for operation in lost)
    again = engine.run(steps_of(f"killed-{at}", *listed))
    assert again.ok
    assert [operation.operation_id for operation in again.operations if operation.status == "succeeded"] == [
        operation.operation_id for operation in lost
    ]
    engine.kill_worker()  # after the last operation nobody had a reason to notice the death of the one before


@pytest.mark.parametrize(
    ("how", "fault"),
    [("crash", Fault.WORKER_LOST), pytest.param("run_away", Fault.TOOL_TIMEOUT, marks=pytest.mark.slow)],
)
def test_the_one_that_ends_its_worker_is_found_among_many(engine: Engine, how: str, fault: Fault) -> None:
    listed = [step(f"s{number:03d}") for number in range(200)]
    listed[120] = trial_step("s120", how)
    # Of those that are sent together, as many are waited for as a bulk has.
    seconds = enough_for(engine, 32, f"found-{how}")
    with engine.under(Policy(constraints=Constraints(call_seconds=seconds))):
        report = engine.run(steps_of(f"found-{how}", *listed))
    failed = {operation.operation_id: operation.fault for operation in report.operations if not operation.done}
    assert failed == {"s120": fault}
