"""geonodes.verify"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from blendwright.nodes.payloads import Optional
from blendwright.tool_api.arguments import NAME_BYTES, Args, Result, optional
from blendwright.tool_api.mentions import Names, Role, in_stack
from blendwright.tool_api.promises import READ_ONLY
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Reads
from blendwright.tools.geonodes.examples import ON_CUBE, SIZED_CUBE
from blendwright.tools.geonodes.gate_report import AddedNodes, AskedGate, GateReport, report_gates
from blendwright.tools.geonodes.modifier_target import nodes_modifier, tree_problems
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

MOST_TREES = 100
# Of a tree that is not there, this is what can be said.
WITHOUT_A_TREE = "OUTPUT_CONNECTED"
CURE = "Change the tree as it says; geonodes.gates judges it again."
# Nothing has a name that is not allowed, so that is a tree that is not there.
NonEmptyName = Annotated[str, Field(min_length=1, max_length=NAME_BYTES)]


class TreeToVerify(Args):
    """A tree, by the modifier that holds it."""

    object_name: Annotated[NonEmptyName, Names(Role.USES, Kind.OBJECT.blocks, surely=False)] = Field(
        description="Object whose modifier holds the tree."
    )
    modifier_name: Annotated[NonEmptyName, in_stack(Role.USES, "object_name")] = Field(
        description="Its geometry-nodes modifier."
    )
    added: Optional[Annotated[list[AddedNodes], Field(max_length=MOST_TREES)]] = optional(
        "Nodes that were added: that they lead to the output is required then."
    )


class VerifyArgs(Args):
    trees: list[TreeToVerify] = Field(min_length=1, max_length=MOST_TREES, description="The trees to judge.")
    gates: list[AskedGate] = Field(
        default=[], max_length=50, description="Gates to require of each, besides the usual ones."
    )
    required: bool = Field(default=False, description="A gate that is not passed is an error of the call.")


class Verified(Result):
    """The envelope of the gates over all trees."""

    success: bool = Field(description="True when every required gate of every tree is passed.")
    failed_gates: list[str] = Field(description="The required gates that failed, tree by tree.")
    messages: list[str] = Field(description="For each of them, what is wrong and what to change.")
    trees: list[GateReport] = Field(description="The trees that are there, one by one.")


class Verify(Reads[VerifyArgs, Verified]):
    """Judge several geometry-nodes trees at once by their gates, and with `required` insist that all are passed.

    A tree that is not there does not pass OUTPUT_CONNECTED. Without `required` a failed gate is a result, not an error of the call."""

    name = "geonodes.verify"
    promises = READ_ONLY.needs("scene_read")
    examples = (
        Example({"trees": [ON_CUBE], "required": True}, *SIZED_CUBE),
        Example({"trees": [ON_CUBE, {**ON_CUBE, "object_name": "Gone"}]}, *SIZED_CUBE),
    )

    def check(self, scene: Scene, args: VerifyArgs) -> Findings:
        """All gates that are not passed are told at once, which an error in the middle of the work could not."""
        if args.required:
            verified = _verified(scene, args)
            for gate, message in zip(verified.failed_gates, verified.messages, strict=True):
                yield Finding(Fault.VERIFICATION_FAILED, message, cure=CURE, rule=gate)

    def apply(self, scene: Scene, args: VerifyArgs) -> Verified:
        return _verified(scene, args)


def _verified(scene: Scene, args: VerifyArgs) -> Verified:
    failed: list[str] = []
    messages: list[str] = []
    reports: list[GateReport] = []
    for tree in args.trees:
        # Where there is only one, its name would be noise.
        if len(args.trees) > 1:
            prefix = f"{tree.object_name}, {tree.modifier_name}: "
        else:
            prefix = ""
        missing = next(iter(tree_problems(scene, tree.object_name, tree.modifier_name)), None)
        if missing is not None:
            failed.append(WITHOUT_A_TREE)
            messages.append(f"{prefix}there is no tree to judge: {missing.message}")
            continue
        modifier = nodes_modifier(scene, tree.object_name, tree.modifier_name)
        report = report_gates(scene, modifier, args.gates, tree.added or ())
        reports.append(report)
        failed += report.failed_gates
        messages += [prefix + message for message in report.messages]
    return Verified(success=not failed, failed_gates=failed, messages=messages, trees=reports)
