"""What a camera sees: the object and the distance behind each pixel, and the pictures that are made of them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blendwright.blender.looking.labels import Label
from blendwright.tool_api.pictures import Sight, VisibleObject

# What is farther away than this is nothing: an engine writes 1e10 there.
NOWHERE = 1e9
BACKGROUND = (0, 0, 0)
# Names beyond this many would hide the picture, and smaller parts than this share of it cannot be told apart.
MOST_LABELS = 40
LEAST_SHARE = 0.0001
# Of a full turn: colours that follow each other are as unlike as may be.
GOLDEN = 0.6180339887


@dataclass(frozen=True, slots=True)
class SightArrays:
    """Rows from the top down: the number of the object from 1 on, 0 for none, and the distance along the line of sight in metres.
    `names` are those of the numbers, `expected` of them is what a render should show."""

    numbers: Any
    depths: Any
    names: Sequence[str]
    expected: Collection[str]

    @property
    def anything(self) -> Any:
        return (self.numbers > 0) & (self.depths < NOWHERE)


def color_of(number: int) -> tuple[int, int, int]:
    """The colour of the object of a number: bright, and unlike its neighbours."""
    hue = (number * GOLDEN) % 1.0 * 6.0
    value = (255, 200, 150)[number % 3]
    low = value * (0.15 if number % 2 else 0.4)
    middle = low + (value - low) * (1.0 - abs(hue % 2.0 - 1.0))
    parts = [(value, middle, low), (middle, value, low), (low, value, middle), (low, middle, value), (middle, low, value),
             (value, low, middle)][int(hue)]  # fmt: skip
    return round(parts[0]), round(parts[1]), round(parts[2])


def mask_picture(seen: SightArrays) -> Any:
    """Every object in a colour of its own, black where there is none."""
    palette = np.array([BACKGROUND, *(color_of(number) for number in range(1, len(seen.names) + 1))], np.uint8)
    return palette[np.where(seen.anything, seen.numbers, 0)]


def depth_picture(seen: SightArrays) -> Any:
    """White at the nearest point, dark at the farthest, black where there is nothing."""
    near, far = depth_range(seen) or (0.0, 1.0)
    share = np.clip((far - seen.depths) / max(far - near, 1e-9), 0.0, 1.0)
    grey = np.where(seen.anything, 40.0 + 215.0 * share, 0.0)
    return np.repeat(np.rint(grey).astype(np.uint8)[..., None], 3, axis=2)


def depth_range(seen: SightArrays) -> tuple[float, float] | None:
    depths = seen.depths[seen.anything]
    if len(depths):
        return (float(depths.min()), float(depths.max()))
    return None


def sight(seen: SightArrays) -> Sight:
    """What is seen, the largest first."""
    height, width = seen.numbers.shape
    numbers = np.where(seen.anything, seen.numbers, 0)
    counts = np.bincount(numbers.ravel(), minlength=len(seen.names) + 1)
    found: list[VisibleObject] = []
    shown = [number for number, count in enumerate(counts.tolist()) if number and count]
    for number in sorted(shown, key=lambda each: (-int(counts[each]), seen.names[each - 1])):
        rows, columns = np.nonzero(numbers == number)
        found.append(
            VisibleObject(
                name=seen.names[number - 1],
                share=int(counts[number]) / (height * width),
                box=(int(columns.min()), int(rows.min()), int(columns.max()), int(rows.max())),
                nearest=float(seen.depths[rows, columns].min()),
                color="#{:02x}{:02x}{:02x}".format(*color_of(number)),
                at=_heart(rows, columns),
            )
        )
    unseen = set(seen.expected) - {each.name for each in found}
    return Sight(tuple(found), tuple(sorted(unseen)), depth_range(seen))


def labels(found: Sight) -> list[Label]:
    """A name for everything that is large enough, the largest last: small things need their own place most."""
    large = [each for each in found.objects if each.share >= LEAST_SHARE][:MOST_LABELS]
    return [Label(each.name, each.at, each.box, _rgb(each.color)) for each in reversed(large)]


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _heart(rows: Any, columns: Any) -> tuple[int, int]:
    """The pixel of an object that is nearest to the middle of those that are seen."""
    distance = (rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2
    nearest = int(distance.argmin())
    return int(columns[nearest]), int(rows[nearest])
