"""Gates of a tree of any kind: required ones, without which it has no effect, and advisory ones."""

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
# Nodes that need an image.
IMAGE_NODES = frozenset({"ShaderNodeTexImage", "ShaderNodeTexEnvironment", "CompositorNodeImage"})
# Images that have pixels without a file.
WITHOUT_FILE = frozenset({"GENERATED", "VIEWER"})


class TreeVerdict(Result):
    """The verdict of one gate."""

    gate: RequiredGate | AdvisoryGate = Field(description="Name of the gate.")
    passed: bool = Field(description="Whether the tree passes the gate.")
    required: bool = Field(description="Whether the tree must pass the gate.")
    message: str = Field(default="", description="The problem and how to fix it.")


class TreeJudge(TreeGates):
    """The gates of one tree of a sort. Each gate returns the problem and its fix, or an empty string if it passes."""

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
        verdicts: list[TreeVerdict] = []
        for gate, judge in required.items():
            problem = judge()
            verdicts.append(TreeVerdict(gate=gate, passed=not problem, required=True, message=problem))
        for gate, judge in advisory.items():
            problem = judge()
            verdicts.append(TreeVerdict(gate=gate, passed=not problem, required=False, message=problem))
        return verdicts

    def output_not_connected(self) -> str:
        """Report a missing active output, and one without sockets or links."""
        output = active_output(self._tree, self._sort.output_type)
        if OUTPUT in self._sort.given:
            node_id = OUTPUT
        else:
            node_id = "group_output"
        if output is None:
            return f"The {self._sort.label} has no output. Create a {self._sort.output_type} and link the result to it."
        sockets = [socket.name for socket in output.inputs if socket.name]
        if not sockets:
            return "The group has no outputs. Add one with set_group_io and link the result to it."
        if any(socket.is_linked for socket in output.inputs):
            return ""
        return f"Nothing is linked to the output '{output.name}'. Link the result to '{sockets[0]}' of {node_id}."

    def undefined_nodes(self) -> str:
        """Report nodes of types that the running Blender does not have."""
        names: list[str] = []
        for tree, node in self._nodes():
            if node.bl_idname == UNDEFINED:
                names.append(f"'{node.name}'{self.group_suffix(tree)}")
        shown = first_few(names)
        if not shown:
            return ""
        return f"{shown} are of types that this Blender does not have. Delete or replace them."

    def missing_images(self) -> str:
        """Report nodes that need an image and have none, or one whose file is missing."""
        problems: list[str] = []
        for tree, node in self._nodes():
            if node.bl_idname not in IMAGE_NODES:
                continue
            problem = _image_problem(node)
            if problem:
                problems.append(f"'{node.name}'{self.group_suffix(tree)} {problem}")
        shown = first_few(problems)
        if not shown:
            return ""
        return f"Images are missing: {shown}. Load the image and set the node's 'image' to its name."

    def several_outputs(self) -> str:
        """Report more than one output node."""
        names = [node.name for node in self._tree.nodes if node.bl_idname == self._sort.output_type]
        if len(names) < 2:
            return ""
        active = active_output(self._tree, self._sort.output_type)
        assert active is not None
        return f"Only the output '{active.name}' of {len(names)} is active. Delete the others, or set is_active_output."

    def _nodes(self) -> Iterator[tuple[Block, Block]]:
        for tree in self._trees:
            for node in tree.nodes:
                yield tree, node


def _image_problem(node: Block) -> str:
    image = node.image
    if image is None:
        return "has no image"
    if image.source in WITHOUT_FILE or image.packed_file is not None or image.packed_files or image.has_data:
        return ""
    if image.size[0]:
        return ""
    return f"uses '{image.name}', whose file is missing"
