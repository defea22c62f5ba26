"""scene.purge: what nothing uses."""

from __future__ import annotations

from typing import Any

import bpy

from support.stage.stage import Stage
from tools.objects import box, named

blocks: Any = bpy.data


def orphans(stage: Stage) -> list[str]:
    """What an audit finds that nothing uses."""
    return [one["object"] for one in stage.do("scene.audit", {"rules": ["orphan"]}, verify=True)["findings"]]


def leave_orphans(stage: Stage) -> None:
    """A mesh with a material that only this mesh uses, and an object with its own."""
    stage.do("material.ensure_principled", {"name": "Old", "base_color": [1, 0, 0]})
    stage.do("material.ensure_principled", {"name": "Used", "base_color": [1, 1, 0]})
    box(stage, "Temp")
    box(stage, "Kept")
    stage.do("material.assign", {"object": "Temp", "material": "Old"})
    stage.do("material.assign", {"object": "Kept", "material": "Used"})
    stage.do("object.delete", {"object": "Temp", "keep_data": True})


def test_purging_takes_what_is_used_by_orphans_alone_along(stage: Stage) -> None:
    leave_orphans(stage)
    assert orphans(stage) == ["materials/Old", "meshes/Temp"]
    removed = stage.do("scene.purge", {})["removed"]
    assert removed == ["materials/Old", "meshes/Temp"]
    assert not orphans(stage)
    assert stage.do("scene.purge", {})["removed"] == []


def test_what_was_rendered_last_is_nobodys_orphan(stage: Stage) -> None:
    box(stage)
    stage.do("render.preview", {"view": "FRONT", "width": 32, "height": 32})
    assert any(image.type == "RENDER_RESULT" for image in blocks.images)
    assert not orphans(stage) and not stage.do("scene.snapshot", {})["unused"]["items"]


def test_purging_leaves_what_is_of_another_kind_or_kept_with_what_it_uses(stage: Stage) -> None:
    leave_orphans(stage)
    assert stage.do("scene.purge", {"kinds": ["material"]})["removed"] == []
    assert stage.do("scene.purge", {"keep": ["Temp"]})["removed"] == []
    assert stage.do("scene.purge", {"keep": ["Old"]})["removed"] == ["meshes/Temp"]
    assert stage.do("scene.purge", {"kinds": ["material"]})["removed"] == ["materials/Old"]


def test_purging_leaves_assets_and_takes_shape_keys_groups_and_circles_of_orphans(stage: Stage) -> None:
    asset = blocks.materials.new("Asset")
    asset.asset_mark()
    stage.state.refresh()
    box(stage, "Temp")
    named("Temp").shape_key_add(name="Basis")
    group, inner = (blocks.node_groups.new(name, "GeometryNodeTree") for name in ("Outer", "Inner"))
    group.nodes.new("GeometryNodeGroup").node_tree = inner
    held = blocks.materials.new("Held")
    held["points_at"] = held
    for block in (group, inner, held):
        block.use_fake_user = True
    stage.state.refresh()
    stage.do("object.delete", {"object": "Temp", "keep_data": True})
    answer = stage.call("scene.purge", {}, rehearse="inverse")
    assert answer["reverted_by"] == "inverse"
    assert {"Outer", "Inner"} <= set(blocks.node_groups.keys())
    removed = stage.do("scene.purge", {})["removed"]
    assert removed == ["materials/Held", "meshes/Temp", "node_groups/Inner", "node_groups/Outer"]
    assert "Asset" in blocks.materials
