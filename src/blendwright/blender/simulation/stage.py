"""A temporary scene for one simulation, with copies of the objects that take part.

A simulation in the user's scene would leave a world, caches and frames behind that no fingerprint covers.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
from mathutils import Matrix

from blendwright.blender.scene.state import RESERVED_PREFIX

_data: Any = bpy.data
_context: Any = bpy.context
_ops: Any = bpy.ops
NAME = f"{RESERVED_PREFIX}simulation"


class SimulationStage:
    """An empty scene at frame 1. `clear` removes it with everything that was created here."""

    def __init__(self, frames: int, gravity: Sequence[float], frame_rate: tuple[int, float]) -> None:
        self._blocks: list[tuple[str, Any]] = []
        self.scene = self._keep("scenes", _data.scenes.new(NAME))
        self.scene.use_gravity, self.scene.gravity = True, gravity
        self.scene.frame_start, self.scene.frame_end = 1, frames
        self.scene.render.fps, self.scene.render.fps_base = frame_rate

    def add(self, mesh: Any, matrix: Any) -> Any:
        """Return a new object with a mesh that belongs to this stage."""
        self._keep("meshes", mesh)
        obj = self._keep("objects", _data.objects.new(NAME, mesh))
        obj.matrix_world = matrix
        self.scene.collection.objects.link(obj)
        return obj

    def add_collection(self) -> Any:
        """Return a new collection that belongs to this stage."""
        return self._keep("collections", _data.collections.new(NAME))

    def override(self) -> Any:
        """Return a context override for operators that work on the context's scene."""
        return _context.temp_override(scene=self.scene, view_layer=self.scene.view_layers[0])

    def frames(self) -> Generator[Any]:
        """Yield the evaluated dependency graph at each frame."""
        for frame in range(1, self.scene.frame_end + 1):
            self.scene.frame_set(frame)
            yield self.scene.view_layers[0].depsgraph

    def clear(self) -> None:
        # Remove users before the data that they use. Removing data would remove its users too.
        """Remove the scene and everything that was created here."""
        for collection in ("scenes", "objects", "meshes", "collections"):
            for owner, block in self._blocks:
                if owner == collection:
                    getattr(_data, collection).remove(block)

    def _keep(self, collection: str, block: Any) -> Any:
        """Register a datablock for removal and return it. `collection` is its collection in bpy.data."""
        self._blocks.append((collection, block))
        return block


@contextmanager
def simulation_stage(frames: int, gravity: Sequence[float], source: Any) -> Generator[SimulationStage]:
    """Yield a stage and clear it afterwards. `source` is the scene whose frame rate it copies."""
    stage = SimulationStage(frames, gravity, (source.render.fps, source.render.fps_base))
    try:
        yield stage
    finally:
        stage.clear()


def evaluated_copy(obj: Any, graph: Any) -> Any:
    """Return a new mesh with the evaluated geometry of an object, in local space."""
    mesh = _data.meshes.new_from_object(obj.evaluated_get(graph), depsgraph=graph)
    mesh.name = NAME
    return mesh


def turned_only(matrix: Any) -> Any:
    """Return a matrix without its scale, with its location and rotation."""
    location, rotation, _ = matrix.decompose()
    return Matrix.Translation(location) @ rotation.to_matrix().to_4x4()
