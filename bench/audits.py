"""What an audit of a scene costs, against a full fingerprint of the same scene."""

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy

from bench.table import row
from blendwright.blender import fingerprint
from blendwright.blender.scene import BpyScene, SceneState
from blendwright.tools.catalog import tools
from blendwright.tools.mesh.primitive_shapes import build
from blendwright.tools.mesh_data import fill_mesh

_data: Any = bpy.data
_context: Any = bpy.context

OBJECTS = 1000
ROUNDS = 7


def _keep_all(_block: Any) -> bool:
    return False


def _place(kind: str, number: int, x: float, y: float, z: float) -> None:
    shape: Any = tools()["mesh.create_primitive"].args_model.model_validate(
        {"kind": kind, "name": f"{kind} {number:06}"}
    )
    mesh = _data.meshes.new(f"mesh {number:06}")
    fill_mesh(mesh, build(shape))
    made = _data.objects.new(f"{kind} {number:06}", mesh)
    made.location = (x, y, z)
    _context.scene.collection.objects.link(made)


def _furnish() -> None:
    """Cubes and spheres with meshes of their own, in stacks of two that touch, some of which go through their neighbours."""
    for number in range(OBJECTS):
        stack, upper = divmod(number, 2)
        nearness = 1.5 if stack % 10 == 0 else 0.0
        x, y = stack % 25 * 3.0 + nearness, stack // 25 * 3.0
        _place("uv_sphere" if number % 4 == 3 else "cube", number, x, y, 1.0 + 2.0 * upper)


def _seconds(act: Callable[[], object]) -> float:
    start = time.process_time()
    act()
    return time.process_time() - start


def measure() -> Iterator[dict[str, Any]]:
    """One row: both sides in turn, by processor time, the medians."""
    state = SceneState()
    state.reset()
    _furnish()
    state.refresh()
    tool = tools()["scene.audit"]
    args = tool.args_model.model_validate({})

    def audit() -> object:
        return tool.apply(BpyScene(state, {}, Path()), args)

    audit()
    pairs = [(_seconds(audit), _seconds(lambda: fingerprint.full(_keep_all))) for _ in range(ROUNDS)]
    audits, fingerprints = (statistics.median(side) for side in zip(*pairs, strict=True))
    yield row(f"scene.audit / full fingerprint, {OBJECTS:,} objects with own meshes", audits / fingerprints, "x", 3.0)
