"""What is linked counts as what Blender leaves in its place where the library is missing, whether or not it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.fingerprint import leaf_hashes
from blendwright.blender.fingerprint.animation import NO_CHANNELS
from blendwright.blender.fingerprint.walk import Walk
from support.stage.stage import Stage

_data: Any = bpy.data


def placeholder_digest(block: Any) -> bytes:
    """The hash of a datablock as it is, as all linked ones had it before."""
    columns = leaf_hashes._number_columns(fp.key_of(block)[0])  # pyright: ignore[reportPrivateUsage]
    walk = Walk(NO_CHANNELS, {})
    return leaf_hashes._digest(block, columns, columns.one(block) if columns else b"", walk)  # pyright: ignore[reportPrivateUsage]


def test_a_linked_datablock_has_the_hash_of_the_placeholder_that_is_left_without_its_library(
    stage: Stage, tmp_path: Path
) -> None:
    library, scene_file = tmp_path / "library.blend", tmp_path / "scene.blend"
    stage.do("collection.create", {"name": "Props"})
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box", "collection": "Props", "location": [1, 2, 3]})
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Apart", "location": [1, 2, 3]})
    stage.state.save(library)
    stage.state.reset()
    named = [{"kind": "collections", "name": "Props"}, {"kind": "objects", "name": "Apart"}]
    stage.do("file.link", {"path": str(library), "link": named}, files={str(library): str(library)})
    assert len([block for block in _data.objects if block.library]) == 2
    found = dict(stage.state.fingerprint.leaves())
    stage.state.save(scene_file)
    library.unlink()
    stage.state.open(scene_file)
    placeholders = [_data.collections["Props"], _data.objects["Apart"]]
    assert all(block.is_missing for block in placeholders) and "Box" not in _data.objects
    assert dict(stage.state.fingerprint.leaves()) == found
    for block in placeholders:
        assert found[fp.key_of(block)] == placeholder_digest(block) == fp.leaf(block)
