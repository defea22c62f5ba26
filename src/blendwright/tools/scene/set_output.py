"""Tool scene.set_output"""

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
        description="File format. EXR_MULTILAYER stores all passes."
    )
    alpha: bool = Field(default=True, description="Whether pictures have an alpha channel; JPEG has none.")
    depth: Depth | None = optional(DEPTH)
    codec: Codec | None = optional(CODEC)
    quality: int | None = optional(QUALITY, ge=1, le=100)

    @field_validator("depth", "codec", "quality")
    @classmethod
    def _check_encoding(cls, value: object, info: ValidationInfo) -> object:
        form = FORMS.get(info.data.get("format", ""), "OPEN_EXR")
        if value is not None:
            problem = encoding_problem(form, str(info.field_name), value)
            if problem is not None:
                raise PydanticCustomError("encoding", "{problem}", {"problem": problem})
        return value


class SetOutput(SetsSceneSettings[SetOutputArgs]):
    """Set the format in which Blender writes rendered pictures of this scene: format, bits, codec, quality.

    render.still does not use it: the path and its own arguments determine its format.
    """

    name = "scene.set_output"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.SCENE).needs("scene_write")
    examples = (
        Example({"format": "EXR", "depth": 32, "codec": "DWAA"}),
        Example({"format": "PNG", "depth": 16, "alpha": False}, ("scene.set_output", {"format": "EXR_MULTILAYER"})),
        Example({"format": "JPEG", "quality": 80}),
    )

    def apply(self, scene: Scene, args: SetOutputArgs) -> SceneChanged:
        output = scene.active.render.image_settings
        before = _format_settings(output)
        # The format determines which other settings are valid, and changes them. Recording them first makes undo restore them
        # after the format, and the format after the media type, for which Blender chooses a format of its own.
        for name in ("color_depth", "color_mode", "exr_codec", "file_format"):
            scene.set(output, name, getattr(output, name))
        write_settings(scene, self.settings(scene, args, scene.active))
        return SceneChanged(scene=scene.active.name, changed=_format_settings(output) != before)

    def settings(self, scene: Scene, args: SetOutputArgs, target: Block) -> Settings:
        layered = args.format == "EXR_MULTILAYER"
        form = FORMS.get(args.format, "OPEN_EXR")
        values = image_settings(form, alpha=args.alpha, depth=args.depth, codec=args.codec, quality=args.quality)
        if layered:
            values |= {"file_format": "OPEN_EXR_MULTILAYER"}
            values.pop("color_mode")
        output = target.render.image_settings
        if scene.version >= (5, 0, 0):
            media_type = "IMAGE"
            if layered:
                media_type = "MULTI_LAYER_IMAGE"
            yield Setting(output, "media_type", media_type, "/format")
        pointers = {"color_mode": "/alpha", "color_depth": "/depth", "exr_codec": "/codec", "quality": "/quality"}
        for name, value in values.items():
            yield Setting(output, name, value, pointers.get(name, "/format"))


def _format_settings(output: Block) -> tuple[object, ...]:
    names = ("file_format", "color_mode", "color_depth", "exr_codec", "quality", "compression")
    return tuple(getattr(output, name) for name in names)
