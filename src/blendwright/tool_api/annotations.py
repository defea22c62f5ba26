"""The part of the `Scene` port that annotates pictures for datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from blendwright.tool_api.datablocks import Block, Point

PictureLayer = Literal["INSTANCES", "CATEGORIES", "DEPTH", "NORMALS"]


@dataclass(frozen=True, slots=True)
class KeypointSource:
    """The source of a keypoint: a point in object space, a vertex group or a bone.

    Without any of them it is an empty below the object whose custom property `keypoint` is the keypoint's name.
    """

    name: str
    at: Point | None = None
    vertex_group: str | None = None
    bone: str | None = None


@dataclass(frozen=True, slots=True)
class Labels:
    """The category of each local object by name, and the keypoints of each category."""

    categories: Mapping[str, int]
    keypoints: Mapping[int, Sequence[KeypointSource]] = field(default_factory=dict[int, Sequence[KeypointSource]])


class Annotates(Protocol):
    def annotate(
        self, labels: Labels, camera: Block, files: Mapping[PictureLayer, Sequence[str]], scratch: str
    ) -> dict[str, Any]:
        """Write layers of the camera's view at the current size to files: two for DEPTH (PNG and NPY), one for the
        others.

        Returns the camera and the instances like `AnnotatedPicture`. `scratch` is the name of a temporary file.
        Raises StepError if there are more instances than ids.
        """
        ...
