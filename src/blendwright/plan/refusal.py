"""The report of a plan that was refused before anything ran."""

from __future__ import annotations

from collections.abc import Sequence

from blendwright.plan.graph import Graph, Owners, read_graph, run_order
from blendwright.plan.repair import minimal_repair
from blendwright.values.findings import Finding, sentence
from blendwright.values.plan import Plan
from blendwright.values.report import OperationReport, RunReport


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
    return "waits for what cannot run" if node in blocked else "nothing runs while the plan is refused"
