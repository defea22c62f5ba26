"""Node types with a special role: ends of zones, ends of trees, and nodes that may stay unlinked."""

from __future__ import annotations

# The first node type of each zone and its last one.
ZONES = {
    "GeometryNodeSimulationInput": "GeometryNodeSimulationOutput",
    "GeometryNodeRepeatInput": "GeometryNodeRepeatOutput",
    "GeometryNodeForeachGeometryElementInput": "GeometryNodeForeachGeometryElementOutput",
    "NodeClosureInput": "NodeClosureOutput",
}
# Nodes in which a tree may end: the outputs of materials, worlds, lights and the compositor, and the ends of groups.
ENDS = frozenset(
    {
        "ShaderNodeOutputMaterial", "ShaderNodeOutputWorld", "ShaderNodeOutputLight", "ShaderNodeOutputLineStyle",
        "ShaderNodeOutputAOV", "CompositorNodeComposite", "CompositorNodeViewer", "CompositorNodeSplitViewer",
        "CompositorNodeOutputFile", "NodeGroupInput", "NodeGroupOutput",
    }
)  # fmt: skip
INPUT, OUTPUT, FRAME = "NodeGroupInput", "NodeGroupOutput", "NodeFrame"
# Blender evaluates these even without links (seen on 5.0): they show a message or a handle instead of making geometry.
WORK_UNLINKED = frozenset(
    {"GeometryNodeWarning", "GeometryNodeGizmoDial", "GeometryNodeGizmoLinear", "GeometryNodeGizmoTransform"}
)
# Nodes for the person who looks at the tree: they do not change its result.
FOR_THE_EYE = frozenset({FRAME, "NodeReroute", "GeometryNodeViewer"})
