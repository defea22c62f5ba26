from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from blendwright.tool_api import Args, Block, Kind, Point, Result, Scene
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import READ_ONLY
from blendwright.tool_api.tool import Example, Findings, Reads
from blendwright.tools.bounding_boxes import SOLID, bounds_of, mesh_copy
from blendwright.tools.checks import conflict, existing_object, not_evaluated
from blendwright.tools.mesh_data import positions_of
from blendwright.tools.scene.plain_values import number, vector3
from blendwright.tools.scene.snapshot_model import Number, Vector3
from blendwright.tools.world_space import world_matrix

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box", "scale": [1, 2, 0.5]})
# Relative tolerance of the measures, which are computed from single-precision positions.
TOLERANCE = 1e-5


class MeasureArgs(Args):
    object: ObjectName = Field(description="Name of the object to measure.")
    space: Literal["world", "local"] = Field(
        default="world", description="world: with the object's location, rotation and scale. local: without them."
    )
    evaluated: bool = Field(
        default=True,
        description="True to measure the mesh after modifiers (without instances); false to measure the base mesh.",
    )


class Measures(Result):
    """Measures of one mesh, in metres in the requested space. Values that exceed single precision are null."""

    object: str = Field(description="Name of the object.")
    bounds_min: Vector3 | None = Field(description="Minimum coordinates; null for a mesh without vertices.")
    bounds_max: Vector3 | None = Field(description="Maximum coordinates; null for a mesh without vertices.")
    dimensions: Vector3 = Field(description="Size along X, Y and Z.")
    area: Number = Field(description="Surface area in square metres.")
    volume: float | None = Field(
        description="Enclosed volume in cubic metres; null unless the surface is closed and its normals are consistent."
    )
    outward: bool | None = Field(
        description="Whether the normals of a closed surface point outward; null if volume is null."
    )
    vertices: int = Field(description="Number of vertices.")
    edges: int = Field(description="Number of edges.")
    faces: int = Field(description="Number of faces.")
    triangles: int = Field(description="Number of triangles after triangulation of the faces.")
    manifold: bool = Field(description="Whether the mesh has faces and every edge has exactly two of them.")
    loose_edges: int = Field(description="Number of edges without a face.")
    open_edges: int = Field(description="Number of edges with one face.")
    crowded_edges: int = Field(description="Number of edges with more than two faces.")
    flipped_edges: int = Field(description="Number of edges between two faces with opposite normals.")


class Measure(Reads[MeasureArgs, Measures]):
    """Measure a mesh: bounds, size, area, volume, counts, and whether it is closed. Changes nothing."""

    name = "mesh.measure"
    promises = READ_ONLY.needs("scene_read")
    examples = (
        Example({"object": "Box"}, CUBE),
        Example({"object": "Box", "space": "local", "evaluated": False}, CUBE),
    )

    def tolerance_for(self, args: MeasureArgs) -> float:
        return TOLERANCE

    def check(self, scene: Scene, args: MeasureArgs) -> Findings:
        types = ["MESH"]
        if args.evaluated:
            types = sorted(SOLID)
        obj = yield from existing_object(scene, args.object, "/object", *types)
        if obj is not None and args.evaluated:
            yield from not_evaluated(scene, obj, "/object")
            with scene.evaluated_mesh(obj) as mesh:
                if mesh is None:  # a curve without points
                    message = f"object '{args.object}' evaluates to an object without a surface"
                    yield conflict(message, "/object", "Give it some geometry first.")

    def apply(self, scene: Scene, args: MeasureArgs) -> Measures:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        matrix = world_matrix(scene, obj)
        source = obj
        if args.evaluated:
            source = scene.evaluated(obj)
        with mesh_copy(source) as mesh:
            if args.space == "world":
                mesh.transform(matrix)
            is_mirrored = args.space == "world" and matrix.determinant() < 0.0
            return _measures(args.object, mesh, is_mirrored)


def _measures(name: str, mesh: Block, is_mirrored: bool) -> Measures:
    positions = positions_of(mesh)
    bounds = bounds_of(mesh)
    joins = _joins(mesh)
    manifold = joins.closed and len(mesh.polygons) > 0

    low = high = None
    dimensions = [0.0, 0.0, 0.0]
    if bounds:
        low, high = vector3(bounds.low), vector3(bounds.high)
        dimensions = [bounds.size(axis) for axis in range(3)]

    volume = outward = None
    if manifold and not joins.flipped_edges:
        signed_volume = _volume(mesh, positions)
        if is_mirrored:
            signed_volume = -signed_volume
        volume, outward = number(abs(signed_volume)), signed_volume > 0.0

    mesh.calc_loop_triangles()
    return Measures(
        object=name,
        bounds_min=low,
        bounds_max=high,
        dimensions=vector3(dimensions),
        area=number(_area(mesh)),
        volume=volume,
        outward=outward,
        vertices=len(mesh.vertices),
        edges=len(mesh.edges),
        faces=len(mesh.polygons),
        triangles=len(mesh.loop_triangles),
        manifold=manifold,
        loose_edges=joins.loose_edges,
        open_edges=joins.open_edges,
        crowded_edges=joins.crowded_edges,
        flipped_edges=joins.flipped_edges,
    )


@dataclass(frozen=True, slots=True)
class Joins:
    """Counts of edges by their number of faces. On a closed surface each edge has two faces, in opposite directions."""

    loose_edges: int
    open_edges: int
    crowded_edges: int
    flipped_edges: int

    @property
    def closed(self) -> bool:
        return not (self.loose_edges or self.open_edges or self.crowded_edges)


def _area(mesh: Block) -> float:
    areas = array("f", bytes(4 * len(mesh.polygons)))
    mesh.polygons.foreach_get("area", areas)
    return math.fsum(areas)


def _joins(mesh: Block) -> Joins:
    count = len(mesh.edges)
    edges = array("i", bytes(4 * len(mesh.loops)))
    vertices = array("i", bytes(4 * len(mesh.loops)))
    mesh.loops.foreach_get("edge_index", edges)
    mesh.loops.foreach_get("vertex_index", vertices)
    ends = array("i", bytes(8 * count))
    mesh.edges.foreach_get("vertices", ends)
    uses, forward_uses = [0] * count, [0] * count
    for edge, vertex in zip(edges, vertices, strict=True):
        uses[edge] += 1
        forward_uses[edge] += ends[2 * edge] == vertex
    return Joins(
        loose_edges=uses.count(0),
        open_edges=uses.count(1),
        crowded_edges=sum(1 for use in uses if use > 2),
        flipped_edges=sum(1 for use, forward in zip(uses, forward_uses, strict=True) if use == 2 and forward != 1),
    )


def _volume(mesh: Block, positions: array[float]) -> float:
    """Return the volume inside a closed surface; negative if its normals point inward."""
    mesh.calc_loop_triangles()
    corners = array("i", bytes(12 * len(mesh.loop_triangles)))
    mesh.loop_triangles.foreach_get("vertices", corners)
    if not corners:
        return 0.0
    # Relative to one of the mesh's points, to avoid cancellation for a mesh far from the origin.
    ox, oy, oz = positions[0:3]
    points = [
        (x - ox, y - oy, z - oz) for x, y, z in zip(positions[0::3], positions[1::3], positions[2::3], strict=True)
    ]
    return math.fsum(_six_volumes(points, corners)) / 6.0


def _six_volumes(points: list[Point], corners: array[int]) -> list[float]:
    """Return six times the signed volume of the tetrahedron between each triangle and the origin."""
    volumes: list[float] = []
    for a, b, c in zip(corners[0::3], corners[1::3], corners[2::3], strict=True):
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = points[a], points[b], points[c]
        volumes.append(ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx))
    return volumes
