"""What unwrapping costs: a whole step of uv.unwrap against Blender's bare operator on the same mesh, in turns.

The operator works in edit mode only. It is measured twice: with the way there and back, which everyone takes whose mesh is in object
mode, and by itself.
"""

from __future__ import annotations

import math
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
ROUNDS = 21
BALL = {"kind": "uv_sphere", "name": "Ball", "segments": 128, "rings": 64}


def measure() -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as scratch:
        state = SceneState()
        state.reset()
        stepper = Stepper(state, tools(), Path(scratch))
        _call(stepper, "mesh.create_primitive", BALL)
        ours: list[float] = []
        plain: list[tuple[float, float]] = []
        _call(stepper, "uv.unwrap", {"object": "Ball", "method": "smart"})
        for number in range(ROUNDS):
            started = process_time()
            _call(
                stepper,
                "uv.unwrap",
                {"object": "Ball", "method": "smart", "uv_map": f"Map{number % 4}", "angle_deg": 60.0 + number},
            )
            ours.append(process_time() - started)
            plain.append(_by_hand(number))
        for number, what in enumerate(("with its way into edit mode and back", "inside edit mode")):
            ratio = statistics.median(a / b[number] for a, b in zip(ours, plain, strict=True))
            yield row(f"uv.unwrap of 8,000 faces / bare operator {what}", ratio, "x", 1.2)


def _by_hand(number: int) -> tuple[float, float]:
    """Seconds of the operator with its way into edit mode and back, and of it alone."""
    mesh = _data.meshes["Ball"].copy()
    mesh.uv_layers.active = mesh.uv_layers[0]
    obj = _data.objects.new("Plain", mesh)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    entered = process_time()
    _ops.object.mode_set(mode="EDIT")
    _ops.mesh.select_all(action="SELECT")
    started = process_time()
    _ops.uv.smart_project(angle_limit=math.radians(60.0 + number), island_margin=0.01, correct_aspect=False)
    spent = process_time() - started
    _ops.object.mode_set(mode="OBJECT")
    whole = process_time() - entered
    _data.objects.remove(obj)
    _data.meshes.remove(mesh)
    return whole, spent


def _call(stepper: Stepper, tool: str, args: dict[str, Any]) -> None:
    canonical, findings, _ = validate_arguments(tools()[tool], args)
    assert not findings, findings
    answer = stepper.run({"tool": tool, "version": 1, "args": canonical})
    assert answer["ok"], answer["message"]
