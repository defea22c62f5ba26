"""Tool nodes.apply_tree"""

from __future__ import annotations

from blendwright.nodes.tree_payloads import ApplyTreePayload
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE
from blendwright.tool_api.tool import Example
from blendwright.tools.geonodes.examples import link
from blendwright.tools.nodes.examples import BRICK_TREE
from blendwright.tools.nodes.tree_editing import EDITED_KINDS, EditsAnyTree

RAMP = {"elements": [{"position": 0, "color": [0.1, 0.05, 0.02, 1]}, {"position": 1, "color": [0.8, 0.6, 0.4, 1]}]}
SPOT = ("light.create", {"name": "Lamp", "type": "SPOT"})


class ApplyTree(EditsAnyTree[ApplyTreePayload]):
    """Build or change the node tree of a material, world, light or compositor, or a node group of any kind, with NODE_TREE
    operations.

    `output` is the id of the tree's output node. A new material also has 'Principled BSDF', a new world 'Background', a
    light 'Emission', a compositor 'Render Layers'. With `clear` the tree starts with only its output. Images are given by
    their name in the file. The tool applies all operations or none; `failed_gates` and `messages` report problems of the
    resulting tree.
    """

    name = "nodes.apply_tree"
    promises = SAFE_ONE_TIME_WRITE.writes_to(*EDITED_KINDS).needs("material_write")
    examples = (
        Example(BRICK_TREE[1]),
        Example(
            {
                "target": {"material": "Wood"},
                "clear": True,
                "operations": [
                    {"op": "create_node", "node_id": "place", "bl_idname": "ShaderNodeTexCoord"},
                    {"op": "create_node", "node_id": "rings", "bl_idname": "ShaderNodeTexWave"},
                    {"op": "create_node", "node_id": "ramp", "bl_idname": "ShaderNodeValToRGB"},
                    {"op": "set_property", "node_id": "ramp", "property": "color_ramp", "value": RAMP},
                    {"op": "create_node", "node_id": "surface", "bl_idname": "ShaderNodeBsdfPrincipled"},
                    link("place.Object", "rings.Vector"),
                    link("rings.Color", "ramp.Fac"),
                    link("ramp.Color", "surface.Base Color"),
                    link("surface.BSDF", "output.Surface"),
                ],
            }
        ),
        Example(
            {
                "target": {"world": "Studio"},
                "operations": [
                    {"op": "create_node", "node_id": "sky", "bl_idname": "ShaderNodeTexGradient"},
                    link("sky.Color", "Background.Color"),
                ],
            }
        ),
        Example(
            {
                "target": {"light": "Lamp"},
                "operations": [
                    {"op": "set_input_default", "node_id": "Emission", "socket": "Strength", "value": 3.0},
                ],
            },
            SPOT,
        ),
        Example(
            {
                "target": {"group": "Worn Edges", "kind": "shader"},
                "operations": [
                    {
                        "op": "set_group_io",
                        "inputs": [{"name": "Amount", "socket_type": "NodeSocketFloat", "default": 0.5}],
                        "outputs": [{"name": "Mask", "socket_type": "NodeSocketFloat"}],
                    },
                    link("group_input.Amount", "group_output.Mask"),
                ],
            }
        ),
        Example(
            {
                "target": {"compositor": "Scene"},
                "operations": [
                    {"op": "create_node", "node_id": "glow", "bl_idname": "CompositorNodeGlare"},
                    link("Render Layers.Image", "glow.Image"),
                    link("glow.Image", "output.Image"),
                ],
            }
        ),
    )
