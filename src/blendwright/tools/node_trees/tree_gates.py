"""The gates that judge a tree of any kind by itself, without evaluating it."""

from __future__ import annotations

from blendwright.tool_api.scene import Block
from blendwright.tools.node_trees.editor import unused_nodes
from blendwright.tools.node_trees.graph import graph_of
from blendwright.tools.node_trees.properties import nested_trees

MOST_NAMED = 5


class TreeGates:
    """The gates of one tree. Each returns what is wrong, or an empty text when it is passed."""

    def __init__(self, tree: Block) -> None:
        self._tree = tree
        self._trees = list(nested_trees(tree))
        self._broken = [inner for inner in self._trees if not all(link.is_valid for link in inner.links)]
        self._graph = graph_of(tree)

    def invalid_links(self) -> str:
        """Links that Blender does not follow because the types do not fit; another gate reports those of cycles."""
        broken: list[str] = []
        for inner in self._broken:
            in_cycles = _cycle_pairs(inner)
            for link in inner.links:
                if not link.is_valid and frozenset((link.from_node.name, link.to_node.name)) not in in_cycles:
                    broken.append(_describe_link(link) + self.group_suffix(inner))
        few = first_few(broken)
        return few and f"Blender does not follow {few}. Unlink them, or put a node between that converts the type."

    def cycles(self) -> str:
        """Cycles in the tree and in the groups inside it: any of them, even one that leads nowhere, empties the result."""
        for inner in self._broken:
            cycle = graph_of(inner).find_cycle()
            if cycle:
                way = " → ".join([*cycle, cycle[0]])
                return f"The links {way}{self.group_suffix(inner)} go round in a circle. Unlink one of them."
        return ""

    def nodes_without_use(self) -> str:
        unused = first_few([f"'{name}'" for name in unused_nodes(self._tree, self._graph)])
        return unused and f"{unused} lead to no output. Link them, delete them, or apply cleanup_unused."

    def group_suffix(self, inner: Block) -> str:
        if inner == self._tree:
            return ""
        return f" in group '{inner.name}'"


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


def first_few(names: list[str], most: int = MOST_NAMED) -> str:
    if len(names) > most:
        more = f" and {len(names) - most} more"
    else:
        more = ""
    return ", ".join(names[:most]) + more
