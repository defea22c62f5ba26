"""The tree that a payload builds, without Blender: the way back from `to_payload`."""

from __future__ import annotations

from typing import Any

from blendwright.nodes.payloads import (
    CreateNode,
    DeleteNode,
    Link,
    NodeTreePayload,
    SetGroupIO,
    SetInputDefault,
    SetProperty,
    Unlink,
)
from blendwright.nodes.tree import Interface, Tree, new_tree


def from_payload(payload: NodeTreePayload) -> Tree:
    """The tree that a payload of `to_payload` builds in a new node group: the same way back, exactly."""
    nodes: dict[str, dict[str, Any]] = {}
    for node in new_tree().nodes:
        nodes[node.id] = {"id": node.id, "bl_idname": node.bl_idname, "location": node.location, **_nothing_set()}
    interface, links = Interface(), list[Any]()
    for operation in payload.operations:
        match operation:
            case SetGroupIO():
                interface = Interface(inputs=tuple(operation.inputs or ()), outputs=tuple(operation.outputs or ()))
            case DeleteNode():
                del nodes[operation.node_id]
            case CreateNode():
                made = {"id": operation.node_id, "bl_idname": operation.bl_idname, "location": operation.location}
                nodes[operation.node_id] = {**made, **_nothing_set()}
            case SetProperty(property="location"):
                nodes[operation.node_id]["location"] = operation.value
            case SetProperty():
                nodes[operation.node_id]["properties"][operation.property] = operation.value
            case SetInputDefault():
                nodes[operation.node_id]["inputs"][operation.socket] = operation.value
            case Link():
                links.append(operation.model_dump(exclude={"op"}))
            case Unlink():
                pass
    return Tree.model_validate({"interface": interface, "nodes": list(nodes.values()), "links": links})


def _nothing_set() -> dict[str, Any]:
    return {"properties": {}, "inputs": {}}
