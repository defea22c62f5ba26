"""Simulations as the Scene port offers them: in a scene of their own, loaded with the first one."""

from collections.abc import Sequence
from typing import Any

from blendwright.blender.scene.reader import SceneReader
from blendwright.tool_api.physics_port import Body, ClothSettings, Track


class Simulations(SceneReader):
    """The part of the Scene port that simulates; reads only."""

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
