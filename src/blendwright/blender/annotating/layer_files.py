"""Picture layers as files: PNG with 16 bits, and NPY. Equal values give equal bytes."""

from pathlib import Path
from typing import Any

import numpy as np

from blendwright.blender.annotating.camera_model import CameraModel
from blendwright.blender.looking.png_files import png

MAX_VALUE = 65_535


def write_numbers(file: str, values: Any) -> None:
    """Write a PNG with one or three channels of numbers from 0 to 65535. Rows run from the top down."""
    Path(file).write_bytes(png(values.astype(np.uint16)))


def millimetres(depths: Any, something: Any) -> Any:
    """Return depths as whole millimetres; 0 without an object and for depths beyond the range of 16 bits."""
    rounded = np.rint(np.where(something, depths, 0.0) * 1000.0)
    return np.where(rounded <= MAX_VALUE, rounded, 0.0).astype(np.uint16)


def write_metres(file: str, depths: Any, something: Any) -> None:
    """Write depths in metres as an NPY file; 0 without an object."""
    with Path(file).open("wb") as opened:
        np.save(opened, np.where(something, depths, 0.0).astype(np.float32))


def normal_colors(normals: Any, something: Any, camera: CameraModel) -> Any:
    """Return world normals in the camera's frame as three channels of 16 bits."""
    turned = normals @ camera.world_to_camera[:3, :3].T
    values = np.rint((np.clip(turned, -1.0, 1.0) + 1.0) / 2.0 * MAX_VALUE)
    return np.where(something[..., None], values, 0.0).astype(np.uint16)
