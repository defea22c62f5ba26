"""Tool nodes.patch"""

from __future__ import annotations

from blendwright.nodes.tree_payloads import PatchTreePayload
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.tool import Example
from blendwright.tools.geonodes.examples import link
from blendwright.tools.nodes.examples import BRICK_TREE, BRICKS
from blendwright.tools.nodes.tree_editing import EDITED_KINDS, EditsAnyTree

NOISE = {"op": "add_node", "id": "noise", "bl_idname": "ShaderNodeTexNoise", "properties": {"noise_dimensions": "2D"}}


class PatchTree(EditsAnyTree[PatchTreePayload]):
    """Patch the node tree of a material, world, light or compositor, or a node group: each operation describes a final
    state.

    Applying a patch twice gives the same tree. The tree must exist, unless the patch starts with ensure_target.
    """

    name = "nodes.patch"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(*EDITED_KINDS).needs("material_write")
    examples = (
        Example(
            {
                "target": BRICKS,
                "ops": [
                    NOISE,
                    {"op": "set_input", "node_id": "noise", "socket_name": "Scale", "value": 12.0},
                    link("noise.Color", "bricks.Color1", "socket_name"),
                ],
            },
            BRICK_TREE,
        ),
        Example({"target": BRICKS, "ops": [{"op": "ensure_target"}]}),
        Example({"target": BRICKS, "ops": [{"op": "remove_node", "node_id": "bricks"}]}, BRICK_TREE),
        Example(
            {
                "target": {"compositor": "Scene"},
                "ops": [
                    {"op": "ensure_target"},
                    {"op": "add_node", "id": "blur", "bl_idname": "CompositorNodeBlur"},
                    link("Render Layers.Image", "blur.Image", "socket_name"),
                    link("blur.Image", "output.Image", "socket_name"),
                ],
            }
        ),
    )
