"""Datablocks that a snapshot of the scene does not show with a fingerprint of their own, so that a comparison passes none over."""

from collections.abc import Mapping
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp

# What a snapshot lists with a fingerprint; where an object lies is a property of the object there.
LISTED = frozenset({"objects", "materials", "cameras", "lights", "node_groups", fp.MEMBERSHIP})

_data: Any = bpy.data


def unlisted_blocks(leaves: Mapping[fp.Key, bytes]) -> list[list[str]]:
    """Kind, name and digest of each, in a stable order. Data of objects is shown with these, and the world of the scene with it."""
    shown = {fp.key_of(obj.data) for obj in _data.objects if obj.data is not None}
    world = bpy.context.scene.world
    if world is not None:
        shown.add(fp.key_of(world))
    return [
        [key[0], " ".join(key[1:]), digest.hex()]
        for key, digest in sorted(leaves.items())
        if key[0] not in LISTED and key not in shown
    ]
