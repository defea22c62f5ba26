"""Tool geonodes.gates"""

from __future__ import annotations

from pydantic import Field

from blendwright.tool_api.promises import READ_ONLY
from blendwright.tool_api.scene import Scene
from blendwright.tool_api.tool import Example, Findings, Reads
from blendwright.tools.geonodes.examples import OF_CUBE, SIZED_CUBE
from blendwright.tools.geonodes.gate_report import AskedGate, GateReport, report_gates
from blendwright.tools.geonodes.modifier_target import NodesModifierArgs, nodes_modifier, tree_problems

GATES = [{"gate": "MANIFOLD"}, {"gate": "MIN_VERTICES", "value": 8}, {"gate": "MAX_SIZE", "value": [2, 2, 2]}]


class GatesArgs(NodesModifierArgs):
    gates: list[AskedGate] = Field(
        default=[], max_length=50, description="Gates to require in addition to the default ones."
    )


class Gates(Reads[GatesArgs, GateReport]):
    """Check a geometry-nodes tree against gates: the output is connected, links are valid, the tree evaluates, the
    result is not empty.

    A failed gate is a result and not an error of the call; its message says what to change. Counts are those of the
    object after all its modifiers, with each instance counted.
    """

    name = "geonodes.gates"
    promises = READ_ONLY.needs("scene_read")
    examples = (Example({"object": "Cube"}, *SIZED_CUBE), Example({**OF_CUBE, "gates": GATES}, *SIZED_CUBE))

    def check(self, scene: Scene, args: GatesArgs) -> Findings:
        yield from tree_problems(scene, args.object, args.modifier)

    def apply(self, scene: Scene, args: GatesArgs) -> GateReport:
        return report_gates(scene, nodes_modifier(scene, args.object, args.modifier), args.gates)
