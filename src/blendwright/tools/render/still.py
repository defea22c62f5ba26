from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Example, Findings, Scene, Tool
from blendwright.tool_api.arguments import Args, Seed, WritePath, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE, Determinism
from blendwright.tools.checks import differs, invalid
from blendwright.tools.image.formats import (
    CODEC,
    DEPTH,
    QUALITY,
    Codec,
    Depth,
    fits_its_format,
    form_of,
    image_settings,
    writable_path,
)
from blendwright.tools.render.rendering import (
    FrameNumber,
    PngName,
    Rendered,
    engine_name,
    render_picture,
    sampling_seconds,
)
from blendwright.tools.render.viewpoint import NamedView, viewing_camera, viewpoint_problems
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

STAGE = (
    ("mesh.create_primitive", {"kind": "cube", "name": "Box"}),
    ("camera.create", {"name": "Camera", "location": [4, -6, 4], "rotation_euler_deg": [60, 0, 34]}),
    ("light.create", {"name": "Sun", "type": "SUN", "energy": 3, "rotation_euler_deg": [40, 0, 20]}),
    ("scene.set_render", {"engine": "CYCLES", "samples": 2, "resolution": [64, 48]}),
)
# Largest number of pixels. A larger picture exceeds every deadline and a worker's memory.
MAX_PIXELS = 8192 * 8192


Pixels = Annotated[int, Field(ge=4, le=65_536)]


class StillArgs(Args):
    camera: ObjectName | None = optional("Camera to look through. Default without view: the scene's own.")
    view: NamedView | None = optional(
        "Look from this side at everything that a render shows, through a temporary camera: ISO and THREE_QUARTER in perspective, "
        "the others orthographic."
    )
    frame: FrameNumber | None = optional("Frame to render instead of the current one.")
    resolution: Annotated[tuple[Pixels, Pixels], Field(strict=False)] | None = optional(
        "Width and height in pixels, instead of the scene's."
    )
    artifact: PngName = Field(
        default="still.png", description="Name of the picture among the workspace's artifacts, if path is omitted."
    )
    path: WritePath | None = optional("File to write instead of an artifact: .png, .jpg, .exr or .webp.")
    depth: Depth | None = optional(DEPTH)
    codec: Codec | None = optional(CODEC)
    quality: int | None = optional(QUALITY, ge=1, le=100)
    layers: bool = Field(default=False, description="Write all passes of scene.set_passes, which needs a .exr path.")
    overwrite: bool = Field(
        default=False, description="Whether the call may replace an existing file; it is then destructive."
    )
    samples: int | None = optional("Samples per pixel of CYCLES, instead of the scene's.", ge=1, le=100_000)
    denoise: bool = Field(default=True, description="Remove the noise of CYCLES.")
    seed: Seed = Field(default=0, description="Seed of the noise of CYCLES.")
    time_limit_s: float | None = optional(
        "CYCLES stops at this time and keeps its samples; the picture then depends on the machine's speed.",
        gt=0.0,
        le=86_400.0,
    )

    @field_validator("view")
    @classmethod
    def _check_viewpoint(cls, value: NamedView | None, info: ValidationInfo) -> NamedView | None:
        if value is not None and info.data.get("camera") is not None:
            raise PydanticCustomError("one_eye", "give either view or camera, not both")
        return value

    @field_validator("path")
    @classmethod
    def _check_path(cls, value: str | None) -> str | None:
        if value is None:
            return None
        return writable_path(value)

    @field_validator("depth", "codec", "quality")
    @classmethod
    def _check_encoding(cls, value: Any, info: ValidationInfo) -> Any:
        if value is not None and info.data.get("path") is None:
            raise PydanticCustomError("no_path", "an artifact is always a plain PNG: give a path to use this argument")
        return fits_its_format(value, info)

    @field_validator("layers")
    @classmethod
    def _check_layers(cls, value: bool, info: ValidationInfo) -> bool:
        path = info.data.get("path")
        if value and (path is None or form_of(path) != "OPEN_EXR"):
            raise PydanticCustomError("layers", "layers needs a path that ends in .exr")
        return value


class Still(Tool[StillArgs, Rendered]):
    """Render at full quality: with the scene's own settings and denoised, to an artifact or a picture file.

    A call takes at most constraints.render_seconds. CYCLES stops before that with the samples that it has, and the result is
    `partial`; other engines are stopped without a picture. The noise of CYCLES depends on the argument `seed`, not on the
    scene's seed.
    """

    name = "render.still"
    version = 3
    time_limit = "render_seconds"
    promises = (
        SAFE_IDEMPOTENT_WRITE.but(determinism=Determinism.NONDETERMINISTIC, replayable=False)
        .writes_to()
        .needs("scene_read", "render", "file_write")
    )
    destructive_with = ("overwrite",)
    examples = (
        Example({"camera": "Camera"}, *STAGE),
        Example({"camera": "Camera", "path": "picture.exr", "depth": 32, "codec": "PIZ"}, *STAGE),
        Example(
            {"camera": "Camera", "path": "picture.exr", "layers": True},
            *STAGE,
            ("scene.set_passes", {"passes": ["Z", "CRYPTOMATTE_OBJECT"]}),
        ),
        Example({"path": "picture.png", "samples": 1}, *STAGE, ("camera.set_active", {"object": "Camera"})),
    )

    def determinism_for(self, args: StillArgs) -> Determinism:
        if args.time_limit_s is None:
            return Determinism.SEEDED
        return Determinism.NONDETERMINISTIC

    def replayable_for(self, args: StillArgs) -> bool:
        """Return True for artifacts. A file outside the workspace may have changed since."""
        return args.path is None

    def time_asked(self, args: StillArgs) -> tuple[str, float] | None:
        if args.time_limit_s is None:
            return None
        return ("/time_limit_s", args.time_limit_s)

    def seed_for(self, args: StillArgs) -> int | None:
        return args.seed

    def check(self, scene: Scene, args: StillArgs) -> Findings:
        cure = "Give a view such as ISO, name a camera, or call camera.set_active first."
        yield from viewpoint_problems(scene, args.view, args.camera, cure)
        width, height = _size(scene, args)
        if width * height > MAX_PIXELS:
            message = f"the picture would have {width} by {height} pixels, more than {MAX_PIXELS} in total"
            yield Finding(Fault.LIMIT_EXCEEDED, message, "", "Lower resolution or percentage with scene.set_render.")
        engine = engine_name(scene.active.render.engine)
        if engine != "CYCLES":
            for argument in ("samples", "time_limit_s"):
                if getattr(args, argument) is not None:
                    message = f"{argument} is for CYCLES; the engine is {engine}"
                    cure = f"Leave {argument} out, or set the engine with scene.set_render."
                    yield invalid(message, f"/{argument}", cure)

    def apply(self, scene: Scene, args: StillArgs) -> Rendered:
        artifact: str | None = None
        if args.path is not None:
            file = scene.output_file(args.path)
        else:
            artifact = args.artifact
            file = scene.artifact(args.artifact)
        engine = engine_name(scene.active.render.engine)
        with ExitStack() as temporary:
            if args.frame is not None:
                temporary.enter_context(scene.at_frame(args.frame))
            if args.resolution is not None:
                width, height = args.resolution
                size = {"resolution_x": width, "resolution_y": height, "resolution_percentage": 100}
                temporary.enter_context(scene.temporarily(scene.active.render, **size))
            if engine == "CYCLES":
                values: dict[str, Any] = {"device": "CPU", "seed": args.seed, "use_animated_seed": False}
                values["use_denoising"] = args.denoise
                if args.samples is not None:
                    values["samples"] = args.samples
                width, height = _size(scene, args)
                values["time_limit"] = sampling_seconds(scene, width * height, args.time_limit_s)
                temporary.enter_context(scene.temporarily(scene.active.cycles, **values))
            camera = viewing_camera(scene, args.view, args.camera, temporary)
            output = _output(scene, args)
            return render_picture(scene, file, camera, engine, artifact=artifact, path=args.path, output=output)

    def verify(self, scene: Scene, args: StillArgs, result: Rendered) -> Findings:
        yield from differs("the size of the picture", _size(scene, args), (result.width, result.height), "/path")


def _output(scene: Scene, args: StillArgs) -> dict[str, Any] | None:
    """Return the settings of the file format, or None for a plain PNG."""
    if args.path is None:
        form = "PNG"
    else:
        form = form_of(args.path)
    if form == "PNG" and args.depth is None:
        return None
    alpha = scene.active.render.film_transparent
    settings = image_settings(form, alpha=alpha, depth=args.depth, codec=args.codec, quality=args.quality)
    if args.layers:
        settings |= {"file_format": "OPEN_EXR_MULTILAYER"}
        settings.pop("color_mode")
    return settings


def _size(scene: Scene, args: StillArgs) -> tuple[int, int]:
    render = scene.active.render
    full, percentage = (render.resolution_x, render.resolution_y), render.resolution_percentage
    width, height = args.resolution or (full[0] * percentage // 100, full[1] * percentage // 100)
    if render.use_border and render.use_crop_to_border:
        width = int(width * render.border_max_x) - int(width * render.border_min_x)
        height = int(height * render.border_max_y) - int(height * render.border_min_y)
    return width, height
