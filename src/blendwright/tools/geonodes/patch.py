"""geonodes.patch"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from blendwright.nodes.checks.payload import check_payload_for
from blendwright.nodes.edits import are_repeatable, edits_of
from blendwright.nodes.payloads.gn_ops import GnOpsPayload
from blendwright.tool_api.effects import Idempotence, Kind
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE, Version
from blendwright.tool_api.scene import Scene
from blendwright.tool_api.tool import Example, Tool
from blendwright.tools.geonodes.examples import CUBE, link
from blendwright.tools.geonodes.modifier_target import target_of, target_problems
from blendwright.tools.geonodes.tree_editing import TreeChanged, edit_tree, tree_differences
from blendwright.values.findings import Finding

UNLINKED_NODE = (
    "geonodes.patch",
    {
        "v": 1,
        "target": {"object_name": "Cube", "modifier_name": "GeometryNodes"},
        "ops": [
            {"op": "ensure_target", "allow_create_modifier": True},
            {"op": "add_node", "id": "loose", "bl_idname": "GeometryNodeMeshCube"},
        ],
    },
)


class Patch(Tool[GnOpsPayload, TreeChanged]):
    """Patch a geometry-nodes tree: each operation says how something should be, so that applying it twice gives the same tree.

    Only a patch that removes what it needed itself cannot be applied twice: then it is refused the second time.

    All operations are done, or none: the work is on a copy, which takes the tree's place when it is finished."""

    name = "geonodes.patch"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(
        Kind.OBJECT, Kind.MESH, Kind.NODE_GROUP, Kind.COLLECTION, Kind.FONT
    ).needs("modifier_write")
    examples = (
        Example(
            {
                "v": 1,
                "target": {"object_name": "Cube", "modifier_name": "GeometryNodes"},
                "ops": [
                    {"op": "ensure_target", "allow_create_modifier": True},
                    {"op": "ensure_single_group_io"},
                    {"op": "add_node", "id": "noise_1", "bl_idname": "ShaderNodeTexNoise", "x": 120, "y": 40},
                    {"op": "set_input", "node_id": "noise_1", "socket_name": "Scale", "value": 5.0},
                    {"op": "add_node", "id": "move", "bl_idname": "GeometryNodeSetPosition", "x": 300},
                    link("group_input.Geometry", "move.Geometry", "socket_name"),
                    link("noise_1.Color", "move.Offset", "socket_name"),
                    link("move.Geometry", "group_output.Geometry", "socket_name"),
                ],
            },
            (CUBE,),
        ),
        Example(
            {
                "v": 1,
                "target": {"object_name": "Cube", "modifier_name": "GeometryNodes"},
                "ops": [{"op": "cleanup_unused"}],
            },
            (CUBE, UNLINKED_NODE),
        ),
    )

    def idempotence_for(self, args: GnOpsPayload) -> Idempotence:
        return Idempotence.IDEMPOTENT if are_repeatable(list(edits_of(args))) else Idempotence.NON_IDEMPOTENT

    def examine(self, args: GnOpsPayload, blender: Version | None) -> Iterable[Finding]:
        return check_payload_for(args, blender)

    def check(self, scene: Scene, args: GnOpsPayload) -> Iterator[Finding]:
        yield from target_problems(scene, target_of(args))

    def apply(self, scene: Scene, args: GnOpsPayload) -> TreeChanged:
        return edit_tree(scene, args)

    def verify(self, scene: Scene, args: GnOpsPayload, result: TreeChanged) -> Iterator[Finding]:
        yield from tree_differences(scene, args, result)
