"""Copies of datablocks that a revert can put in their place."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from blendwright.blender.scene.state import is_buried


def take(block: Any) -> Any:
    """A copy with everything that the original has now."""
    image = block.copy()
    if isinstance(block, bpy.types.Image) and block.is_dirty:
        # Blender copies an image without the pixels that were painted.
        pixels = np.empty(len(block.pixels), np.float32)
        block.pixels.foreach_get(pixels)
        image.pixels.foreach_set(pixels)
    return image


def repoint(tree: Any, image: Any) -> None:
    """Let pre-images that use a node group use its pre-image: a change of its interface would reach into them too."""
    users: dict[Any, set[Any]] = bpy.data.user_map(subset={tree})
    for user in filter(is_buried, users[tree]):
        if isinstance(user, bpy.types.Object):
            for modifier in user.modifiers:
                if isinstance(modifier, bpy.types.NodesModifier) and modifier.node_group == tree:
                    modifier.node_group = image
            continue
        outer = user if isinstance(user, bpy.types.NodeTree) else getattr(user, "node_tree", None)
        for node in outer.nodes if outer is not None else ():
            if getattr(node, "node_tree", None) == tree:
                node.node_tree = image
