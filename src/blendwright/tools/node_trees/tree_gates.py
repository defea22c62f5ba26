"""Gates that check a tree of any kind without evaluating it."""

from __future__ import annotations

from blendwright.tool_api.scene import Block
from blendwright.tools.node_trees.editor import unused_nodes
from blendwright.tools.node_trees.graph import graph_of
from blendwright.tools.node_trees.properties import nested_trees

MAX_NAMED = 5


class TreeGates:
    """The gates of one tree. Each gate returns the problem and its fix, or an empty string if it passes."""

    def __init__(self, tree: Block) -> None:
        self._tree = tree
        self._trees = list(nested_trees(tree))
        self._broken = [inner for inner in self._trees if not all(link.is_valid for link in inner.links)]
        self._graph = graph_of(tree)

    def invalid_links(self) -> str:
        """Report links that Blender ignores because the types do not fit. `cycles` reports the links of cycles."""
        broken: list[str] = []
        for inner in self._broken:
            in_cycles = _cycle_pairs(inner)
            for link in inner.links:
                if not link.is_valid and frozenset((link.from_node.name, link.to_node.name)) not in in_cycles:
                    broken.append(_describe_link(link) + self.group_suffix(inner))
        shown = first_few(broken)
        if not shown:
            return ""
        return f"Blender ignores these links: {shown}. Unlink them, or add a node between that converts the type."

    def cycles(self) -> str:
        """Report a cycle in the tree or in a group inside it. Every cycle empties the result, even one without output."""
        for inner in self._broken:
            cycle = graph_of(inner).find_cycle()
            if cycle:
                path = " → ".join([*cycle, cycle[0]])
                return f"The links {path}{self.group_suffix(inner)} form a cycle. Unlink one of them."
        return ""

    def nodes_without_use(self) -> str:
        """Report nodes that lead to no output."""
        unused = first_few([f"'{name}'" for name in unused_nodes(self._tree, self._graph)])
        if not unused:
            return ""
        return f"{unused} lead to no output. Link them, delete them, or apply cleanup_unused."

    def group_suffix(self, inner: Block) -> str:
        if inner == self._tree:
            return ""
        return f" in group '{inner.name}'"


def _cycle_pairs(tree: Block) -> set[frozenset[str]]:
    """Return the pairs of nodes whose link is part of a cycle."""
    graph = graph_of(tree)
    pairs: set[frozenset[str]] = set()
    for link in graph.links:
        if not link.is_valid and link.target in graph.upstream_of([link.source]):
            pairs.add(frozenset((link.source, link.target)))
    return pairs


def _describe_link(link: Block) -> str:
    start = f"'{link.from_node.name}' {link.from_socket.name} ({link.from_socket.type})"
    end = f"'{link.to_node.name}' {link.to_socket.name} ({link.to_socket.type})"
    return f"{start} → {end}"


def first_few(names: list[str], limit: int = MAX_NAMED) -> str:
    """Return at most `limit` names as one string, followed by the number of omitted names."""
    shown = ", ".join(names[:limit])
    if len(names) > limit:
        shown += f" and {len(names) - limit} more"
    return shown
