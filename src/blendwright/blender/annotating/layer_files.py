"""Layers of a picture as files: PNG with 16 bits, and NPY. Equal values give equal bytes."""

from pathlib import Path
from typing import Any

import numpy as np

from blendwright.blender.annotating.camera_model import CameraModel
from blendwright.blender.looking.png_files import png

LARGEST = 65_535


def write_numbers(file: str, values: Any) -> None:
    """One channel, or three: rows from the top down of numbers from 0 to 65535."""
    Path(file).write_bytes(png(values.astype(np.uint16)))


def millimetres(depths: Any, something: Any) -> Any:
    """Depths as whole millimetres, 0 where there is nothing, or too far away to be told."""
    whole = np.rint(np.where(something, depths, 0.0) * 1000.0)
    return np.where(whole <= LARGEST, whole, 0.0).astype(np.uint16)


def write_metres(file: str, depths: Any, something: Any) -> None:
    with Path(file).open("wb") as opened:
        np.save(opened, np.where(something, depths, 0.0).astype(np.float32))


def normal_colors(normals: Any, something: Any, camera: CameraModel) -> Any:
    """Normals in the world as numbers of three channels, in the camera's frame."""
    turned = normals @ camera.world_to_camera[:3, :3].T
    values = np.rint((np.clip(turned, -1.0, 1.0) + 1.0) / 2.0 * LARGEST)
    return np.where(something[..., None], values, 0.0).astype(np.uint16)
