"""The same work by plain bpy.data calls: in this process, or in one of its own that has just started, as a worker has."""

from __future__ import annotations

import json
import subprocess
import sys
from time import perf_counter
from typing import Any

from blendwright.tools.mesh.primitive_shapes import Shape, build
from blendwright.tools.mesh_data import fill_mesh

CUBE = Shape("cube", 2.0, 1.0, 0.0, 0.25, 2.0, 32, 16, 2, 10, True)


class Plain:
    """In this process."""

    def __init__(self, size: int) -> None:
        import bpy

        self._bpy: Any = bpy
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.create([f"Box{number:06d}" for number in range(size)])

    def create(self, names: list[str]) -> float:
        data, collection, shape = self._bpy.data, self._bpy.context.scene.collection, build(CUBE)
        started = perf_counter()
        for name in names:
            mesh = data.meshes.new(name)
            fill_mesh(mesh, shape)
            obj = data.objects.new(name, mesh)
            obj.location = (0.0, 0.0, 0.0)
            obj.rotation_euler = (0.0, 0.0, 0.0)
            obj.scale = (1.0, 1.0, 1.0)
            collection.objects.link(obj)
        return perf_counter() - started


def seconds_apart(names: list[str]) -> float:
    """Seconds for an object per name in an empty scene, in a process of its own: a heap that others have used is quicker."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.plain"], input=json.dumps(names), capture_output=True, text=True, check=True
    )
    return float(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    print(Plain(0).create(json.load(sys.stdin)))
