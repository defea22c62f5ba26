"""What baking costs: a whole step of render.bake against Blender's bare operator with everything prepared, in turns."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import bpy

from bench.table import row
from blendwright.blender.scene import SceneState
from blendwright.blender.step import Stepper
from blendwright.plan.validate import validate_arguments
from blendwright.tools.catalog import tools

_data: Any = bpy.data
_ops: Any = bpy.ops
ROUNDS = 3
BALL = {"kind": "uv_sphere", "name": "Ball", "segments": 128, "rings": 64}
# The samples and the margin that the tool takes by itself.
SIZE, SAMPLES, MARGIN = 512, 16, 16


def measure() -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as scratch:
        state = SceneState()
        state.reset()
        stepper = Stepper(state, tools(), Path(scratch))
        _call(stepper, "mesh.create_primitive", BALL)
        _call(stepper, "uv.unwrap", {"object": "Ball", "method": "smart"})
        _call(stepper, "material.ensure_principled", {"name": "Paint", "base_color": [0.8, 0.2, 0.1]})
        _call(stepper, "material.assign", {"object": "Ball", "material": "Paint"})
        for kind in ("AO", "NORMAL"):
            ratios: list[float] = []
            for number in range(ROUNDS):
                args = {
                    "object": "Ball",
                    "type": kind,
                    "image": f"{kind}{number}",
                    "samples": SAMPLES,
                    "margin": MARGIN,
                }
                started = process_time()
                _call(stepper, "render.bake", {**args, "size": [SIZE, SIZE]})
                ours = process_time() - started
                ratios.append(ours / _by_hand(kind))
            yield row(f"render.bake of {kind}, {SIZE} pixels / bare operator", statistics.median(ratios), "x", 1.2)


def _by_hand(kind: str) -> float:
    """The operator alone; the image, the node that names it and the settings of Cycles are ready."""
    scene: Any = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples = SAMPLES
    scene.cycles.use_adaptive_sampling = False
    image = _data.images.new("Plain", SIZE, SIZE, is_data=True)
    tree = _data.materials["Paint"].node_tree
    node = tree.nodes.new("ShaderNodeTexImage")
    node.image = image
    tree.nodes.active = node
    ball = _data.objects["Ball"]
    ball.select_set(True)
    bpy.context.view_layer.objects.active = ball
    started = process_time()
    _ops.object.bake(type=kind, margin=MARGIN, margin_type="EXTEND", use_clear=True)
    spent = process_time() - started
    tree.nodes.remove(node)
    _data.images.remove(image)
    return spent


def _call(stepper: Stepper, tool: str, args: dict[str, Any]) -> None:
    canonical, findings, _ = validate_arguments(tools()[tool], args)
    assert not findings, findings
    answer = stepper.run({"tool": tool, "version": 1, "args": canonical})
    assert answer["ok"], answer["message"]
