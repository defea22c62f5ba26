"""Example trees of several geometry-nodes tools, and helpers that build their operations."""

from __future__ import annotations

from typing import Any

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Cube"})
ON_CUBE = {"object_name": "Cube", "modifier_name": "GeometryNodes"}
OF_CUBE = {"object": "Cube", "modifier": "GeometryNodes"}


def link(source: str, target: str, key: str = "socket") -> dict[str, Any]:
    """Return a link operation. Each end is written `node.Socket`; `key` is the payload's field name for a socket."""
    return {"op": "link", "from": _end(source, key), "to": _end(target, key)}


def _end(end: str, key: str) -> dict[str, str]:
    node_id, _, socket = end.partition(".")
    return {"node_id": node_id, key: socket}


def float_input(name: str, default: float, minimum: float) -> dict[str, Any]:
    """Return an operation that gives the node group one numeric input."""
    socket = {"name": name, "socket_type": "NodeSocketFloat", "default": default, "min": minimum}
    return {"op": "set_group_io", "inputs": [socket]}


# Calls that create a cube with its size as an input of the modifier.
SIZED_CUBE = (
    CUBE,
    (
        "geonodes.node_tree",
        {
            "target": {**ON_CUBE, "node_group_name": "GN_Cube"},
            "operations": [
                float_input("Size", 2.0, 0.0),
                {"op": "create_node", "node_id": "box", "bl_idname": "GeometryNodeMeshCube"},
                link("group_input.Size", "box.Size"),
                link("box.Mesh", "group_output.Geometry"),
            ],
        },
    ),
)
