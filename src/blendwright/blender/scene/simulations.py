"""Simulations as the Scene port offers them: in a scene of their own, or set up in the scene at hand; loaded with the first one."""

from collections.abc import Sequence
from typing import Any

from blendwright.blender.scene.reader import SceneReader
from blendwright.tool_api.physics_port import Body, ClothSettings, Track


class Simulations(SceneReader):
    """The part of the Scene port that simulates, which reads only, and that sets simulations up, which Blender's own undo takes back."""

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
