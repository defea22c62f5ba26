"""The schedule of a valid plan: the order in which it runs, by Kahn's algorithm with a heap, and its hash for one scene.

Equal plans run in equal order.
"""

from __future__ import annotations

import hashlib
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import orjson

from blendwright.plan.graph import Graph
from blendwright.values.gc_pause import gc_paused
from blendwright.values.plan import Operation, Plan, Schedule, TieBreak

if TYPE_CHECKING:
    from blendwright.plan.validate import ValidPlan


@gc_paused()
def schedule(valid: ValidPlan, registry: str, baseline: str) -> Schedule:
    """`registry` is the fingerprint of the tools, `baseline` the hash of the scene that the plan starts from."""
    whole = hashlib.sha256(orjson.dumps([registry, baseline, valid.content])).hexdigest()
    return Schedule(valid.plan, valid.order, whole, valid.unrunnable)


def run_order(graph: Graph, tie_break: TieBreak) -> list[int]:
    """Every node behind those it waits for; among the ready ones the lexically first id, or the first in the document.

    Steps of a macro go by the id that the caller gave it, so that nothing comes between them.
    What a cycle keeps from ever being ready is left out.
    """
    operations = graph.operations
    keys: list[tuple[str, int]] = [
        (operation.caller_id if tie_break == "id" else "", node) for node, operation in enumerate(operations)
    ]
    open_links = [len(links) for links in graph.waits_for]
    ready = [keys[node] for node, count in enumerate(open_links) if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        _, node = heappop(ready)
        order.append(node)
        for other in graph.waited_by[node]:
            open_links[other] -= 1
            if not open_links[other]:
                heappush(ready, keys[other])
    return order


def content_hash(plan: Plan) -> str:
    """sha256 over what decides the order and the effect: in order of ids where ids break ties, else as in the document."""
    operations = plan.operations
    if plan.tie_break == "id":
        operations = sorted(operations, key=lambda operation: operation.id)
    hashed = hashlib.sha256(plan.tie_break.encode())
    for operation in operations:
        hashed.update(orjson.dumps(_essence(operation), option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE))
    return hashed.hexdigest()


def _essence(operation: Operation) -> list[object]:
    waits_for = sorted(set(operation.depends_on))
    return [operation.id, operation.tool, operation.safety_level, waits_for, operation.args]
