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
# Measures come from single-precision positions.
TOLERANCE = 1e-5


class MeasureArgs(Args):
    object: ObjectName = Field(description="Name of the object to measure.")
    space: Literal["world", "local"] = Field(
        default="world", description="With the object's position, rotation and scale, or in its own space."
    )
    evaluated: bool = Field(
        default=True,
        description="Measure what modifiers make of it (instances are no part of a mesh); false measures the base "
        "mesh.",
    )


class Measures(Result):
    """Measures of one mesh, in metres, relative to the space that was asked for. What single precision cannot hold is null."""

    object: str = Field(description="Name of the object.")
    bounds_min: Vector3 | None = Field(description="Least coordinates; null for a mesh without vertices.")
    bounds_max: Vector3 | None = Field(description="Greatest coordinates; null for a mesh without vertices.")
    dimensions: Vector3 = Field(description="Size along X, Y and Z.")
    area: Number = Field(description="Surface area.")
    volume: float | None = Field(description="Enclosed volume; null unless the surface is closed and turned one way.")
    outward: bool | None = Field(
        description="Whether the faces of a closed surface look outward; null where volume is."
    )
    vertices: int = Field(description="Number of vertices.")
    edges: int = Field(description="Number of edges.")
    faces: int = Field(description="Number of faces.")
    triangles: int = Field(description="Number of triangles that the faces split into.")
    manifold: bool = Field(description="Whether it has faces and exactly two of them meet at every edge.")
    loose_edges: int = Field(description="Edges without a face.")
    open_edges: int = Field(description="Edges with one face.")
    crowded_edges: int = Field(description="Edges with more than two faces.")
    flipped_edges: int = Field(description="Edges whose two faces look to opposite sides.")


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
        if args.evaluated:
            types = sorted(SOLID)
        else:
            types = ("MESH",)
        obj = yield from existing_object(scene, args.object, "/object", *types)
        if obj is not None and args.evaluated:
            yield from not_evaluated(scene, obj, "/object")
            with scene.evaluated_mesh(obj) as mesh:
                if mesh is None:  # a curve without points
                    message = f"object '{args.object}' evaluates to nothing that has a surface"
                    yield conflict(message, "/object", "Give it some geometry first.")

    def apply(self, scene: Scene, args: MeasureArgs) -> Measures:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        matrix = world_matrix(scene, obj)
        with mesh_copy(scene.evaluated(obj) if args.evaluated else obj) as mesh:
            if args.space == "world":
                mesh.transform(matrix)
            mirrored = args.space == "world" and matrix.determinant() < 0.0
            return _measures(args.object, mesh, mirrored)


def _measures(name: str, mesh: Block, mirrored: bool) -> Measures:
    positions = positions_of(mesh)
    bounds = bounds_of(mesh)
    joins = _joins(mesh)
    manifold = joins.closed and len(mesh.polygons) > 0
    volume = None
    if manifold and not joins.flipped_edges:
        volume = _volume(mesh, positions) * (-1.0 if mirrored else 1.0)
    mesh.calc_loop_triangles()
    return Measures(
        object=name,
        bounds_min=vector3(bounds.low) if bounds else None,
        bounds_max=vector3(bounds.high) if bounds else None,
        dimensions=vector3([bounds.size(axis) if bounds else 0.0 for axis in range(3)]),
        area=number(_area(mesh)),
        volume=None if volume is None else number(abs(volume)),
        outward=None if volume is None else volume > 0.0,
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
    """How often faces meet at edges: on a closed surface each edge has two, in opposite directions."""

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
    edges, vertices = (array("i", bytes(4 * len(mesh.loops))) for _ in range(2))
    mesh.loops.foreach_get("edge_index", edges)
    mesh.loops.foreach_get("vertex_index", vertices)
    ends = array("i", bytes(8 * count))
    mesh.edges.foreach_get("vertices", ends)
    uses, along = [0] * count, [0] * count
    for edge, vertex in zip(edges, vertices, strict=True):
        uses[edge] += 1
        along[edge] += ends[2 * edge] == vertex
    return Joins(
        loose_edges=uses.count(0),
        open_edges=uses.count(1),
        crowded_edges=sum(1 for use in uses if use > 2),
        flipped_edges=sum(1 for use, same in zip(uses, along, strict=True) if use == 2 and same != 1),
    )


def _volume(mesh: Block, positions: array[float]) -> float:
    """The volume inside a closed surface; negative when its faces look inward."""
    mesh.calc_loop_triangles()
    corners = array("i", bytes(12 * len(mesh.loop_triangles)))
    mesh.loop_triangles.foreach_get("vertices", corners)
    if not corners:
        return 0.0
    # From a point of the mesh itself: far from the origin the terms would cancel each other's digits away.
    ox, oy, oz = positions[0:3]
    points = [
        (x - ox, y - oy, z - oz) for x, y, z in zip(positions[0::3], positions[1::3], positions[2::3], strict=True)
    ]
    return math.fsum(_six_volumes(points, corners)) / 6.0


def _six_volumes(points: list[Point], corners: array[int]) -> list[float]:
    volumes: list[float] = []
    for a, b, c in zip(corners[0::3], corners[1::3], corners[2::3], strict=True):
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = points[a], points[b], points[c]
        volumes.append(ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx))
    return volumes
