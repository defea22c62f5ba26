"""Values and datablocks that a revert can put in their place: copies that stay what they were."""

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
    """A property's value as something that yields it again later, whatever happens to the original.

    Datablocks are kept by name (a reference may dangle after a revert), arrays and vectors by their numbers."""
    if isinstance(value, bpy.types.ID):
        key = fp.key_of(value)
        return lambda: resolve(key)
    frozen = plain(value)
    return lambda: frozen


def plain(value: Any) -> Any:
    """Vectors and arrays as tuples; enum flags stay sets."""
    if isinstance(value, mathutils.Matrix):
        return value.copy()  # Blender takes rows of plain numbers for columns
    if isinstance(value, (str, bytes, set, frozenset)) or not hasattr(value, "__len__"):
        return cast("Any", value)
    return tuple(plain(part) for part in value)


def freeze_item(value: Any, resolve: Resolve) -> Thaw:
    """The same for a custom property, which may be a group that holds datablocks."""
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
    """Write a custom property, also a pointer to nothing, which Blender does not take as a value."""
    if value is None:
        _write_null_pointer(holder, key)
    elif isinstance(value, dict):
        holder[key] = {}
        for name, inner in cast("dict[str, Any]", value).items():
            put_item(holder[key], name, inner)
    else:
        holder[key] = value


def item_hints(holder: Any, key: str) -> dict[str, Any] | None:
    """What a custom property says of itself in the interface: its range, its default, its description."""
    try:
        return holder.id_properties_ui(key).as_dict()
    except TypeError:  # groups and pointers say nothing
        return None


def put_hints(holder: Any, key: str, hints: dict[str, Any] | None) -> None:
    if hints:
        holder.id_properties_ui(key).update(**hints)


def _write_null_pointer(holder: Any, key: str) -> None:
    """A pointer is null once what it points at has been removed."""
    texts: Any = bpy.data.texts
    stub = texts.new(f"{RESERVED_PREFIX}nothing")
    holder[key] = stub
    texts.remove(stub)


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
    if isinstance(block, bpy.types.Curve) and block.dimensions == "2D":
        lists = _points(block)
    else:
        lists = []
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
        if isinstance(user, bpy.types.NodeTree):
            outer = user
        else:
            outer = getattr(user, "node_tree", None)
        for node in outer.nodes if outer is not None else ():
            if getattr(node, "node_tree", None) == tree:
                node.node_tree = image
