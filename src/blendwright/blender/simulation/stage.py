"""A scene that lives for one simulation, with copies of what takes part in it.

What is simulated in the scene at hand would leave a world, caches and frames behind that no fingerprint covers.
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
    """An empty scene at frame 1; what is made here goes with it."""

    def __init__(self, frames: int, gravity: Sequence[float], frame_rate: tuple[int, float]) -> None:
        self._made: list[tuple[str, Any]] = []
        self.scene = self._keep("scenes", _data.scenes.new(NAME))
        self.scene.use_gravity, self.scene.gravity = True, gravity
        self.scene.frame_start, self.scene.frame_end = 1, frames
        self.scene.render.fps, self.scene.render.fps_base = frame_rate

    def add(self, mesh: Any, matrix: Any) -> Any:
        """An object of a mesh that was made for this stage."""
        self._keep("meshes", mesh)
        made = self._keep("objects", _data.objects.new(NAME, mesh))
        made.matrix_world = matrix
        self.scene.collection.objects.link(made)
        return made

    def add_collection(self) -> Any:
        return self._keep("collections", _data.collections.new(NAME))

    def override(self) -> Any:
        """For operators, which work on the scene of their context."""
        return _context.temp_override(scene=self.scene, view_layer=self.scene.view_layers[0])

    def frames(self) -> Generator[Any]:
        """The evaluated dependency graph at each frame."""
        for frame in range(1, self.scene.frame_end + 1):
            self.scene.frame_set(frame)
            yield self.scene.view_layers[0].depsgraph

    def clear(self) -> None:
        # Whoever uses something before what it uses, which would take its users with it.
        for collection in ("scenes", "objects", "meshes", "collections"):
            for kept, block in self._made:
                if kept == collection:
                    getattr(_data, collection).remove(block)

    def _keep(self, collection: str, block: Any) -> Any:
        self._made.append((collection, block))
        return block


@contextmanager
def simulation_stage(frames: int, gravity: Sequence[float], source: Any) -> Generator[SimulationStage]:
    """`source` is the scene whose frame rate is taken."""
    stage = SimulationStage(frames, gravity, (source.render.fps, source.render.fps_base))
    try:
        yield stage
    finally:
        stage.clear()


def evaluated_copy(obj: Any, graph: Any) -> Any:
    """A new mesh: what an object looks like now, in its own space."""
    mesh = _data.meshes.new_from_object(obj.evaluated_get(graph), depsgraph=graph)
    mesh.name = NAME
    return mesh


def turned_only(matrix: Any) -> Any:
    """A matrix without scale: where it is and how it is turned."""
    place, rotation, _ = matrix.decompose()
    return Matrix.Translation(place) @ rotation.to_matrix().to_4x4()
