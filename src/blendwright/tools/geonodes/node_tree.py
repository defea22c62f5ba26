"""Tool geonodes.node_tree"""

from __future__ import annotations

from blendwright.nodes.payloads import NodeTreePayload
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE
from blendwright.tool_api.tool import Example
from blendwright.tools.geonodes.examples import float_input, link
from blendwright.tools.geonodes.tree_editing import EDITED_KINDS, EditsNodeTree

PLANE = ("mesh.create_primitive", {"kind": "plane", "name": "Plane"})
ON_PLANE = {"object_name": "Plane", "modifier_name": "GeometryNodes"}
TOWER = {"object_name": "Tower", "modifier_name": "Build", "node_group_name": "GN_Tower"}


class NodeTree(EditsNodeTree[NodeTreePayload]):
    """Build or change a geometry-nodes tree by a list of operations: nodes, properties, input values, links, group
    sockets.

    Missing modifiers and node groups are created; a new tree passes its geometry through. Either all operations are
    applied or none: the work happens on a copy, which replaces the tree when it is complete.
    """

    name = "geonodes.node_tree"
    promises = SAFE_ONE_TIME_WRITE.writes_to(*EDITED_KINDS).needs("modifier_write")
    examples = (
        Example(
            {
                "target": {**ON_PLANE, "node_group_name": "GN_Smooth"},
                "operations": [
                    {"op": "create_node", "node_id": "n1", "bl_idname": "GeometryNodeSubdivisionSurface"},
                    {"op": "set_input_default", "node_id": "n1", "socket": "Level", "value": 2},
                    link("group_input.Geometry", "n1.Mesh"),
                    link("n1.Mesh", "group_output.Geometry"),
                ],
            },
            PLANE,
        ),
        Example(
            {
                "target": {**TOWER, "allow_create_object": True},
                "operations": [
                    float_input("Height", 3.0, 0.1),
                    {"op": "create_node", "node_id": "body", "bl_idname": "GeometryNodeMeshCylinder"},
                    link("group_input.Height", "body.Depth"),
                    link("body.Mesh", "group_output.Geometry"),
                ],
            }
        ),
        Example({"target": {**ON_PLANE, "node_group_name": "GN_Scatter"}, "operations": []}, PLANE),
    )
