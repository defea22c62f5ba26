"""Operations that call macros become the chains of operations that these stand for. What is in a macro is not known further on.

A macro called by `op` becomes `op.001`, `op.002` …: the first waits for what `op` waits for, each for the one before, and whoever
waits for `op` waits for the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from blendwright.macros import Macro
from blendwright.macros.expansion import Call, expand
from blendwright.plan.graph import MACRO_STEP_ID
from blendwright.policy.refusals import refusal
from blendwright.tool_api.promises import SafetyLevel
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, cut
from blendwright.values.plan import Operation, Origin, Plan


def expand_macros(plan: Plan, macros: Mapping[str, Macro], most: int) -> tuple[Plan, tuple[Finding, ...]]:
    """Every macro of a plan expanded, until there are more than `most` operations: the plan is refused then, whatever follows.

    A call that has findings is left as it is."""
    count = len(plan.operations)
    if count > most:
        return plan, ()
    findings: list[Finding] = []
    chains: dict[int, list[Operation]] = {}
    ends: dict[str, str] = {}
    existing_ids = {operation.id for operation in plan.operations}
    for index, operation in enumerate(plan.operations):
        macro = macros.get(operation.tool)
        if macro is None or "args" in operation.unsound:
            continue
        calls, wrong_inputs = expand(macro, operation.args, macros)
        findings += [finding.under(operation.pointer + operation.places.args) for finding in wrong_inputs]
        if calls:
            chains[index] = list(_chain(operation, macro, calls))
            ends.setdefault(operation.id, chains[index][-1].id)
            findings += _collisions(operation, chains[index], existing_ids)
            count += len(calls) - 1
            if count > most:
                break
    findings += _waits_for_inner_steps(plan, chains, existing_ids)
    return replace(plan, operations=tuple(_joined(plan, chains, ends)), written=plan.operations), tuple(findings)


def _chain(operation: Operation, macro: Macro, calls: tuple[Call, ...]) -> Iterator[Operation]:
    declared = operation.safety_level
    if declared is not None and SafetyLevel(declared).rank > macro.safety_level.rank:
        higher = declared
    else:
        higher = None
    waits_for = operation.depends_on
    for number, call in enumerate(calls, start=1):
        origin = Origin(
            operation.id,
            macro.name,
            macro.version,
            operation.position,
            declared or macro.safety_level.value,
            number,
            len(calls),
            call.title,
            call.sources,
            None if call.group is None else f"{operation.id} {call.group}",
        )
        id = f"{operation.id}.{number:03d}"
        yield Operation(
            id, call.tool, call.args, waits_for, higher, operation.position, operation.pointer, operation.places,
            origin=origin, site=operation.site,
        )  # fmt: skip
        waits_for = (id,)


def _collisions(operation: Operation, chain: list[Operation], existing_ids: set[str]) -> Iterator[Finding]:
    for step in chain:
        if step.id in existing_ids:
            message = (
                f"'{cut(operation.id)}' calls a macro, whose steps go by ids like '{cut(step.id)}', which is taken"
            )
            yield refusal(MACRO_STEP_ID, message, operation.pointer + operation.places.id)
            return


def _waits_for_inner_steps(
    plan: Plan, chains: Mapping[int, list[Operation]], existing_ids: set[str]
) -> Iterator[Finding]:
    """Whoever waits for a step of a macro instead of the macro: an operation with that id cannot be added either."""
    inside = {step.id: step.caller_id for chain in chains.values() for step in chain}
    for operation in plan.operations:
        for index, id in enumerate(operation.depends_on):
            if id in inside and id not in existing_ids:
                macro = cut(inside[id])
                message = (
                    f"'{cut(operation.id)}' waits for '{cut(id)}', which is a step of the macro that '{macro}' calls"
                )
                pointer = f"{operation.pointer}{operation.places.depends_on}/{index}"
                yield Finding(Fault.DEPENDENCY_MISSING, message, pointer, f"Wait for '{macro}'.", MACRO_STEP_ID)


def _joined(plan: Plan, chains: Mapping[int, list[Operation]], ends: Mapping[str, str]) -> Iterator[Operation]:
    for index, operation in enumerate(plan.operations):
        for one in chains.get(index, [operation]):
            if any(id in ends for id in one.depends_on):
                one = replace(one, depends_on=tuple(ends.get(id, id) for id in one.depends_on))
            yield one
