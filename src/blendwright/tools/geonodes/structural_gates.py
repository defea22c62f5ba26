"""The gates that judge the tree itself, without evaluating it."""

from __future__ import annotations

from collections.abc import Sequence

from blendwright.nodes.node_kinds import INPUT, OUTPUT, WORK_UNLINKED
from blendwright.tool_api.scene import Block
from blendwright.tools.node_trees.graph import active_output, graph_of
from blendwright.tools.node_trees.interface import interface_sockets
from blendwright.tools.node_trees.tree_gates import TreeGates, first_few

GEOMETRY = "NodeSocketGeometry"
MOST_ADDED_NAMED = 50
# Before Blender 5.0 the last node of a zone without its first one empties the result, wherever it stands.
WHOLE_ZONES = (5, 0, 0)


class StructuralGates(TreeGates):
    """The structural gates of one tree. Each returns what is wrong, or an empty text when it is passed."""

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

    def several_group_nodes(self) -> str:
        kinds = list(self._graph.types.values())
        inputs, outputs = kinds.count(INPUT), kinds.count(OUTPUT)
        if inputs == outputs == 1:
            return ""
        return f"There are {inputs} group inputs and {outputs} group outputs. Apply ensure_single_group_io."

    def not_runnable(self, version: tuple[int, int, int]) -> str:
        """What keeps Blender from running a tree in a modifier."""
        if version < WHOLE_ZONES:
            halves = [(name, inner) for inner in self._trees for name in graph_of(inner).unpaired_zone_outputs()]
            if halves:
                few = first_few([f"'{name}'{self.group_suffix(inner)}" for name, inner in halves])
                return f"The zone of {few} has no first node. Add it and set its paired_output, or delete it."
        first = interface_sockets(self._tree, "OUTPUT")[:1]
        if not first or first[0].socket_type != GEOMETRY:
            return (
                "The first output of the group must be a Geometry socket. Put it first with set_group_io and replace."
            )
        return ""


def nodes_that_do_not_arrive(tree: Block, names: Sequence[str]) -> str:
    """Which of these nodes do not lead to the group output that counts; an empty text when all do.

    One that is gone again was tidied away, unless nothing else arrives: then the work went with it."""
    graph, output = graph_of(tree), active_output(tree)
    ends = [name for name, kind in graph.types.items() if kind in WORK_UNLINKED]
    arriving = graph.upstream_of(ends if output is None else [*ends, output.name])
    loose = first_few([f"'{name}'" for name in names if name in graph.types.keys() - arriving], MOST_ADDED_NAMED)
    if loose:
        return (
            f"{loose} were added and do not lead to the group output of '{tree.name}'. Link them to it, or delete them."
        )
    if not arriving.isdisjoint(names):
        return ""
    gone = first_few([f"'{name}'" for name in names], MOST_ADDED_NAMED)
    return (
        f"{gone} were added to '{tree.name}' and are gone again: cleanup_unused removes what leads to no output. "
        "Link them to group_output first."
    )
