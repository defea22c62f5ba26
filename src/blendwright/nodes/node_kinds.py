"""Types of nodes that several places know: what begins and ends a zone, what a tree ends in, what need not lead there."""

from __future__ import annotations

# The first node of a zone and the last; what is in one belongs to the other.
ZONES = {
    "GeometryNodeSimulationInput": "GeometryNodeSimulationOutput",
    "GeometryNodeRepeatInput": "GeometryNodeRepeatOutput",
    "GeometryNodeForeachGeometryElementInput": "GeometryNodeForeachGeometryElementOutput",
    "NodeClosureInput": "NodeClosureOutput",
}
# Where a tree's work ends besides the group output: in a material, a world, a light, the compositor.
ENDS = frozenset(
    {
        "ShaderNodeOutputMaterial", "ShaderNodeOutputWorld", "ShaderNodeOutputLight", "ShaderNodeOutputLineStyle",
        "ShaderNodeOutputAOV", "CompositorNodeComposite", "CompositorNodeViewer", "CompositorNodeSplitViewer",
        "CompositorNodeOutputFile", "NodeGroupInput", "NodeGroupOutput",
    }
)  # fmt: skip
INPUT, OUTPUT, FRAME = "NodeGroupInput", "NodeGroupOutput", "NodeFrame"
# Blender evaluates these wherever they stand (seen on 5.0): their effect is a message or a handle, not geometry.
WORK_UNLINKED = frozenset(
    {"GeometryNodeWarning", "GeometryNodeGizmoDial", "GeometryNodeGizmoLinear", "GeometryNodeGizmoTransform"}
)
# These are there for whoever looks at the tree, and do nothing to its result.
FOR_THE_EYE = frozenset({FRAME, "NodeReroute", "GeometryNodeViewer"})
