"""The gates that judge the tree itself, without evaluating it."""

from __future__ import annotations

from collections.abc import Sequence

from blendwright.tool_api.scene import Block
from blendwright.tools.node_trees.editor import unused_nodes
from blendwright.tools.node_trees.graph import INPUT, OUTPUT, WORK_UNLINKED, active_output, graph_of
from blendwright.tools.node_trees.interface import interface_sockets
from blendwright.tools.node_trees.properties import nested_trees

GEOMETRY = "NodeSocketGeometry"
MOST_NAMED, MOST_ADDED_NAMED = 5, 50
# Before Blender 5.0 the last node of a zone without its first one empties the result, wherever it stands.
WHOLE_ZONES = (5, 0, 0)


class StructuralGates:
    """The structural gates of one tree. Each returns what is wrong, or an empty text when it is passed."""

    def __init__(self, tree: Block) -> None:
        self._tree = tree
        self._trees = list(nested_trees(tree))
        self._broken = [inner for inner in self._trees if not all(link.is_valid for link in inner.links)]
        self._graph = graph_of(tree)

    def output_not_connected(self) -> str:
        """The first geometry socket of the group output that counts."""
        output = active_output(self._tree)
        if output is None:
            return "There is no Group Output node. Add a NodeGroupOutput and link the result to it."
        for socket in output.inputs:
            if socket.bl_idname == GEOMETRY:
                if socket.is_linked:
                    return ""
                return (
                    "Group Output geometry socket is not connected. Link the node that makes the result to "
                    f"'{socket.name}' of group_output."
                )
        return "The group has no Geometry output. Add one with set_group_io and link the result to it."

    def invalid_links(self) -> str:
        """Links that Blender does not follow because the types do not fit; another gate reports those of cycles."""
        broken: list[str] = []
        for inner in self._broken:
            in_cycles = _cycle_pairs(inner)
            for link in inner.links:
                if not link.is_valid and frozenset((link.from_node.name, link.to_node.name)) not in in_cycles:
                    broken.append(_describe_link(link) + self._group_suffix(inner))
        few = _first_few(broken)
        return few and f"Blender does not follow {few}. Unlink them, or put a node between that converts the type."

    def cycles(self) -> str:
        """Cycles in the tree and in the groups inside it: any of them, even one that leads nowhere, empties the result."""
        for inner in self._broken:
            cycle = graph_of(inner).find_cycle()
            if cycle:
                way = " → ".join([*cycle, cycle[0]])
                return f"The links {way}{self._group_suffix(inner)} go round in a circle. Unlink one of them."
        return ""

    def several_group_nodes(self) -> str:
        kinds = list(self._graph.types.values())
        inputs, outputs = kinds.count(INPUT), kinds.count(OUTPUT)
        if inputs == outputs == 1:
            return ""
        return f"There are {inputs} group inputs and {outputs} group outputs. Apply ensure_single_group_io."

    def nodes_without_use(self) -> str:
        unused = _first_few([f"'{name}'" for name in unused_nodes(self._tree, self._graph)])
        return unused and f"{unused} lead to no output. Link them, delete them, or apply cleanup_unused."

    def not_runnable(self, version: tuple[int, int, int]) -> str:
        """What keeps Blender from running a tree in a modifier."""
        if version < WHOLE_ZONES:
            halves = [(name, inner) for inner in self._trees for name in graph_of(inner).unpaired_zone_outputs()]
            if halves:
                few = _first_few([f"'{name}'{self._group_suffix(inner)}" for name, inner in halves])
                return f"The zone of {few} has no first node. Add it and set its paired_output, or delete it."
        first = interface_sockets(self._tree, "OUTPUT")[:1]
        if not first or first[0].socket_type != GEOMETRY:
            return (
                "The first output of the group must be a Geometry socket. Put it first with set_group_io and replace."
            )
        return ""

    def _group_suffix(self, inner: Block) -> str:
        return "" if inner == self._tree else f" in group '{inner.name}'"


def _cycle_pairs(tree: Block) -> set[frozenset[str]]:
    """Pairs of nodes whose link is part of a cycle."""
    graph = graph_of(tree)
    return {
        frozenset((link.source, link.target))
        for link in graph.links
        if not link.is_valid and link.target in graph.upstream_of([link.source])
    }


def _describe_link(link: Block) -> str:
    start = f"'{link.from_node.name}' {link.from_socket.name} ({link.from_socket.type})"
    end = f"'{link.to_node.name}' {link.to_socket.name} ({link.to_socket.type})"
    return f"{start} → {end}"


def nodes_that_do_not_arrive(tree: Block, names: Sequence[str]) -> str:
    """Which of these nodes do not lead to the group output that counts; an empty text when all do.

    One that is gone again was tidied away, unless nothing else arrives: then the work went with it."""
    graph, output = graph_of(tree), active_output(tree)
    ends = [name for name, kind in graph.types.items() if kind in WORK_UNLINKED]
    arriving = graph.upstream_of(ends if output is None else [*ends, output.name])
    loose = _first_few([f"'{name}'" for name in names if name in graph.types.keys() - arriving], MOST_ADDED_NAMED)
    if loose:
        return (
            f"{loose} were added and do not lead to the group output of '{tree.name}'. Link them to it, or delete them."
        )
    if not arriving.isdisjoint(names):
        return ""
    gone = _first_few([f"'{name}'" for name in names], MOST_ADDED_NAMED)
    return (
        f"{gone} were added to '{tree.name}' and are gone again: cleanup_unused removes what leads to no output. "
        "Link them to group_output first."
    )


def _first_few(names: list[str], most: int = MOST_NAMED) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
