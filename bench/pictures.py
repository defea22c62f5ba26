"""What pictures cost: a quick look over stdio at a scene of many objects, and the denoised picture of the demo beside a plain one."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import blendwright
from bench.server import Host
from bench.table import row
from blendwright.engine.options import RunOptions
from blendwright.engine.preview import PICTURE_SAMPLES

OBJECTS = 1000
LOOKS = 7
PLAN = Path(__file__).parents[1] / "examples" / "plans" / "table_set.json"
# What the demo's picture was made with before it was denoised.
PLAIN: dict[str, Any] = {"samples": 16, "denoise": False}
DENOISED: dict[str, Any] = {"samples": PICTURE_SAMPLES}


def measure() -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as place:
        host = Host([sys.executable, "-P", "-m", "blendwright", "serve"], place)
        boxes = [_box(number) for number in range(OBJECTS)]
        host.call("plan_execute", {"plan": {"request_id": "fill", "operations": boxes}})
        looks = [_look(host) for _ in range(LOOKS)]
        host.close()
    yield row(f"quick look over stdio, {OBJECTS} objects, the first", looks[0], "s", None)
    yield row(f"quick look over stdio, {OBJECTS} objects, p50 of the others", statistics.median(looks[1:]), "s", 1.0)
    with tempfile.TemporaryDirectory() as place, blendwright.open(Path(place, "workspace")) as opened:
        opened.run(json.loads(PLAN.read_text()))
        _render(opened, {"samples": 1})  # what is loaded once
        yield row("picture of the demo, denoised / 16 plain samples", _ratio(opened), "x", 1.0)
    with tempfile.TemporaryDirectory() as place, blendwright.open(Path(place, "workspace")) as opened:
        yield row("render.bake, ambient occlusion of 512² / the bare operator", _bake_ratio(opened), "x", 1.2)


BARE_BAKE = """
import bpy, time
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
bpy.ops.mesh.primitive_uv_sphere_add(radius=0.6, location=(0, 0, 0.5))
bpy.ops.mesh.primitive_plane_add()
obj = bpy.context.object
image = bpy.data.images.new("Bare", 512, 512, is_data=True)
material = bpy.data.materials.new("Bare")
material.use_nodes = True
obj.data.materials.append(material)
node = material.node_tree.nodes.new("ShaderNodeTexImage")
node.image = image
material.node_tree.nodes.active = node
scene = bpy.context.scene
scene.render.engine = "CYCLES"
scene.cycles.samples = 16
scene.cycles.use_adaptive_sampling = False
took = []
for _ in range(3):
    started = time.perf_counter()
    bpy.ops.object.bake(type="AO", margin=16, margin_type="EXTEND", use_clear=True)
    took.append(time.perf_counter() - started)
print("took", min(took))
"""
LOW_POLY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("mesh.create_primitive", {"kind": "plane", "name": "Low"}),
    ("mesh.set_attribute", {"object": "Low", "name": "UVMap", "type": "FLOAT2", "domain": "CORNER",
                            "values": [[0, 0], [1, 0], [1, 1], [0, 1]]}),
    ("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball", "radius": 0.6, "location": [0, 0, 0.5]}),
)  # fmt: skip


def _bake_ratio(opened: blendwright.OpenScene) -> float:
    """A whole call beside the operator alone, each the best of those that find everything loaded."""
    for tool, args in LOW_POLY:
        assert opened.outcome(tool, args).ok
    printed = subprocess.run([sys.executable, "-c", BARE_BAKE], capture_output=True, text=True, check=True).stdout
    bare = float(printed.split("took")[1].split()[0])
    ours: list[float] = []
    for number in range(3):
        started = perf_counter()
        args = {"object": "Low", "type": "AO", "image": f"Shade {number}", "size": [512, 512], "samples": 16}
        baked = opened.outcome("render.bake", args, RunOptions(call_seconds=600.0))
        assert baked.ok, baked.message
        ours.append(perf_counter() - started)
    return min(ours[1:]) / bare


def _look(host: Host) -> float:
    started = perf_counter()
    host.call("scene_image", {"views": ["iso"], "seconds": 1})
    return perf_counter() - started


def _ratio(opened: blendwright.OpenScene) -> float:
    plain, denoised = ([_render(opened, quality) for _ in range(2)] for quality in (PLAIN, DENOISED))
    return min(denoised) / min(plain)


def _render(opened: blendwright.OpenScene, quality: dict[str, Any]) -> float:
    started = perf_counter()
    outcome = opened.outcome("render.preview", {"engine": "CYCLES", **quality}, RunOptions(call_seconds=600.0))
    assert outcome.ok, outcome.message
    return perf_counter() - started


def _box(number: int) -> dict[str, Any]:
    args = {"kind": "cube", "name": f"Box{number:04}", "location": [number % 32 * 3.0, number // 32 * 3.0, 0.0]}
    return {
        "operation_id": f"op{number:04}",
        "tool_name": "mesh.create_primitive",
        "args": args,
        "depends_on": [],
        "safety_level": "safe_write",
    }
