"""The gates of a tree of any kind: what must hold so that it does something, and what is worth a look."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from pydantic import Field

from blendwright.nodes.tree_sorts import OUTPUT, TreeSort
from blendwright.tool_api.arguments import Result
from blendwright.tool_api.scene import Block
from blendwright.tools.node_trees.graph import active_output
from blendwright.tools.node_trees.tree_gates import TreeGates, first_few

RequiredGate = Literal["OUTPUT_CONNECTED", "NO_INVALID_LINKS", "NO_CYCLES", "NO_UNDEFINED_NODES", "NO_MISSING_IMAGES"]
AdvisoryGate = Literal["NO_UNUSED_NODES", "SINGLE_OUTPUT"]
UNDEFINED = "NodeUndefined"
# Nodes that do nothing without an image.
IMAGE_NODES = frozenset({"ShaderNodeTexImage", "ShaderNodeTexEnvironment", "CompositorNodeImage"})
# Images that have pixels without a file.
WITHOUT_FILE = frozenset({"GENERATED", "VIEWER"})


class TreeVerdict(Result):
    """What one gate says."""

    gate: RequiredGate | AdvisoryGate = Field(description="Name of the gate.")
    passed: bool = Field(description="Whether it is passed.")
    required: bool = Field(description="Whether the tree has to pass it.")
    message: str = Field(default="", description="What is wrong and what to change.")


class TreeJudge(TreeGates):
    """The gates of one tree of a sort. Each returns what is wrong, or an empty text when it is passed."""

    def __init__(self, tree: Block, sort: TreeSort) -> None:
        super().__init__(tree)
        self._sort = sort

    def verdicts(self) -> list[TreeVerdict]:
        required: dict[RequiredGate, Callable[[], str]] = {
            "OUTPUT_CONNECTED": self.output_not_connected,
            "NO_INVALID_LINKS": self.invalid_links,
            "NO_CYCLES": self.cycles,
            "NO_UNDEFINED_NODES": self.undefined_nodes,
            "NO_MISSING_IMAGES": self.missing_images,
        }
        advisory: dict[AdvisoryGate, Callable[[], str]] = {
            "NO_UNUSED_NODES": self.nodes_without_use,
            "SINGLE_OUTPUT": self.several_outputs,
        }
        judged: list[tuple[RequiredGate | AdvisoryGate, str, bool]] = [
            *((gate, judge(), True) for gate, judge in required.items()),
            *((gate, judge(), False) for gate, judge in advisory.items()),
        ]
        return [
            TreeVerdict(gate=gate, passed=not wrong, required=needed, message=wrong) for gate, wrong, needed in judged
        ]

    def output_not_connected(self) -> str:
        """The output that counts has something linked to it."""
        output = active_output(self._tree, self._sort.output_type)
        if OUTPUT in self._sort.given:
            given = OUTPUT
        else:
            given = "group_output"
        if output is None:
            return f"The {self._sort.label} has no output. Create a {self._sort.output_type} and link the result to it."
        sockets = [socket.name for socket in output.inputs if socket.name]
        if not sockets:
            return "The group has no outputs. Add one with set_group_io and link the result to it."
        if any(socket.is_linked for socket in output.inputs):
            return ""
        return f"Nothing is linked to the output '{output.name}'. Link the result to '{sockets[0]}' of {given}."

    def undefined_nodes(self) -> str:
        names = [
            f"'{node.name}'{self.group_suffix(tree)}" for tree, node in self._nodes() if node.bl_idname == UNDEFINED
        ]
        few = first_few(names)
        return few and f"{few} are of types that this Blender does not have. Delete or replace them."

    def missing_images(self) -> str:
        """Nodes that need an image and have none, or one whose file is not there."""
        wrong = [
            f"'{node.name}'{self.group_suffix(tree)} {lack}"
            for tree, node in self._nodes()
            if node.bl_idname in IMAGE_NODES and (lack := _lack(node))
        ]
        few = first_few(wrong)
        return few and f"Images are missing: {few}. Load the image and set the node's 'image' to its name."

    def several_outputs(self) -> str:
        names = [node.name for node in self._tree.nodes if node.bl_idname == self._sort.output_type]
        if len(names) < 2:
            return ""
        active = active_output(self._tree, self._sort.output_type)
        assert active is not None
        return f"Of {len(names)} outputs '{active.name}' counts. Delete the others, or set is_active_output of one."

    def _nodes(self) -> Iterator[tuple[Block, Block]]:
        for tree in self._trees:
            for node in tree.nodes:
                yield tree, node


def _lack(node: Block) -> str:
    image = node.image
    if image is None:
        return "has none"
    if image.source in WITHOUT_FILE or image.packed_file is not None or image.packed_files or image.has_data:
        return ""
    if image.size[0]:
        return ""
    return f"uses '{image.name}', whose file is not there"
