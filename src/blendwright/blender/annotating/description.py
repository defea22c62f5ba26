"""The entries of annotations.json for a camera and for each instance, as plain values."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from blendwright.blender.annotating import boxes
from blendwright.blender.annotating.camera_model import CameraModel
from blendwright.blender.annotating.full_masks import FullMasks
from blendwright.blender.annotating.instances import Thing
from blendwright.blender.annotating.keypoints import keypoint_places, keypoints_seen
from blendwright.tool_api.annotations import Labels

Array = npt.NDArray[np.float64]

# The number of decimal places of all numbers. Blender computes in single precision.
DIGITS = 6


@dataclass(frozen=True, slots=True)
class Seen:
    """The content of each pixel: depth, a flag for any object, and the number of the instance."""

    camera: CameraModel
    depths: Any
    something: Any
    numbers: Any


def camera(name: str, model: CameraModel) -> dict[str, Any]:
    """Return the entry of a camera."""
    return {
        "name": name,
        "K": _plain(model.intrinsics),
        "world_to_camera": _plain(model.world_to_camera),
        "matrix_world": _plain(model.matrix_world),
        "clip_start": _plain(model.clip_start),
        "clip_end": _plain(model.clip_end),
    }


def instances(things: list[Thing], seen: Seen, labels: Labels, depsgraph: Any) -> list[dict[str, Any]]:
    """Return the entries of all instances, numbered from 1."""
    full_masks = FullMasks(seen.camera, seen.depths, seen.something)
    entries: list[dict[str, Any]] = []
    for number, thing in enumerate(things, 1):
        entries.append(_instance(number, thing, seen, labels, full_masks, depsgraph))
    return entries


def _instance(
    number: int, thing: Thing, seen: Seen, labels: Labels, full_masks: FullMasks, depsgraph: Any
) -> dict[str, Any]:
    """Return the entry of one instance."""
    model = seen.camera
    visible = seen.numbers == number
    full = full_masks.mask(thing, visible)
    vertices = thing.world_vertices()
    points = model.to_camera(vertices)

    count = int(visible.sum())
    total = visibility = box_full = mask_full = None
    if full is not None:
        total = int(full.sum())
        visibility = 0.0
        box_full = boxes.pixel_box(full)
        mask_full = _mask(full)
    if total:
        visibility = round(count / total, DIGITS)

    if len(vertices):
        size = float(np.linalg.norm(np.ptp(vertices, axis=0)))
    else:
        size = 0.0
    sources = labels.keypoints.get(thing.category, ())
    keypoints = keypoints_seen(keypoint_places(thing, sources, depsgraph), model, seen.depths, seen.something, size)
    return {
        "id": number,
        "category_id": thing.category,
        "object": thing.name,
        "instancer": thing.instancer,
        "visible_pixels": count,
        "full_pixels": total,
        "visibility": visibility,
        "truncated": boxes.is_truncated(points, model),
        "box_visible": boxes.pixel_box(visible),
        "box_full": box_full,
        "box_projected": _plain(boxes.projected_box(points, model)),
        "mask_visible": _mask(visible),
        "mask_full": mask_full,
        "object_to_world": _plain(thing.matrix),
        "object_to_camera": _plain(model.world_to_camera @ thing.matrix),
        "box_3d": _plain(boxes.box_3d(thing.matrix, vertices, model)),
        "keypoints": _plain(keypoints),
    }


def _mask(mask: Any) -> dict[str, Any] | None:
    """Return a mask as run lengths; None for an empty one."""
    if mask.any():
        return {"size": list(mask.shape), "counts": boxes.run_lengths(mask)}
    return None


def _plain(value: Any) -> Any:
    """Return a value with rounded numbers and lists instead of arrays. A zero has no sign."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return list(map(_plain, cast("list[Any]", value)))
    if isinstance(value, float):
        return round(value, DIGITS) + 0.0
    return value
