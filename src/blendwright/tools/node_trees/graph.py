"""A node tree as a graph of nodes and links: upstream nodes, cycles, and the nodes with reserved ids. Reads only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from blendwright.nodes.node_kinds import INPUT, OUTPUT, ZONES
from blendwright.nodes.payloads import GIVEN_IDS
from blendwright.tool_api.scene import Block


class GraphLink(NamedTuple):
    """A link between two nodes, given by name."""

    source: str
    target: str
    is_valid: bool


@dataclass(frozen=True, slots=True)
class NodeGraph:
    """The nodes of a tree by name with their type, the links between them, and the first and last nodes of zones."""

    types: dict[str, str]
    links: list[GraphLink]
    pairs: dict[str, str]

    def upstream_of(self, ends: Iterable[str]) -> set[str]:
        """Return the names of `ends` and of all nodes that lead to them. A zone is upstream as soon as a part of it is."""
        previous: dict[str, list[str]] = {}
        for link in self.links:
            previous.setdefault(link.target, []).append(link.source)
        for first, last in self.pairs.items():
            previous.setdefault(last, []).append(first)
            previous.setdefault(first, []).append(last)
        reached = set(ends)
        waiting = list(reached)
        while waiting:
            for name in previous.get(waiting.pop(), ()):
                if name not in reached:
                    reached.add(name)
                    waiting.append(name)
        return reached

    def unpaired_zone_outputs(self) -> list[str]:
        """Return the sorted names of zone output nodes without a paired zone input node."""
        paired = set(self.pairs.values())
        return sorted(name for name, kind in self.types.items() if kind in ZONES.values() and name not in paired)

    def find_cycle(self) -> list[str]:
        """Return the names of the nodes of one cycle of links in order, or an empty list if there is no cycle."""
        sorter = TopologicalSorter[str]()
        # Add sources by name, so that the result does not depend on the order in which links were created.
        for name in sorted({link.source for link in self.links}):
            sorter.add(name)
        for link in self.links:
            sorter.add(link.target, link.source)
        try:
            sorter.prepare()
        except CycleError as error:
            return error.args[1][:-1]
        return []


def graph_of(tree: Block) -> NodeGraph:
    types: dict[str, str] = {}
    pairs: dict[str, str] = {}
    for node in tree.nodes:
        kind: str = node.bl_idname
        types[node.name] = kind
        if kind in ZONES and node.paired_output is not None:
            pairs[node.name] = node.paired_output.name
    links = [GraphLink(link.from_node.name, link.to_node.name, link.is_valid) for link in tree.links]
    return NodeGraph(types, links, pairs)


def active_output(tree: Block, bl_idname: str = OUTPUT) -> Block | None:
    """Return the active output node of a type, else the first by name, or None. The default type is the group output."""
    outputs = [node for node in tree.nodes if node.bl_idname == bl_idname]
    return _first(outputs, lambda node: not getattr(node, "is_active_output", True))


def given_node(tree: Block, node_id: str, bl_idname: str) -> Block | None:
    """Return the node that a reserved id selects, or None."""
    if bl_idname == INPUT:
        return first_input(tree)
    named = None
    if node_id not in GIVEN_IDS:
        named = tree.nodes.get(node_id)
    if named is not None and named.bl_idname == bl_idname:
        return named
    return active_output(tree, bl_idname)


def first_input(tree: Block) -> Block | None:
    return _first([node for node in tree.nodes if node.bl_idname == INPUT], lambda node: node.name != "group_input")


def _first(nodes: list[Block], is_secondary: Callable[[Block], bool]) -> Block | None:
    # Compare names and not the order in the tree, because selecting a node changes that order.
    return min(nodes, key=lambda node: (is_secondary(node), node.name), default=None)
