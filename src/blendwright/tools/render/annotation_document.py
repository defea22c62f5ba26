"""What annotations.json says of pictures: the published schema `annotations.v1`. The worker writes it, writers of data sets read it.

Two frames of coordinates occur. World is Blender's: Z up, metres. Camera is OpenCV's: X right, Y down, Z into the picture, metres.
Places in a picture are in pixels from the upper left corner of the upper left pixel, whose middle is (0.5, 0.5).
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

FORMAT = "blendwright.annotations.v1"
DOCUMENT = "annotations.json"

Vector = tuple[float, float, float]
Rows3 = tuple[Vector, Vector, Vector]
Row4 = tuple[float, float, float, float]
Rows4 = tuple[Row4, Row4, Row4, Row4]
PixelBox = tuple[int, int, int, int]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class AnnotatedCategory(_Part):
    """A category, whether something of it is in a picture or not."""

    id: int = Field(ge=1, le=65_535, description="Its number in the picture of categories.")
    name: str = Field(description="Its name.")
    keypoints: list[str] = Field(description="Names of the keypoints that each of its instances has, in this order.")
    skeleton: list[tuple[int, int]] = Field(
        description="Pairs of keypoints that are joined, by their places from 1 on."
    )


class AnnotatedCamera(_Part):
    """Where a picture was taken from, and how points get into it."""

    name: str = Field(description="Name of the camera object.")
    K: Rows3 = Field(
        description="Intrinsics in pixels as OpenCV has them: the middle of the upper left pixel is (0, 0)."
    )
    world_to_camera: Rows4 = Field(description="Extrinsics: from the world to the camera's frame, as OpenCV has it.")
    matrix_world: Rows4 = Field(
        description="Blender's own: from a camera that looks along -Z with Y up to the world, without scale."
    )
    clip_start: float = Field(description="What is nearer is not seen, in metres.")
    clip_end: float = Field(description="What is farther away is not seen, in metres.")


class PictureFiles(_Part):
    """Names of files beside annotations.json; null for what was not asked for."""

    color: str = Field(description="The rendered picture, PNG.")
    instances: str | None = Field(description="The id of the instance at each pixel, 16-bit PNG; 0 is none.")
    categories: str | None = Field(description="The id of the category at each pixel, 16-bit PNG; 0 is none.")
    depth: str | None = Field(
        description="Depth along the camera's Z in millimetres, 16-bit PNG; 0 where there is nothing, or beyond 65.535 m."
    )
    depth_m: str | None = Field(description="The same in metres, as float32 in NumPy's .npy; 0 where there is nothing.")
    normals: str | None = Field(
        description="Shading normals in the camera's frame, 16-bit RGB PNG: (n + 1) / 2 * 65535; 0, 0, 0 where there is nothing."
    )


class Mask(_Part):
    """Pixels of a picture, as COCO's run lengths: down the columns, beginning with those that are not in it."""

    size: tuple[int, int] = Field(description="Height and width.")
    counts: list[int] = Field(description="Lengths of runs.")


class Pose(_Part):
    """How a box stands in a frame."""

    center: Vector = Field(description="Its middle, in metres.")
    rotation: Rows3 = Field(description="From its own axes to those of the frame.")


class Box3D(_Part):
    """The box around an instance, along the axes of its object."""

    size: Vector = Field(description="Along its own axes, in metres.")
    world: Pose = Field(description="In the world.")
    camera: Pose = Field(description="In the camera's frame.")
    corners: list[Vector] | None = Field(
        description="Its eight corners in the picture, X and Y in pixels and the depth in metres; null where one is behind the camera."
    )


class AnnotatedInstance(_Part):
    """One thing of a category, in the picture or not."""

    id: int = Field(ge=1, le=65_535, description="Its number in the picture of instances.")
    category_id: int = Field(description="Of its category.")
    object: str = Field(description="Name of the object.")
    instancer: str | None = Field(description="Name of the object that made it as an instance; null where none did.")
    visible_pixels: int = Field(description="Pixels in which it is seen.")
    full_pixels: int | None = Field(
        description="Pixels of the picture that it would fill if nothing stood before it; null where that is not known."
    )
    visibility: float | None = Field(description="visible_pixels of full_pixels; 0 where it is not in the picture.")
    truncated: bool | None = Field(description="Whether a part of it is beyond the sides of the picture.")
    box_visible: PixelBox | None = Field(
        description="Left, top, width and height of what is seen of it; null for nothing."
    )
    box_full: PixelBox | None = Field(description="The same of all of it that is within the picture.")
    box_projected: tuple[float, float, float, float] | None = Field(
        description="The same of its corners of faces, also beyond the picture; null where some are behind the camera."
    )
    mask_visible: Mask | None = Field(description="What is seen of it; null for nothing.")
    mask_full: Mask | None = Field(
        description="All of it that is within the picture; null for nothing, or where it is not known."
    )
    object_to_world: Rows4 = Field(description="From the object's own space to the world, scale included.")
    object_to_camera: Rows4 = Field(description="From the object's own space to the camera's frame, scale included.")
    box_3d: Box3D | None = Field(description="The box around it; null where it has no faces.")
    keypoints: list[tuple[float, float, Literal[0, 1, 2]]] = Field(
        description="X, Y and whether it is seen, for each keypoint of its category: 2 is seen, 1 hidden, 0 not in the picture."
    )


class AnnotatedPicture(_Part):
    """A picture, and what is in it."""

    width: int = Field(description="In pixels.")
    height: int = Field(description="In pixels.")
    frame: int = Field(description="Frame of the scene that it shows.")
    engine: str = Field(description="Engine that rendered the picture.")
    camera: AnnotatedCamera = Field(description="Where it was taken from.")
    files: PictureFiles = Field(description="Its files.")
    instances: list[AnnotatedInstance] = Field(description="By their ids.")


class AnnotationDocument(_Part):
    """What annotations.json holds."""

    format: Literal["blendwright.annotations.v1"] = Field(description="This schema.")
    categories: list[AnnotatedCategory] = Field(description="All categories, by their ids.")
    pictures: list[AnnotatedPicture] = Field(description="In the order of frames, and of cameras for each.")
