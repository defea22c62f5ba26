"""The simulations of the Scene port: run in a temporary scene, or set up in the current scene.

The simulation code is imported by the first call, since most workers never need it."""

from collections.abc import Sequence
from typing import Any

from blendwright.blender.scene.reader import SceneReader
from blendwright.tool_api.physics_port import Body, ClothSettings, Track


class Simulations(SceneReader):
    """The part of the Scene port for simulations.

    `simulate_bodies` and `drape_cloth` only read the scene. `set_up_bodies` and `set_up_cloth` change it; Blender's undo reverts them."""

    def simulate_bodies(
        self,
        bodies: Sequence[Body],
        frames: int,
        *,
        gravity: tuple[float, float, float],
        substeps: int,
        ground: float | None,
    ) -> Sequence[Track]:
        from blendwright.blender.simulation.rigid_bodies import simulate

        try:
            return simulate(bodies, frames, gravity, substeps, ground, self.active, self.depsgraph())
        finally:
            self._stale = True

    def drape_cloth(
        self,
        obj: Any,
        obstacles: Sequence[Any],
        settings: ClothSettings,
        frames: int,
        *,
        gravity: tuple[float, float, float],
        quality: int,
    ) -> Sequence[float]:
        from blendwright.blender.simulation.cloth import drape

        try:
            return drape(obj, obstacles, settings, frames, gravity, quality, self.active, self.depsgraph())
        finally:
            self._stale = True

    def set_up_bodies(
        self,
        bodies: Sequence[Body],
        frames: tuple[int, int],
        *,
        gravity: tuple[float, float, float],
        substeps: int,
        animated: bool,
    ) -> str:
        from blendwright.blender.simulation.live import set_up_bodies

        self._stale = True
        try:
            return set_up_bodies(bodies, frames, gravity, substeps, animated, self.active)
        finally:
            self._state.forget_names()

    def set_up_cloth(
        self,
        obj: Any,
        obstacles: Sequence[Any],
        settings: ClothSettings,
        frames: tuple[int, int],
        *,
        gravity: tuple[float, float, float],
        quality: int,
    ) -> str:
        from blendwright.blender.simulation.live import set_up_cloth

        self._stale = True
        return set_up_cloth(obj, obstacles, settings, frames, gravity, quality, self.active)
