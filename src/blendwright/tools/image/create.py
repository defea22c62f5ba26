from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, Name, Result, optional
from blendwright.tool_api.mentions import makes
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import conflict, differs
from blendwright.tools.image.color_spaces import DATA, ENCODED, color_space_problems, encoded
from blendwright.tools.image.formats import MOST_PIXELS
from blendwright.tools.settings import Setting, Settings, initialize_settings, settings_differ

Side = Annotated[int, Field(ge=1, le=16384)]
Level = Annotated[float, Field(ge=0.0, le=65504.0)]
ImageColor = Annotated[list[Level], Field(min_length=3, max_length=4)]
MOST_ROWS = 256


class CreateImageArgs(Args):
    name: Annotated[Name, makes(Kind.IMAGE)] = Field(description="Name of the new image; must be free.")
    size: Annotated[tuple[Side, Side], Field(strict=False)] = Field(
        default=(1024, 1024), description="Width and height in pixels."
    )
    type: Literal["BLANK", "UV_GRID", "COLOR_GRID"] = Field(
        default="BLANK", description="One colour, or a grid to test UV maps with."
    )
    color: ImageColor | None = optional("Colour of a BLANK one: linear RGB or RGBA, over 1 in a float image. Black.")
    rows: Annotated[list[Annotated[list[ImageColor], Field(min_length=1, max_length=MOST_ROWS)]],
                    Field(min_length=1, max_length=MOST_ROWS)] | None = optional(
        "Colours instead, in rows from the top down, blended into each other: gradients, soft lights of an environment."
    )  # fmt: skip
    float: bool = Field(default=False, description="32 bits per channel, with values over 1; else 8.")
    alpha: bool = Field(default=True, description="Whether it has an alpha channel.")
    color_space: str | None = optional("sRGB, Non-Color (data) …; left out: sRGB, of a float image linear.")

    @model_validator(mode="after")
    def _sound(self) -> CreateImageArgs:
        if self.size[0] * self.size[1] > MOST_PIXELS:
            raise PydanticCustomError("image_size", "an image has at most {most} pixels", {"most": MOST_PIXELS})
        if self.rows is not None:
            if self.color is not None or self.type != "BLANK":
                raise PydanticCustomError("image_fill", "give rows, or color, or a type of grid")
            if len({len(row) for row in self.rows}) > 1:
                raise PydanticCustomError("image_rows", "all rows have equally many colours")
        colors = [color for row in self.rows or [] for color in row] + ([self.color] if self.color is not None else [])
        if not self.float and any(level > 1 for color in colors for level in color):
            raise PydanticCustomError("image_level", "values over 1 need float: true")
        return self


class ImageMade(Result):
    """An image that a tool made, or found just as it should be."""

    image: str = Field(description="Name of the image.")
    size: tuple[int, int] = Field(description="Width and height in pixels.")
    color_space: str = Field(description="Its colour space.")
    created: bool = Field(description="False when an equal image was there already.")


class CreateImage(Tool[CreateImageArgs, ImageMade]):
    """Make an image: of one colour, a test grid for UV maps, or colours in rows that blend into each other.

    What is painted in rows is packed into the scene. An equal image that is there is left alone."""

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
            message = f"an image '{args.name}' is there, and not such a one"
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
    """Whether the pixels are stored as sRGB has them; those of a float image are linear."""
    return not args.float and args.color_space in (None, ENCODED)


def _settings(args: CreateImageArgs, image: Block) -> Settings:
    if args.color_space is not None:
        yield Setting(image.colorspace_settings, "name", args.color_space, "/color_space")
    if args.rows is not None:
        return
    color = args.color or [0.0, 0.0, 0.0]
    # Blender takes this one colour for encoded, also where it makes linear pixels of it.
    encodes = args.color_space != DATA and (args.float or _stored_encoded(args))
    levels = tuple(encoded(level) if encodes else level for level in color[:3])
    yield Setting(image, "generated_type", args.type, "/type")
    yield Setting(image, "generated_color", (*levels, color[3] if len(color) > 3 else 1.0), "/color")


def _differences(scene: Scene, args: CreateImageArgs, image: Block) -> Findings:
    """How an image is not the one that was asked for."""
    yield from differs("its source", "GENERATED" if args.rows is None else "FILE", image.source, "/name")
    yield from differs("its size", args.size, tuple(image.size), "/size")
    yield from differs("whether it is float", args.float, image.is_float, "/float")
    yield from settings_differ(_settings(args, image))
    if args.rows is not None and tuple(image.size) == args.size:
        same = scene.painted_so(image, args.rows, encode=_stored_encoded(args))
        yield from differs("whether its pixels are as asked", True, same, "/rows")
    else:
        if args.alpha:
            channels = 4
        else:
            channels = 3
        yield from differs("its bits per pixel", channels * (32 if args.float else 8), image.depth, "/alpha")
