"""The part of the `Scene` port that simulates rigid bodies and cloth, either temporarily or as a permanent setup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Shape = Literal["CONVEX_HULL", "BOX", "SPHERE", "CAPSULE", "CYLINDER", "CONE", "MESH"]
# The collection of a scene's rigid bodies, as Blender's own operators name it.
BODIES = "RigidBodyWorld"
# World positions and rotations (W, X, Y, Z), one for each frame.
Track = Sequence[tuple[tuple[float, ...], tuple[float, ...]]]


@dataclass(frozen=True, slots=True)
class Body:
    """An object in a rigid-body simulation. A body that is not active does not move."""

    obj: Any
    active: bool
    shape: Shape
    mass: float
    friction: float
    bounce: float


@dataclass(frozen=True, slots=True)
class ClothSettings:
    """Settings of cloth. Vertices with weight in the vertex group `pins` stay in place."""

    pins: str | None
    mass: float
    tension: float
    bending: float
    damping: float
    thickness: float
    self_collision: bool


class PhysicsPort(Protocol):
    def simulate_bodies(
        self,
        bodies: Sequence[Body],
        frames: int,
        *,
        gravity: tuple[float, float, float],
        substeps: int,
        ground: float | None,
    ) -> Sequence[Track]:
        """Return the transforms of each body at each frame; the first frame is the current transform. Writes nothing."""
        ...

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
        """Return the vertices of an object's mesh after `frames` frames, in object space as a flat list. Writes
        nothing.
        """
        ...

    def set_up_bodies(
        self,
        bodies: Sequence[Body],
        frames: tuple[int, int],
        *,
        gravity: tuple[float, float, float],
        substeps: int,
        animated: bool,
    ) -> str:
        """Make objects permanent rigid bodies in the scene's rigid-body world, and return the name of its collection.

        With `animated`, active bodies follow their keyframes. Only Blender's undo can revert this.
        """
        ...

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
        """Add permanent modifiers that make an object cloth and others obstacles, and return the name of the cloth
        modifier.
        """
        ...
