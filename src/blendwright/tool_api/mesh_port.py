"""The part of the `Scene` port that changes meshes as a whole, and what it tells of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

BooleanOperation = Literal["difference", "union", "intersect"]
BooleanSolver = Literal["EXACT", "MANIFOLD"]


@dataclass(frozen=True, slots=True)
class BooleanStep:
    """What one cutter did to a mesh; volumes in the object's own space. `overlap` is what both had in common, None where it is not known:
    a surface that is not closed encloses nothing."""

    volume: float | None
    overlap: float | None
    proven: bool
    """Whether the volumes before and after, and that of what both have in common, add up."""


class MeshPort(Protocol):
    def boolean_mesh(
        self,
        obj: Any,
        cutters: Sequence[Any],
        operation: BooleanOperation,
        solver: BooleanSolver,
        *,
        overlapping: bool,
    ) -> Sequence[BooleanStep]:
        """Cut the mesh of an object by others, unite it with them, or leave what they have in common, one after the other.

        A StepError points at the cutter (`/cutters/0`) whose result is empty, open or of the wrong volume."""
        ...

    def builtin_shape(self, shape: Literal["monkey"]) -> tuple[Sequence[tuple[float, ...]], Sequence[tuple[int, ...]]]:
        """Vertices and faces of a shape that Blender itself has, the same in each of its versions."""
        ...
