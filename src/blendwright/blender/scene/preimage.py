"""Copies of datablocks that a revert can put in their place."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.state import is_tombstone
from blendwright.blender.scene.values import freeze_item, item_hints, put_hints, put_item

ASSET_TEXTS = ("author", "catalog_id", "copyright", "description", "license")


def copy_of(block: Any) -> Any:
    """A copy with everything that the original has now."""
    image = block.copy()
    if isinstance(block, bpy.types.Image) and block.is_dirty:
        # Blender copies an image without the pixels that were painted.
        pixels = np.empty(len(block.pixels), np.float32)
        block.pixels.foreach_get(pixels)
        image.pixels.foreach_set(pixels)
    if block.asset_data is not None:
        _copy_asset_data(image, block.asset_data)
    return image


@contextmanager
def preserving_depth(block: Any) -> Generator[None]:
    """Blender flattens a curve of two dimensions whenever an object is given it; one that was not flat before shall not be."""
    lists = _points(block) if isinstance(block, bpy.types.Curve) and block.dimensions == "2D" else []
    coordinates = [np.empty(len(points) * width, np.float32) for points, _, width in lists]
    for (points, name, _), numbers in zip(lists, coordinates, strict=True):
        points.foreach_get(name, numbers)
    yield
    for (points, name, _), numbers in zip(lists, coordinates, strict=True):
        points.foreach_set(name, numbers)


def _points(curve: Any) -> list[tuple[Any, str, int]]:
    """The coordinates of a curve: a list of points, the property, and how many numbers each point has there."""
    bezier = [(line.bezier_points, name, 3) for line in curve.splines for name in ("co", "handle_left", "handle_right")]
    return bezier + [(line.points, "co", 4) for line in curve.splines]


def _copy_asset_data(block: Any, asset: Any) -> None:
    """Blender copies a datablock without its being an asset."""
    block.asset_mark()
    block.use_fake_user = False  # set by the mark; a pre-image is nobody's
    own = block.asset_data
    for name in ASSET_TEXTS:
        setattr(own, name, getattr(asset, name))
    for tag in asset.tags:
        own.tags.new(tag.name)
    own.active_tag = asset.active_tag
    for key in asset.keys():  # noqa: SIM118 - a bpy_struct is no mapping
        put_item(own, key, freeze_item(asset[key], _unresolved)())
        put_hints(own, key, item_hints(asset, key))


def _unresolved(key: fp.Key) -> Any:
    raise TypeError(f"asset data that refers to {key}")  # Blender does not allow it


def repoint(tree: Any, image: Any) -> None:
    """Let pre-images that use a node group use its pre-image: a change of its interface would reach into them too."""
    users: dict[Any, set[Any]] = bpy.data.user_map(subset={tree})
    for user in filter(is_tombstone, users[tree]):
        if isinstance(user, bpy.types.Object):
            for modifier in user.modifiers:
                if isinstance(modifier, bpy.types.NodesModifier) and modifier.node_group == tree:
                    modifier.node_group = image
            continue
        outer = user if isinstance(user, bpy.types.NodeTree) else getattr(user, "node_tree", None)
        for node in outer.nodes if outer is not None else ():
            if getattr(node, "node_tree", None) == tree:
                node.node_tree = image
