"""The part of the `Scene` port that changes meshes and their UV maps as a whole, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from blendwright.tool_api.datablocks import Block


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
