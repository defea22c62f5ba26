"""What people write instead of a batch: one process of plain bpy that resets the scene for each case and makes the same outputs.

python -m bench.bare_batch FIRST END SAMPLES COMMON DIR [--quick-reset]
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

from blendwright.tools.mesh.primitive_shapes import Shape, build
from blendwright.tools.mesh_data import fill_mesh

CUBE = Shape("cube", 1.0, 1.0, 0.0, 0.25, 2.0, 32, 16, 2, 10, True)
BALL = Shape("uv_sphere", 2.0, 0.4, 0.0, 0.25, 2.0, 48, 32, 2, 10, True)
BOXES = 12


def main(first: int, end: int, samples: int, common: int, target: Path, *, quick_reset: bool) -> None:
    import bpy

    for seed in range(first, end):
        if quick_reset:
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        else:
            # What scripts have; it loads the preferences and all add-ons again.
            bpy.ops.wm.read_factory_settings(use_empty=True)
        case(bpy, seed, samples, common, target / f"{seed:06d}")


def case(bpy: Any, seed: int, samples: int, common: int, target: Path) -> None:
    target.mkdir(parents=True)
    block = None if common == 0 else add(bpy, "Block", CUBE, (0.0, 0.0, -2.0), (8.0, 8.0, 1.0))
    for number in range(common):
        cut(bpy, block, add(bpy, f"Cutter{number}", BALL, (number % 8 - 3.5, number // 8 - 3.5, -1.5), (1.0, 1.0, 1.0)))
    chance = random.Random(seed)
    for number in range(BOXES):
        add(bpy, f"Box{number}", CUBE, (chance.uniform(-3, 3), chance.uniform(-3, 3), 0.0), (1.0, 1.0, 1.0))
    scene = bpy.context.scene
    for name, data, location, rotation in (
        ("Sun", bpy.data.lights.new("Sun", "SUN"), (0, 0, 5), (0.7, 0.0, 0.35)),
        ("Camera", bpy.data.cameras.new("Camera"), (0, -12, 9), (0.95, 0.0, 0.0)),
    ):
        obj = bpy.data.objects.new(name, data)
        obj.location, obj.rotation_euler = location, rotation
        scene.collection.objects.link(obj)
    scene.camera = bpy.data.objects["Camera"]
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = samples, False
    scene.render.resolution_x, scene.render.resolution_y = 320, 240
    bpy.ops.wm.save_as_mainfile(filepath=str(target / "scene.blend"), copy=True)
    scene.render.filepath = str(target / "still.png")
    bpy.ops.render.render(write_still=True)


def add(bpy: Any, name: str, shape: Shape, location: tuple[float, ...], scale: tuple[float, ...]) -> Any:
    mesh = bpy.data.meshes.new(name)
    fill_mesh(mesh, build(shape))
    obj = bpy.data.objects.new(name, mesh)
    obj.location, obj.scale = location, scale
    bpy.context.scene.collection.objects.link(obj)
    return obj


def cut(bpy: Any, block: Any, cutter: Any) -> None:
    """What a boolean of a user is: a modifier whose result becomes the mesh."""
    modifier = block.modifiers.new("Cut", "BOOLEAN")
    modifier.object, modifier.solver, modifier.operation = cutter, "EXACT", "DIFFERENCE"
    evaluated = block.evaluated_get(bpy.context.evaluated_depsgraph_get())
    made, before = bpy.data.meshes.new_from_object(evaluated), block.data
    block.modifiers.remove(modifier)
    block.data = made
    bpy.data.meshes.remove(before)
    cutter.hide_render = True


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:5]]
    main(given[0], given[1], given[2], given[3], Path(sys.argv[5]), quick_reset="--quick-reset" in sys.argv)
