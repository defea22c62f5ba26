"""The report of a plan that was refused before anything ran, and the smallest change after which it can run.

Applied, the plan is executable; with any entry left out it is not. Each fault is cured by its own action:

    drop                  takes the operation out, and its id out of every list of dependencies; where several operations have
                          the id, the first of them stays. Nothing that others wait for is dropped, unless it waits for them too
    replace_args          may change every field of the operation except its id. One that has no usable id, or whose id stands for
                          other work in the journal, is given a new one
    insert_precondition   adds an operation that this one waits for: what it names and the plan does not have, or what it found missing
    retry                 leaves the plan as it is: where a person must allow something, it runs once that is done

An operation without a usable id goes by its pointer in the document. What is wrong outside of all operations, and what only a person
can settle, no change of operations cures: then there is no repair at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set

from blendwright.plan.graph import MACRO_STEP_ID, Graph, Owners, cycles, read_graph, run_order
from blendwright.plan.implied_order import CYCLE
from blendwright.values.faults import RENDERINGS, Fault
from blendwright.values.findings import Finding, sentence
from blendwright.values.plan import Operation, Plan
from blendwright.values.report import Action, OperationReport, Repair, RunReport

# Read from the operations themselves: findings may be cut short, and a drop takes cycles and dependencies along with it.
READ_FROM_THE_PLAN = frozenset({Fault.SCHEMA_INVALID, Fault.GRAPH_CYCLE, Fault.DEPENDENCY_MISSING})
# What cures a finding of a rule, where that is not the action of its fault; None where nothing in the plan does.
ACTIONS_BY_RULE: dict[str, Action | None] = {
    "approval_missing": "retry",
    "approval_outdated": "retry",
    "preview_unasked": "retry",
    "trusted_python": "replace_args",
    "trusted_unasked": "replace_args",
    "tool_misspelt": "replace_args",
    "outside_scene": "replace_args",
    "run_seconds": "retry",
    "killed_from_outside": "retry",
    "effect_unknown": None,
}


def minimal_repair(plan: Plan, findings: Iterable[Finding]) -> tuple[Repair, ...]:
    """The entries in the order of the document; none where something leaves no way to go on with this plan."""
    findings = tuple(findings)
    plan = plan.as_written()
    owners = Owners(plan)
    if any(owners.of(finding.pointer) is None or _action(finding) is None for finding in findings):
        return ()
    graph = read_graph(plan.operations)
    actions_by_node = _own_actions(plan, findings)
    dropped, rewritten = _drops(graph, actions_by_node)
    unfit = {finding.pointer for finding in findings if finding.rule == MACRO_STEP_ID}
    inserting = _insertions(graph, dropped, unfit)
    entries: list[Repair] = []
    for node, operation in enumerate(graph.operations):
        actions = actions_by_node[node]
        if node in dropped:
            entries.append(Repair(operation.id, "drop"))
            continue
        if node in rewritten or "replace_args" in actions:
            entries.append(Repair(operation.id, "replace_args"))
        if node in inserting or "insert_precondition" in actions:
            entries.append(Repair(operation.id, "insert_precondition"))
        elif actions == {"retry"} and node not in rewritten:
            entries.append(Repair(operation.id, "retry"))
    # An id that is given three times is dropped twice by one entry.
    return tuple(dict.fromkeys(entries))


def _own_actions(plan: Plan, findings: Sequence[Finding]) -> list[set[str]]:
    """What each operation's own faults ask for, without regard to the others."""
    actions_by_node: list[set[str]] = [set() for _ in plan.operations]
    nodes = {operation.pointer: node for node, operation in enumerate(plan.operations)}
    for node, operation in enumerate(plan.operations):
        if operation.unsound:
            actions_by_node[node].add("drop" if "id" in operation.unsound else "replace_args")
    owners = Owners(plan)
    for finding in findings:
        owner = owners.of(finding.pointer)
        # An operation that has no id in the document was added to it by its dialect: there is nothing to change in it.
        if owner is None or not owner.places.id:
            continue
        action = _action(finding)
        if finding.rule == MACRO_STEP_ID:
            # No id can be changed: the macro goes. Whoever waits for a step of one must wait for something else.
            if finding.fault is Fault.SCHEMA_INVALID:
                action = "drop"
            else:
                action = "replace_args"
        elif finding.rule == CYCLE:
            action = "replace_args"  # what names call for is no dependency that the operations state
        elif finding.fault in READ_FROM_THE_PLAN:
            continue
        elif finding.fault is Fault.POLICY_BLOCKED and _concerns_one_field(finding, owner):
            action = "replace_args"
        if action is not None:
            actions_by_node[nodes[owner.pointer]].add(action)
    return actions_by_node


def _action(finding: Finding) -> str | None:
    return ACTIONS_BY_RULE.get(finding.rule or "", RENDERINGS[finding.fault].repair)


def _concerns_one_field(finding: Finding, owner: Operation) -> bool:
    """Whether another argument, or a higher level, would do; where a dialect has no field for the level, nothing can be declared."""
    declared = bool(owner.places.safety_level) and finding.pointer == owner.pointer + owner.places.safety_level
    return declared or finding.pointer.startswith(f"{owner.pointer}{owner.places.args}/")


def _drops(graph: Graph, actions_by_node: list[set[str]]) -> tuple[set[int], set[int]]:
    """Which operations go, and which would have to but cannot and are rewritten instead: a plan has at least one operation, a drop
    leaves the first of those that share an id, and what others wait for is needed."""
    repeated = {graph.operations[node].id for node in graph.repeats}
    dropped = set(graph.repeats)
    staying = {node for node, operation in enumerate(graph.operations) if operation.id in repeated} - dropped
    going = {node for node, actions in enumerate(actions_by_node) if "drop" in actions}
    if going:
        in_cycles = {node for cycle in cycles(graph) for node in cycle}
    else:
        in_cycles = set[int]()
    needed = {node for node in going - in_cycles if not going.issuperset(graph.waited_by[node])}
    rewritten = going & (staying | needed)
    dropped |= going - rewritten
    for cycle in cycles(graph, dropped, staying):
        (rewritten if cycle[0] in staying else dropped).add(cycle[0])
    if dropped and len(dropped) == len(graph.operations):
        dropped.remove(0)
        rewritten.add(0)
    return dropped, rewritten


def _insertions(graph: Graph, dropped: set[int], unfit: Set[str]) -> set[int]:
    """Operations whose missing dependencies, added, are all that is missing; none of them can be spared. `unfit` are the
    places of those that cannot be added."""
    needs: dict[int, set[str]] = {}
    for missing in graph.missing:
        operation = graph.operations[missing.node]
        pointer = f"{operation.pointer}{operation.places.depends_on}/{missing.index}"
        if missing.node not in dropped and pointer not in unfit:
            needs.setdefault(missing.node, set()).add(missing.id)
    providers = Counter(id for ids in needs.values() for id in ids)
    # From the back, so that of several operations that need the same thing the first one is named.
    for node in sorted(needs, reverse=True):
        if all(providers[id] > 1 for id in needs[node]):
            providers.subtract(needs.pop(node))
    return set(needs)


def refused(plan: Plan, findings: Sequence[Finding]) -> RunReport:
    """Operations in schedule order as far as there is one, those in cycles behind; each with what is wrong with it."""
    plan = plan.as_written()
    owners = Owners(plan)
    of_operations: dict[str, list[Finding]] = {}
    of_the_plan: list[Finding] = []
    for finding in findings:
        owner = owners.of(finding.pointer)
        (of_the_plan if owner is None else of_operations.setdefault(owner.pointer, [])).append(finding)
    graph = read_graph(plan.operations)
    order = run_order(graph, plan.tie_break)
    faulty = {node for node, operation in enumerate(plan.operations) if operation.pointer in of_operations}
    blocked = _blocked(graph, order, faulty)
    scheduled = set(order)
    rest = sorted((node for node in range(len(plan.operations)) if node not in scheduled), key=lambda node: (
        plan.operations[node].id if plan.tie_break == "id" else "", node))  # fmt: skip
    reports: list[OperationReport] = []
    for node in [*order, *rest]:
        operation = plan.operations[node]
        own = tuple(of_operations.get(operation.pointer, ()))
        reports.append(
            OperationReport(
                operation.id,
                operation.tool,
                "refused" if own else "skipped",
                operation.position,
                safety_level=operation.safety_level,
                fault=own[0].fault if own else None,
                message=sentence(own) or _reason(blocked, node),
                findings=own,
                blocked=node in blocked,
            )
        )
    repair = minimal_repair(plan, findings)
    return RunReport(
        plan.dialect,
        plan.request_id,
        "refused",
        tuple(reports),
        findings=tuple(of_the_plan),
        repair=repair,
        boundary=plan.boundary,
        remarks=plan.remarks,
    )


def _blocked(graph: Graph, order: Sequence[int], faulty: set[int]) -> set[int]:
    """What waits for something that is missing, in a cycle or refused itself, directly or through others."""
    blocked = {missing.node for missing in graph.missing} | (set(range(len(graph.operations))) - set(order))
    for node in order:
        if any(other in blocked or other in faulty for other in graph.waits_for[node]):
            blocked.add(node)
    return blocked


def _reason(blocked: set[int], node: int) -> str:
    if node in blocked:
        return "waits for what cannot run"
    return "nothing runs while the plan is refused"
