"""Models of annotations.json, the published schema `annotations.v1`. The worker writes the document, and writers of data sets
read it.

The document uses two coordinate frames. World is Blender's: Z up, metres. Camera is OpenCV's: X right, Y down, Z into the
picture, metres. Positions in a picture are in pixels from the upper left corner of the upper left pixel, whose centre is
(0.5, 0.5).
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
    """A category of the document. A picture need not show it."""

    id: int = Field(ge=1, le=65_535, description="Number of the category in the picture of categories.")
    name: str = Field(description="Name of the category.")
    keypoints: list[str] = Field(description="Names of the keypoints of each instance, in this order.")
    skeleton: list[tuple[int, int]] = Field(
        description="Pairs of connected keypoints, by their numbers in `keypoints`, starting at 1."
    )


class AnnotatedCamera(_Part):
    """The camera of a picture, with the matrices that project points into it."""

    name: str = Field(description="Name of the camera object.")
    K: Rows3 = Field(
        description="Intrinsics in pixels in OpenCV's convention: the centre of the upper left pixel is (0, 0)."
    )
    world_to_camera: Rows4 = Field(description="Extrinsics in OpenCV's convention: from the world to the camera frame.")
    matrix_world: Rows4 = Field(
        description="Blender's matrix, without scale: from a camera that looks along -Z with Y up to the world."
    )
    clip_start: float = Field(description="Smallest visible distance in metres.")
    clip_end: float = Field(description="Largest visible distance in metres.")


class PictureFiles(_Part):
    """Names of the files next to annotations.json; null for files that were not requested."""

    color: str = Field(description="The rendered picture, PNG.")
    instances: str | None = Field(description="Id of the instance at each pixel, 16-bit PNG; 0 is none.")
    categories: str | None = Field(description="Id of the category at each pixel, 16-bit PNG; 0 is none.")
    depth: str | None = Field(
        description="Depth along the camera's Z in millimetres, 16-bit PNG; 0 for no surface, or beyond 65.535 m."
    )
    depth_m: str | None = Field(description="Depth in metres, as float32 in NumPy's .npy; 0 for no surface.")
    normals: str | None = Field(
        description="Shading normals in the camera frame, 16-bit RGB PNG: (n + 1) / 2 * 65535; 0, 0, 0 for no surface."
    )


class Mask(_Part):
    """Pixels of a picture in COCO's run-length encoding: down the columns, starting with pixels outside the mask."""

    size: tuple[int, int] = Field(description="Height and width in pixels.")
    counts: list[int] = Field(description="Lengths of the runs in pixels.")


class Pose(_Part):
    """Position and orientation of a box in a coordinate frame."""

    center: Vector = Field(description="Centre of the box, in metres.")
    rotation: Rows3 = Field(description="Rotation from the box's own axes to those of the frame.")


class Box3D(_Part):
    """The bounding box of an instance, along the axes of its object."""

    size: Vector = Field(description="Size along the box's own axes, in metres.")
    world: Pose = Field(description="Pose in the world.")
    camera: Pose = Field(description="Pose in the camera frame.")
    corners: list[Vector] | None = Field(
        description="Its eight corners in the picture, X and Y in pixels and the depth in metres; null if one is behind the camera."
    )


class AnnotatedInstance(_Part):
    """An instance of a category. The picture need not show it."""

    id: int = Field(ge=1, le=65_535, description="Number of the instance in the picture of instances.")
    category_id: int = Field(description="Id of its category.")
    object: str = Field(description="Name of the object.")
    instancer: str | None = Field(description="Name of the object that instances it; null if there is none.")
    visible_pixels: int = Field(description="Number of pixels that show it.")
    full_pixels: int | None = Field(
        description="Number of pixels of the picture that it would cover if nothing hid it; null if unknown."
    )
    visibility: float | None = Field(
        description="visible_pixels divided by full_pixels; 0 if it is not in the picture."
    )
    truncated: bool | None = Field(description="Whether a part of it is outside the picture.")
    box_visible: PixelBox | None = Field(
        description="Left, top, width and height of its visible part; null if nothing is visible."
    )
    box_full: PixelBox | None = Field(description="Box of its whole area inside the picture, also where it is hidden.")
    box_projected: tuple[float, float, float, float] | None = Field(
        description="Box of its projected face corners, also outside the picture; null if some are behind the camera."
    )
    mask_visible: Mask | None = Field(description="Mask of its visible part; null if nothing is visible.")
    mask_full: Mask | None = Field(
        description="Mask of its whole area inside the picture; null if there is none, or if it is unknown."
    )
    object_to_world: Rows4 = Field(description="Matrix from the object's own space to the world, with scale.")
    object_to_camera: Rows4 = Field(description="Matrix from the object's own space to the camera frame, with scale.")
    box_3d: Box3D | None = Field(description="Its bounding box; null if it has no faces.")
    keypoints: list[tuple[float, float, Literal[0, 1, 2]]] = Field(
        description="X, Y and visibility of each keypoint of its category: 2 is visible, 1 hidden, 0 outside the picture."
    )


class AnnotatedPicture(_Part):
    """A picture with its camera, its files and its instances."""

    width: int = Field(description="Width in pixels.")
    height: int = Field(description="Height in pixels.")
    frame: int = Field(description="Frame of the scene that the picture shows.")
    engine: str = Field(description="Engine that rendered the picture.")
    camera: AnnotatedCamera = Field(description="Camera of the picture.")
    files: PictureFiles = Field(description="Files of the picture.")
    instances: list[AnnotatedInstance] = Field(description="All instances, sorted by id.")


class AnnotationDocument(_Part):
    """The content of annotations.json."""

    format: Literal["blendwright.annotations.v1"] = Field(description="Name of this schema.")
    categories: list[AnnotatedCategory] = Field(description="All categories, sorted by id.")
    pictures: list[AnnotatedPicture] = Field(description="All pictures, sorted by frame, then by camera.")
