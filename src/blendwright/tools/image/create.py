from __future__ import annotations

from itertools import chain
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, Name, Result, optional
from blendwright.tool_api.mentions import makes
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import conflict, differs
from blendwright.tools.image.color_spaces import DATA, ENCODED, color_space_problems, encoded
from blendwright.tools.image.formats import MAX_PIXELS
from blendwright.tools.settings import Setting, Settings, initialize_settings, settings_differ

Side = Annotated[int, Field(ge=1, le=16384)]
Level = Annotated[float, Field(ge=0.0, le=65504.0)]
ImageColor = Annotated[list[Level], Field(min_length=3, max_length=4)]
# Largest number of rows, and of colours per row.
MAX_ROWS = 256


class CreateImageArgs(Args):
    name: Annotated[Name, makes(Kind.IMAGE)] = Field(description="Name of the new image; must be free.")
    size: Annotated[tuple[Side, Side], Field(strict=False)] = Field(
        default=(1024, 1024), description="Width and height in pixels."
    )
    type: Literal["BLANK", "UV_GRID", "COLOR_GRID"] = Field(
        default="BLANK", description="BLANK: one colour. UV_GRID and COLOR_GRID: test grids for UV maps."
    )
    color: ImageColor | None = optional(
        "Colour of a BLANK image: linear RGB or RGBA; a float image allows values above 1. Default: black."
    )
    rows: Annotated[list[Annotated[list[ImageColor], Field(min_length=1, max_length=MAX_ROWS)]],
                    Field(min_length=1, max_length=MAX_ROWS)] | None = optional(
        "Instead of color: rows of colours from the top down, blended into each other, as for gradients and soft "
        "lights."
    )  # fmt: skip
    float: bool = Field(default=False, description="True for 32 bits per channel and values above 1; false for 8 bits.")
    alpha: bool = Field(default=True, description="Whether it has an alpha channel.")
    color_space: str | None = optional("sRGB, Non-Color (data) … Default: sRGB, or linear for a float image.")

    @model_validator(mode="after")
    def _is_consistent(self) -> CreateImageArgs:
        if self.size[0] * self.size[1] > MAX_PIXELS:
            raise PydanticCustomError("image_size", "an image must have at most {most} pixels", {"most": MAX_PIXELS})
        if self.rows is not None:
            if self.color is not None or self.type != "BLANK":
                raise PydanticCustomError("image_fill", "give only one of rows, color and a grid type")
            if len({len(row) for row in self.rows}) > 1:
                raise PydanticCustomError("image_rows", "all rows must have the same number of colours")
        colors = list(chain.from_iterable(self.rows or ()))
        if self.color is not None:
            colors.append(self.color)
        if not self.float and any(max(color) > 1 for color in colors):
            raise PydanticCustomError("image_level", "values above 1 need float: true")
        return self


class ImageMade(Result):
    """The image that a tool created, or found to exist exactly as requested."""

    image: str = Field(description="Name of the image.")
    size: tuple[int, int] = Field(description="Width and height in pixels.")
    color_space: str = Field(description="Its colour space.")
    created: bool = Field(description="False if an identical image already existed.")


class CreateImage(Tool[CreateImageArgs, ImageMade]):
    """Create an image: one colour, a test grid for UV maps, or rows of colours that blend into each other.

    Images made from rows are packed into the scene. An identical existing image stays unchanged.
    """

    name = "image.create"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.IMAGE).needs("material_write")
    examples = (
        Example({"name": "Sheet", "size": [64, 32], "color": [0.5, 0.2, 0.1], "alpha": False}),
        Example({"name": "Grid", "size": [64, 64], "type": "COLOR_GRID"}),
        Example({"name": "Mask", "size": [16, 16], "color": [0.25, 0.5, 0.75], "color_space": "Non-Color"}),
        Example(
            {"name": "Studio", "size": [64, 32], "float": True,
             "rows": [[[9, 9, 9], [1, 1, 1.2]], [[0.1, 0.1, 0.1], [0.2, 0.2, 0.2]]]}
        ),
        Example({"name": "Fade", "size": [32, 8], "rows": [[[0, 0, 0], [1, 1, 1]]]}),
    )  # fmt: skip

    def check(self, scene: Scene, args: CreateImageArgs) -> Findings:
        yield from color_space_problems(scene, args.color_space)
        image = scene.find(Kind.IMAGE, args.name)
        if image is None:
            yield from scene.name_conflicts(Kind.IMAGE, args.name, "/name")
        elif list(_differences(scene, args, image)):
            message = f"image '{args.name}' already exists with other settings"
            yield conflict(message, "/name", "Choose another name.")

    def apply(self, scene: Scene, args: CreateImageArgs) -> ImageMade:
        image = scene.find(Kind.IMAGE, args.name)
        created = image is None
        if image is None:
            kind = {"alpha": args.alpha, "float_buffer": args.float, "is_data": args.color_space == DATA}
            image = scene.create(Kind.IMAGE, args.name, *args.size, **kind)
            initialize_settings(_settings(args, image))
            if args.rows is not None:
                scene.paint_image(image, args.rows, encode=_stored_encoded(args))
        return ImageMade(
            image=args.name,
            size=tuple(image.size),
            color_space=image.colorspace_settings.name,
            created=created,
        )

    def verify(self, scene: Scene, args: CreateImageArgs, result: ImageMade) -> Findings:
        yield from _differences(scene, args, scene.require(Kind.IMAGE, args.name, "/name"))


def _stored_encoded(args: CreateImageArgs) -> bool:
    """Return True if the image stores sRGB-encoded pixels; float images are linear."""
    return not args.float and args.color_space in (None, ENCODED)


def _settings(args: CreateImageArgs, image: Block) -> Settings:
    if args.color_space is not None:
        yield Setting(image.colorspace_settings, "name", args.color_space, "/color_space")
    if args.rows is not None:
        return
    color = args.color or [0.0, 0.0, 0.0]
    # Blender expects this colour in sRGB encoding, even if it then stores linear pixels.
    encodes = args.color_space != DATA and (args.float or _stored_encoded(args))
    levels = color[:3]
    if encodes:
        levels = [encoded(level) for level in levels]
    alpha = 1.0
    if len(color) > 3:
        alpha = color[3]
    yield Setting(image, "generated_type", args.type, "/type")
    yield Setting(image, "generated_color", (*levels, alpha), "/color")


def _differences(scene: Scene, args: CreateImageArgs, image: Block) -> Findings:
    """Yield findings where an image differs from the requested one."""
    source = "GENERATED"
    if args.rows is not None:
        source = "FILE"
    yield from differs("its source", source, image.source, "/name")
    yield from differs("its size", args.size, tuple(image.size), "/size")
    yield from differs("that it is float", args.float, image.is_float, "/float")
    yield from settings_differ(_settings(args, image))
    if args.rows is not None and tuple(image.size) == args.size:
        same = scene.painted_so(image, args.rows, encode=_stored_encoded(args))
        yield from differs("that its pixels are as requested", True, same, "/rows")
    else:
        channels, bits = 3, 8
        if args.alpha:
            channels = 4
        if args.float:
            bits = 32
        yield from differs("its bits per pixel", channels * bits, image.depth, "/alpha")
