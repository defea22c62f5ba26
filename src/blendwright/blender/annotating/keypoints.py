"""Keypoints of an instance: their positions in the world and their visibility."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from blendwright.blender.annotating.camera_model import CameraModel
from blendwright.blender.annotating.instances import Thing
from blendwright.tool_api.annotations import KeypointSource
from blendwright.tools.render.categories import rigs_of

Array = npt.NDArray[np.float64]

# The custom property that marks an empty as a keypoint of the object above it.
PROPERTY = "keypoint"
# A keypoint slightly behind the visible surface counts as on it. The tolerance is a share of the thing's size plus some pixels.
SIZE_TOLERANCE, PIXEL_TOLERANCE = 0.01, 2.0


def keypoint_places(thing: Thing, sources: Sequence[KeypointSource], depsgraph: Any) -> list[Array | None]:
    """Return the world position of each keypoint; None for a missing one."""
    return [_place(thing, source, depsgraph) for source in sources]


def _place(thing: Thing, source: KeypointSource, depsgraph: Any) -> Array | None:
    """Return the world position of one keypoint; None if its source does not exist."""
    if source.at is not None:
        return _moved(thing, np.array(source.at, dtype=np.float64))
    # A thing may be a repetition of its object at another position. Its keypoints move with it.
    object_matrix = np.array(thing.original.evaluated_get(depsgraph).matrix_world, dtype=np.float64)
    if source.vertex_group is not None:
        return _of_group(thing, source.vertex_group, depsgraph)
    if source.bone is not None:
        position = _of_bone(thing.original, source.bone, depsgraph)
    else:
        position = _of_empty(thing.original, source.name, depsgraph)
    if position is None or abs(np.linalg.det(object_matrix[:3, :3])) == 0.0:
        return position
    return (thing.matrix @ np.linalg.inv(object_matrix) @ np.append(position, 1.0))[:3]


def _moved(thing: Thing, point: Array) -> Array:
    """Return a point of the thing's local space in the world."""
    return thing.matrix[:3, :3] @ point + thing.matrix[:3, 3]


def _of_group(thing: Thing, name: str, depsgraph: Any) -> Array | None:
    """Return the mean position of a vertex group's vertices after modifiers; None without any."""
    evaluated = thing.original.evaluated_get(depsgraph)
    group = thing.original.vertex_groups.get(name)
    if group is None or evaluated.type != "MESH":
        return None
    points = [vertex.co[:] for vertex in evaluated.data.vertices if _has_weight(vertex, group.index)]
    if points:
        return _moved(thing, np.array(points, dtype=np.float64).mean(axis=0))
    return None


def _has_weight(vertex: Any, group: int) -> bool:
    return any(element.group == group and element.weight > 0.0 for element in vertex.groups)


def _of_bone(obj: Any, name: str, depsgraph: Any) -> Array | None:
    """Return the head of a bone in the rigs of an object: the object itself, its deformer, or its parent."""
    for rig in rigs_of(obj):
        if name not in rig.pose.bones:
            continue
        evaluated = rig.evaluated_get(depsgraph)
        return np.array(evaluated.matrix_world @ evaluated.pose.bones[name].head, dtype=np.float64)
    return None


def _of_empty(obj: Any, name: str, depsgraph: Any) -> Array | None:
    """Return the position of the empty with this keypoint name below an object."""
    for child in sorted(obj.children_recursive, key=lambda child: child.name):
        if child.type == "EMPTY" and child.get(PROPERTY) == name:
            return np.array(child.evaluated_get(depsgraph).matrix_world.translation, dtype=np.float64)
    return None


def keypoints_seen(
    places: Sequence[Array | None], camera: CameraModel, depths: Any, something: Any, size: float
) -> list[tuple[float, float, int]]:
    """Return x, y and visibility of each keypoint: 2 if visible, 1 if hidden; three zeros outside the picture.

    `places` are world positions. `size` is the size of the thing in metres.
    """
    keypoints: list[tuple[float, float, int]] = []
    for position in places:
        if position is None:
            seen = None
        else:
            seen = camera.to_camera(position[None])
        if seen is None or not camera.clip_start <= seen[0, 2] <= camera.clip_end:
            keypoints.append((0.0, 0.0, 0))
            continue
        x, y = camera.project(seen)[0]
        column, row = int(np.floor(x)), int(np.floor(y))
        if not (0 <= column < camera.width and 0 <= row < camera.height):
            keypoints.append((0.0, 0.0, 0))
            continue
        depth = seen[0, 2]
        allowed = SIZE_TOLERANCE * size + PIXEL_TOLERANCE * depth / min(camera.focal)
        visibility = 2
        if something[row, column] and depths[row, column] < depth - allowed:
            visibility = 1
        keypoints.append((float(x), float(y), visibility))
    return keypoints
