from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator

from blendwright.tool_api import Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, Name, Result, WritePath, optional
from blendwright.tool_api.mentions import uses
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import conflict, differs, existing
from blendwright.tools.image.color_spaces import DATA
from blendwright.tools.image.formats import (
    CODEC,
    DEPTH,
    DEPTHS,
    QUALITY,
    Codec,
    Depth,
    fits_its_format,
    form_of,
    image_settings,
    writable_path,
)
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

MADE = ("image.create", {"name": "Made", "size": [16, 8], "type": "COLOR_GRID"})
DATA_MADE = ("image.create", {"name": "Made", "size": [4, 4], "color": [0.2, 0.4, 0.6], "color_space": DATA})


class SaveImageArgs(Args):
    name: Annotated[Name, uses(Kind.IMAGE)] = Field(description="Name of the image.")
    path: WritePath = Field(description="File to write: .png, .jpg, .exr, .hdr or .webp.")
    depth: Depth | None = optional(DEPTH)
    codec: Codec | None = optional(CODEC)
    quality: int | None = optional(QUALITY, ge=1, le=100)
    overwrite: bool = Field(
        default=False, description="True to replace an existing file; the call is then destructive."
    )

    @field_validator("path")
    @classmethod
    def _picture(cls, path: str) -> str:
        return writable_path(path)

    _fits = field_validator("depth", "codec", "quality")(fits_its_format)


class ImageSaved(Result):
    path: str = Field(description="Path of the file, as in the arguments.")
    size: tuple[int, int] = Field(description="Width and height in pixels.")
    depth: int = Field(description="Bits per channel.")
    bytes: int = Field(ge=1, description="Size of the file in bytes.")


class SaveImage(Tool[SaveImageArgs, ImageSaved]):
    """Write an image to a picture file. The image in the scene does not change.

    Colours are written as the format requires (EXR and HDR linear, others sRGB). Data images (Non-Color) are written
    unchanged.
    """

    name = "image.save"
    destructive_with = ("overwrite",)
    promises = SAFE_IDEMPOTENT_WRITE.but(replayable=False).writes_to().needs("scene_read", "file_write")
    examples = (
        Example({"name": "Made", "path": "made.png"}, MADE),
        Example({"name": "Made", "path": "made.png", "depth": 16}, DATA_MADE),
        Example({"name": "Made", "path": "made.exr", "depth": 32, "codec": "PIZ"}, MADE),
        Example({"name": "Made", "path": "made.jpg", "quality": 80}, MADE),
    )

    def check(self, scene: Scene, args: SaveImageArgs) -> Findings:
        image = yield from existing(scene, Kind.IMAGE, args.name, "/name")
        if image is not None and 0 in tuple(image.size):
            fix = "Load it with image.load and pack, or restore its file."
            yield conflict(f"the pixels of image '{args.name}' are not available: {_reason(image)}", "/name", fix)

    def apply(self, scene: Scene, args: SaveImageArgs) -> ImageSaved:
        image = scene.require(Kind.IMAGE, args.name, "/name")
        file, form = scene.output_file(args.path), form_of(args.path)
        is_data = image.colorspace_settings.name == DATA
        alpha = _has_alpha(image)
        settings = image_settings(form, alpha=alpha, depth=args.depth, codec=args.codec, quality=args.quality)
        scene.save_image(image, file, settings, plain=is_data)
        byte_count = _bytes(file)
        if byte_count == 0:
            raise StepError.of(Fault.EXECUTION_FAILED, "Blender wrote no file", at="/path", cure="Try another format.")
        depth = args.depth or DEPTHS[form][0]
        return ImageSaved(path=args.path, size=tuple(image.size), depth=depth, bytes=byte_count)

    def verify(self, scene: Scene, args: SaveImageArgs, result: ImageSaved) -> Findings:
        yield from differs("the size of the file", result.bytes, _bytes(scene.output_file(args.path)), "/path")
        picture_size = scene.picture_size(scene.output_file(args.path))
        yield from differs("the size of the picture in it", result.size, picture_size, "/path")


def _has_alpha(image: Block) -> bool:
    return image.channels == 4 and image.depth in (32, 64, 128)


def _reason(image: Block) -> str:
    if image.filepath:
        return f"they are in {image.filepath}, which cannot be read"
    return "the image has no pixels"


def _bytes(path: str) -> int:
    file = Path(path)
    if file.is_file():
        return file.stat().st_size
    return 0
