"""Changes of a scene, each with the datablocks whose hashes it moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scene_parts as parts
from scene_parts import context

from blendwright.blender import fingerprint

Case = tuple[Callable[[], Any], Callable[[Any], Any], set[fingerprint.Key]]

CUBE = {("objects", "Cube")}
MESH = {("meshes", "Cube")}


def assign(path: str, value: Any) -> Callable[[Any], None]:
    """Set an attribute (`a.b`) of what was built."""

    def change(target: Any) -> None:
        *owners, name = path.split(".")
        for owner in owners:
            target = getattr(target, owner)
        setattr(target, name, value)

    return change


def principled() -> Any:
    return parts.material().node_tree.nodes["Principled BSDF"]


def kept(block: Any) -> Any:
    block.use_fake_user = True
    return block


def assert_moved_exactly(case: Case) -> None:
    build, change, expected = case
    parts.empty_scene()
    built = build()
    context.view_layer.update()
    before = parts.hashes()
    change(built)
    after = parts.hashes()
    assert parts.changed(before, after) == expected
    assert fingerprint.Fingerprint(before).root() != fingerprint.Fingerprint(after).root()
