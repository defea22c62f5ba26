"""What only a tool knows of its arguments is asked of the very Blender at hand, before the first operation runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import blendwright

TARGET = {"object_name": "Cube", "modifier_name": "GeometryNodes", "node_group_name": "G"}
# Viewers have items of any type from 5.0 on. Older Blenders take this, so nothing is wrong with it while nobody says which one is meant.
OLDER: list[dict[str, Any]] = [
    {"op": "create_node", "node_id": "r", "bl_idname": "GeometryNodeViewer"},
    {"op": "set_property", "node_id": "r", "property": "data_type", "value": "FLOAT"},
]


def operation(id: str, tool: str, args: dict[str, Any]) -> dict[str, Any]:
    return {"operation_id": id, "tool_name": tool, "args": args, "depends_on": [], "safety_level": "safe_write"}


def test_a_plan_for_another_blender_is_refused_before_its_first_operation(tmp_path: Path) -> None:
    cube = operation("a", "mesh.create_primitive", {"kind": "cube", "name": "Cube"})
    tree = operation("b", "geonodes.node_tree", {"target": TARGET, "operations": OLDER})
    with blendwright.open(tmp_path / "workspace", spare=False) as scene:
        before = scene.hash
        report = scene.run({"request_id": "request-1", "operations": [cube, tree]})
        assert report.status != "succeeded"
        assert scene.hash == before
        called = scene.call("geonodes.node_tree", target=TARGET, operations=OLDER)
        assert not called.ok
        assert scene.hash == before
        assert "has no property 'data_type'" in called.message
