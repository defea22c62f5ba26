"""BOP: scenes of `rgb/`, `depth/`, `mask/`, `mask_visib/` and three JSON files each. A scene is made aside and renamed when it is whole."""

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
NOTHING = [-1, -1, -1, -1]
MM = 1000.0


class BopWriter:
    """Poses are those of objects without their scale, in millimetres; an object's id is that of its category."""

    def __init__(self, target: Path, categories: list[AnnotatedCategory], pictures_per_scene: int) -> None:
        self._split = target / SPLIT
        self._numbers = {category.name: category.id for category in categories}
        self._size = pictures_per_scene

    def write(self, cases: Cases, ledger: Ledger) -> None:
        self._split.mkdir(exist_ok=True)
        count = 0
        for unit in units_of(samples(cases), self._size):
            if not ledger.has(unit):
                self._write_scene(unit)
                ledger.add(unit)
            count += 1
        while (surplus := self._scene(count)).exists():
            # Made of more cases than there are now.
            remove_directory(surplus)
            count += 1

    def _scene(self, number: int) -> Path:
        return self._split / f"{number:06d}"

    def _write_scene(self, unit: Unit) -> None:
        scene, part = self._scene(unit.number), self._split / f".{unit.number:06d}.part"
        for old in (scene, part):
            if old.exists():
                remove_directory(old)
        for folder in FOLDERS:
            (part / folder).mkdir(parents=True)
        documents: dict[str, dict[str, Any]] = {"scene_camera": {}, "scene_gt": {}, "scene_gt_info": {}}
        for number, sample in enumerate(unit.samples):
            (part / "rgb" / f"{number:06d}.png").write_bytes(sample.read("color"))
            (part / "depth" / f"{number:06d}.png").write_bytes(sample.read("depth"))
            present = [each for each in sample.picture.instances if each.full_pixels or each.visible_pixels]
            documents["scene_camera"][str(number)] = _camera(sample)
            documents["scene_gt"][str(number)] = [self._pose(sample, each) for each in present]
            documents["scene_gt_info"][str(number)] = [_info(each) for each in present]
            for place, each in enumerate(present):
                size = (sample.picture.width, sample.picture.height)
                name = f"{number:06d}_{place:06d}.png"
                (part / "mask" / name).write_bytes(mask_png(each.mask_full or each.mask_visible, *size))
                (part / "mask_visib" / name).write_bytes(mask_png(each.mask_visible, *size))
        for name, document in documents.items():
            (part / f"{name}.json").write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2))
        part.rename(scene)

    def _pose(self, sample: Sample, instance: AnnotatedInstance) -> dict[str, Any]:
        matrix = instance.object_to_camera
        return {
            "cam_R_m2c": _rotation(matrix),
            "cam_t_m2c": [row[3] * MM for row in matrix[:3]],
            "obj_id": self._numbers[sample.category(instance)],
        }


def _camera(sample: Sample) -> dict[str, Any]:
    camera = sample.picture.camera
    rows = camera.world_to_camera[:3]
    return {
        "cam_K": [value for row in camera.K for value in row],
        "cam_R_w2c": [value for row in rows for value in row[:3]],
        "cam_t_w2c": [row[3] * MM for row in rows],
        "depth_scale": 1.0,
    }


def _info(instance: AnnotatedInstance) -> dict[str, Any]:
    if instance.full_pixels is not None:
        full = instance.full_pixels
    else:
        full = instance.visible_pixels
    return {
        "bbox_obj": _whole_box(instance),
        "bbox_visib": list(instance.box_visible or NOTHING),
        "px_count_all": full,
        "px_count_valid": full,
        "px_count_visib": instance.visible_pixels,
        "visib_fract": instance.visible_pixels / full,
    }


def _whole_box(instance: AnnotatedInstance) -> list[int]:
    """Of all of it, also beyond the picture where that is known."""
    if instance.box_projected is None:
        return list(instance.box_full or instance.box_visible or NOTHING)
    left, top, width, height = instance.box_projected
    first = math.floor(left), math.floor(top)
    return [*first, math.ceil(left + width) - first[0], math.ceil(top + height) - first[1]]


def _rotation(matrix: Any) -> list[float]:
    """What a matrix does to directions, without scale, mirroring and shear, as nine numbers by rows."""
    columns = [[matrix[row][column] for row in range(3)] for column in range(3)]
    x = _unit(columns[0])
    along = sum(a * b for a, b in zip(x, columns[1], strict=True))
    y = _unit([b - along * a for a, b in zip(x, columns[1], strict=True)])
    z = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]
    return [axis[row] for row in range(3) for axis in (x, y, z)]


def _unit(vector: list[float]) -> list[float]:
    length = math.hypot(*vector) or 1.0
    return [value / length for value in vector]
