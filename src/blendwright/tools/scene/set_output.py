"""scene.set_output"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, optional
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example
from blendwright.tools.image.formats import CODEC, DEPTH, QUALITY, Codec, Depth, encoding_problem, image_settings
from blendwright.tools.settings import SceneChanged, SetsSceneSettings, Setting, Settings, write_settings

FORMS = {"PNG": "PNG", "JPEG": "JPEG", "WEBP": "WEBP", "EXR": "OPEN_EXR"}


class SetOutputArgs(Args):
    format: Literal["PNG", "JPEG", "WEBP", "EXR", "EXR_MULTILAYER"] = Field(
        description="EXR_MULTILAYER holds all passes."
    )
    alpha: bool = Field(default=True, description="Whether pictures have an alpha channel; JPEG has none.")
    depth: Depth | None = optional(DEPTH)
    codec: Codec | None = optional(CODEC)
    quality: int | None = optional(QUALITY, ge=1, le=100)

    @field_validator("depth", "codec", "quality")
    @classmethod
    def _fits(cls, value: object, info: ValidationInfo) -> object:
        form = FORMS.get(info.data.get("format", ""), "OPEN_EXR")
        if value is None:
            problem = None
        else:
            problem = encoding_problem(form, str(info.field_name), value)
        if problem is not None:
            raise PydanticCustomError("encoding", "{problem}", {"problem": problem})
        return value


class SetOutput(SetsSceneSettings[SetOutputArgs]):
    """Set the format in which Blender writes what it renders from this scene: format, bits, codec, quality.

    render.still goes by the name of its file and its own arguments."""

    name = "scene.set_output"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.SCENE).needs("scene_write")
    examples = (
        Example({"format": "EXR", "depth": 32, "codec": "DWAA"}),
        Example({"format": "PNG", "depth": 16, "alpha": False}, ("scene.set_output", {"format": "EXR_MULTILAYER"})),
        Example({"format": "JPEG", "quality": 80}),
    )

    def apply(self, scene: Scene, args: SetOutputArgs) -> SceneChanged:
        output = scene.active.render.image_settings
        before = _held(output)
        # A format decides what else is valid, and changes it: on the way back these come behind the format, and that behind the kind
        # of media, with which Blender chooses a format of its own.
        for name in ("color_depth", "color_mode", "exr_codec", "file_format"):
            scene.set(output, name, getattr(output, name))
        write_settings(scene, self.settings(scene, args, scene.active))
        return SceneChanged(scene=scene.active.name, changed=_held(output) != before)

    def settings(self, scene: Scene, args: SetOutputArgs, target: Block) -> Settings:
        layered = args.format == "EXR_MULTILAYER"
        form = FORMS.get(args.format, "OPEN_EXR")
        values = image_settings(form, alpha=args.alpha, depth=args.depth, codec=args.codec, quality=args.quality)
        if layered:
            values |= {"file_format": "OPEN_EXR_MULTILAYER"}
            values.pop("color_mode")
        output = target.render.image_settings
        if scene.version >= (5, 0, 0):
            yield Setting(output, "media_type", "MULTI_LAYER_IMAGE" if layered else "IMAGE", "/format")
        places = {"color_mode": "/alpha", "color_depth": "/depth", "exr_codec": "/codec", "quality": "/quality"}
        for name, value in values.items():
            yield Setting(output, name, value, places.get(name, "/format"))


def _held(output: Block) -> tuple[object, ...]:
    names = ("file_format", "color_mode", "color_depth", "exr_codec", "quality", "compression")
    return tuple(getattr(output, name) for name in names)
