"""Copies of datablocks that a revert can put in their place."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np


def take(block: Any) -> Any:
    """A copy with everything that the original has now."""
    image = block.copy()
    if isinstance(block, bpy.types.Image) and block.is_dirty:
        # Blender copies an image without the pixels that were painted.
        pixels = np.empty(len(block.pixels), np.float32)
        block.pixels.foreach_get(pixels)
        image.pixels.foreach_set(pixels)
    return image
