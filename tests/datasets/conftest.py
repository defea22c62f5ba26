"""Annotated cases for the writers of data sets: made by the real tool, once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from blendwright.datasets.samples import AnnotatedCase, Cases
from support.stage.stage import Stage
from tools.objects import box

EYE = {"name": "Eye", "location": [0, -10, 0], "rotation_euler_deg": [90, 0, 0]}
KEYPOINTS = [
    {"name": "near", "at": [0, -0.5, 0]},
    {"name": "middle", "at": [0, 0, 0]},
    {"name": "far", "at": [0, 0, 99]},
]
CATEGORIES = [
    {"name": "cup", "id": 3, "collections": ["Cups"], "keypoints": KEYPOINTS, "skeleton": [["near", "middle"]]},
    {"name": "wall", "id": 7, "collections": ["Walls"]},
]
# What stands where in each case: nothing in the second, a cup behind a wall in the third.
PLACES: tuple[dict[str, list[list[float]]], ...] = (
    {"Cups": [[-1, 0, 0.5], [1, 0, 0]], "Walls": [[0, 4, 0]]},
    {},
    {"Cups": [[0.3, 2, 0.2]], "Walls": [[0, -1, 0]]},
    {"Cups": [[2.8, 0, 0.1], [0.4, 1, -0.2], [0, 0, 40]], "Walls": []},
    {"Cups": [[0, 0, 0]], "Walls": [[0, 3, 0.4], [-0.7, -2, 0]]},
)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    made: list[Path] = []
    for number, places in enumerate(PLACES):
        stage = Stage(tmp_path_factory.mktemp(f"case{number}"))
        stage.do("camera.create", EYE)
        for collection in ("Cups", "Walls"):
            stage.do("collection.create", {"name": collection})
            for place in places.get(collection, ()):
                size = 1.0 if collection == "Cups" else 1.6
                name = f"{collection} {place}"
                box(stage, name, size=size, location=place, collection=collection, rotation_euler_deg=[10, 20, 30])
        args = {"cameras": ["Eye"], "categories": CATEGORIES, "resolution": [64, 48]}
        stage.do("render.annotations", {**args, "engine": "CYCLES", "samples": 1, "denoise": False})
        made.append(stage.scratch / "annotations")
    return made


@pytest.fixture
def cases(folders: list[Path]) -> Cases:
    def listed() -> Iterator[AnnotatedCase]:
        # Numbers have gaps where cases failed.
        return (AnnotatedCase(number * 3, folder) for number, folder in enumerate(folders))

    return listed


@pytest.fixture
def copies(folders: list[Path], tmp_path: Path) -> list[Path]:
    """The same folders, to be damaged."""
    return [Path(shutil.copytree(folder, tmp_path / "copies" / str(number))) for number, folder in enumerate(folders)]
