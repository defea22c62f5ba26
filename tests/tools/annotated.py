"""Annotations on a stage in this process: the call, and its document and layers read back without our own code."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import numpy as np
from PIL import Image

from blendwright.schemas import published

if TYPE_CHECKING:
    from support.stage.stage import Stage

QUICK: dict[str, Any] = {"engine": "CYCLES", "samples": 1, "denoise": False, "resolution": [96, 72]}
# Ten metres before the origin, looking along Y.
EYE: dict[str, Any] = {"name": "Eye", "location": [0, -10, 0], "rotation_euler_deg": [90, 0, 0]}


@dataclass(frozen=True)
class Taken:
    """One picture that was taken."""

    folder: Path
    document: dict[str, Any]
    number: int = 0

    @property
    def picture(self) -> dict[str, Any]:
        return self.document["pictures"][self.number]

    @property
    def camera(self) -> dict[str, Any]:
        return self.picture["camera"]

    def of(self, name: str) -> dict[str, Any]:
        """The one instance of an object."""
        (found,) = self.all_of(name)
        return found

    def all_of(self, name: str) -> list[dict[str, Any]]:
        return [each for each in self.picture["instances"] if each["object"] == name]

    def numbers(self, layer: str) -> Any:
        with Image.open(self.folder / self.picture["files"][layer]) as picture:
            return np.asarray(picture).astype(int)

    @property
    def depths(self) -> Any:
        return np.load(self.folder / self.picture["files"]["depth_m"])

    @property
    def normals(self) -> Any:
        """Pillow reads eight of the sixteen bits."""
        data = (self.folder / self.picture["files"]["normals"]).read_bytes()
        start = data.index(b"IDAT") + 4
        length = int.from_bytes(data[start - 8 : start - 4])
        width, height = self.picture["width"], self.picture["height"]
        rows = np.frombuffer(zlib.decompress(data[start : start + length]), np.uint8).reshape(height, -1)
        assert not rows[:, 0].any(), "no filters"
        return rows[:, 1:].copy().view(">u2").reshape(height, width, 3).astype(float) / 65535 * 2 - 1


def annotate(stage: Stage, *categories: dict[str, Any], **args: Any) -> Taken:
    """One call, whose document is held to the published schema and whose scene must be as it was."""
    before = stage.state.full_root()
    given: dict[str, Any] = {**QUICK, "cameras": ["Eye"], **args} | (
        {"categories": list(categories)} if categories else {}
    )
    stage.do("render.annotations", given)
    assert stage.state.full_root() == before
    folder = stage.scratch / given.get("artifact", "annotations")
    document = json.loads((folder / "annotations.json").read_text(encoding="utf-8"))
    jsonschema_rs.validator_for(published.schema("annotations.v1")).validate(document)
    return Taken(folder, document)


def category(name: str, *objects: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "objects": list(objects), **more}


def decoded(mask: dict[str, Any] | None, shape: tuple[int, ...]) -> Any:
    """Run lengths as an array, by their definition."""
    if mask is None:
        return np.zeros(shape, bool)
    flat = np.concatenate([np.full(count, place % 2 == 1) for place, count in enumerate(mask["counts"])])
    return flat.reshape(mask["size"], order="F")


def extent(mask: Any) -> list[int] | None:
    rows, columns = np.nonzero(mask)
    if not len(rows):
        return None
    return [
        int(columns.min()),
        int(rows.min()),
        int(columns.max() - columns.min()) + 1,
        int(rows.max() - rows.min()) + 1,
    ]


def projected(camera: dict[str, Any], point: Any) -> tuple[float, float, float]:
    """A point of the world by K, R and t in plain arithmetic: X and Y from the corner of the picture, and the depth."""
    rows = camera["world_to_camera"]
    x, y, z = (sum(row[i] * point[i] for i in range(3)) + row[3] for row in rows[:3])
    K = camera["K"]
    return K[0][0] * x / z + K[0][2] + 0.5, K[1][1] * y / z + K[1][2] + 0.5, z
