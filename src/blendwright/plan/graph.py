"""Operations and what they wait for, as a graph without cycles and the order in which it runs, or everything that keeps it from being one.

Nodes are positions in the plan. Nothing here knows tools or arguments.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from blendwright.values.faults import Fault
from blendwright.values.findings import LONGEST_COMPARED, Finding, cut, did_you_mean
from blendwright.values.plan import Operation, Plan, TieBreak

# The rule of findings about ids that steps of macros go by.
MACRO_STEP_ID = "macro_step_id"
# Looking for the nearest of many names costs more than it helps: how often, and how many characters are compared in all.
MOST_SUGGESTIONS = 10
MOST_COMPARED = 5000
# How much of a long cycle is worth showing.
SHOWN = 12
# Links followed in the search for cycles. Only a tangle made on purpose needs more; what is left of it counts as closing one.
MOST_LINKS = 5_000_000


@dataclass(frozen=True, slots=True)
class Missing:
    """A dependency that names nothing: the operation, the place in its list, and the name."""

    node: int
    index: int
    id: str


@dataclass(frozen=True, slots=True)
class Graph:
    """`waits_for` and `waited_by` are the same edges, seen from both ends. Where an id is given twice, the first one counts."""

    operations: tuple[Operation, ...]
    waits_for: Sequence[Sequence[int]]
    waited_by: Sequence[Sequence[int]]
    missing: tuple[Missing, ...]
    repeats: tuple[int, ...]


def read_graph(operations: Sequence[Operation]) -> Graph:
    """The graph as far as it can be read, faults and all."""
    nodes: dict[str, int] = {}
    repeats: list[int] = []
    for node, operation in enumerate(operations):
        if nodes.setdefault(operation.id, node) != node:
            repeats.append(node)
    missing: list[Missing] = []
    waits_for: list[list[int]] = []
    waited_by: list[list[int]] = [[] for _ in operations]
    for node, operation in enumerate(operations):
        others: dict[int, None] = {}
        for index, id in enumerate(operation.depends_on):
            other = nodes.get(id)
            if other is None:
                missing.append(Missing(node, index, id))
            elif other not in others:
                others[other] = None
                waited_by[other].append(node)
        waits_for.append(list(others))
    return Graph(tuple(operations), waits_for, waited_by, tuple(missing), tuple(repeats))


def graph_findings(graph: Graph) -> Iterator[Finding]:
    """Everything that keeps the graph from being scheduled."""
    operations = graph.operations
    if graph.repeats:
        first: dict[str, Operation] = {}
        for operation in operations:
            first.setdefault(operation.id, operation)
        for node in graph.repeats:
            again = operations[node]
            message = f"the id '{cut(again.id)}' is taken already, at {first[again.id].pointer}"
            cure = "Give every operation an id of its own."
            yield Finding(Fault.SCHEMA_INVALID, message, again.pointer + again.places.id, cure)
    if graph.missing:
        suggestions = _Suggestions(operations)
        for missing in graph.missing:
            operation = operations[missing.node]
            pointer = operation.pointer + operation.places.depends_on
            if "depends_on" not in operation.unsound:
                pointer += f"/{missing.index}"
            message = f"'{cut(operation.id)}' waits for '{cut(missing.id)}', which is not in the plan"
            yield Finding(Fault.DEPENDENCY_MISSING, message, pointer, suggestions.for_missing(missing))
    if not any(graph.waits_for):
        return
    for cycle in cycles(graph):
        operation = operations[cycle[0]]
        ids = [cut(operations[node].id) for node in cycle]
        if len(ids) > SHOWN:
            shown = [*ids[: SHOWN // 2], "…", *ids[-SHOWN // 2 :]]
        else:
            shown = ids
        message = f"'{ids[0]}' waits for itself: {' → '.join([*shown, ids[0]])}"
        cure = "Let one of them not wait for the other."
        yield Finding(Fault.GRAPH_CYCLE, message, operation.pointer + operation.places.depends_on, cure)


def run_order(graph: Graph, tie_break: TieBreak) -> list[int]:
    """Every node behind those it waits for; among the ready ones the lexically first id, or the first in the document.

    Kahn's algorithm, with a heap. Equal plans run in equal order.
    Steps of a macro go by the id that the caller gave it, so that nothing comes between them.
    What a cycle keeps from ever being ready is left out.
    """
    operations = graph.operations
    if tie_break == "id":
        names = [one.id if one.origin is None else one.origin.operation_id for one in operations]
    else:
        names = [""] * len(operations)
    keys = list(zip(names, range(len(operations)), strict=True))
    if not any(graph.waits_for):
        return [node for _, node in sorted(keys)]
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


class _Suggestions:
    """The cure for a dependency that names nothing: the ids nearest to it, as long as the search is worth it."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._operations = operations
        self._cost = sum(len(operation.id) for operation in operations if len(operation.id) <= LONGEST_COMPARED)
        self._searches = MOST_COMPARED // max(self._cost, MOST_COMPARED // MOST_SUGGESTIONS)

    def for_missing(self, missing: Missing) -> str:
        names: list[str] = []
        if self._searches:
            self._searches -= 1
            names = [other.id for node, other in enumerate(self._operations) if node != missing.node]
        return did_you_mean(missing.id, names, otherwise="Add an operation with this id, or do not wait for it.")


def cycles(graph: Graph, without: Set[int] = frozenset(), staying: Set[int] = frozenset()) -> list[list[int]]:
    """Cycles such that the graph has none once the first node of each is taken out, and still has one if any of these stays.

    In lexical order every operation that closes a cycle with those kept before it is taken out: the lexically last of each
    cycle that is left. A cycle is listed from there, each node waiting for the next. What is `staying` comes before all
    others, and so is taken out only of cycles that have nothing else.
    """
    core = _core(graph, without)
    closed: list[list[int]] = []
    acyclic: set[int] = set()
    budget = MOST_LINKS
    for node in sorted(core, key=lambda node: (node not in staying, graph.operations[node].id, node)):
        cycle, spent = _cycle_through(graph, node, acyclic, budget)
        budget -= spent
        if cycle:
            closed.append(cycle)
        else:
            acyclic.add(node)
    return closed


def _core(graph: Graph, without: Set[int]) -> set[int]:
    """The nodes that have something before and behind them without end: all cycles, and what lies between two of them."""
    remaining = set(range(len(graph.operations))) - without
    for links, back in ((graph.waits_for, graph.waited_by), (graph.waited_by, graph.waits_for)):
        open_links = {node: sum(other in remaining for other in links[node]) for node in remaining}
        ready = [node for node, count in open_links.items() if not count]
        while ready:
            node = ready.pop()
            remaining.discard(node)
            for other in back[node]:
                if other in remaining:
                    open_links[other] -= 1
                    if not open_links[other]:
                        ready.append(other)
    return remaining


def _cycle_through(graph: Graph, start: int, allowed: set[int], budget: int) -> tuple[list[int], int]:
    """A cycle from a node back to it through allowed ones, if there is one, and how many links were followed.

    Searched from both ends in turns: where one end has nowhere to go, which is soon in a chain, there is no way.
    """
    if start in graph.waits_for[start] or budget <= 0:
        return [start], 0
    ahead, behind = {start: start}, {start: start}
    turns = (
        (deque([start]), graph.waits_for, ahead, behind),
        (deque([start]), graph.waited_by, behind, ahead),
    )
    spent = 0
    while True:
        for queue, links, seen, others in turns:
            if not queue:
                return [], spent
            node = queue.popleft()
            spent += len(links[node])
            for after in links[node]:
                if after in allowed and after not in seen:
                    seen[after] = node
                    if after in others:
                        return [*reversed(_trail(ahead, after)), *_trail(behind, after)[1:-1]], spent
                    queue.append(after)


def _trail(seen: dict[int, int], node: int) -> list[int]:
    """From a node to where the search began."""
    trail = [node]
    while seen[node] != node:
        node = seen[node]
        trail.append(node)
    return trail


class Owners:
    """Which operation of a plan a finding belongs to, looked up by its pointer into the plan's document."""

    def __init__(self, plan: Plan) -> None:
        self._operations = {operation.pointer: operation for operation in plan.operations}

    def of(self, pointer: str) -> Operation | None:
        """The operation that a pointer leads into; None for what stands outside of them all."""
        while pointer:
            if pointer in self._operations:
                return self._operations[pointer]
            pointer = pointer.rpartition("/")[0]
        return None

    def position(self, pointer: str) -> int:
        """For sorting: what belongs to no operation comes first."""
        owner = self.of(pointer)
        if owner is None:
            return -1
        return owner.position
