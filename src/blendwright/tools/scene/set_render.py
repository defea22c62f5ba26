"""Tool scene.set_render"""

from __future__ import annotations

import math
from typing import Annotated, Literal, get_args

from pydantic import Field

from blendwright.tool_api.arguments import Args, Seed, optional
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings
from blendwright.tools.checks import invalid
from blendwright.tools.render.rendering import Engine, engine_id, engine_name
from blendwright.tools.settings import SetsSceneSettings, Setting, Settings

Side = Annotated[int, Field(ge=4, le=65536)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Border = Annotated[tuple[Share, Share, Share, Share], Field(strict=False)]
Clamp = Annotated[float, Field(ge=0.0, le=1e6)]
Count = Annotated[int, Field(ge=0, le=1024)]
# Excludes facts that differ between renders: date, render time, memory. CHANGING_STAMPS are always turned off.
Stamp = Literal["FRAME", "FRAME_RANGE", "CAMERA", "LENS", "SCENE", "MARKER", "FILENAME", "NOTE"]
STAMPS: tuple[Stamp, ...] = get_args(Stamp)
CHANGING_STAMPS = ("DATE", "TIME", "RENDER_TIME", "MEMORY", "HOSTNAME")


class Bounces(Args):
    """Largest number of light bounces by kind. Omitted kinds stay unchanged."""

    total: Count | None = optional("All kinds together.")
    diffuse: Count | None = optional("From matt surfaces.")
    glossy: Count | None = optional("From reflective surfaces.")
    transmission: Count | None = optional("Through glass.")
    volume: Count | None = optional("In smoke and fog.")
    transparent: Count | None = optional("Through transparent surfaces.")


BOUNCES = {
    "total": "max_bounces", "diffuse": "diffuse_bounces", "glossy": "glossy_bounces",
    "transmission": "transmission_bounces", "volume": "volume_bounces", "transparent": "transparent_max_bounces",
}  # fmt: skip


class SetRenderArgs(Args):
    engine: Engine | None = optional("WORKBENCH is fast and plain, EEVEE quick, CYCLES a path tracer.")
    resolution: Annotated[tuple[Side, Side], Field(strict=False)] | None = optional("Width and height in pixels.")
    percentage: int | None = optional("Size of the rendered picture in percent of the resolution.", ge=1, le=1000)
    samples: int | None = optional("Samples per pixel of CYCLES or EEVEE, whichever is the engine.", ge=1, le=1_000_000)
    seed: Seed | None = optional("Seed of the noise of CYCLES.")
    denoise: bool | None = optional("Whether CYCLES removes its noise.")
    noise_threshold: float | None = optional(
        "CYCLES takes fewer samples where the noise is below this; 0 takes all samples everywhere.", ge=0.0, le=1.0
    )
    viewport_samples: int | None = optional("Samples of CYCLES in viewports.", ge=1, le=1_000_000)
    viewport_denoise: bool | None = optional("Whether CYCLES removes its noise in viewports.")
    bounces: Bounces | None = optional("Largest number of light bounces in CYCLES.")
    clamp_direct: Clamp | None = optional("Brightest sample of direct light in CYCLES; 0 for no limit.")
    clamp_indirect: Clamp | None = optional(
        "Brightest sample of indirect light: lower values remove fireflies; 0 for no limit."
    )
    border: Border | None = optional(
        "Part to render: left, bottom, right, top as shares of the picture; [0, 0, 1, 1] for all of it."
    )
    crop: bool | None = optional("Whether to crop the picture to the border.")
    stamp: list[Stamp] | None = optional("Facts to write into the picture itself; [] for none.", max_length=len(STAMPS))
    stamp_note: str | None = optional("Text of NOTE.", max_length=500)
    film_transparent: bool | None = optional("Whether the background is transparent instead of showing the world.")
    fps: float | None = optional("Frames per second; rates such as 23.976 are stored as a ratio.", ge=0.1, le=1000.0)


class SetRender(SetsSceneSettings[SetRenderArgs]):
    """Set how the scene is rendered: engine, resolution, border, samples, denoising, bounces, clamping, seed, background, stamp,
    frame rate. Omitted arguments change nothing.
    """

    name = "scene.set_render"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.SCENE).needs("scene_write")
    examples = (
        Example({"engine": "CYCLES", "samples": 32, "seed": 7, "resolution": [1280, 720]}),
        Example({"engine": "WORKBENCH", "percentage": 50, "film_transparent": True}),
        Example({"fps": 23.976}),
        Example(
            {
                "denoise": False,
                "viewport_samples": 8,
                "viewport_denoise": True,
                "noise_threshold": 0.02,
                "bounces": {"total": 6, "glossy": 2},
                "clamp_direct": 5,
                "clamp_indirect": 3,
            }
        ),
        Example({"border": [0.25, 0, 0.75, 1], "crop": True, "stamp": ["FRAME", "NOTE"], "stamp_note": "draft"}),
    )

    def problems(self, scene: Scene, args: SetRenderArgs, target: Block) -> Findings:
        engine = args.engine or engine_name(target.render.engine)
        if args.samples is not None and engine not in ("CYCLES", "EEVEE"):
            cure = "Leave samples out, or set the engine to CYCLES or EEVEE."
            yield invalid(f"the engine {engine} does not use samples", "/samples", cure)
        if args.border is not None and not (args.border[0] < args.border[2] and args.border[1] < args.border[3]):
            cure = "Give left, bottom, right and top, from 0 to 1, with left below right and bottom below top."
            yield invalid("the border is empty", "/border", cure)

    def settings(self, scene: Scene, args: SetRenderArgs, target: Block) -> Settings:
        render = target.render
        if args.engine is not None:
            yield Setting(render, "engine", engine_id(args.engine, scene.version), "/engine")
        if args.resolution is not None:
            yield Setting(render, "resolution_x", args.resolution[0], "/resolution/0")
            yield Setting(render, "resolution_y", args.resolution[1], "/resolution/1")
        if args.percentage is not None:
            yield Setting(render, "resolution_percentage", args.percentage, "/percentage")
        if args.film_transparent is not None:
            yield Setting(render, "film_transparent", args.film_transparent, "/film_transparent")
        if args.fps is not None:
            rounded = math.ceil(args.fps)
            yield Setting(render, "fps", rounded, "/fps")
            yield Setting(render, "fps_base", rounded / args.fps, "/fps")
        if args.samples is not None:
            if (args.engine or engine_name(render.engine)) == "CYCLES":
                yield Setting(target.cycles, "samples", args.samples, "/samples")
            else:
                yield Setting(target.eevee, "taa_render_samples", args.samples, "/samples")
        if args.seed is not None:
            yield Setting(target.cycles, "seed", args.seed, "/seed")
        yield from _light_settings(args, target.cycles)
        if args.border is not None:
            yield Setting(render, "use_border", args.border != (0.0, 0.0, 1.0, 1.0), "/border")
            for name, value in zip(("min_x", "min_y", "max_x", "max_y"), args.border, strict=True):
                yield Setting(render, f"border_{name}", value, "/border")
        if args.crop is not None:
            yield Setting(render, "use_crop_to_border", args.crop, "/crop")
        if args.stamp is not None:
            yield Setting(render, "use_stamp", bool(args.stamp), "/stamp")
            for name in (*STAMPS, *CHANGING_STAMPS):
                yield Setting(render, f"use_stamp_{name.lower()}", name in args.stamp, "/stamp")
        if args.stamp_note is not None:
            yield Setting(render, "stamp_note_text", args.stamp_note, "/stamp_note")


def _light_settings(args: SetRenderArgs, cycles: Block) -> Settings:
    plain = {
        "denoise": "use_denoising", "viewport_samples": "preview_samples", "viewport_denoise": "use_preview_denoising",
        "clamp_direct": "sample_clamp_direct", "clamp_indirect": "sample_clamp_indirect",
    }  # fmt: skip
    for argument, attribute in plain.items():
        if getattr(args, argument) is not None:
            yield Setting(cycles, attribute, getattr(args, argument), f"/{argument}")
    if args.noise_threshold is not None:
        yield Setting(cycles, "use_adaptive_sampling", args.noise_threshold > 0, "/noise_threshold")
        if args.noise_threshold > 0:
            yield Setting(cycles, "adaptive_threshold", args.noise_threshold, "/noise_threshold")
    if args.bounces is None:
        return
    for kind, attribute in BOUNCES.items():
        count = getattr(args.bounces, kind)
        if count is not None:
            yield Setting(cycles, attribute, count, f"/bounces/{kind}")
