"""Saved values and copies of datablocks, which stay unchanged until a revert restores them."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

import bpy
import mathutils
import numpy as np

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.state import RESERVED_PREFIX, is_tombstone

Thaw = Callable[[], Any]
Resolve = Callable[[fp.Key], Any]

ASSET_TEXTS = ("author", "catalog_id", "copyright", "description", "license")


def freeze(value: Any, resolve: Resolve) -> Thaw:
    """Save a property's value, and return a function that returns the saved value later.

    A datablock is saved by its key, since a reference may dangle after a revert. Arrays and vectors are saved as tuples."""
    if isinstance(value, bpy.types.ID):
        key = fp.key_of(value)
        return lambda: resolve(key)
    frozen = plain(value)
    return lambda: frozen


def plain(value: Any) -> Any:
    """Return a copy of a property's value in which vectors and arrays are tuples. Matrices and sets of enum flags keep their type."""
    if isinstance(value, mathutils.Matrix):
        return value.copy()  # Blender would read rows of plain numbers as columns.
    if isinstance(value, (str, bytes, set, frozenset)) or not hasattr(value, "__len__"):
        return cast("Any", value)
    return tuple(plain(part) for part in value)


def freeze_item(value: Any, resolve: Resolve) -> Thaw:
    """Save the value of a custom property, and return a function that returns the saved value later.

    Unlike `freeze`, it also accepts groups and lists of groups, which may contain datablocks."""
    if hasattr(value, "to_dict"):
        group = {key: freeze_item(value[key], resolve) for key in value.keys()}  # noqa: SIM118 - no mapping
        return lambda: {key: thaw() for key, thaw in group.items()}
    if hasattr(value, "to_list"):
        numbers = value.to_list()
        return lambda: numbers
    if isinstance(value, list):
        groups = [freeze_item(element, resolve) for element in cast("list[Any]", value)]
        return lambda: [thaw() for thaw in groups]
    return freeze(value, resolve)


def put_item(holder: Any, key: str, value: Any) -> None:
    """Write a custom property. None writes a null pointer, which Blender does not accept as a value."""
    if value is None:
        _write_null_pointer(holder, key)
    elif isinstance(value, dict):
        holder[key] = {}
        for name, inner in cast("dict[str, Any]", value).items():
            put_item(holder[key], name, inner)
    else:
        holder[key] = value


def item_hints(holder: Any, key: str) -> dict[str, Any] | None:
    """Return the interface data of a custom property, such as range, default and description. Groups and pointers have none: None."""
    try:
        return holder.id_properties_ui(key).as_dict()
    except TypeError:
        return None


def put_hints(holder: Any, key: str, hints: dict[str, Any] | None) -> None:
    if hints:
        holder.id_properties_ui(key).update(**hints)


def _write_null_pointer(holder: Any, key: str) -> None:
    """Write a null pointer, by pointing at a temporary text and removing the text."""
    texts: Any = bpy.data.texts
    stub = texts.new(f"{RESERVED_PREFIX}nothing")
    holder[key] = stub
    texts.remove(stub)


def copy_of(block: Any) -> Any:
    """Return a complete copy of a datablock, including painted pixels and asset data, which Blender does not copy."""
    image = block.copy()
    if isinstance(block, bpy.types.Image) and block.is_dirty:
        pixels = np.empty(len(block.pixels), np.float32)
        block.pixels.foreach_get(pixels)
        image.pixels.foreach_set(pixels)
    if block.asset_data is not None:
        _copy_asset_data(image, block.asset_data)
    return image


@contextmanager
def preserving_depth(block: Any) -> Generator[None]:
    """Preserve the coordinates of a two-dimensional curve: Blender flattens it whenever the curve is assigned to an object."""
    saved: list[tuple[Any, str, Any]] = []
    if isinstance(block, bpy.types.Curve) and block.dimensions == "2D":
        for points, name, width in _points(block):
            coordinates = np.empty(len(points) * width, np.float32)
            points.foreach_get(name, coordinates)
            saved.append((points, name, coordinates))

    yield

    for points, name, coordinates in saved:
        points.foreach_set(name, coordinates)


def _points(curve: Any) -> list[tuple[Any, str, int]]:
    """Return the coordinates of a curve as point list, property name, and the count of numbers per point."""
    entries: list[tuple[Any, str, int]] = []
    for spline in curve.splines:
        for name in ("co", "handle_left", "handle_right"):
            entries.append((spline.bezier_points, name, 3))
        entries.append((spline.points, "co", 4))
    return entries


def _copy_asset_data(block: Any, asset: Any) -> None:
    """Mark a copy as an asset and copy the asset data to it, which Blender's copy omits."""
    block.asset_mark()
    block.use_fake_user = False  # `asset_mark` sets a fake user, which a pre-image must not have.
    target = block.asset_data
    for name in ASSET_TEXTS:
        setattr(target, name, getattr(asset, name))
    for tag in asset.tags:
        target.tags.new(tag.name)
    target.active_tag = asset.active_tag
    for key in asset.keys():  # noqa: SIM118 - a bpy_struct is no mapping
        put_item(target, key, freeze_item(asset[key], _unresolved)())
        put_hints(target, key, item_hints(asset, key))


def _unresolved(key: fp.Key) -> Any:
    # Blender allows no datablock in asset data.
    raise TypeError(f"the asset data refers to {key}")


def repoint(tree: Any, image: Any) -> None:
    """Make pre-images that use the node group `tree` use `image` instead, since a changed interface would change them too."""
    users: dict[Any, set[Any]] = bpy.data.user_map(subset={tree})
    for user in filter(is_tombstone, users[tree]):
        if isinstance(user, bpy.types.Object):
            for modifier in user.modifiers:
                if isinstance(modifier, bpy.types.NodesModifier) and modifier.node_group == tree:
                    modifier.node_group = image
            continue
        if isinstance(user, bpy.types.NodeTree):
            using_tree = user
        else:
            using_tree = getattr(user, "node_tree", None)
        if using_tree is not None:
            for node in using_tree.nodes:
                if getattr(node, "node_tree", None) == tree:
                    node.node_tree = image
