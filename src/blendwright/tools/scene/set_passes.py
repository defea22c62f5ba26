"""Tool scene.set_passes"""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from blendwright.tool_api.arguments import Args, optional
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings
from blendwright.tools.checks import invalid
from blendwright.tools.settings import SetsSceneSettings, Setting, Settings

Pass = Literal[
    "Z", "MIST", "POSITION", "NORMAL", "VECTOR", "UV", "OBJECT_INDEX", "MATERIAL_INDEX", "EMIT", "ENVIRONMENT", "SHADOW",
    "AMBIENT_OCCLUSION", "DIFFUSE_DIRECT", "DIFFUSE_INDIRECT", "DIFFUSE_COLOR", "GLOSSY_DIRECT", "GLOSSY_INDIRECT",
    "GLOSSY_COLOR", "TRANSMISSION_DIRECT", "TRANSMISSION_INDIRECT", "TRANSMISSION_COLOR", "CRYPTOMATTE_OBJECT",
    "CRYPTOMATTE_MATERIAL", "CRYPTOMATTE_ASSET", "DENOISING_DATA",
]  # fmt: skip
PASSES: tuple[Pass, ...] = get_args(Pass)
DENOISING = "DENOISING_DATA"


class SetPassesArgs(Args):
    passes: list[Pass] = Field(max_length=len(PASSES), description="All passes to render in addition to the picture.")
    view_layer: str | None = optional("Name of the view layer. Default: the first.")


class SetPasses(SetsSceneSettings[SetPassesArgs]):
    """Set the render passes: depth, normals, light by kind, cryptomattes, denoising data. All other passes are turned off.

    render.still writes them with `layers` to a .exr file.
    """

    name = "scene.set_passes"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.SCENE).needs("scene_write")
    examples = (
        Example({"passes": ["Z", "NORMAL", "CRYPTOMATTE_OBJECT", "DENOISING_DATA"]}),
        Example({"passes": []}, ("scene.set_passes", {"passes": ["Z", "DENOISING_DATA"]})),
    )

    def problems(self, scene: Scene, args: SetPassesArgs, target: Block) -> Findings:
        names = [layer.name for layer in target.view_layers]
        if args.view_layer is not None and args.view_layer not in names:
            cure = f"View layers: {', '.join(names)}."
            yield invalid(f"the scene has no view layer '{args.view_layer}'", "/view_layer", cure)

    def settings(self, scene: Scene, args: SetPassesArgs, target: Block) -> Settings:
        layer_key: str | int = 0
        if args.view_layer is not None:
            layer_key = args.view_layer
        layer = target.view_layers[layer_key]
        for render_pass in PASSES:
            owner, attribute = layer, f"use_pass_{render_pass.lower()}"
            if render_pass == DENOISING:
                owner, attribute = layer.cycles, "denoising_store_passes"
            yield Setting(owner, attribute, render_pass in args.passes, "/passes")
