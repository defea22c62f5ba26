"""The BOP format: scenes with `rgb/`, `depth/`, `mask/`, `mask_visib/` and three JSON files each. A rename publishes a complete scene."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import orjson

from blendwright.datasets.run_length_masks import mask_png
from blendwright.datasets.samples import Cases, Sample, samples
from blendwright.datasets.units import Ledger, Unit, units_of
from blendwright.tools.render.annotation_document import AnnotatedCategory, AnnotatedInstance
from blendwright.util.directory_removal import remove_directory

SPLIT = "train_pbr"
FOLDERS = ("rgb", "depth", "mask", "mask_visib")
# BOP's value for a missing box.
NO_BOX = [-1, -1, -1, -1]
MM_PER_METRE = 1000.0


class BopWriter:
    """A writer of BOP scenes. Poses exclude the objects' scale and are in millimetres; an object's id is the id of its category."""

    def __init__(self, target: Path, categories: list[AnnotatedCategory], pictures_per_scene: int) -> None:
        self._split = target / SPLIT
        self._numbers = {category.name: category.id for category in categories}
        self._pictures_per_scene = pictures_per_scene

    def write(self, cases: Cases, ledger: Ledger) -> None:
        """Write all scenes that the ledger does not contain, and remove scenes of cases that no longer exist."""
        self._split.mkdir(exist_ok=True)
        count = 0
        for unit in units_of(samples(cases), self._pictures_per_scene):
            if not ledger.has(unit):
                self._write_scene(unit)
                ledger.add(unit)
            count += 1
        surplus = self._scene(count)
        while surplus.exists():
            remove_directory(surplus)
            count += 1
            surplus = self._scene(count)

    def _scene(self, number: int) -> Path:
        return self._split / f"{number:06d}"

    def _write_scene(self, unit: Unit) -> None:
        scene, part = self._scene(unit.number), self._split / f".{unit.number:06d}.part"
        for leftover in (scene, part):
            if leftover.exists():
                remove_directory(leftover)
        for folder in FOLDERS:
            (part / folder).mkdir(parents=True)
        documents: dict[str, dict[str, Any]] = {"scene_camera": {}, "scene_gt": {}, "scene_gt_info": {}}
        for number, sample in enumerate(unit.samples):
            (part / "rgb" / f"{number:06d}.png").write_bytes(sample.read("color"))
            (part / "depth" / f"{number:06d}.png").write_bytes(sample.read("depth"))
            instances = [
                instance for instance in sample.picture.instances if instance.full_pixels or instance.visible_pixels
            ]
            documents["scene_camera"][str(number)] = _camera(sample)
            documents["scene_gt"][str(number)] = [self._pose(sample, instance) for instance in instances]
            documents["scene_gt_info"][str(number)] = [_info(instance) for instance in instances]
            size = (sample.picture.width, sample.picture.height)
            for index, instance in enumerate(instances):
                name = f"{number:06d}_{index:06d}.png"
                full_mask = instance.mask_full or instance.mask_visible
                (part / "mask" / name).write_bytes(mask_png(full_mask, *size))
                (part / "mask_visib" / name).write_bytes(mask_png(instance.mask_visible, *size))
        for name, document in documents.items():
            (part / f"{name}.json").write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2))
        part.rename(scene)

    def _pose(self, sample: Sample, instance: AnnotatedInstance) -> dict[str, Any]:
        matrix = instance.object_to_camera
        return {
            "cam_R_m2c": _rotation(matrix),
            "cam_t_m2c": [row[3] * MM_PER_METRE for row in matrix[:3]],
            "obj_id": self._numbers[sample.category(instance)],
        }


def _camera(sample: Sample) -> dict[str, Any]:
    camera = sample.picture.camera
    rows = camera.world_to_camera[:3]
    return {
        "cam_K": [value for row in camera.K for value in row],
        "cam_R_w2c": [value for row in rows for value in row[:3]],
        "cam_t_w2c": [row[3] * MM_PER_METRE for row in rows],
        "depth_scale": 1.0,
    }


def _info(instance: AnnotatedInstance) -> dict[str, Any]:
    total_pixels = instance.full_pixels
    if total_pixels is None:
        total_pixels = instance.visible_pixels
    return {
        "bbox_obj": _full_box(instance),
        "bbox_visib": list(instance.box_visible or NO_BOX),
        "px_count_all": total_pixels,
        "px_count_valid": total_pixels,
        "px_count_visib": instance.visible_pixels,
        "visib_fract": instance.visible_pixels / total_pixels,
    }


def _full_box(instance: AnnotatedInstance) -> list[int]:
    """Return the box around the complete object, beyond the picture's edges if the projection is known."""
    if instance.box_projected is None:
        return list(instance.box_full or instance.box_visible or NO_BOX)
    x_min, y_min, width, height = instance.box_projected
    x, y = math.floor(x_min), math.floor(y_min)
    return [x, y, math.ceil(x_min + width) - x, math.ceil(y_min + height) - y]


def _rotation(matrix: Any) -> list[float]:
    """Return the pure rotation in a matrix, without scale, mirroring and shear, as nine numbers by rows."""
    first, second = _column(matrix, 0), _column(matrix, 1)
    x = _unit(first)
    along = sum(a * b for a, b in zip(x, second, strict=True))
    y = _unit([b - along * a for a, b in zip(x, second, strict=True)])
    z = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]
    return [*(x[0], y[0], z[0]), *(x[1], y[1], z[1]), *(x[2], y[2], z[2])]


def _column(matrix: Any, column: int) -> list[float]:
    return [matrix[row][column] for row in range(3)]


def _unit(vector: list[float]) -> list[float]:
    length = math.hypot(*vector) or 1.0
    return [value / length for value in vector]
