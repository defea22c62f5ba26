"""What annotations.json says of a camera and of each instance, as plain values."""

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

# Places are told to a thousandth of a thousandth; Blender computes in single precision.
DIGITS = 6


@dataclass(frozen=True, slots=True)
class Seen:
    """What is behind each pixel: the depth, whether there is something, and the number of the thing."""

    camera: CameraModel
    depths: Any
    something: Any
    numbers: Any


def camera(name: str, model: CameraModel) -> dict[str, Any]:
    return {
        "name": name,
        "K": _plain(model.intrinsics),
        "world_to_camera": _plain(model.world_to_camera),
        "matrix_world": _plain(model.matrix_world),
        "clip_start": _plain(model.clip_start),
        "clip_end": _plain(model.clip_end),
    }


def instances(things: list[Thing], seen: Seen, labels: Labels, depsgraph: Any) -> list[dict[str, Any]]:
    full_masks = FullMasks(seen.camera, seen.depths, seen.something)
    return [_instance(number, thing, seen, labels, full_masks, depsgraph) for number, thing in enumerate(things, 1)]


def _instance(
    number: int, thing: Thing, seen: Seen, labels: Labels, full_masks: FullMasks, depsgraph: Any
) -> dict[str, Any]:
    model = seen.camera
    visible = seen.numbers == number
    full = full_masks.mask(thing, visible)
    vertices = thing.world_vertices()
    points = model.to_camera(vertices)
    count, total = int(visible.sum()), None if full is None else int(full.sum())
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
        "visibility": None if total is None else round(count / total, DIGITS) if total else 0.0,
        "truncated": boxes.is_truncated(points, model),
        "box_visible": boxes.pixel_box(visible),
        "box_full": None if full is None else boxes.pixel_box(full),
        "box_projected": _plain(boxes.projected_box(points, model)),
        "mask_visible": _mask(visible),
        "mask_full": None if full is None else _mask(full),
        "object_to_world": _plain(thing.matrix),
        "object_to_camera": _plain(model.world_to_camera @ thing.matrix),
        "box_3d": _plain(boxes.box_3d(thing.matrix, vertices, model)),
        "keypoints": _plain(keypoints),
    }


def _mask(mask: Any) -> dict[str, Any] | None:
    if mask.any():
        return {"size": list(mask.shape), "counts": boxes.run_lengths(mask)}
    return None


def _plain(value: Any) -> Any:
    """Numbers as they are told: a zero has no sign."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(each) for each in cast("list[Any]", value)]
    if isinstance(value, float):
        return round(value, DIGITS) + 0.0
    return value
