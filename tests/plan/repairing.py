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
    """The plan with a repair applied, given what to put in the place of operations, and what to add under an id.

    A replacement may have another id: whoever waited for the operation waits for it. Where an operation needs a precondition and the
    plan has all that it waits for, it is given one more thing to wait for."""
    actions: dict[str, set[str]] = {}
    for entry in repair:
        actions.setdefault(entry.operation_id, set()).add(entry.action)
    counts = Counter(operation.id for operation in plan.operations)
    gone = {id for id, asked in actions.items() if "drop" in asked and counts[id] == 1}
    known, seen = set(counts), set[str]()
    kept: list[Operation] = []
    added: dict[str, Operation] = {}
    cured: set[str] = set()
    new_ids: dict[str, str] = {}
    for operation in plan.operations:
        asked = actions.get(operation.id, set())
        if operation.id in gone or ("drop" in asked and operation.id in seen):
            cured.add(operation.pointer)
            continue
        seen.add(operation.id)
        if "insert_precondition" in asked:
            needs = [id for id in operation.depends_on if id not in known] or [f"before.{operation.id}"]
            added |= {id: precondition(id) for id in needs}
            operation = replace(operation, depends_on=tuple(dict.fromkeys([*operation.depends_on, *needs])))
        if "replace_args" in asked:
            cured.add(operation.pointer)
            new = replacement(operation)
            new_ids[operation.id] = new.id
            operation = new
        kept.append(operation)
    kept = [
        replace(one, depends_on=tuple(new_ids.get(id, id) for id in one.depends_on if id not in gone)) for one in kept
    ]
    owners = Owners(plan)
    findings = [(finding, owners.of(finding.pointer)) for finding in plan.findings]
    still = tuple(finding for finding, owner in findings if owner is None or owner.pointer not in cured)
    return replace(plan, operations=(*kept, *added.values()), findings=still)
