"""The extent of objects in the world, as evaluated: modifiers, parents and constraints included. Reads only."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from blendwright.contracts.scene import Block, Scene
from blendwright.tools.geometry import Point
from blendwright.tools.mesh.solid import bounds_of, positions_of

Edge = Literal["min", "center", "max"]
AXES = {"X": 0, "Y": 1, "Z": 2}
# Types of objects that Blender can turn into a mesh; the others are taken as the point where their origin is.
SOLID = ("MESH", "CURVE", "SURFACE", "FONT", "META")


@dataclass(frozen=True, slots=True)
class Bounds:
    """A box along the world's axes."""

    low: Point
    high: Point

    @property
    def center(self) -> Point:
        x, y, z = ((a + b) / 2 for a, b in zip(self.low, self.high, strict=True))
        return x, y, z

    def at(self, axis: int, edge: Edge) -> float:
        return {"min": self.low, "center": self.center, "max": self.high}[edge][axis]

    def size(self, axis: int) -> float:
        return self.high[axis] - self.low[axis]


def world_bounds(scene: Scene, obj: Block) -> Bounds:
    """The exact bounds of what an object evaluates to; its origin when that is nothing."""
    place = scene.evaluated(obj).matrix_world
    x, y, z = place.translation
    with world_mesh(scene, obj) as mesh:
        found = bounds_of(positions_of(mesh)) if mesh is not None else None
    return Bounds(*found) if found else Bounds((x, y, z), (x, y, z))


@contextmanager
def world_mesh(scene: Scene, obj: Block) -> Generator[Block | None, None, None]:
    """A copy of the mesh that an object evaluates to, in world coordinates; None when it evaluates to none."""
    source = scene.evaluated(obj)
    if source.type not in SOLID:
        yield None
        return
    try:
        mesh = source.to_mesh()
        if mesh is not None:
            mesh.transform(source.matrix_world)
        yield mesh
    finally:
        source.to_mesh_clear()
