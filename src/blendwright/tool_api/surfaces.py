"""Surfaces of objects as an audit looks at them: what they amount to, whether they are whole, and which of them meet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class SurfaceFacts:
    """The mesh that an object evaluates to, in its own space and without instances."""

    vertices: int = 0
    edges: int = 0
    faces: int = 0
    triangles: int = 0
    loose_vertices: int = 0
    """Vertices without an edge."""
    loose_edges: int = 0
    """Edges without a face."""
    open_edges: int = 0
    """Edges with one face."""
    crowded_edges: int = 0
    """Edges with more than two faces."""
    flipped_edges: int = 0
    """Edges whose two faces look to opposite sides."""
    empty_faces: int = 0
    """Faces without an area."""
    flat: bool = False
    """Whether it has no thickness along one of its axes: such a surface has an outline, not holes."""
    is_box: bool = False
    """Whether its vertices are the eight corners of a box along its axes."""
    volume: float | None = None
    """What a closed surface that is turned one way encloses; negative where it is inside out."""
    low: Point = (0.0, 0.0, 0.0)
    high: Point = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class UvFacts:
    """How much of a texture a surface takes: areas in the UV map (the whole tile is 1) and in the world."""

    uv_area: float
    world_area: float


class Surfaces(Protocol):
    """Surfaces of some objects as they are now; to be asked about these, before anything is written."""

    def facts(self, obj: Any) -> SurfaceFacts | None:
        """None for an object that evaluates to no mesh."""
        ...

    def bounds(self, obj: Any) -> tuple[Point, Point] | None:
        """The lowest and the highest coordinates in the world; None where there are no vertices."""
        ...

    def uv_facts(self, obj: Any) -> UvFacts | None:
        """By the active UV map; None where there is none."""
        ...

    def touch(self, one: Any, other: Any, within: float) -> bool:
        """Return whether two surfaces come as close to each other as this distance."""
        ...

    def cross(self, one: Any, other: Any, deeper: float) -> bool:
        """Return whether two surfaces intersect by more than this depth."""
        ...

    def shuts_in(self, obj: Any, point: Point) -> bool:
        """Return whether a surface without open edges surrounds a point in world space, judged by rays in many
        directions.
        """
        ...

    def coincide(self, one: Any, other: Any, within: float) -> bool:
        """Return whether two meshes have the same faces, and the same vertices in world space."""
        ...
