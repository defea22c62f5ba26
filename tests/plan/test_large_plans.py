"""Plans of ten thousand operations, of every awkward shape: understood or refused as a whole, in bounded time, without recursion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from blendwright.plan.repair import refused
from blendwright.plan.validate import ValidPlan
from blendwright.values.faults import Fault
from support.plans.documents import checked, of_operations

MANY = 10_000


def operation(number: int, *waits_for: int, **fields: Any) -> dict[str, Any]:
    return {
        "operation_id": f"o{number:05d}",
        "tool_name": "object.create_empty",
        "args": {"name": f"Empty {number}"},
        "depends_on": [f"o{other:05d}" for other in waits_for],
        "safety_level": "safe_write",
    } | fields


# The operation of each number; plans are made of them when their test runs, and not when it is collected.
Operation = Callable[[int], dict[str, Any]]
SOUND: dict[str, Operation] = {
    "one after the other": lambda n: operation(n, *([n - 1] if n else [])),
    "each before the one above it": lambda n: operation(n, *([n + 1] if n < MANY - 1 else [])),
    "one that waits for all": lambda n: operation(n, *range(MANY - 1 if n == MANY - 1 else 0)),
}
UNSOUND: dict[str, tuple[Operation, Fault, int]] = {
    "one circle": (lambda n: operation(n, (n - 1) % MANY), Fault.GRAPH_CYCLE, 1),
    "circles of two": (lambda n: operation(n, n ^ 1), Fault.GRAPH_CYCLE, MANY // 2),
    "nothing there to wait for": (lambda n: operation(n, MANY + n), Fault.DEPENDENCY_MISSING, MANY),
    "no such tool": (lambda n: operation(n, tool_name="nope"), Fault.TOOL_NOT_ALLOWED, MANY),
    "all of one name": (lambda n: operation(0), Fault.SCHEMA_INVALID, MANY - 1),
}
# The longest chain and circle, and the most findings.
QUICK = {"one after the other", "one circle", "no such tool"}


def shape(name: str, *values: Any) -> Any:
    return pytest.param(*values, id=name, marks=() if name in QUICK else pytest.mark.slow)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("numbered", [shape(name, SOUND[name]) for name in SOUND])
def test_a_sound_plan_is_put_in_order(numbered: Operation) -> None:
    listed = [numbered(n) for n in range(MANY)]
    valid = checked(of_operations(*listed))
    assert isinstance(valid, ValidPlan)
    place = {one.id: at for at, one in enumerate(valid.schedule("catalogue", "hash").order)}
    assert len(place) == MANY
    assert all(place[before] < place[one["operation_id"]] for one in listed for before in one["depends_on"])


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("numbered", "fault", "count"), [shape(name, *UNSOUND[name]) for name in UNSOUND])
def test_an_unsound_plan_is_refused_with_everything_and_a_repair(numbered: Operation, fault: Fault, count: int) -> None:
    plan = of_operations(*map(numbered, range(MANY)))
    found = checked(plan)
    assert not isinstance(found, ValidPlan)
    assert len(found) == count and {finding.fault for finding in found} == {fault}
    assert refused(plan, found).repair
