"""The part of the `Scene` port that changes complete meshes and their UV maps, with its result types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from blendwright.tool_api.datablocks import Block

BooleanOperation = Literal["difference", "union", "intersect"]
BooleanSolver = Literal["EXACT", "MANIFOLD"]


@dataclass(frozen=True, slots=True)
class EditDone:
    """The result of one mesh operation: the number of selected elements of a domain, and the added vertices, edges
    and faces.
    """

    op: str
    domain: str
    selected: int
    total: int
    grown: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class CleanedMesh:
    """The result of cleaning a mesh: merged vertices, removed faces without area, removed vertices without a face,
    and turned faces.
    """

    welded: int
    degenerate: int
    loose: int
    turned: int


@dataclass(frozen=True, slots=True)
class UvMeasures:
    """Measures of a UV map. `overlap` is a share of the used area, `coverage` counts tiles, densities are texels per
    metre.
    """

    islands: int
    overlap: float
    outside_faces: int
    flipped_faces: int
    empty_faces: int
    coverage: float
    stretch_mean: float
    stretch_worst: float
    density: float
    density_least: float
    density_most: float


@dataclass(frozen=True, slots=True)
class BooleanStep:
    """The effect of one cutter on a mesh, with volumes in object space.

    `overlap` is the common volume, or None if it is unknown because a surface is open and encloses nothing.
    """

    volume: float | None
    overlap: float | None
    proven: bool
    """Whether the volumes before and after the operation agree with the common volume."""


class MeshPort(Protocol):
    def applied_mesh(self, obj: Block, modifier: str) -> Block:
        """Return a new mesh: the result of one modifier alone on an object's mesh. Its name is provisional, so
        `rename` it.
        """
        ...

    def edit_mesh(self, obj: Block, operations: Sequence[Any], world: Block) -> Sequence[EditDone]:
        """Run operations of mesh.edit on an object's mesh; `world` is its world matrix.

        A separated part becomes a new mesh of its name. Raises StepError with a pointer to the operation that fails.
        """
        ...

    def clean_mesh(
        self, obj: Block, distance: float | None, degenerate: bool, loose: bool, normals: bool
    ) -> CleanedMesh:
        """Clean an object's mesh: weld vertices within a distance, remove degenerate or loose elements, and turn
        faces outward.
        """
        ...

    def join_meshes(self, target: Block, others: Sequence[tuple[Block, Block]]) -> None:
        """Add the meshes of other objects to that of an object, each transformed by its matrix."""
        ...

    def unwrap(self, obj: Block, uv_map: str, method: str, *, pack: bool, **settings: Any) -> None:
        """Write a UV map of an object's mesh with one of Blender's unwrapping methods."""
        ...

    def project_uvs(self, obj: Block, uv_map: str, world: Block, view: str | None, camera: Block | None) -> None:
        """Write a UV map as the projection of an object from a side or through a camera."""
        ...

    def pack_uvs(
        self, obj: Block, uv_map: str, margin: float, *, rotate: bool, even: bool, tight: bool = False
    ) -> None:
        """Pack the islands of a UV map into its tile."""
        ...

    def measure_uvs(
        self, obj: Block, uv_map: str, world: Block, texture_size: int, picture: str, size: int
    ) -> UvMeasures:
        """Return measures of a UV map and draw its layout to a PNG file."""
        ...

    def boolean_mesh(
        self,
        obj: Any,
        cutters: Sequence[Any],
        operation: BooleanOperation,
        solver: BooleanSolver,
        *,
        overlapping: bool,
    ) -> Sequence[BooleanStep]:
        """Apply the boolean operation with each of the cutters to the mesh of an object, one after the other.

        Raises StepError with a pointer to the cutter (`/cutters/0`) whose result is empty, open or of the wrong
        volume.
        """
        ...

    def builtin_shape(self, shape: Literal["monkey"]) -> tuple[Sequence[tuple[float, ...]], Sequence[tuple[int, ...]]]:
        """Return vertices and faces of a shape that Blender has built in, the same in each of its versions."""
        ...
