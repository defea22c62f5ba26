from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, Seed, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import READ_ONLY, Determinism
from blendwright.tools.bounding_boxes import everything
from blendwright.tools.camera_views import FROM, View, frustum, standpoint, view_axes, view_matrix
from blendwright.tools.checks import conflict, differs
from blendwright.tools.render.rendering import PngName, Rendered, camera_problems, engine_id, render_picture

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
CAMERA = ("camera.create", {"name": "Camera", "location": [4, -6, 4], "rotation_euler_deg": [60, 0, 34]})
SUN = ("light.create", {"name": "Sun", "type": "SUN", "energy": 3, "rotation_euler_deg": [40, 0, 20]})
MARGIN = 0.05


class PreviewArgs(Args):
    view: View | None = optional("Look at all objects from this side, through a camera that does not stay.")
    camera: ObjectName | None = optional("Camera to look through; left out together with view, the scene's own.")
    engine: Literal["WORKBENCH", "CYCLES"] = Field(
        default="WORKBENCH", description="WORKBENCH is fast and plain; CYCLES shows lights and shading."
    )
    width: int = Field(default=640, ge=16, le=2048, description="Width in pixels.")
    height: int = Field(default=480, ge=16, le=2048, description="Height in pixels.")
    samples: int = Field(default=8, ge=1, le=256, description="Samples per pixel of CYCLES.")
    seed: Seed = Field(default=0, description="Seed of the noise of CYCLES.")
    artifact: PngName = Field(default="preview.png", description="Name of the picture among the workspace's artifacts.")

    @field_validator("camera")
    @classmethod
    def _one_eye(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None and info.data.get("view") is not None:
            raise PydanticCustomError("one_eye", "give either view or camera")
        return value


class Preview(Tool[PreviewArgs, Rendered]):
    """Render a small, quick picture of the scene to an artifact. The scene and its settings stay as they are."""

    name = "render.preview"
    promises = READ_ONLY.but(determinism=Determinism.SEEDED).needs("scene_read", "render")
    examples = (
        Example({"view": "ISO", "width": 160, "height": 120}, CUBE),
        Example({"camera": "Camera", "engine": "CYCLES", "samples": 2, "width": 64, "height": 48}, CUBE, CAMERA, SUN),
    )

    def determinism_for(self, args: PreviewArgs) -> Determinism:
        return Determinism.SEEDED if args.engine == "CYCLES" else Determinism.DETERMINISTIC

    def check(self, scene: Scene, args: PreviewArgs) -> Findings:
        if args.view is None:
            yield from camera_problems(scene, args.camera, "Give a view such as ISO, or the name of a camera.")
        elif not everything(scene):
            yield conflict("there is nothing to look at", "/view", "Create a visible object first.")

    def apply(self, scene: Scene, args: PreviewArgs) -> Rendered:
        with ExitStack() as temporary:
            for target, values in _preview_settings(scene, args):
                temporary.enter_context(scene.temporarily(target, **values))
            camera = self._camera(scene, args, temporary)
            return render_picture(scene, scene.artifact(args.artifact), camera, args.engine, artifact=args.artifact)

    def verify(self, scene: Scene, args: PreviewArgs, result: Rendered) -> Findings:
        yield from differs("the width of the picture", args.width, result.width, "/width")
        yield from differs("the height of the picture", args.height, result.height, "/height")

    def _camera(self, scene: Scene, args: PreviewArgs, temporary: ExitStack) -> Block | None:
        if args.camera is not None:
            return scene.require(Kind.OBJECT, args.camera, "/camera")
        if args.view is None:
            return None
        lens = temporary.enter_context(scene.temporary(Kind.CAMERA))
        eye = temporary.enter_context(scene.temporary(Kind.OBJECT, lens))
        axes = view_axes(FROM[args.view])
        stand = standpoint(everything(scene), axes, frustum(scene, lens).within(MARGIN), lens.clip_start * 2.0)
        lens.clip_end = max(stand.farthest * 2.0, 1.0)
        # A camera far from large things needs a far start too, or depths become too coarse to tell apart.
        lens.clip_start = max(lens.clip_start, lens.clip_end / 1e5)
        eye.matrix_world = view_matrix(scene, axes, stand.position)
        return eye


def _preview_settings(scene: Scene, args: PreviewArgs) -> Iterator[tuple[Block, dict[str, object]]]:
    """The settings of a preview, as pairs of their owner and values."""
    target = scene.active
    size = {"resolution_x": args.width, "resolution_y": args.height, "resolution_percentage": 100}
    shape = {"pixel_aspect_x": 1.0, "pixel_aspect_y": 1.0, "use_border": False, "use_crop_to_border": False}
    extras = ("use_compositing", "use_sequencer", "use_stamp", "use_motion_blur")
    engine = {"engine": engine_id(args.engine, scene.version)}
    yield target.render, {**engine, **size, **shape, **dict.fromkeys(extras, False)}
    if args.engine == "WORKBENCH":
        yield target.display, {"render_aa": "OFF"}
    else:
        noise = {"samples": args.samples, "seed": args.seed, "time_limit": 0.0}
        extras = ("use_animated_seed", "use_denoising", "use_adaptive_sampling")
        yield target.cycles, {"device": "CPU", **noise, **dict.fromkeys(extras, False)}
