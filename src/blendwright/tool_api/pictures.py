"""The part of the `Scene` port that looks closer at pictures: what is seen where, and how far two pictures agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

CloserLook = Literal["NAMES", "DEPTH", "MASK"]


@dataclass(frozen=True, slots=True)
class VisibleObject:
    """An object in a picture: its share of the pixels, its box in pixels (left, top, right, bottom), how near it comes in metres, its
    colour in a mask, and a pixel in the middle of it."""

    name: str
    share: float
    box: tuple[int, int, int, int]
    nearest: float
    color: str
    at: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Sight:
    """The objects of a picture, the largest first; those that a render shows and this picture does not; nearest and farthest depth."""

    objects: tuple[VisibleObject, ...]
    unseen: tuple[str, ...]
    depths: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class PictureComparison:
    """How far a picture agrees with another: outlines from 0 to 1 (None where the other has none that can be found), the mean
    difference of colours, the share of pixels that visibly differ, and the boxes of both outlines as shares of the picture."""

    silhouette_iou: float | None
    silhouette_from: str
    difference: float
    differing: float
    reference_box: tuple[float, float, float, float] | None
    scene_box: tuple[float, float, float, float] | None


class LooksCloser(Protocol):
    def look_closer(self, form: CloserLook, file: str, camera: Any | None) -> Sight:
        """Draw depths or a mask to a PNG file, as large as a render is now, or names into the picture that it holds."""
        ...

    def compare_picture(
        self,
        file: str,
        reference: str,
        camera: Any | None,
        *,
        objects: Sequence[Any],
        captions: Mapping[str, str],
    ) -> PictureComparison:
        """Compare the picture of a render that a PNG file holds with another file, and write the panels that `captions` names there.

        The outlines are those of `objects`, or of all. A StepError where Blender cannot read the reference."""
        ...

    def contact_sheet(self, file: str, pictures: Sequence[tuple[str | None, str]]) -> None:
        """Write small pictures with their names to a PNG file, in rows; a plain field for what has none, or cannot be read."""
        ...
