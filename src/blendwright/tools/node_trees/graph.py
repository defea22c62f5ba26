"""A node tree as a graph: which nodes lead to an output, and which links form a cycle. Reads only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from blendwright.nodes.node_kinds import INPUT, OUTPUT, ZONES
from blendwright.nodes.payloads import GIVEN_IDS
from blendwright.tool_api.scene import Block


class GraphLink(NamedTuple):
    """A link by the names of its nodes."""

    source: str
    target: str
    is_valid: bool


@dataclass(frozen=True, slots=True)
class NodeGraph:
    """Nodes by name with their type, and the links between them."""

    types: dict[str, str]
    links: list[GraphLink]
    pairs: dict[str, str]

    def upstream_of(self, ends: Iterable[str]) -> set[str]:
        """The nodes from which links lead to one of the ends, the ends included; zones count as a whole."""
        before: dict[str, list[str]] = {}
        for link in self.links:
            before.setdefault(link.target, []).append(link.source)
        for first, last in self.pairs.items():
            before.setdefault(last, []).append(first)
            before.setdefault(first, []).append(last)
        reached = set(ends)
        waiting = list(reached)
        while waiting:
            for name in before.get(waiting.pop(), ()):
                if name not in reached:
                    reached.add(name)
                    waiting.append(name)
        return reached

    def unpaired_zone_outputs(self) -> list[str]:
        """The last nodes of zones that have no first one."""
        whole = set(self.pairs.values())
        return sorted(name for name, kind in self.types.items() if kind in ZONES.values() and name not in whole)

    def find_cycle(self) -> list[str]:
        """The nodes of one cycle of links, in order; empty when there is none."""
        sorter = TopologicalSorter[str]()
        # A search begins with the first name, whatever the order in which links were made.
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
    """The output of a type that counts, that of a group by default: the active one, else the first by name."""
    outputs = [node for node in tree.nodes if node.bl_idname == bl_idname]
    return _first(outputs, lambda node: not getattr(node, "is_active_output", True))


def given_node(tree: Block, node_id: str, bl_idname: str) -> Block | None:
    """The node that a given id means."""
    if bl_idname == INPUT:
        return first_input(tree)
    if node_id not in GIVEN_IDS:
        named = tree.nodes.get(node_id)
    else:
        named = None
    if named is not None and named.bl_idname == bl_idname:
        return named
    return active_output(tree, bl_idname)


def first_input(tree: Block) -> Block | None:
    return _first([node for node in tree.nodes if node.bl_idname == INPUT], lambda node: node.name != "group_input")


def _first(nodes: list[Block], lesser: Callable[[Block], bool]) -> Block | None:
    # Never by their order in the tree, which selecting changes.
    return min(nodes, key=lambda node: (lesser(node), node.name), default=None)
