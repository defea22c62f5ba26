"""Plans of ten thousand operations, of every awkward shape: understood or refused as a whole, in bounded time, without recursion."""

from __future__ import annotations

from typing import Any

import pytest

from blendwright.plan.repair import refused
from blendwright.plan.validate import ValidPlan
from blendwright.values.faults import Fault
from plans import checked, of_operations

MANY = 10_000


def operation(number: int, *waits_for: int, **fields: Any) -> dict[str, Any]:
    return {
        "operation_id": f"o{number:05d}",
        "tool_name": "object.create_empty",
        "args": {"name": f"Empty {number}"},
        "depends_on": [f"o{other:05d}" for other in waits_for],
        "safety_level": "safe_write",
    } | fields


SOUND = {
    "one after the other": [operation(n, *([n - 1] if n else [])) for n in range(MANY)],
    "each before the one above it": [operation(n, *([n + 1] if n < MANY - 1 else [])) for n in range(MANY)],
    "one that waits for all": [*(operation(n) for n in range(MANY - 1)), operation(MANY - 1, *range(MANY - 1))],
}
UNSOUND = {
    "one circle": ([operation(n, (n - 1) % MANY) for n in range(MANY)], Fault.GRAPH_CYCLE, 1),
    "circles of two": ([operation(n, n ^ 1) for n in range(MANY)], Fault.GRAPH_CYCLE, MANY // 2),
    "nothing there to wait for": ([operation(n, MANY + n) for n in range(MANY)], Fault.DEPENDENCY_MISSING, MANY),
    "no such tool": ([operation(n, tool_name="nope") for n in range(MANY)], Fault.TOOL_NOT_ALLOWED, MANY),
    "all of one name": ([operation(0) for _ in range(MANY)], Fault.SCHEMA_INVALID, MANY - 1),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("listed", SOUND.values(), ids=SOUND.keys())
def test_a_sound_plan_is_put_in_order(listed: list[dict[str, Any]]) -> None:
    valid = checked(of_operations(*listed))
    assert isinstance(valid, ValidPlan)
    place = {one.id: at for at, one in enumerate(valid.schedule("catalogue", "hash").order)}
    assert len(place) == MANY
    assert all(place[before] < place[one["operation_id"]] for one in listed for before in one["depends_on"])


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("listed", "fault", "count"), UNSOUND.values(), ids=UNSOUND.keys())
def test_an_unsound_plan_is_refused_with_everything_and_a_repair(
    listed: list[dict[str, Any]], fault: Fault, count: int
) -> None:
    plan = of_operations(*listed)
    found = checked(plan)
    assert not isinstance(found, ValidPlan)
    assert len(found) == count and {finding.fault for finding in found} == {fault}
    assert refused(plan, found).repair
