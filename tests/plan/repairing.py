"""What applying a repair means: the proof that minimal ones cure a plan needs it done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from blendwright.plan.graph import Owners
from blendwright.values.plan import Operation, Plan
from blendwright.values.report import Repair


def repaired(
    plan: Plan,
    repair: Iterable[Repair],
    replacement: Callable[[Operation], Operation],
    precondition: Callable[[str], Operation],
) -> Plan:
    """The plan with a repair applied, given what to put in the place of operations, and what to add under an id."""
    actions: dict[str, set[str]] = {}
    for entry in repair:
        actions.setdefault(entry.operation_id, set()).add(entry.action)
    counts = Counter(operation.id for operation in plan.operations)
    gone = {id for id, asked in actions.items() if "drop" in asked and counts[id] == 1}
    known, seen = set(counts), set[str]()
    kept: list[Operation] = []
    added: dict[str, Operation] = {}
    cured: set[str] = set()
    for operation in plan.operations:
        asked = actions.get(operation.id, set())
        if operation.id in gone or ("drop" in asked and operation.id in seen):
            cured.add(operation.pointer)
            continue
        seen.add(operation.id)
        if "replace_args" in asked:
            cured.add(operation.pointer)
            operation = replacement(operation)
        if "insert_precondition" in asked:
            added |= {id: precondition(id) for id in operation.depends_on if id not in known}
        left = tuple(id for id in operation.depends_on if id not in gone)
        kept.append(replace(operation, depends_on=left))
    owners = Owners(plan)
    findings = [(finding, owners.of(finding.pointer)) for finding in plan.findings]
    still = tuple(finding for finding, owner in findings if owner is None or owner.pointer not in cured)
    return replace(plan, operations=(*kept, *added.values()), findings=still)
