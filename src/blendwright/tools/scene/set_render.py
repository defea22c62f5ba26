"""scene.set_render"""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from blendwright.tool_api.arguments import Args, Seed, optional
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings
from blendwright.tools.checks import invalid
from blendwright.tools.render.rendering import Engine, engine_id, engine_name
from blendwright.tools.settings import SetsSceneSettings, Setting, Settings

Side = Annotated[int, Field(ge=4, le=65536)]


class SetRenderArgs(Args):
    engine: Engine | None = optional("WORKBENCH is fast and plain, EEVEE quick, CYCLES a path tracer.")
    resolution: Annotated[tuple[Side, Side], Field(strict=False)] | None = optional("Width and height in pixels.")
    percentage: int | None = optional("Size of the rendered picture in percent of the resolution.", ge=1, le=1000)
    samples: int | None = optional("Samples per pixel of CYCLES or EEVEE, whichever is the engine.", ge=1, le=1_000_000)
    seed: Seed | None = optional("Seed of the noise of CYCLES.")
    film_transparent: bool | None = optional("Whether the background is transparent instead of the world.")
    fps: float | None = optional("Frames per second; 23.976 and its like are kept as a ratio.", ge=0.1, le=1000.0)


class SetRender(SetsSceneSettings[SetRenderArgs]):
    """Set how the scene is rendered: engine, resolution, samples, seed, background, frame rate. What is left out stays."""

    name = "scene.set_render"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.SCENE).needs("scene_write")
    examples = (
        Example({"engine": "CYCLES", "samples": 32, "seed": 7, "resolution": [1280, 720]}),
        Example({"engine": "WORKBENCH", "percentage": 50, "film_transparent": True}),
        Example({"fps": 23.976}),
    )

    def problems(self, scene: Scene, args: SetRenderArgs, target: Block) -> Findings:
        engine = args.engine or engine_name(target.render.engine)
        if args.samples is not None and engine not in ("CYCLES", "EEVEE"):
            cure = "Leave it out, or set the engine to CYCLES or EEVEE."
            yield invalid(f"the engine {engine} has no number of samples", "/samples", cure)

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
            whole = math.ceil(args.fps)
            yield Setting(render, "fps", whole, "/fps")
            yield Setting(render, "fps_base", whole / args.fps, "/fps")
        if args.samples is not None:
            if (args.engine or engine_name(render.engine)) == "CYCLES":
                yield Setting(target.cycles, "samples", args.samples, "/samples")
            else:
                yield Setting(target.eevee, "taa_render_samples", args.samples, "/samples")
        if args.seed is not None:
            yield Setting(target.cycles, "seed", args.seed, "/seed")
