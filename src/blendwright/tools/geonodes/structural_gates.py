"""Gates that check the structure of a tree without evaluating it."""

from __future__ import annotations

from collections.abc import Sequence

from blendwright.nodes.node_kinds import INPUT, OUTPUT, WORK_UNLINKED
from blendwright.tool_api.scene import Block
from blendwright.tools.node_trees.graph import active_output, graph_of
from blendwright.tools.node_trees.interface import interface_sockets
from blendwright.tools.node_trees.tree_gates import TreeGates, first_few

GEOMETRY = "NodeSocketGeometry"
# Largest number of added nodes listed in a message.
MAX_LISTED_NODES = 50
# Before this Blender version, the end node of a zone without its start node makes the result empty, wherever it is.
HALF_ZONES_WORK = (5, 0, 0)


class StructuralGates(TreeGates):
    """Structural gates of one tree. Each method returns a description of the problem, or an empty string if the gate
    passes.
    """

    def output_not_connected(self) -> str:
        """Check that the first geometry socket of the active group output is linked."""
        output = active_output(self._tree)
        if output is None:
            return "The tree has no Group Output node. Add a NodeGroupOutput and link the result to it."
        for socket in output.inputs:
            if socket.bl_idname == GEOMETRY:
                if socket.is_linked:
                    return ""
                return (
                    "Group Output geometry socket is not connected. Link the node that creates the result to "
                    f"'{socket.name}' of group_output."
                )
        return "The group has no Geometry output. Add one with set_group_io and link the result to it."

    def several_group_nodes(self) -> str:
        kinds = list(self._graph.types.values())
        inputs, outputs = kinds.count(INPUT), kinds.count(OUTPUT)
        if inputs == outputs == 1:
            return ""
        return f"The tree has {inputs} group inputs and {outputs} group outputs. Apply ensure_single_group_io."

    def not_runnable(self, version: tuple[int, int, int]) -> str:
        """Check that Blender can run the tree in a modifier."""
        if version < HALF_ZONES_WORK:
            halves = [(name, inner) for inner in self._trees for name in graph_of(inner).unpaired_zone_outputs()]
            if halves:
                few = first_few([f"'{name}'{self.group_suffix(inner)}" for name, inner in halves])
                return f"The zone of {few} has no start node. Add it and set its paired_output, or delete the zone."
        first = interface_sockets(self._tree, "OUTPUT")[:1]
        if not first or first[0].socket_type != GEOMETRY:
            return (
                "The first output of the group must be a Geometry socket. Put it first with set_group_io and replace."
            )
        return ""


def nodes_that_do_not_arrive(tree: Block, names: Sequence[str]) -> str:
    """Return a message about added nodes that do not lead to the active group output, or an empty string.

    Nodes that cleanup_unused removed again are ignored, unless none of the added nodes is left.
    """
    graph, output = graph_of(tree), active_output(tree)
    ends = [name for name, kind in graph.types.items() if kind in WORK_UNLINKED]
    if output is not None:
        ends.append(output.name)
    arriving = graph.upstream_of(ends)
    loose = first_few([f"'{name}'" for name in names if name in graph.types.keys() - arriving], MAX_LISTED_NODES)
    if loose:
        return (
            f"{loose} were added but do not lead to the group output of '{tree.name}'. Link them to it, or delete them."
        )
    if not arriving.isdisjoint(names):
        return ""
    removed = first_few([f"'{name}'" for name in names], MAX_LISTED_NODES)
    return (
        f"{removed} were added to '{tree.name}' but removed again: cleanup_unused removes nodes that lead to no "
        "output. Link them to group_output first."
    )
