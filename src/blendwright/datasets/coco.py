"""The COCO format: `images/` and `annotations/instances.json`. Parts are files of JSON lines; the last step assembles the document."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
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
    """A writer of COCO data sets. It writes visible instances; ids of pictures and annotations follow the order of the cases."""

    def __init__(self, target: Path, categories: list[AnnotatedCategory], pictures_per_unit: int) -> None:
        self._target = target
        self._categories = categories
        self._numbers = {category.name: category.id for category in categories}
        self._keypoints = {category.name: bool(category.keypoints) for category in categories}
        self._pictures_per_unit = pictures_per_unit

    def write(self, cases: Cases, ledger: Ledger) -> None:
        """Write all parts that the ledger does not contain, assemble the document, and remove parts of cases that no longer exist."""
        for folder in (IMAGES, PARTS, INSTANCES.parent):
            (self._target / folder).mkdir(exist_ok=True)
        count = 0
        for unit in units_of(samples(cases), self._pictures_per_unit):
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
        """Remove the pictures of an earlier version of a part, which may come from other cases."""
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
        visible = [instance for instance in picture.instances if instance.box_visible is not None]
        return {"image": image, "annotations": [self._annotation(sample, instance) for instance in visible]}

    def _annotation(self, sample: Sample, instance: AnnotatedInstance) -> dict[str, Any]:
        name = sample.category(instance)
        mask = instance.mask_visible
        segmentation: dict[str, Any] | None = None
        if mask is not None:
            segmentation = {"size": list(mask.size), "counts": coco_counts(mask.counts)}
        annotation: dict[str, Any] = {
            "category_id": self._numbers[name],
            "segmentation": segmentation,
            "bbox": instance.box_visible,
            "area": instance.visible_pixels,
            "iscrowd": 0,
            "visibility": instance.visibility,
        }
        if self._keypoints[name]:
            annotation["keypoints"] = list(chain.from_iterable(instance.keypoints))
            annotation["num_keypoints"] = sum(point[2] > 0 for point in instance.keypoints)
        return annotation

    def _assemble(self, parts: int) -> None:
        """Write the document from its parts, without holding all of them in memory."""
        path = self._target / INSTANCES
        part = path.with_name(f".{path.name}.part")
        with part.open("wb") as file:
            file.write(b'{"info":{"description":"made with Blendwright"},"licenses":[],"categories":')
            file.write(orjson.dumps([_category(category) for category in self._categories]))
            file.write(b',"images":')
            _write_list(file, self._images(parts))
            file.write(b',"annotations":')
            _write_list(file, self._annotations(parts))
            file.write(b"}\n")
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)

    def _images(self, parts: int) -> Iterator[dict[str, Any]]:
        for number, line in self._lines(parts):
            yield {"id": number, **line["image"]}

    def _annotations(self, parts: int) -> Iterator[dict[str, Any]]:
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
    document: dict[str, Any] = {"id": category.id, "name": category.name, "supercategory": ""}
    if category.keypoints:
        document |= {"keypoints": category.keypoints, "skeleton": category.skeleton}
    return document


def _write_list(file: BinaryIO, values: Iterator[dict[str, Any]]) -> None:
    separator = b"[\n"
    is_empty = True
    for value in values:
        file.write(separator + orjson.dumps(value))
        separator, is_empty = b",\n", False
    if is_empty:
        file.write(b"[")
    file.write(b"]")
