"""Comparison of two pictures: the agreement of outlines and colours, and panels that show it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from blendwright.blender.looking.labels import draw_line, line_height
from blendwright.blender.looking.lettering import Lettering
from blendwright.tool_api.pictures import PictureComparison

# From 0 to 1: the colour difference from the border above which a pixel is not background, and the alpha of an object.
UNLIKE_BORDER = 0.10
SOLID = 0.5
# The share of pixels in a usable silhouette. Outside of these limits it is nearly empty or nearly everything.
MIN_SHARE, MAX_SHARE = 0.001, 0.995
# The minimum share of border pixels in the background colour. Below it, the picture has no plain background.
MIN_PLAIN_BORDER = 0.6
BOTH, ONLY_REFERENCE, ONLY_SCENE = (70, 180, 90), (225, 70, 60), (60, 110, 235)
GAP = 4
# The factor that makes differences visible in their panel.
AMPLIFIED = 3
# The difference of a channel, from 0 to 255, from which it is visible.
VISIBLE = 16


def silhouette(pixels: Any) -> tuple[Any | None, str]:
    """Return a mask of the object in a picture, or None, and its source: alpha, or difference from the border."""
    alpha = pixels[..., 3]
    if (alpha < SOLID).mean() > MIN_SHARE:
        return alpha >= SOLID, "alpha"
    color = pixels[..., :3]
    border = np.concatenate([color[0], color[-1], color[:, 0], color[:, -1]])
    back = np.median(border, axis=0)
    mask = np.abs(color - back).max(axis=2) > UNLIKE_BORDER
    plain = (np.abs(border - back).max(axis=1) <= UNLIKE_BORDER).mean()
    if plain < MIN_PLAIN_BORDER or not MIN_SHARE < mask.mean() < MAX_SHARE:
        return None, "none"
    return mask, "background"


def look_alike(reference: Any, picture: Any) -> bool:
    """Return True if no difference is visible. Both pictures are bytes of equal size."""
    return not (np.abs(reference.astype(np.int16) - picture) >= VISIBLE).any()


def compared(reference: Any, picture: Any, outline: Any, wanted: Any | None, source: str) -> PictureComparison:
    """Return the figures of a comparison.

    `reference` and `picture` are bytes of equal size. `outline` and `wanted` are masks of the scene's and the reference's objects;
    `wanted` is None if the reference has no recognizable object.
    """
    difference = np.abs(reference.astype(np.int16) - picture).astype(np.float64)
    reference_box = overlap = None
    if wanted is not None:
        reference_box = _box(wanted)
        union = int((wanted | outline).sum())
        if union:
            overlap = float((wanted & outline).sum() / union)
    return PictureComparison(
        silhouette_iou=overlap,
        silhouette_from=source,
        difference=float(difference.mean() / 255.0),
        differing=float((difference.max(axis=2) >= VISIBLE).mean()),
        reference_box=reference_box,
        scene_box=_box(outline),
    )


def panels(reference: Any, picture: Any, outline: Any, wanted: Any | None, chosen: Sequence[str]) -> Mapping[str, Any]:
    """Return the chosen panels by name. All have the same size."""
    drawn: dict[str, Any] = {}
    for name in chosen:
        if name == "REFERENCE":
            drawn[name] = reference
        elif name == "SCENE":
            drawn[name] = picture
        elif name == "OVERLAY":
            drawn[name] = np.rint(reference * 0.5 + picture * 0.5).astype(np.uint8)
        elif name == "DIFFERENCE":
            difference = np.abs(reference.astype(np.int16) - picture)
            drawn[name] = np.minimum(difference * AMPLIFIED, 255).astype(np.uint8)
        else:
            drawn[name] = _outlines(outline, wanted)
    return drawn


def _outlines(outline: Any, wanted: Any | None) -> Any:
    """Return a picture of both masks in the colours BOTH, ONLY_REFERENCE and ONLY_SCENE."""
    pixels = np.full((*outline.shape, 3), 24, np.uint8)
    if wanted is None:
        reference = np.zeros_like(outline)
    else:
        reference = wanted
    pixels[reference & outline] = BOTH
    pixels[reference & ~outline] = ONLY_REFERENCE
    pixels[outline & ~reference] = ONLY_SCENE
    return pixels


def sheet(drawn: Mapping[str, Any], captions: Mapping[str, str], letters: Lettering) -> Any:
    """Return the panels under their captions: two per row for four panels, otherwise all in one row."""
    first = next(iter(drawn.values()))
    height, width = first.shape[:2]
    if len(drawn) == 4:
        columns = 2
    else:
        columns = len(drawn)
    rows = -(-len(drawn) // columns)
    text = line_height(first)
    strip = text + 8
    sheet_height = rows * (height + strip) + (rows - 1) * GAP
    sheet_width = columns * width + (columns - 1) * GAP
    pixels = np.full((sheet_height, sheet_width, 3), 24, np.uint8)
    for number, (name, panel) in enumerate(drawn.items()):
        x = number % columns * (width + GAP)
        y = number // columns * (height + strip + GAP)
        draw_line(pixels[:, x : x + width], letters.line(captions[name], text), 0, y)
        pixels[y + strip : y + strip + height, x : x + width] = panel
    return pixels


def _box(mask: Any) -> tuple[float, float, float, float] | None:
    """Return left, top, right and bottom of a mask as shares of the picture; None for an empty mask."""
    rows, columns = np.nonzero(mask)
    if not len(rows):
        return None
    height, width = mask.shape
    return (
        float(columns.min() / width),
        float(rows.min() / height),
        float((columns.max() + 1) / width),
        float((rows.max() + 1) / height),
    )
