from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, Seed, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import READ_ONLY, Determinism
from blendwright.tools.checks import differs
from blendwright.tools.render.closer_look import Previewed, Show, closer_look
from blendwright.tools.render.darkness import darkness_notes
from blendwright.tools.render.node_colors import viewport_color
from blendwright.tools.render.rendering import (
    FrameNumber,
    PngName,
    engine_id,
    picture_facts,
    render_picture,
    sampling_seconds,
)
from blendwright.tools.render.viewpoint import (
    IN_PERSPECTIVE,
    NamedView,
    closely_problems,
    viewing_camera,
    viewpoint_problems,
)

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
CAMERA = ("camera.create", {"name": "Camera", "location": [4, -6, 4], "rotation_euler_deg": [60, 0, 34]})
# Largest ratio of width and height, or height and width, of a picture in the shape of the scene's render.
MAX_RATIO = 8.0
# Colour of the sky that lights a preview of a scene without light.
SKY = (0.6, 0.6, 0.6, 1.0)
SUN = ("light.create", {"name": "Sun", "type": "SUN", "energy": 3, "rotation_euler_deg": [40, 0, 20]})


class PreviewArgs(Args):
    view: NamedView | None = optional(
        "Look from this side at everything that a render shows, through a temporary camera: ISO and THREE_QUARTER in perspective, "
        "the others orthographic."
    )
    camera: ObjectName | None = optional("Camera to look through. Default without view: the scene's own.")
    around: list[ObjectName] = Field(
        default=[],
        max_length=1000,
        description="Objects that a view frames, with their children, instead of all.",
    )
    engine: Literal["WORKBENCH", "CYCLES"] = Field(
        default="WORKBENCH", description="WORKBENCH is fast and plain; CYCLES shows light and shadow."
    )
    width: int = Field(default=640, ge=16, le=2048, description="Width in pixels.")
    height: int = Field(default=480, ge=16, le=2048, description="Height in pixels.")
    render_shape: bool = Field(
        default=False, description="Use the shape of the scene's render, with as many pixels as width times height."
    )
    samples: int = Field(default=8, ge=1, le=256, description="Samples per pixel of CYCLES.")
    denoise: bool = Field(default=True, description="Remove the noise of CYCLES.")
    smooth: bool = Field(default=True, description="Smooth edges in WORKBENCH; false is faster.")
    show: Show = Field(
        default="SHADED",
        description="NAMES writes the names of objects into the picture; DEPTH is white where near; MASK has one colour per object.",
    )
    frame: FrameNumber | None = optional("Frame to show instead of the current one.")
    seed: Seed = Field(default=0, description="Seed of the noise of CYCLES.")
    time_limit_s: float | None = optional(
        "CYCLES stops at this time and keeps its samples; the picture then depends on the machine's speed.",
        gt=0.0,
        le=3600.0,
    )
    artifact: PngName = Field(default="preview.png", description="Name of the picture among the workspace's artifacts.")

    @field_validator("camera")
    @classmethod
    def _check_viewpoint(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None and info.data.get("view") is not None:
            raise PydanticCustomError("one_eye", "give either view or camera, not both")
        return value

    @field_validator("around")
    @classmethod
    def _check_around(cls, value: list[str], info: ValidationInfo) -> list[str]:
        if value and info.data.get("view") is None:
            raise PydanticCustomError("no_view", "around has no effect on a camera: give a view too, such as ISO")
        return value


class Preview(Tool[PreviewArgs, Previewed]):
    """Render a small, quick picture of the scene to an artifact. The scene and its settings stay unchanged."""

    name = "render.preview"
    version = 4
    time_limit = "render_seconds"
    promises = READ_ONLY.but(determinism=Determinism.SEEDED).needs("scene_read", "render")
    examples = (
        Example({"view": "ISO", "width": 160, "height": 120}, CUBE),
        Example({"camera": "Camera", "engine": "CYCLES", "samples": 2, "width": 64, "height": 48}, CUBE, CAMERA, SUN),
        Example({"view": "ISO", "around": ["Box"], "show": "NAMES", "width": 160, "height": 120}, CUBE),
        Example({"view": "ISO", "show": "MASK", "width": 64, "height": 48}, CUBE),
        Example({"view": "ISO", "show": "DEPTH", "width": 64, "height": 48}, CUBE),
    )

    def determinism_for(self, args: PreviewArgs) -> Determinism:
        if args.engine != "CYCLES":
            return Determinism.DETERMINISTIC
        if args.time_limit_s is None:
            return Determinism.SEEDED
        return Determinism.NONDETERMINISTIC

    def check(self, scene: Scene, args: PreviewArgs) -> Findings:
        cure = "Give a view such as ISO, or the name of a camera."
        yield from viewpoint_problems(scene, args.view, args.camera, cure)
        yield from closely_problems(scene, args.around)

    def apply(self, scene: Scene, args: PreviewArgs) -> Previewed:
        with ExitStack() as temporary:
            if args.frame is not None:
                temporary.enter_context(scene.at_frame(args.frame))
            notes = set_up_preview(scene, args, temporary)
            camera = viewing_camera(scene, args.view, args.camera, temporary, closely=args.around)
            file = scene.artifact(args.artifact)
            fields: dict[str, Any] = {"artifact": args.artifact, "width": 0, "height": 0, "engine": args.engine}
            if args.show in ("SHADED", "NAMES"):
                rendered = render_picture(scene, file, camera, args.engine, artifact=args.artifact)
                fields = rendered.model_dump()
                fields["notes"] = [*notes, *fields["notes"]]
            if args.show != "SHADED":
                fields |= closer_look(scene.look_closer(args.show, file, camera))
                fields |= picture_facts(file)
            return Previewed.model_validate(fields)

    def verify(self, scene: Scene, args: PreviewArgs, result: Previewed) -> Findings:
        width, height = _size(scene, args)
        yield from differs("the width of the picture", width, result.width, "/width")
        yield from differs("the height of the picture", height, result.height, "/height")


def _size(scene: Scene, args: PreviewArgs) -> tuple[int, int]:
    """Return width and height in pixels."""
    if not args.render_shape:
        return args.width, args.height
    render = scene.active.render
    ratio = (render.resolution_x * render.pixel_aspect_x) / (render.resolution_y * render.pixel_aspect_y)
    ratio = min(max(ratio, 1 / MAX_RATIO), MAX_RATIO)
    width = math.sqrt(args.width * args.height * ratio)
    return max(16, round(width)), max(16, round(width / ratio))


def set_up_preview(scene: Scene, args: PreviewArgs, temporary: ExitStack) -> list[str]:
    """Prepare the scene for a preview until `temporary` is closed. Return notes about light that was added for it."""
    world = scene.active.world
    dark: list[str] = []
    # Only a plain background shows whether a world gives light. Before Blender 5.0 a world may have no nodes.
    is_plain = world is None or world.node_tree is None or _background(world) is not None
    if args.engine != "WORKBENCH" and is_plain:
        dark = darkness_notes(scene, args.engine)
    if dark or (args.engine == "WORKBENCH" and world is None):
        # Use the grey of a new world, because the outline of a dark object is invisible before black.
        world = temporary.enter_context(scene.temporary(Kind.WORLD))
        if dark:
            _shine(world)
        temporary.enter_context(scene.temporarily(scene.active, world=world))
    for target, values in _preview_settings(scene, args):
        temporary.enter_context(scene.temporarily(target, **values))
    return [f"This preview is lit by a grey sky that the scene does not have. {note}" for note in dark]


def _shine(world: Block) -> None:
    """Make a temporary world give light from all around."""
    world.color = SKY[:3]
    node = _background(world)
    if node is not None:
        node.inputs["Color"].default_value = SKY


def _background(world: Block) -> Any:
    from blendwright.tools.scene.set_world import background  # imported late, because few previews need it

    if world.node_tree is None:
        return None
    return background(world)


def _preview_settings(scene: Scene, args: PreviewArgs) -> Iterator[tuple[Block, dict[str, object]]]:
    """Yield each datablock or settings struct to change for a preview, with its values."""
    target = scene.active
    width, height = _size(scene, args)
    size = {"resolution_x": width, "resolution_y": height, "resolution_percentage": 100}
    shape = {"pixel_aspect_x": 1.0, "pixel_aspect_y": 1.0, "use_border": False, "use_crop_to_border": False}
    extras = ("use_compositing", "use_sequencer", "use_stamp", "use_motion_blur")
    engine = {"engine": engine_id(args.engine, scene.version)}
    # Dithering adds noise, which makes the compressed picture five times as large.
    yield target.render, {**engine, **size, **shape, **dict.fromkeys(extras, False), "dither_intensity": 0.0}
    if args.engine == "WORKBENCH":
        # Show colours unchanged, whatever exposure and look the scene has for its light.
        yield target.view_settings, {"view_transform": "Standard", "look": "None", "exposure": 0.0, "gamma": 1.0}
        is_orthographic = args.view is not None and args.view not in IN_PERSPECTIVE
        if is_orthographic:
            # Seen straight from above, a grey table has the same grey as the floor, so only its outline shows it.
            yield target.display.shading, {"show_object_outline": True}
        # FXAA is faster and good enough in perspective, but it bends the ends of straight outlines.
        if not args.smooth:
            smoothing = "OFF"
        elif is_orthographic:
            smoothing = "5"
        else:
            smoothing = "FXAA"
        yield target.display, {"render_aa": smoothing}
        yield from _viewport_colors(scene)
    else:
        limit = sampling_seconds(scene, args.width * args.height, args.time_limit_s)
        noise = {"samples": args.samples, "seed": args.seed, "time_limit": limit}
        extras = ("use_animated_seed", "use_adaptive_sampling")
        # Accurate denoising would take five times as long as rendering such a picture.
        quick = {
            "use_denoising": args.denoise,
            "denoising_prefilter": "FAST",
            "denoising_input_passes": "RGB_ALBEDO_NORMAL",
        }
        yield target.cycles, {"device": "CPU", **noise, **quick, **dict.fromkeys(extras, False)}


def _viewport_colors(scene: Scene) -> Iterator[tuple[Block, dict[str, object]]]:
    """Yield each material that is made of nodes, with the average colour of its nodes as viewport colour."""
    for material in scene.blocks(Kind.MATERIAL):
        # Before Blender 5.0 a material could have nodes without using them; since then `use_nodes` is deprecated.
        if material.library is None and (scene.version >= (5, 0, 0) or material.use_nodes):
            color = viewport_color(material)
            if color is not None:
                yield material, {"diffuse_color": color}
