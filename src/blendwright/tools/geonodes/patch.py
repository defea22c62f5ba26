"""Tool geonodes.patch"""

from __future__ import annotations

from blendwright.nodes.payloads import GnOpsPayload
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.tool import Example
from blendwright.tools.geonodes.examples import CUBE, ON_CUBE, link
from blendwright.tools.geonodes.tree_editing import EDITED_KINDS, EditsNodeTree

CREATE = {"op": "ensure_target", "allow_create_modifier": True}
LOOSE = {"op": "add_node", "id": "loose", "bl_idname": "GeometryNodeMeshCube"}
UNLINKED_NODE = ("geonodes.patch", {"v": 1, "target": ON_CUBE, "ops": [CREATE, LOOSE]})


class Patch(EditsNodeTree[GnOpsPayload]):
    """Patch a geometry-nodes tree. Each operation describes a wanted state, so applying a patch twice gives the same
    tree.

    The only exception is a patch that removes something it needs itself: the second application is refused.

    Either all operations are applied or none: the work happens on a copy, which replaces the tree when it is complete.
    """

    name = "geonodes.patch"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(*EDITED_KINDS).needs("modifier_write")
    examples = (
        Example(
            {
                "v": 1,
                "target": ON_CUBE,
                "ops": [
                    CREATE,
                    {"op": "ensure_single_group_io"},
                    {"op": "add_node", "id": "noise_1", "bl_idname": "ShaderNodeTexNoise", "x": 120, "y": 40},
                    {"op": "set_input", "node_id": "noise_1", "socket_name": "Scale", "value": 5.0},
                    {"op": "add_node", "id": "move", "bl_idname": "GeometryNodeSetPosition", "x": 300},
                    link("group_input.Geometry", "move.Geometry", "socket_name"),
                    link("noise_1.Color", "move.Offset", "socket_name"),
                    link("move.Geometry", "group_output.Geometry", "socket_name"),
                ],
            },
            CUBE,
        ),
        Example({"v": 1, "target": ON_CUBE, "ops": [{"op": "cleanup_unused"}]}, CUBE, UNLINKED_NODE),
    )
