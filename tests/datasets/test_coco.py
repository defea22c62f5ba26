"""COCO data sets as pycocotools reads them: every mask, box and keypoint is that of the annotations."""

from __future__ import annotations

import contextlib
import io
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from blendwright.datasets.run_length_masks import coco_counts
from blendwright.datasets.samples import AnnotatedCase, Cases, read_document, samples
from blendwright.datasets.write import write_dataset

coco_masks: Any = import_module("pycocotools.mask")
COCO: Any = import_module("pycocotools.coco").COCO
COCOeval: Any = import_module("pycocotools.cocoeval").COCOeval

# pycocotools knows NumPy 1.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")


def pixels(path: Path) -> Any:
    with Image.open(path) as picture:
        return np.asarray(picture).astype(int)


@pytest.fixture
def opened(cases: Cases, tmp_path: Path) -> Any:
    write_dataset(cases, "coco", tmp_path / "coco", pictures_per_unit=2)
    with contextlib.redirect_stdout(io.StringIO()):
        return COCO(str(tmp_path / "coco" / "annotations" / "instances.json"))


def test_masks_decode_to_the_picture_of_instances(opened: Any, cases: Cases, tmp_path: Path) -> None:
    checked = 0
    for image, sample in zip(opened.dataset["images"], samples(cases), strict=True):
        numbers = pixels(sample.file("instances"))
        copied = tmp_path / "coco" / "images" / image["file_name"]
        assert copied.read_bytes() == sample.file("color").read_bytes()
        assert pixels(copied).shape[:2] == (image["height"], image["width"])
        seen = [each for each in sample.picture.instances if each.visible_pixels]
        annotations = opened.loadAnns(opened.getAnnIds(imgIds=image["id"]))
        assert len(annotations) == len(seen)
        for annotation, instance in zip(annotations, seen, strict=True):
            decoded = opened.annToMask(annotation)
            assert (decoded.astype(bool) == (numbers == instance.id)).all()
            assert annotation["area"] == decoded.sum() == coco_masks.area(annotation["segmentation"])
            assert annotation["bbox"] == coco_masks.toBbox(annotation["segmentation"]).tolist()
            checked += 1
    assert checked >= 7


def test_categories_have_their_numbers_and_keypoints(opened: Any) -> None:
    cup, wall = opened.loadCats(opened.getCatIds())
    assert (cup["id"], cup["name"], cup["keypoints"], cup["skeleton"]) == (
        3,
        "cup",
        ["near", "middle", "far"],
        [[1, 2]],
    )
    assert (wall["id"], wall["name"]) == (7, "wall") and "keypoints" not in wall
    for annotation in opened.loadAnns(opened.getAnnIds(catIds=[3])):
        points = np.array(annotation["keypoints"]).reshape(3, 3)
        assert annotation["num_keypoints"] == (points[:, 2] > 0).sum() and not points[2].any()
    assert all("keypoints" not in each for each in opened.loadAnns(opened.getAnnIds(catIds=[7])))


@pytest.mark.parametrize("kind", ["segm", "bbox", "keypoints"])
def test_the_truth_against_itself_is_all_right(opened: Any, kind: str) -> None:
    found = [
        {**each, "score": 1.0} for each in opened.dataset["annotations"] if kind != "keypoints" or "keypoints" in each
    ]
    with contextlib.redirect_stdout(io.StringIO()):
        evaluation = COCOeval(opened, opened.loadRes(found), kind)
        if kind == "keypoints":
            evaluation.params.kpt_oks_sigmas = np.full(3, 0.05)
            evaluation.params.catIds = [3]
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    assert evaluation.stats[0] == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(20))
def test_run_lengths_are_written_as_pycocotools_writes_them(seed: int) -> None:
    chance = np.random.default_rng(seed)
    height, width = chance.integers(1, 70, 2).tolist()
    mask: Any = chance.random((height, width)) < chance.random()
    if seed % 2:
        mask[:] = mask[:, :1]
    flat = np.concatenate([[False], mask.ravel(order="F")])
    ends = np.flatnonzero(flat[1:] != flat[:-1])
    counts = np.diff(np.concatenate([[0], ends, [mask.size]])).tolist()
    assert coco_counts(counts).encode() == coco_masks.encode(np.asfortranarray(mask.astype(np.uint8)))["counts"]


def test_large_pictures_have_long_runs() -> None:
    counts = [70_000_000, 1, 5, 100_000, 3]
    encoded = coco_masks.frPyObjects({"size": [10_000, sum(counts) // 10_000 + 1], "counts": counts}, 10_000, 7011)
    assert coco_counts(counts).encode() == encoded["counts"]


def test_the_annotations_themselves_are_sound(folders: list[Path]) -> None:
    assert {len(read_document(AnnotatedCase(0, folder))[0].pictures) for folder in folders} == {1}
