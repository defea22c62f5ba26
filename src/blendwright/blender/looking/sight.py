"""The view of a camera: the object and distance at each pixel, and the pictures made from them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blendwright.blender.looking.labels import Label
from blendwright.tool_api.pictures import Sight, VisibleObject

# The distance in metres from which a pixel is empty. An engine writes 1e10 for it.
NOWHERE = 1e9
BACKGROUND = (0, 0, 0)
# The maximum number of names, so that they do not hide the picture, and the minimum share of pixels of a named object.
MAX_LABELS = 40
MIN_SHARE = 0.0001
# The step of the hue, as a part of a full turn. It makes consecutive colours as different as possible.
GOLDEN = 0.6180339887


@dataclass(frozen=True, slots=True)
class SightArrays:
    """The object and distance at each pixel, in rows from the top down.

    `numbers` has object numbers from 1, 0 for none. `depths` are distances along the line of sight in metres. `names` are the names of
    the numbers. `expected` are the names that a render should show.
    """

    numbers: Any
    depths: Any
    names: Sequence[str]
    expected: Collection[str]

    @property
    def anything(self) -> Any:
        """A mask of pixels that show an object."""
        return (self.numbers > 0) & (self.depths < NOWHERE)


def color_of(number: int) -> tuple[int, int, int]:
    """Return the colour of an object number: bright, and different from the next numbers."""
    hue = (number * GOLDEN) % 1.0 * 6.0
    value = (255, 200, 150)[number % 3]
    if number % 2:
        low = value * 0.15
    else:
        low = value * 0.4
    middle = low + (value - low) * (1.0 - abs(hue % 2.0 - 1.0))
    parts = [(value, middle, low), (middle, value, low), (low, value, middle), (low, middle, value), (middle, low, value),
             (value, low, middle)][int(hue)]  # fmt: skip
    return round(parts[0]), round(parts[1]), round(parts[2])


def mask_picture(seen: SightArrays) -> Any:
    """Return a picture with a separate colour for every object, black without one."""
    palette = np.array([BACKGROUND, *(color_of(number) for number in range(1, len(seen.names) + 1))], np.uint8)
    return palette[np.where(seen.anything, seen.numbers, 0)]


def depth_picture(seen: SightArrays) -> Any:
    """Return a picture with white for the nearest point, dark for the farthest, black without an object."""
    near, far = depth_range(seen) or (0.0, 1.0)
    share = np.clip((far - seen.depths) / max(far - near, 1e-9), 0.0, 1.0)
    grey = np.where(seen.anything, 40.0 + 215.0 * share, 0.0)
    return np.repeat(np.rint(grey).astype(np.uint8)[..., None], 3, axis=2)


def depth_range(seen: SightArrays) -> tuple[float, float] | None:
    """Return the nearest and farthest depth; None without an object."""
    depths = seen.depths[seen.anything]
    if len(depths):
        return (float(depths.min()), float(depths.max()))
    return None


def sight(seen: SightArrays) -> Sight:
    """Return the visible objects, the largest first."""
    height, width = seen.numbers.shape
    numbers = np.where(seen.anything, seen.numbers, 0)
    counts = np.bincount(numbers.ravel(), minlength=len(seen.names) + 1)
    objects: list[VisibleObject] = []
    shown = [number for number, count in enumerate(counts.tolist()) if number and count]
    for number in sorted(shown, key=lambda number: (-int(counts[number]), seen.names[number - 1])):
        rows, columns = np.nonzero(numbers == number)
        objects.append(
            VisibleObject(
                name=seen.names[number - 1],
                share=int(counts[number]) / (height * width),
                box=(int(columns.min()), int(rows.min()), int(columns.max()), int(rows.max())),
                nearest=float(seen.depths[rows, columns].min()),
                color="#{:02x}{:02x}{:02x}".format(*color_of(number)),
                at=_heart(rows, columns),
            )
        )
    unseen = set(seen.expected) - {visible.name for visible in objects}
    return Sight(tuple(objects), tuple(sorted(unseen)), depth_range(seen))


def labels(seen: Sight) -> list[Label]:
    """Return labels of all objects above a minimum size, the smallest first: small objects need a position near them most."""
    large = [visible for visible in seen.objects if visible.share >= MIN_SHARE][:MAX_LABELS]
    return [Label(visible.name, visible.at, visible.box, _rgb(visible.color)) for visible in reversed(large)]


def _rgb(color: str) -> tuple[int, int, int]:
    """Return a colour from its form `#rrggbb`."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _heart(rows: Any, columns: Any) -> tuple[int, int]:
    """Return the pixel of an object (column, row) that is nearest to the middle of its visible pixels."""
    distance = (rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2
    nearest = int(distance.argmin())
    return int(columns[nearest]), int(rows[nearest])
