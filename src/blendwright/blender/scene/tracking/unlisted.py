"""Datablocks that a snapshot of the scene lists without a fingerprint, so that a comparison of scenes covers them too."""

from collections.abc import Mapping
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp

# Kinds that a snapshot lists with a fingerprint. It shows the collections of an object as a property of the object.
LISTED = frozenset({"objects", "materials", "cameras", "lights", "node_groups", fp.MEMBERSHIP})

_data: Any = bpy.data


def unlisted_blocks(leaves: Mapping[fp.Key, bytes]) -> list[list[str]]:
    """Return kind, name and digest of each unlisted datablock, sorted by key.

    The data of objects and the world of the scene are omitted: a snapshot shows them with the object and the scene."""
    shown = {fp.key_of(obj.data) for obj in _data.objects if obj.data is not None}
    world = bpy.context.scene.world
    if world is not None:
        shown.add(fp.key_of(world))

    unlisted: list[list[str]] = []
    for key, digest in sorted(leaves.items()):
        if key[0] not in LISTED and key not in shown:
            unlisted.append([key[0], " ".join(key[1:]), digest.hex()])
    return unlisted
