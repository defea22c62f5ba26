from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Args, Example, Findings, Kind, Result, Scene
from blendwright.tool_api.arguments import ReadPath, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import READ_ONLY
from blendwright.tool_api.tool import Tool
from blendwright.tools.checks import differs, existing_object
from blendwright.tools.image.formats import foreign_file_problems, readable_path
from blendwright.tools.render.preview import CAMERA, CUBE, PreviewArgs, set_up_preview
from blendwright.tools.render.rendering import FrameNumber, PngName, picture_facts, render_picture
from blendwright.tools.render.viewpoint import NamedView, viewing_camera, viewpoint_problems
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

Panel = Literal["REFERENCE", "SCENE", "OVERLAY", "SILHOUETTE", "DIFFERENCE"]
SHAPE = {"view": "ISO", "width": 64, "height": 48}
PICTURE = ("render.still", {"path": "wanted.png", "view": "FRONT", "resolution": [64, 48], "samples": 1})
CYCLES = ("scene.set_render", {"engine": "CYCLES", "samples": 1})
# Bounds of the height of a panel in pixels, for references of extreme proportions.
MIN_HEIGHT, MAX_HEIGHT = 16, 2048


class CompareArgs(Args):
    reference: ReadPath = Field(
        description="Picture to compare with: .png, .jpg, .exr, .hdr, .tif, .webp, .tga or .bmp."
    )
    view: NamedView | None = optional("Look from this side at everything that a render shows.")
    camera: ObjectName | None = optional("Camera to look through. Default without view: the scene's own.")
    objects: Annotated[list[ObjectName], Field(min_length=1, max_length=100)] | None = optional(
        "Objects whose outline is compared, such as all except the floor. Default: all."
    )
    engine: Literal["WORKBENCH", "CYCLES"] = Field(default="WORKBENCH", description="CYCLES shows light and shadow.")
    width: int = Field(default=480, ge=16, le=1024, description="Width of a panel; its height follows the reference.")
    frame: FrameNumber | None = optional("Frame to show instead of the current one.")
    panels: Annotated[list[Panel], Field(min_length=1, max_length=5)] = Field(
        default=["REFERENCE", "SCENE", "OVERLAY", "SILHOUETTE"],
        description="Panels of the sheet. In SILHOUETTE green is in both outlines, red only in the reference, blue only in the scene.",
    )
    captions: Annotated[list[Annotated[str, Field(min_length=1, max_length=40)]], Field(min_length=2, max_length=2)] = (
        Field(default=["reference", "scene"], description="Captions for the reference and the scene.")
    )
    artifact: PngName = Field(default="compared.png", description="Name of the sheet among the workspace's artifacts.")

    @field_validator("reference")
    @classmethod
    def _check_reference(cls, path: str) -> str:
        return readable_path(path)

    @field_validator("camera")
    @classmethod
    def _check_viewpoint(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None and info.data.get("view") is not None:
            raise PydanticCustomError("one_eye", "give either view or camera, not both")
        return value


class PicturesCompared(Result):
    """The similarity of the scene and a reference picture."""

    artifact: str = Field(description="Name of the sheet.")
    width: int = Field(description="Width of the sheet in pixels.")
    height: int = Field(description="Height of the sheet in pixels.")
    pixels_sha256: str = Field(description="Hash of the sheet's pixels.")
    silhouette_iou: float | None = Field(
        description="Intersection over union of both outlines: 1 is equal; null without an outline."
    )
    silhouette_from: str = Field(
        description="Source of the reference's outline: its alpha, its plain background, or none."
    )
    difference: float = Field(description="Mean difference of colours, from 0 to 1.")
    differing: float = Field(description="Share of the pixels that visibly differ, from 0 to 1.")
    reference_box: tuple[float, float, float, float] | None = optional(
        "Box of the reference's outline: left, top, right, bottom as shares of the picture."
    )
    scene_box: tuple[float, float, float, float] | None = optional("Box of the scene's outline.")
    notes: list[str] = Field(default=[], description="Unexpected results, such as a dark picture of the scene.")


class Compare(Tool[CompareArgs, PicturesCompared]):
    """Compare the scene with a reference picture: side by side, overlaid, outlines and colours.

    It compares outlines as the area that both cover, divided by the area that either covers (intersection over union).
    """

    name = "render.compare"
    version = 2
    time_limit = "render_seconds"
    promises = READ_ONLY.needs("scene_read", "render", "file_read")
    examples = (
        Example({"reference": "wanted.png", "camera": "Camera"}, CUBE, CAMERA, CYCLES, PICTURE),
        Example(
            {"reference": "wanted.png", "view": "FRONT", "objects": ["Box"], "width": 64, "panels": ["SCENE", "DIFFERENCE"]},
            CUBE, CYCLES, PICTURE,
        ),
    )  # fmt: skip

    def check(self, scene: Scene, args: CompareArgs) -> Findings:
        cure = "Give a view such as ISO, or the name of a camera."
        yield from viewpoint_problems(scene, args.view, args.camera, cure)
        for index, name in enumerate(args.objects or ()):
            yield from existing_object(scene, name, f"/objects/{index}")
        yield from foreign_file_problems(scene.input_file(args.reference), args.reference, "/reference")

    def apply(self, scene: Scene, args: CompareArgs) -> PicturesCompared:
        reference, file = scene.input_file(args.reference), scene.artifact(args.artifact)
        reference_width, reference_height = scene.picture_size(reference)
        if not reference_width or not reference_height:
            cure = "Get the file again, because it is incomplete or of a format that Blender does not read."
            raise StepError.of(Fault.EXECUTION_FAILED, "Blender cannot read the picture", at="/reference", cure=cure)
        height = min(max(round(args.width * reference_height / reference_width), MIN_HEIGHT), MAX_HEIGHT)
        settings = PreviewArgs(view=args.view, engine=args.engine, width=args.width, height=height, samples=8)
        captions = {panel: panel.lower() for panel in args.panels}
        for panel, caption in zip(("REFERENCE", "SCENE"), args.captions, strict=True):
            if panel in captions:
                captions[panel] = caption
        with ExitStack() as temporary:
            if args.frame is not None:
                temporary.enter_context(scene.at_frame(args.frame))
            notes = set_up_preview(scene, settings, temporary)
            camera = viewing_camera(scene, args.view, args.camera, temporary)
            rendered = render_picture(scene, file, camera, args.engine, artifact=args.artifact)
            objects = [scene.require(Kind.OBJECT, name) for name in args.objects or ()]
            comparison = scene.compare_picture(file, reference, camera, objects=objects, captions=captions)
        silhouette_iou = comparison.silhouette_iou
        if silhouette_iou is not None:
            silhouette_iou = round(silhouette_iou, 4)
        return PicturesCompared(
            artifact=args.artifact,
            **picture_facts(file),
            silhouette_iou=silhouette_iou,
            silhouette_from=comparison.silhouette_from,
            difference=round(comparison.difference, 4),
            differing=round(comparison.differing, 4),
            reference_box=_rounded(comparison.reference_box),
            scene_box=_rounded(comparison.scene_box),
            notes=[*notes, *rendered.notes],
        )

    def verify(self, scene: Scene, args: CompareArgs, result: PicturesCompared) -> Findings:
        if len(args.panels) == 4:
            columns = 2
        else:
            columns = len(args.panels)
        is_wide_enough = result.width >= columns * args.width
        yield from differs("that the sheet is as wide as its panels", True, is_wide_enough, "/width")


def _rounded(box: tuple[float, float, float, float] | None) -> tuple[float, float, float, float] | None:
    if box is None:
        return None
    return (round(box[0], 4), round(box[1], 4), round(box[2], 4), round(box[3], 4))
