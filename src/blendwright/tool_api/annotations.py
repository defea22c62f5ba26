"""The part of the `Scene` port that annotates pictures: what is to be annotated, and the call that does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from blendwright.tool_api.datablocks import Block, Point

PictureLayer = Literal["INSTANCES", "CATEGORIES", "DEPTH", "NORMALS"]


@dataclass(frozen=True, slots=True)
class KeypointSource:
    """Where a keypoint is: a point in the object's own space, a vertex group, a bone, or, without any of them, an empty below the
    object whose custom property `keypoint` is its name."""

    name: str
    at: Point | None = None
    vertex_group: str | None = None
    bone: str | None = None


@dataclass(frozen=True, slots=True)
class Labels:
    """Which category each object belongs to, by the names of local objects, and the keypoints of each category."""

    categories: Mapping[str, int]
    keypoints: Mapping[int, Sequence[KeypointSource]] = field(default_factory=dict[int, Sequence[KeypointSource]])


class Annotates(Protocol):
    def annotate(
        self, labels: Labels, camera: Block, files: Mapping[PictureLayer, Sequence[str]], scratch: str
    ) -> dict[str, Any]:
        """Write layers of what a camera sees now, at the size that is set, to files: two for DEPTH (PNG and NPY), one for the others.

        Returns the camera and the instances as `AnnotatedPicture` has them. `scratch` is the name of a file that may be written and is gone
        afterwards. A StepError where there are more instances than ids."""
        ...
