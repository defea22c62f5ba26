"""Graph of operations and their dependencies: its order of execution, or all findings that prevent one.

Nodes are positions in the plan. This module knows neither tools nor arguments.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from blendwright.values.faults import Fault
from blendwright.values.findings import LONGEST_COMPARED, Finding, cut, did_you_mean
from blendwright.values.plan import Operation, Plan, TieBreak

# The rule of findings about the ids of a macro's steps.
MACRO_STEP_ID = "macro_step_id"
# Searches for similar names in one plan, and characters that all of them compare together.
MAX_SUGGESTIONS = 10
MAX_COMPARED_CHARACTERS = 5000
# Ids of a cycle that a message shows.
MAX_SHOWN_IDS = 12
# Links that the search for cycles follows. Only a malicious graph needs more; each of its remaining nodes counts as a cycle.
MAX_FOLLOWED_LINKS = 5_000_000


@dataclass(frozen=True, slots=True)
class Missing:
    """A dependency on an unknown id: the operation's node, the index in its list of dependencies, and the id."""

    node: int
    index: int
    id: str


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph of operations.

    `waits_for` and `waited_by` hold the same edges from both ends. A repeated id means its first operation.
    """

    operations: tuple[Operation, ...]
    waits_for: Sequence[Sequence[int]]
    waited_by: Sequence[Sequence[int]]
    missing: tuple[Missing, ...]
    repeats: tuple[int, ...]


def read_graph(operations: Sequence[Operation]) -> Graph:
    """Return the graph as far as it is readable, including its faults."""
    nodes: dict[str, int] = {}
    repeats: list[int] = []
    for node, operation in enumerate(operations):
        if nodes.setdefault(operation.id, node) != node:
            repeats.append(node)

    missing: list[Missing] = []
    waits_for: list[list[int]] = []
    waited_by: list[list[int]] = [[] for _ in operations]
    for node, operation in enumerate(operations):
        dependencies: dict[int, None] = {}
        for index, id in enumerate(operation.depends_on):
            dependency = nodes.get(id)
            if dependency is None:
                missing.append(Missing(node, index, id))
            elif dependency not in dependencies:
                dependencies[dependency] = None
                waited_by[dependency].append(node)
        waits_for.append(list(dependencies))
    return Graph(tuple(operations), waits_for, waited_by, tuple(missing), tuple(repeats))


def graph_findings(graph: Graph) -> Iterator[Finding]:
    """Yield everything that prevents a schedule: repeated ids, missing dependencies and cycles."""
    if graph.repeats:
        yield from _repeated_ids(graph)
    if graph.missing:
        yield from _missing_dependencies(graph)
    if any(graph.waits_for):
        yield from _cycle_findings(graph)


def _repeated_ids(graph: Graph) -> Iterator[Finding]:
    first: dict[str, Operation] = {}
    for operation in graph.operations:
        first.setdefault(operation.id, operation)
    for node in graph.repeats:
        repeat = graph.operations[node]
        message = f"the id '{cut(repeat.id)}' is taken already, at {first[repeat.id].pointer}"
        yield Finding(
            Fault.SCHEMA_INVALID, message, repeat.pointer + repeat.places.id, "Give every operation a unique id."
        )


def _missing_dependencies(graph: Graph) -> Iterator[Finding]:
    suggestions = _Suggestions(graph.operations)
    for missing in graph.missing:
        operation = graph.operations[missing.node]
        pointer = operation.pointer + operation.places.depends_on
        if "depends_on" not in operation.unsound:
            pointer += f"/{missing.index}"
        message = f"'{cut(operation.id)}' waits for '{cut(missing.id)}', which is not in the plan"
        yield Finding(Fault.DEPENDENCY_MISSING, message, pointer, suggestions.for_missing(missing))


def _cycle_findings(graph: Graph) -> Iterator[Finding]:
    for cycle in cycles(graph):
        operation = graph.operations[cycle[0]]
        ids = [cut(graph.operations[node].id) for node in cycle]
        shown = ids
        if len(ids) > MAX_SHOWN_IDS:
            shown = [*ids[: MAX_SHOWN_IDS // 2], "…", *ids[-MAX_SHOWN_IDS // 2 :]]
        message = f"'{ids[0]}' waits for itself: {' → '.join([*shown, ids[0]])}"
        cure = "Remove one of these dependencies."
        yield Finding(Fault.GRAPH_CYCLE, message, operation.pointer + operation.places.depends_on, cure)


def run_order(graph: Graph, tie_break: TieBreak) -> list[int]:
    """Return every node behind its dependencies; ready nodes run by lexical id, or in the order of the document.

    This is Kahn's algorithm with a heap, so equal plans run in equal order. Steps of a macro use the caller's id, so that no
    other operation runs between them. The order omits nodes that a cycle blocks.
    """
    names = [""] * len(graph.operations)
    if tie_break == "id":
        names = [operation.caller_id for operation in graph.operations]
    keys = list(zip(names, range(len(names)), strict=True))
    if not any(graph.waits_for):
        return [node for _, node in sorted(keys)]

    open_links = list(map(len, graph.waits_for))
    ready = [keys[node] for node, count in enumerate(open_links) if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        _, node = heappop(ready)
        order.append(node)
        for dependent in graph.waited_by[node]:
            open_links[dependent] -= 1
            if not open_links[dependent]:
                heappush(ready, keys[dependent])
    return order


class _Suggestions:
    """Fixes for missing dependencies: the most similar ids, within a limited number of searches."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._operations = operations
        self._cost = sum(len(operation.id) for operation in operations if len(operation.id) <= LONGEST_COMPARED)
        self._searches = MAX_COMPARED_CHARACTERS // max(self._cost, MAX_COMPARED_CHARACTERS // MAX_SUGGESTIONS)

    def for_missing(self, missing: Missing) -> str:
        names: list[str] = []
        if self._searches:
            self._searches -= 1
            names = [operation.id for node, operation in enumerate(self._operations) if node != missing.node]
        return did_you_mean(missing.id, names, otherwise="Add an operation with this id, or remove the dependency.")


def cycles(graph: Graph, without: Set[int] = frozenset(), staying: Set[int] = frozenset()) -> list[list[int]]:
    """Return cycles such that removing the first node of each, but not of fewer, leaves a graph without cycles.

    In lexical order of ids, the search keeps every node that closes no cycle with the nodes kept before it. Each cycle
    starts with a node that was not kept, its lexically last one, and each of its nodes waits for the next. Nodes in
    `staying` come before all others, so a cycle starts with one of them only if it has no other nodes.
    """
    core = _core(graph, without)
    closed: list[list[int]] = []
    acyclic: set[int] = set()
    budget = MAX_FOLLOWED_LINKS
    for node in sorted(core, key=lambda node: (node not in staying, graph.operations[node].id, node)):
        cycle, spent = _cycle_through(graph, node, acyclic, budget)
        budget -= spent
        if cycle:
            closed.append(cycle)
        else:
            acyclic.add(node)
    return closed


def _core(graph: Graph, without: Set[int]) -> set[int]:
    """Return the nodes on cycles and on paths between two cycles."""
    remaining = set(range(len(graph.operations))) - without
    for links, back in ((graph.waits_for, graph.waited_by), (graph.waited_by, graph.waits_for)):
        open_links: dict[int, int] = {}
        for node in remaining:
            open_links[node] = sum(linked in remaining for linked in links[node])

        ready = [node for node, count in open_links.items() if not count]
        while ready:
            node = ready.pop()
            remaining.discard(node)
            for neighbour in back[node]:
                if neighbour in remaining:
                    open_links[neighbour] -= 1
                    if not open_links[neighbour]:
                        ready.append(neighbour)
    return remaining


def _cycle_through(graph: Graph, start: int, allowed: set[int], budget: int) -> tuple[list[int], int]:
    """Return a cycle from a node through allowed ones, or an empty list, and the number of links followed.

    The search alternates between both directions. It fails as soon as one of them has no nodes left, which is soon in a
    chain.
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
        for queue, links, seen, seen_by_opposite in turns:
            if not queue:
                return [], spent
            node = queue.popleft()
            spent += len(links[node])
            for after in links[node]:
                if after in allowed and after not in seen:
                    seen[after] = node
                    if after in seen_by_opposite:
                        return [*reversed(_trail(ahead, after)), *_trail(behind, after)[1:-1]], spent
                    queue.append(after)


def _trail(seen: dict[int, int], node: int) -> list[int]:
    """Return the path from a node back to the start of the search."""
    trail = [node]
    while seen[node] != node:
        node = seen[node]
        trail.append(node)
    return trail


class Owners:
    """Lookup of the operation that a finding belongs to, by its pointer into the plan's document."""

    def __init__(self, plan: Plan) -> None:
        self._operations = {operation.pointer: operation for operation in plan.operations}

    def of(self, pointer: str) -> Operation | None:
        """Return the operation that a pointer leads into, or None for a pointer outside of all operations."""
        while pointer:
            if pointer in self._operations:
                return self._operations[pointer]
            pointer = pointer.rpartition("/")[0]
        return None

    def position(self, pointer: str) -> int:
        """Return the sort position of a pointer: -1 outside of all operations, or else the operation's position."""
        owner = self.of(pointer)
        if owner is None:
            return -1
        return owner.position
