"""mesh.edit ends before a mesh is too large, however it grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy  # noqa: F401  # pyright: ignore[reportUnusedImport] - brings bmesh
import pytest

from blendwright.blender.mesh_editing import editor
from blendwright.values.faults import Fault
from tools.objects import box

if TYPE_CHECKING:
    from support.stage.stage import Stage


@pytest.mark.parametrize(
    "again",
    [
        {"op": "subdivide", "cuts": 2},
        {"op": "bevel", "select": "all", "width": 0.01, "segments": 2},
        {"op": "inset", "select": "all", "thickness": 0.001, "individual": True},
        {"op": "extrude", "select": "all", "distance": 0.01, "individual": True},
        {"op": "extrude", "select": "all", "domain": "edges", "vector": [0, 0, 1]},
    ],
    ids=["subdivide", "bevel", "inset", "extrude", "extrude edges"],
)
def test_what_grows_with_every_operation_ends_at_a_limit(
    stage: Stage, again: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editor, "MAX_VERTICES", 400)
    box(stage)
    found = stage.refusal("mesh.edit", {"object": "Box", "operations": [again] * 8})[0]
    assert found["code"] == Fault.LIMIT_EXCEEDED
    assert found["pointer"].startswith("/operations/") and "at most 400 are allowed" in found["message"]
