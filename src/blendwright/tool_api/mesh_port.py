"""The part of the `Scene` port that changes meshes and their UV maps as a whole, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from blendwright.tool_api.datablocks import Block

BooleanOperation = Literal["difference", "union", "intersect"]
BooleanSolver = Literal["EXACT", "MANIFOLD"]


@dataclass(frozen=True, slots=True)
class EditDone:
    """What one operation on a mesh has done: how many elements of which sort it selected of how many, and by how many vertices, edges and
    faces the mesh grew."""

    op: str
    domain: str
    selected: int
    total: int
    grown: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class CleanedMesh:
    """What was mended: vertices merged, faces without area gone, vertices without a face gone, faces turned."""

    welded: int
    degenerate: int
    loose: int
    turned: int


@dataclass(frozen=True, slots=True)
class UvMeasures:
    """What a UV map is like; `overlap` is a share of the used area, `coverage` counts in tiles, densities in texels per metre."""

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
    """What one cutter did to a mesh; volumes in the object's own space. `overlap` is what both had in common, None where it is not known:
    a surface that is not closed encloses nothing."""

    volume: float | None
    overlap: float | None
    proven: bool
    """Whether the volumes before and after, and that of what both have in common, add up."""


class MeshPort(Protocol):
    def applied_mesh(self, obj: Block, modifier: str) -> Block:
        """A new mesh: what one modifier alone makes of an object's mesh. It has a provisional name, so `rename` it."""
        ...

    def edit_mesh(self, obj: Block, operations: Sequence[Any], world: Block) -> Sequence[EditDone]:
        """Run operations of mesh.edit on an object's mesh; `world` is its world matrix.

        A part that is separated becomes a mesh of its name. A StepError points at the operation that cannot be done."""
        ...

    def clean_mesh(
        self, obj: Block, distance: float | None, degenerate: bool, loose: bool, normals: bool
    ) -> CleanedMesh:
        """Mend an object's mesh: weld within a distance, take away what is degenerate or loose, turn faces outward."""
        ...

    def join_meshes(self, target: Block, others: Sequence[tuple[Block, Block]]) -> None:
        """Add the meshes of other objects to that of an object, each moved by the matrix beside it."""
        ...

    def unwrap(self, obj: Block, uv_map: str, method: str, *, pack: bool, **settings: Any) -> None:
        """Write a UV map of an object's mesh, as Blender's own ways of unwrapping make it."""
        ...

    def project_uvs(self, obj: Block, uv_map: str, world: Block, view: str | None, camera: Block | None) -> None:
        """Write a UV map as an object is seen from a side, or through a camera."""
        ...

    def pack_uvs(
        self, obj: Block, uv_map: str, margin: float, *, rotate: bool, even: bool, tight: bool = False
    ) -> None:
        """Pack the islands of a UV map into its tile."""
        ...

    def measure_uvs(
        self, obj: Block, uv_map: str, world: Block, texture_size: int, picture: str, size: int
    ) -> UvMeasures:
        """What a UV map is like; draws its layout to a PNG file."""
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
        """Cut the mesh of an object by others, unite it with them, or leave what they have in common, one after the other.

        A StepError points at the cutter (`/cutters/0`) whose result is empty, open or of the wrong volume."""
        ...

    def builtin_shape(self, shape: Literal["monkey"]) -> tuple[Sequence[tuple[float, ...]], Sequence[tuple[int, ...]]]:
        """Vertices and faces of a shape that Blender itself has, the same in each of its versions."""
        ...
