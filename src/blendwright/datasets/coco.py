"""COCO: `images/` and `annotations/instances.json`. Its parts are lines of JSON until all are there; then it is written in one go."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from blendwright.datasets.run_length_masks import coco_counts
from blendwright.datasets.samples import Cases, Sample, samples
from blendwright.datasets.units import Ledger, Unit, units_of, write_file
from blendwright.tools.render.annotation_document import AnnotatedCategory, AnnotatedInstance
from blendwright.util.directory_removal import remove_directory

IMAGES, PARTS = "images", ".parts"
INSTANCES = Path("annotations", "instances.json")


class CocoWriter:
    """Instances that are seen; ids of pictures and annotations are counted in the order of cases."""

    def __init__(self, target: Path, categories: list[AnnotatedCategory], pictures_per_unit: int) -> None:
        self._target = target
        self._categories = categories
        self._numbers = {category.name: category.id for category in categories}
        self._keypoints = {category.name: bool(category.keypoints) for category in categories}
        self._size = pictures_per_unit

    def write(self, cases: Cases, ledger: Ledger) -> None:
        for folder in (IMAGES, PARTS, INSTANCES.parent):
            (self._target / folder).mkdir(exist_ok=True)
        count = 0
        for unit in units_of(samples(cases), self._size):
            if not ledger.has(unit) or not self._part(unit.number).exists():
                self._write_unit(unit)
                ledger.add(unit)
            count += 1
        self._assemble(count)
        while self._part(count).exists():
            self._forget(count)
            count += 1
        remove_directory(self._target / PARTS)

    def _part(self, number: int) -> Path:
        return self._target / PARTS / f"{number:06d}.jsonl"

    def _forget(self, number: int) -> None:
        """Remove the pictures of a part that was made of other cases than there are now."""
        if self._part(number).exists():
            for line in self._part(number).read_bytes().splitlines():
                (self._target / IMAGES / orjson.loads(line)["image"]["file_name"]).unlink(missing_ok=True)

    def _write_unit(self, unit: Unit) -> None:
        lines: list[bytes] = []
        self._forget(unit.number)
        for sample in unit.samples:
            write_file(self._target / IMAGES / f"{sample.key}.png", sample.read("color"))
            lines.append(orjson.dumps(self._line(sample)) + b"\n")
        write_file(self._part(unit.number), b"".join(lines))

    def _line(self, sample: Sample) -> dict[str, Any]:
        picture = sample.picture
        image = {"file_name": f"{sample.key}.png", "width": picture.width, "height": picture.height}
        seen = [self._annotation(sample, each) for each in picture.instances if each.box_visible is not None]
        return {"image": image, "annotations": seen}

    def _annotation(self, sample: Sample, instance: AnnotatedInstance) -> dict[str, Any]:
        name = sample.category(instance)
        mask = instance.mask_visible
        made: dict[str, Any] = {
            "category_id": self._numbers[name],
            "segmentation": None if mask is None else {"size": list(mask.size), "counts": coco_counts(mask.counts)},
            "bbox": instance.box_visible,
            "area": instance.visible_pixels,
            "iscrowd": 0,
            "visibility": instance.visibility,
        }
        if self._keypoints[name]:
            made["keypoints"] = [value for point in instance.keypoints for value in point]
            made["num_keypoints"] = sum(point[2] > 0 for point in instance.keypoints)
        return made

    def _assemble(self, parts: int) -> None:
        path = self._target / INSTANCES
        part = path.with_name(f".{path.name}.part")
        with part.open("wb") as file:
            file.write(b'{"info":{"description":"made with Blendwright"},"licenses":[],"categories":')
            file.write(orjson.dumps([_category(category) for category in self._categories]))
            file.write(b',"images":')
            _write_list(file, ({"id": number, **line["image"]} for number, line in self._lines(parts)))
            file.write(b',"annotations":')
            _write_list(file, self._numbered(parts))
            file.write(b"}\n")
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)

    def _numbered(self, parts: int) -> Iterator[dict[str, Any]]:
        count = 0
        for number, line in self._lines(parts):
            for annotation in line["annotations"]:
                count += 1
                yield {"id": count, "image_id": number, **annotation}

    def _lines(self, parts: int) -> Iterator[tuple[int, dict[str, Any]]]:
        number = 0
        for part in range(parts):
            with self._part(part).open("rb") as file:
                for line in file:
                    number += 1
                    yield number, orjson.loads(line)


def _category(category: AnnotatedCategory) -> dict[str, Any]:
    made: dict[str, Any] = {"id": category.id, "name": category.name, "supercategory": ""}
    return made | ({"keypoints": category.keypoints, "skeleton": category.skeleton} if category.keypoints else {})


def _write_list(file: BinaryIO, values: Iterator[dict[str, Any]]) -> None:
    file.write(b"[")
    for number, value in enumerate(values):
        file.write((b",\n" if number else b"\n") + orjson.dumps(value))
    file.write(b"]")
