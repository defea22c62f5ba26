from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, field_validator

from blendwright.tool_api import Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, Name, ReadPath, Result, optional
from blendwright.tool_api.mentions import makes
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE
from blendwright.tools.checks import differs
from blendwright.tools.image.color_spaces import color_space_problems
from blendwright.tools.image.formats import foreign_file_problems, readable_path, too_many_pixels
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

MADE = ("image.create", {"name": "Made", "size": [16, 8], "type": "COLOR_GRID"})
PNG = ("image.save", {"name": "Made", "path": "made.png"})
EXR = ("image.save", {"name": "Made", "path": "made.exr"})


class LoadImageArgs(Args):
    name: Annotated[Name, makes(Kind.IMAGE)] = Field(description="Name of the new image; must be free.")
    path: ReadPath = Field(description="File to read: .png, .jpg, .exr, .hdr, .tif, .webp, .tga or .bmp.")
    color_space: str | None = optional(
        "sRGB for colours, Non-Color for roughness, normals and other data. Default: that of the file format."
    )
    pack: bool = Field(
        default=True, description="True to store the file's content in the scene; false to store only its path."
    )

    @field_validator("path")
    @classmethod
    def _picture(cls, path: str) -> str:
        return readable_path(path)


class ImageLoaded(Result):
    image: str = Field(description="Name of the image.")
    size: tuple[int, int] = Field(description="Width and height in pixels.")
    color_space: str = Field(description="Its colour space.")
    float: bool = Field(description="Whether it has more than 8 bits per channel.")
    packed: bool = Field(description="Whether its content is stored in the scene.")


class LoadImage(Tool[LoadImageArgs, ImageLoaded]):
    """Load a picture file as an image, for textures and environments."""

    name = "image.load"
    promises = SAFE_ONE_TIME_WRITE.but(replayable=False).writes_to(Kind.IMAGE).needs("file_read", "material_write")
    examples = (
        Example({"name": "Wood", "path": "made.png"}, MADE, PNG),
        Example({"name": "Rough", "path": "made.png", "color_space": "Non-Color", "pack": False}, MADE, PNG),
        Example({"name": "Sky", "path": "made.exr"}, MADE, EXR),
    )

    def check(self, scene: Scene, args: LoadImageArgs) -> Findings:
        yield from scene.name_conflicts(Kind.IMAGE, args.name, "/name")
        yield from color_space_problems(scene, args.color_space)
        yield from foreign_file_problems(scene.input_file(args.path), args.path)

    def apply(self, scene: Scene, args: LoadImageArgs) -> ImageLoaded:
        image = load_checked(scene, args.name, args.path, scene.input_file(args.path), args.color_space, pack=args.pack)
        return ImageLoaded(
            image=args.name,
            size=tuple(image.size),
            color_space=image.colorspace_settings.name,
            float=image.is_float,
            packed=args.pack,
        )

    def verify(self, scene: Scene, args: LoadImageArgs, result: ImageLoaded) -> Findings:
        image = scene.require(Kind.IMAGE, args.name, "/name")
        yield from differs("that it is packed", args.pack, image.packed_file is not None, "/pack")
        yield from differs("its path", args.path, image.filepath, "/path")
        if args.color_space is not None:
            yield from differs("its colour space", args.color_space, image.colorspace_settings.name, "/color_space")


def load_checked(
    scene: Scene, name: str, path: str, file: str, color_space: str | None, *, pack: bool, at: str = "/path"
) -> Any:
    """Return a new image from a file. Raise StepError if Blender cannot read it or if it has too many pixels."""
    image = scene.load_image(name, file, path, color_space, pack=pack)
    width, height = image.size
    if not width or not height:
        fix = "Get the file again: a part of it is missing, or Blender does not support its variant of the format."
        raise StepError.of(Fault.EXECUTION_FAILED, "Blender cannot read the picture", at=at, cure=fix)
    # The check of the file's header may have found no size.
    for finding in too_many_pixels((width, height), at):
        raise StepError(finding)
    return image
