"""Keypoints of a thing: where they are in the world, and whether they are seen."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from blendwright.blender.annotating.camera_model import CameraModel
from blendwright.blender.annotating.instances import Thing
from blendwright.tool_api.annotations import KeypointSource
from blendwright.tools.render.categories import rigs_of

Array = npt.NDArray[np.float64]

# The custom property of an empty that is a keypoint of what it belongs to.
PROPERTY = "keypoint"
# What lies this much behind what is seen is on it: a part of the thing's size, and so many pixels.
OF_SIZE, OF_PIXEL = 0.01, 2.0


def keypoint_places(thing: Thing, sources: Sequence[KeypointSource], depsgraph: Any) -> list[Array | None]:
    """In the world; None for what the thing has not."""
    return [_place(thing, source, depsgraph) for source in sources]


def _place(thing: Thing, source: KeypointSource, depsgraph: Any) -> Array | None:
    if source.at is not None:
        return _moved(thing, np.array(source.at, dtype=np.float64))
    # A thing that is shown somewhere else than its object has its points there too.
    own = np.array(thing.original.evaluated_get(depsgraph).matrix_world, dtype=np.float64)
    if source.vertex_group is not None:
        return _of_group(thing, source.vertex_group, depsgraph)
    if source.bone is not None:
        place = _of_bone(thing.original, source.bone, depsgraph)
    else:
        place = _of_empty(thing.original, source.name, depsgraph)
    if place is None or abs(np.linalg.det(own[:3, :3])) == 0.0:
        return place
    return (thing.matrix @ np.linalg.inv(own) @ np.append(place, 1.0))[:3]


def _moved(thing: Thing, point: Array) -> Array:
    return thing.matrix[:3, :3] @ point + thing.matrix[:3, 3]


def _of_group(thing: Thing, name: str, depsgraph: Any) -> Array | None:
    """The middle of the vertices of a group, where the modifiers leave them."""
    evaluated = thing.original.evaluated_get(depsgraph)
    group = thing.original.vertex_groups.get(name)
    if group is None or evaluated.type != "MESH":
        return None
    points = [
        vertex.co[:]
        for vertex in evaluated.data.vertices
        if any(each.group == group.index and each.weight > 0.0 for each in vertex.groups)
    ]
    if points:
        return _moved(thing, np.array(points, dtype=np.float64).mean(axis=0))
    return None


def _of_bone(obj: Any, name: str, depsgraph: Any) -> Array | None:
    """The head of a bone: of the object itself, of what deforms it, or of what it hangs on."""
    for rig in rigs_of(obj):
        if name not in rig.pose.bones:
            continue
        evaluated = rig.evaluated_get(depsgraph)
        return np.array(evaluated.matrix_world @ evaluated.pose.bones[name].head, dtype=np.float64)
    return None


def _of_empty(obj: Any, name: str, depsgraph: Any) -> Array | None:
    for child in sorted(obj.children_recursive, key=lambda each: each.name):
        if child.type == "EMPTY" and child.get(PROPERTY) == name:
            return np.array(child.evaluated_get(depsgraph).matrix_world.translation, dtype=np.float64)
    return None


def keypoints_seen(
    places: Sequence[Array | None], camera: CameraModel, depths: Any, something: Any, size: float
) -> list[tuple[float, float, int]]:
    """X, Y and 2 for one that is seen, 1 for a hidden one, and zeros for what is not in the picture. `size` is that of the thing."""
    found: list[tuple[float, float, int]] = []
    for place in places:
        if place is None:
            seen = None
        else:
            seen = camera.to_camera(place[None])
        if seen is None or not camera.clip_start <= seen[0, 2] <= camera.clip_end:
            found.append((0.0, 0.0, 0))
            continue
        x, y = camera.project(seen)[0]
        column, row = int(np.floor(x)), int(np.floor(y))
        if not (0 <= column < camera.width and 0 <= row < camera.height):
            found.append((0.0, 0.0, 0))
            continue
        depth = seen[0, 2]
        allowed = OF_SIZE * size + OF_PIXEL * depth / min(camera.focal)
        hidden = something[row, column] and depths[row, column] < depth - allowed
        found.append((float(x), float(y), 1 if hidden else 2))
    return found
