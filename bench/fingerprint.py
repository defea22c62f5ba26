"""What the fingerprint costs: one datablock, everything against saving the file, a large mesh, one update."""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy

from bench.plain import CUBE
from bench.table import row
from blendwright.blender import fingerprint
from blendwright.tools.mesh.primitive_shapes import build
from blendwright.tools.mesh_data import fill_mesh

_data: Any = bpy.data
_ops: Any = bpy.ops
_context: Any = bpy.context

OBJECTS = 10_000

SIDE = 1000  # of the grid with a million vertices


def _best(act: Callable[[], object], rounds: int) -> float:
    """Seconds of the quickest round: the others measure what else the machine does."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        act()
        times.append(time.perf_counter() - start)
    return min(times)


def _in_turns(one: Callable[[], object], other: Callable[[], object], rounds: int) -> float:
    """How much more processor time one takes than the other: what else the machine does counts less there than by the clock."""

    def seconds(act: Callable[[], object]) -> float:
        start = time.process_time()
        act()
        return time.process_time() - start

    return statistics.median([seconds(one) / seconds(other) for _ in range(rounds)])


def _keep_all(_block: Any) -> bool:
    return False


def _cube(number: int) -> Any:
    mesh = _data.meshes.new(f"mesh {number:06}")
    fill_mesh(mesh, build(CUBE))
    made = _data.objects.new(f"object {number:06}", mesh)
    _context.scene.collection.objects.link(made)
    return made


def _grid() -> Any:
    _ops.mesh.primitive_grid_add(x_subdivisions=SIDE - 1, y_subdivisions=SIDE - 1)
    return _context.object.data


def measure() -> Iterator[dict[str, Any]]:
    """Rows of the table: single datablocks, everything against saving, one update, a large mesh."""
    _ops.wm.read_factory_settings(use_empty=True)
    cubes = [_cube(number) for number in range(OBJECTS)]
    material = _data.materials.new("material")
    if material.node_tree is None:
        material.use_nodes = True
    yield row("leaf of an object", _best(lambda: fingerprint.leaf(cubes[0]), 500) * 1e6, "us", None)
    yield row("leaf of a cube mesh", _best(lambda: fingerprint.leaf(cubes[0].data), 500) * 1e6, "us", None)
    yield row("leaf of a default material", _best(lambda: fingerprint.leaf(material), 200) * 1e6, "us", None)
    with tempfile.TemporaryDirectory() as place:
        path = str(Path(place) / "scene.blend")

        def save() -> None:
            _ops.wm.save_as_mainfile(filepath=path, copy=True, compress=False)

        saving = _best(save, 5)
        full = _best(lambda: fingerprint.full(_keep_all), 5)
        processor = _in_turns(lambda: fingerprint.full(_keep_all), save, 7)
    yield row(f"full fingerprint / save, {OBJECTS:,} objects with own meshes", full / saving, "x", 2.0)
    yield row("the same by processor time, in turns", processor, "x", 2.0)
    running = fingerprint.Fingerprint(fingerprint.full(_keep_all))

    def update() -> None:
        cubes[5].location.x += 1
        running.put(fingerprint.key_of(cubes[5]), fingerprint.leaf(cubes[5]))
        running.root()

    yield row(f"incremental / full fingerprint, {OBJECTS:,} objects", _best(update, 200) / full, "x", 0.01)
    _ops.wm.read_factory_settings(use_empty=True)
    yield row(f"mesh of {SIDE * SIDE:,} vertices", _best(_leaf_of(_grid()), 4) * 1e3, "ms", None)


def _leaf_of(block: Any) -> Callable[[], object]:
    return lambda: fingerprint.leaf(block)
