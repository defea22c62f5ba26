"""Expansion of macro calls into chains of operations. Later stages do not know macros.

A macro called by `op` becomes `op.001`, `op.002` …: the first waits for the dependencies of `op`, each further one for
the previous one. Operations that wait for `op` wait for the last one.
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
    """Return the plan with all macros expanded, and the findings about their calls.

    Expansion stops after more than `most` operations, because validation then refuses the plan anyway. A call with
    findings stays unexpanded.
    """
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
        for finding in wrong_inputs:
            findings.append(finding.under(operation.pointer + operation.places.args))
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
    higher = None
    if declared is not None and SafetyLevel(declared).rank > macro.safety_level.rank:
        higher = declared
    waits_for = operation.depends_on
    for number, call in enumerate(calls, start=1):
        group = None
        if call.group is not None:
            group = f"{operation.id} {call.group}"
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
            group,
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
    """Yield a finding for each operation that waits for a step of a macro instead of the macro.

    A repair cannot add an operation with that id either.
    """
    inside: dict[str, str] = {}
    for chain in chains.values():
        for step in chain:
            inside[step.id] = step.caller_id
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
    for index, written in enumerate(plan.operations):
        for operation in chains.get(index, [written]):
            if any(id in ends for id in operation.depends_on):
                dependencies = tuple(ends.get(id, id) for id in operation.depends_on)
                operation = replace(operation, depends_on=dependencies)
            yield operation
