"""Target, setup and payload that the examples of several node tree tools share."""

from __future__ import annotations

from typing import Any

from blendwright.tools.geonodes.examples import link

BRICKS: dict[str, Any] = {"material": "Bricks"}
BRICK_TREE = (
    "nodes.apply_tree",
    {
        "target": BRICKS,
        "operations": [
            {"op": "create_node", "node_id": "bricks", "bl_idname": "ShaderNodeTexBrick", "location": [-300, 200]},
            {"op": "set_input_default", "node_id": "bricks", "socket": "Scale", "value": 4.0},
            link("bricks.Color", "Principled BSDF.Base Color"),
        ],
    },
)
