"""Tool nodes.gates"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from blendwright.nodes.tree_payloads import NodesTarget
from blendwright.tool_api.arguments import Args, Result
from blendwright.tool_api.mentions import Mention
from blendwright.tool_api.promises import READ_ONLY
from blendwright.tool_api.scene import Scene
from blendwright.tool_api.tool import Example, Findings, Reads
from blendwright.tools.nodes import tree_target
from blendwright.tools.nodes.examples import BRICK_TREE, BRICKS
from blendwright.tools.nodes.gate_report import TreeJudge, TreeVerdict
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

CURE = "Change the tree as the message says, with nodes.patch."


class TreeGatesArgs(Args):
    target: NodesTarget = Field(description="The tree to check.")
    required: bool = Field(default=False, description="If true, a failed required gate is an error of the call.")


class TreeJudged(Result):
    """The verdicts of all gates of one tree."""

    success: bool = Field(description="True if the tree passes every required gate.")
    failed_gates: list[str] = Field(description="Names of the failed required gates.")
    messages: list[str] = Field(description="For each failed required gate: the problem and how to fix it.")
    gates: list[TreeVerdict] = Field(description="All verdicts, including advisory ones.")


class AnyTreeGates(Reads[TreeGatesArgs, TreeJudged]):
    """Check the node tree of a material, world, light or compositor, or a group: output connected, links valid, no cycles,
    no undefined nodes, no missing images.

    A failed gate is a result; with `required` it is an error of the call.
    """

    name = "nodes.gates"
    promises = READ_ONLY.needs("scene_read")
    examples = (Example({"target": BRICKS}, BRICK_TREE), Example({"target": BRICKS, "required": True}, BRICK_TREE))

    def mentions_for(self, args: TreeGatesArgs) -> Iterable[Mention]:
        return tree_target.target_mentions(args.target, creates=False)

    def check(self, scene: Scene, args: TreeGatesArgs) -> Findings:
        problems = list(tree_target.target_problems(scene, args.target, creates=False))
        yield from problems
        if args.required and not problems:
            for verdict in _verdicts(scene, args.target):
                if verdict.required and not verdict.passed:
                    yield Finding(Fault.VERIFICATION_FAILED, verdict.message, cure=CURE, rule=verdict.gate)

    def apply(self, scene: Scene, args: TreeGatesArgs) -> TreeJudged:
        verdicts = _verdicts(scene, args.target)
        failed = [verdict for verdict in verdicts if verdict.required and not verdict.passed]
        return TreeJudged(
            success=not failed,
            failed_gates=[verdict.gate for verdict in failed],
            messages=[verdict.message for verdict in failed],
            gates=verdicts,
        )


def _verdicts(scene: Scene, target: NodesTarget) -> list[TreeVerdict]:
    tree = tree_target.find_tree(scene, target)
    assert tree is not None
    return TreeJudge(tree, tree_target.sort_in(scene, target)).verdicts()
