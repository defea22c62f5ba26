"""Tool geonodes.verify"""

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

# Largest number of trees in one call.
MAX_TREES = 100
# The gate that a missing tree fails.
MISSING_TREE_GATE = "OUTPUT_CONNECTED"
FIX = "Change the tree as the message says, then check it again with geonodes.gates."
# Names that Blender does not allow are accepted here: such a tree counts as missing.
NonEmptyName = Annotated[str, Field(min_length=1, max_length=NAME_BYTES)]


class TreeToVerify(Args):
    """A tree, given by the object and modifier that use it."""

    object_name: Annotated[NonEmptyName, Names(Role.USES, Kind.OBJECT.blocks, surely=False)] = Field(
        description="Object with the modifier that uses the tree."
    )
    modifier_name: Annotated[NonEmptyName, in_stack(Role.USES, "object_name")] = Field(
        description="Name of its geometry-nodes modifier."
    )
    added: Optional[Annotated[list[AddedNodes], Field(max_length=MAX_TREES)]] = optional(
        "Added nodes, which must lead to the output."
    )


class VerifyArgs(Args):
    trees: list[TreeToVerify] = Field(min_length=1, max_length=MAX_TREES, description="The trees to check.")
    gates: list[AskedGate] = Field(
        default=[], max_length=50, description="Gates to require for each tree, in addition to the default ones."
    )
    required: bool = Field(default=False, description="True to make a failed gate an error of the call.")


class Verified(Result):
    """The combined gate results of all trees."""

    success: bool = Field(description="True if every tree passes all required gates.")
    failed_gates: list[str] = Field(description="The required gates that failed, in the order of the trees.")
    messages: list[str] = Field(description="For each failed gate, the problem and the fix.")
    trees: list[GateReport] = Field(description="A report for each existing tree.")


class Verify(Reads[VerifyArgs, Verified]):
    """Check several geometry-nodes trees at once against their gates; with `required`, fail unless all gates pass.

    A missing tree fails OUTPUT_CONNECTED. Without `required`, a failed gate is a result and not an error of the call.
    """

    name = "geonodes.verify"
    promises = READ_ONLY.needs("scene_read")
    examples = (
        Example({"trees": [ON_CUBE], "required": True}, *SIZED_CUBE),
        Example({"trees": [ON_CUBE, {**ON_CUBE, "object_name": "Gone"}]}, *SIZED_CUBE),
    )

    def check(self, scene: Scene, args: VerifyArgs) -> Findings:
        """Yield a finding for each failed gate if `required` is set, so that the caller gets all of them at once."""
        if args.required:
            verified = _verified(scene, args)
            for gate, message in zip(verified.failed_gates, verified.messages, strict=True):
                yield Finding(Fault.VERIFICATION_FAILED, message, cure=FIX, rule=gate)

    def apply(self, scene: Scene, args: VerifyArgs) -> Verified:
        return _verified(scene, args)


def _verified(scene: Scene, args: VerifyArgs) -> Verified:
    failed: list[str] = []
    messages: list[str] = []
    reports: list[GateReport] = []
    for tree in args.trees:
        prefix = ""
        if len(args.trees) > 1:
            prefix = f"{tree.object_name}, {tree.modifier_name}: "
        missing = next(iter(tree_problems(scene, tree.object_name, tree.modifier_name)), None)
        if missing is not None:
            failed.append(MISSING_TREE_GATE)
            messages.append(f"{prefix}no tree to check: {missing.message}")
            continue
        modifier = nodes_modifier(scene, tree.object_name, tree.modifier_name)
        report = report_gates(scene, modifier, args.gates, tree.added or ())
        reports.append(report)
        failed += report.failed_gates
        messages += [prefix + message for message in report.messages]
    return Verified(success=not failed, failed_gates=failed, messages=messages, trees=reports)
