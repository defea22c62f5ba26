"""A picture beside another one: how far outlines and colours agree, and panels that show it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from blendwright.blender.looking.labels import draw_line, line_height
from blendwright.blender.looking.lettering import Lettering
from blendwright.tool_api.pictures import PictureComparison

# Of 1: how far from the colour of its border a pixel of a picture without alpha is no background, and where alpha begins.
UNLIKE_BORDER = 0.10
SOLID = 0.5
# An outline that is nearly nothing, or nearly all, tells nothing.
LEAST_SHARE, MOST_SHARE = 0.001, 0.995
# Of the pixels at the border: so many are background where there is one.
PLAIN_BORDER = 0.6
BOTH, ONLY_REFERENCE, ONLY_SCENE = (70, 180, 90), (225, 70, 60), (60, 110, 235)
GAP = 4
AMPLIFIED = 3
# Of 255: less cannot be seen.
VISIBLE = 16


def silhouette(pixels: Any) -> tuple[Any | None, str]:
    """Where a picture shows something, and how that was found: by its alpha, or by what is unlike its border."""
    alpha = pixels[..., 3]
    if (alpha < SOLID).mean() > LEAST_SHARE:
        return alpha >= SOLID, "alpha"
    color = pixels[..., :3]
    border = np.concatenate([color[0], color[-1], color[:, 0], color[:, -1]])
    back = np.median(border, axis=0)
    found = np.abs(color - back).max(axis=2) > UNLIKE_BORDER
    plain = (np.abs(border - back).max(axis=1) <= UNLIKE_BORDER).mean()
    if plain < PLAIN_BORDER or not LEAST_SHARE < found.mean() < MOST_SHARE:
        return None, "none"
    return found, "background"


def look_alike(reference: Any, picture: Any) -> bool:
    """Whether nobody could tell one from the other; both are bytes of equal size."""
    return not (np.abs(reference.astype(np.int16) - picture) >= VISIBLE).any()


def compared(reference: Any, picture: Any, outline: Any, wanted: Any | None, source: str) -> PictureComparison:
    """`reference` and `picture` are bytes of equal size; `outline` and `wanted` are where the scene and the reference show something."""
    apart = np.abs(reference.astype(np.int16) - picture).astype(np.float64)
    if wanted is None:
        both = None
    else:
        both = int((wanted | outline).sum())
    return PictureComparison(
        silhouette_iou=None if not both or wanted is None else float((wanted & outline).sum() / both),
        silhouette_from=source,
        difference=float(apart.mean() / 255.0),
        differing=float((apart.max(axis=2) >= VISIBLE).mean()),
        reference_box=None if wanted is None else _box(wanted),
        scene_box=_box(outline),
    )


def panels(reference: Any, picture: Any, outline: Any, wanted: Any | None, chosen: Sequence[str]) -> Mapping[str, Any]:
    """The panels that were asked for, by name; all of one size."""
    drawn: dict[str, Any] = {}
    for name in chosen:
        if name == "REFERENCE":
            drawn[name] = reference
        elif name == "SCENE":
            drawn[name] = picture
        elif name == "OVERLAY":
            drawn[name] = np.rint(reference * 0.5 + picture * 0.5).astype(np.uint8)
        elif name == "DIFFERENCE":
            apart = np.abs(reference.astype(np.int16) - picture)
            drawn[name] = np.minimum(apart * AMPLIFIED, 255).astype(np.uint8)
        else:
            drawn[name] = _outlines(outline, wanted)
    return drawn


def _outlines(outline: Any, wanted: Any | None) -> Any:
    found = np.full((*outline.shape, 3), 24, np.uint8)
    if wanted is None:
        reference = np.zeros_like(outline)
    else:
        reference = wanted
    found[reference & outline] = BOTH
    found[reference & ~outline] = ONLY_REFERENCE
    found[outline & ~reference] = ONLY_SCENE
    return found


def sheet(drawn: Mapping[str, Any], captions: Mapping[str, str], letters: Lettering) -> Any:
    """Panels under their captions, two in a row where there are four, else all in one."""
    first = next(iter(drawn.values()))
    height, width = first.shape[:2]
    if len(drawn) == 4:
        columns = 2
    else:
        columns = len(drawn)
    rows = -(-len(drawn) // columns)
    text = line_height(first)
    strip = text + 8
    whole = np.full(
        (rows * (height + strip) + (rows - 1) * GAP, columns * width + (columns - 1) * GAP, 3), 24, np.uint8
    )
    for number, (name, panel) in enumerate(drawn.items()):
        left, top = number % columns * (width + GAP), number // columns * (height + strip + GAP)
        draw_line(whole[:, left : left + width], letters.line(captions[name], text), 0, top)
        whole[top + strip : top + strip + height, left : left + width] = panel
    return whole


def _box(found: Any) -> tuple[float, float, float, float] | None:
    """Left, top, right and bottom as shares of the picture."""
    rows, columns = np.nonzero(found)
    if not len(rows):
        return None
    height, width = found.shape
    return (
        float(columns.min() / width),
        float(rows.min() / height),
        float((columns.max() + 1) / width),
        float((rows.max() + 1) / height),
    )
