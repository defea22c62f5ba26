"""The parts of a run: what is kept or taken back together (the whole plan, or a macro), and what stands for itself between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from blendwright.run.invocation import Invocation
from blendwright.values.plan import Schedule


@dataclass(frozen=True, slots=True)
class Unit:
    """Calls in schedule order. `whole` names the operations that are kept or taken back together, those done before included;
    None where each stands for itself."""

    calls: tuple[Invocation, ...]
    whole: tuple[str, ...] | None


def units(schedule: Schedule, calls: Sequence[Invocation]) -> Iterator[Unit]:
    """The schedule lets nothing come between the operations of a group."""
    if schedule.plan.boundary == "plan":
        yield Unit(tuple(calls), tuple(operation.id for operation in schedule.order))
        return
    groups = {operation.id: operation.origin.group for operation in schedule.order if operation.origin is not None}
    if not groups:
        yield Unit(tuple(calls), None)
        return
    members: dict[str, list[str]] = {}
    for id, group in groups.items():
        if group is not None:
            members.setdefault(group, []).append(id)
    for group, together in groupby(calls, key=lambda call: groups.get(call.operation_id)):
        yield Unit(tuple(together), None if group is None else tuple(members[group]))
