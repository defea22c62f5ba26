"""Every repair plan, applied to its plan, on a real worker: what comes out runs, or the payload says that nothing of the kind will.

Where a person's yes is all that is missing, the plan runs once it is given."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from blendwright.dialects import operations
from blendwright.values.plan import SOUND, Operation, Plan
from blendwright.values.report import Repair
from engine.repair_cases import CASES, Case, attempt, plan_of
from plan.repairing import repaired
from support.engine.engine import UNASKED, Engine

pytestmark = pytest.mark.usefixtures("checked")


def in_place(engine: Engine, value: Any, id: str = "") -> Any:
    """The value with PLACE and ID filled in."""
    if isinstance(value, dict):
        return {key: in_place(engine, inner, id) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value.replace("PLACE", str(engine.place)).replace("ID", id) if isinstance(value, str) else value


def applied(engine: Engine, case: Case, plan: Plan, repair: tuple[Repair, ...]) -> Plan:
    def replacement(operation: Operation) -> Operation:
        new = in_place(engine, case.replacement, operation.id)
        return replace(
            operation,
            id=new.get("operation_id", operation.id),
            tool=new.get("tool_name", operation.tool),
            args=new.get("args", operation.args),
            safety_level=new.get("safety_level", operation.safety_level),
            unsound=SOUND,
        )

    def precondition(id: str) -> Operation:
        new = case.precondition
        return Operation(id, new["tool_name"], new["args"], (), new["safety_level"], 99, f"/operations/{id}")

    return repaired(plan, repair, replacement, precondition)


@pytest.mark.proves("OPS-FAIL-05")
@pytest.mark.parametrize("name", CASES)
def test_a_repaired_plan_runs_or_the_payload_says_that_there_is_no_repair(engine: Engine, name: str) -> None:
    case = CASES[name]
    case.prepare(engine)
    with engine.under(case.policy or UNASKED, case.proposal) if case.policy or case.proposal else nullcontext():
        plan = plan_of(name, in_place(engine, {"listed": case.listed})["listed"], **case.document)
        plan = replace(plan, operations=tuple(replace(one, args=in_place(engine, one.args)) for one in plan.operations))
        payload = operations.render(attempt(engine, plan, **case.options(engine)))
        assert payload["error_code"] == case.code, payload
        repair = tuple(Repair(entry["operation_id"], entry["action"]) for entry in payload["minimal_repair_plan"])
        assert payload["recoverable"] is (case.outcome is not None), payload
        assert [(entry.operation_id, entry.action) for entry in repair] == (case.outcome or []), payload
        if case.outcome is None:
            return
        case.person(engine)
        report = attempt(engine, applied(engine, case, plan, repair))
        assert report.ok, operations.render(report)
        lost = {one.id for one in plan.operations} - {one.operation_id for one in report.operations}
        assert len(lost) <= sum(action in ("drop", "replace_args") for _, action in case.outcome)
