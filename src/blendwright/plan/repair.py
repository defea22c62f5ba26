"""The report of a plan that was refused before anything ran, and the smallest repair after which it can run.

With all entries applied, the plan is executable; without any one of them, it is not. Each fault has its own action:

    drop                  removes the operation, and its id from every list of dependencies; where several operations have
                          the id, the first of them stays. No drop removes an operation that a remaining one waits for
    replace_args          may change every field of the operation except its id. An operation without a usable id, or with
                          an id that means other work in the journal, gets a new one
    insert_precondition   adds an operation that this one waits for: a dependency that the plan lacks, or a missing target
    retry                 leaves the plan unchanged: it runs once a person has given the missing permission

An operation without a usable id goes by its pointer in the document. Changes of operations cannot fix findings outside
all operations, or findings that only a person can settle. Then there is no repair at all.
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

# The repair derives these from the operations: the list of findings may be cut, and a drop also removes cycles and dependencies.
READ_FROM_THE_PLAN = frozenset({Fault.SCHEMA_INVALID, Fault.GRAPH_CYCLE, Fault.DEPENDENCY_MISSING})
# The action for a finding of a rule, if it differs from the action of its fault; None if no change of the plan helps.
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
    """Return the entries in the order of the document; empty if no change of operations fixes a finding."""
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
    # If three operations share an id, one entry drops two of them.
    return tuple(dict.fromkeys(entries))


def _own_actions(plan: Plan, findings: Sequence[Finding]) -> list[set[str]]:
    """Return the actions that each operation's own faults require, regardless of the other operations."""
    actions_by_node: list[set[str]] = [set() for _ in plan.operations]
    nodes = {operation.pointer: node for node, operation in enumerate(plan.operations)}
    for node, operation in enumerate(plan.operations):
        if "id" in operation.unsound:
            actions_by_node[node].add("drop")
        elif operation.unsound:
            actions_by_node[node].add("replace_args")

    owners = Owners(plan)
    for finding in findings:
        owner = owners.of(finding.pointer)
        # The dialect added an operation that has no id in the document. The document cannot change it.
        if owner is None or not owner.places.id:
            continue
        action = _action(finding)
        if finding.rule == MACRO_STEP_ID:
            # A repair cannot change ids, so the macro call goes. An operation that waits for a macro's step must change.
            if finding.fault is Fault.SCHEMA_INVALID:
                action = "drop"
            else:
                action = "replace_args"
        elif finding.rule == CYCLE:
            action = "replace_args"  # the operations do not state the dependencies that names imply
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
    """Return True if another argument or a higher declared safety level fixes the finding.

    Dialects without a field for the level cannot declare a higher one.
    """
    declared = bool(owner.places.safety_level) and finding.pointer == owner.pointer + owner.places.safety_level
    return declared or finding.pointer.startswith(f"{owner.pointer}{owner.places.args}/")


def _drops(graph: Graph, actions_by_node: list[set[str]]) -> tuple[set[int], set[int]]:
    """Return the operations to drop, and the operations to rewrite because they must stay.

    A plan keeps at least one operation, a drop leaves the first operation with a repeated id, and an operation that a
    remaining one waits for must stay.
    """
    dropped = set(graph.repeats)
    repeated_ids = {graph.operations[node].id for node in dropped}
    staying: set[int] = set()
    going: set[int] = set()
    for node, operation in enumerate(graph.operations):
        if operation.id in repeated_ids and node not in dropped:
            staying.add(node)
        if "drop" in actions_by_node[node]:
            going.add(node)

    in_cycles: set[int] = set()
    if going:
        in_cycles.update(*cycles(graph))
    needed = {node for node in going - in_cycles if not going.issuperset(graph.waited_by[node])}
    rewritten = going & (staying | needed)
    dropped |= going - rewritten

    for cycle in cycles(graph, dropped, staying):
        if cycle[0] in staying:
            rewritten.add(cycle[0])
        else:
            dropped.add(cycle[0])
    if dropped and len(dropped) == len(graph.operations):
        dropped.remove(0)
        rewritten.add(0)
    return dropped, rewritten


def _insertions(graph: Graph, dropped: set[int], unfit: Set[str]) -> set[int]:
    """Return a smallest set of operations whose missing dependencies, once added, complete the plan.

    `unfit` holds the pointers of dependencies that cannot be added.
    """
    needs: dict[int, set[str]] = {}
    for missing in graph.missing:
        operation = graph.operations[missing.node]
        pointer = f"{operation.pointer}{operation.places.depends_on}/{missing.index}"
        if missing.node not in dropped and pointer not in unfit:
            needs.setdefault(missing.node, set()).add(missing.id)

    providers: Counter[str] = Counter()
    for ids in needs.values():
        providers.update(ids)
    # In reverse order, so that the first of several operations with the same missing dependency stays.
    for node in sorted(needs, reverse=True):
        if all(providers[id] > 1 for id in needs[node]):
            providers.subtract(needs.pop(node))
    return set(needs)


def refused(plan: Plan, findings: Sequence[Finding]) -> RunReport:
    """Return the report of a refused plan: each operation with its findings, in schedule order.

    Operations in cycles have no schedule, so they come last.
    """
    plan = plan.as_written()
    owners = Owners(plan)
    findings_by_pointer: dict[str, list[Finding]] = {}
    plan_findings: list[Finding] = []
    for finding in findings:
        owner = owners.of(finding.pointer)
        if owner is None:
            plan_findings.append(finding)
        else:
            findings_by_pointer.setdefault(owner.pointer, []).append(finding)

    graph = read_graph(plan.operations)
    order = run_order(graph, plan.tie_break)
    faulty = {node for node, operation in enumerate(plan.operations) if operation.pointer in findings_by_pointer}
    blocked = _blocked(graph, order, faulty)

    reports: list[OperationReport] = []
    for node in [*order, *_unscheduled(plan, order)]:
        operation = plan.operations[node]
        own_findings = tuple(findings_by_pointer.get(operation.pointer, ()))
        status, fault = "skipped", None
        if own_findings:
            status, fault = "refused", own_findings[0].fault
        reports.append(
            OperationReport(
                operation.id,
                operation.tool,
                status,
                operation.position,
                safety_level=operation.safety_level,
                fault=fault,
                message=sentence(own_findings) or _reason(blocked, node),
                findings=own_findings,
                blocked=node in blocked,
            )
        )
    return RunReport(
        plan.dialect,
        plan.request_id,
        "refused",
        tuple(reports),
        findings=tuple(plan_findings),
        repair=minimal_repair(plan, findings),
        boundary=plan.boundary,
        remarks=plan.remarks,
    )


def _unscheduled(plan: Plan, order: Sequence[int]) -> list[int]:
    nodes = sorted(set(range(len(plan.operations))).difference(order))
    if plan.tie_break == "id":
        nodes.sort(key=lambda node: plan.operations[node].id)
    return nodes


def _blocked(graph: Graph, order: Sequence[int], faulty: set[int]) -> set[int]:
    """Return the operations that wait, directly or indirectly, for a missing, cyclic or refused one."""
    blocked = set(range(len(graph.operations))).difference(order)
    for missing in graph.missing:
        blocked.add(missing.node)

    unavailable = blocked | faulty
    for node in order:
        if not unavailable.isdisjoint(graph.waits_for[node]):
            blocked.add(node)
            unavailable.add(node)
    return blocked


def _reason(blocked: set[int], node: int) -> str:
    if node in blocked:
        return "waits for an operation that cannot run"
    return "nothing runs because the plan was refused"
