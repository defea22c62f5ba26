"""The part of the `Scene` port that lets bodies fall and cloth drape: in a world that nothing is left of, or set up to stay."""

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
    """An object as the simulation takes it; one that is not active stands still."""

    obj: Any
    active: bool
    shape: Shape
    mass: float
    friction: float
    bounce: float


@dataclass(frozen=True, slots=True)
class ClothSettings:
    """`pins` is a vertex group of the object: what has weight there stays in place."""

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
        """Where each of the bodies is at each of so many frames, the first being where it stands now. Nothing is written."""
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
        """The vertices of an object's mesh after so many frames, in its own space and in a row. Nothing is written."""
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
        """Make rigid bodies of objects, to stay so, with the scene's own world; the name of its collection.

        Those that fall follow their keyframes where they are `animated`. Only Blender's own undo takes it back."""
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
        """Make cloth of an object and obstacles of others by modifiers that stay; the name of the cloth's."""
        ...
