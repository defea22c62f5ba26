"""The part of the `Scene` port that analyses pictures: visible objects, and the agreement of two pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

CloserLook = Literal["NAMES", "DEPTH", "MASK"]


@dataclass(frozen=True, slots=True)
class VisibleObject:
    """An object in a picture: its share of the pixels, its box in pixels (left, top, right, bottom), its nearest
    distance in metres, its mask colour, and a pixel near its middle.
    """

    name: str
    share: float
    box: tuple[int, int, int, int]
    nearest: float
    color: str
    at: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Sight:
    """The objects of a picture, the largest first; the renderable objects that it does not show; the nearest and
    farthest depth.
    """

    objects: tuple[VisibleObject, ...]
    unseen: tuple[str, ...]
    depths: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class PictureComparison:
    """The agreement of two pictures: the overlap of the outlines from 0 to 1, the mean difference of colours, and the
    share of visibly different pixels.

    The overlap is None if no outline is found in the reference. The boxes of both outlines are shares of the picture.
    """

    silhouette_iou: float | None
    silhouette_from: str
    difference: float
    differing: float
    reference_box: tuple[float, float, float, float] | None
    scene_box: tuple[float, float, float, float] | None


class LooksCloser(Protocol):
    def look_closer(self, form: CloserLook, file: str, camera: Any | None) -> Sight:
        """Draw depths or a mask to a PNG file at the size of a render, or draw names into the picture that the file
        contains.
        """
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
        """Compare the rendered PNG file with the reference, and write the panels that `captions` names to the file.

        The outlines are those of `objects`, or of all objects. Raises StepError if Blender cannot read the reference.
        """
        ...

    def contact_sheet(self, file: str, pictures: Sequence[tuple[str | None, str]]) -> None:
        """Write small pictures with their names to a PNG file, in rows. A missing or unreadable picture becomes a
        plain field.
        """
        ...
