"""mesh.measure"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Literal

from pydantic import Field

from blendwright.tool_api.arguments import Args, Name, Result
from blendwright.tool_api.promises import READ_ONLY
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Reads
from blendwright.tools.bounding_boxes import SOLID
from blendwright.tools.checks import existing_object, not_evaluated
from blendwright.tools.mesh.solid import area_of, bounds_of, joins_of, positions_of, volume_of
from blendwright.tools.scene.plain_values import number, vector3
from blendwright.tools.scene.snapshot_model import Number, Vector3
from blendwright.tools.world_space import world_matrix
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box", "scale": [1, 2, 0.5]})
# Measures come from single-precision positions.
TOLERANCE = 1e-5


class MeasureArgs(Args):
    object: Name = Field(description="Name of the object to measure.")
    space: Literal["world", "local"] = Field(
        default="world", description="With the object's position, rotation and scale, or in its own space."
    )
    evaluated: bool = Field(
        default=True,
        description="Measure what modifiers make of it (instances are no part of a mesh); false measures the base mesh.",
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

    def check(self, scene: Scene, args: MeasureArgs) -> Iterator[Finding]:
        types = sorted(SOLID) if args.evaluated else ("MESH",)
        obj = yield from existing_object(scene, args.object, "/object", *types)
        if obj is not None and args.evaluated:
            yield from not_evaluated(scene, obj, "/object")
            with scene.evaluated_mesh(obj) as mesh:
                if mesh is None:  # a curve without points
                    message = f"object '{args.object}' evaluates to nothing that has a surface"
                    yield Finding(Fault.SCENE_CONFLICT, message, "/object", "Give it some geometry first.")

    def apply(self, scene: Scene, args: MeasureArgs) -> Measures:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        place = world_matrix(scene, obj)
        with _own_mesh(scene.evaluated(obj) if args.evaluated else obj) as mesh:
            if args.space == "world":
                mesh.transform(place)
            mirrored = args.space == "world" and place.determinant() < 0.0
            return _measures(args.object, mesh, mirrored)


@contextmanager
def _own_mesh(obj: Block) -> Generator[Block, None, None]:
    """The object's mesh as a copy of our own, so that it can be moved; freed at the end."""
    try:
        yield obj.to_mesh()
    finally:
        obj.to_mesh_clear()


def _measures(name: str, mesh: Block, mirrored: bool) -> Measures:
    positions = positions_of(mesh)
    bounds = bounds_of(positions)
    low, high = bounds or ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    joins = joins_of(mesh)
    manifold = joins.closed and len(mesh.polygons) > 0
    volume = None
    if manifold and not joins.flipped_edges:
        volume = volume_of(mesh, positions) * (-1.0 if mirrored else 1.0)
    mesh.calc_loop_triangles()
    return Measures(
        object=name,
        bounds_min=vector3(low) if bounds else None,
        bounds_max=vector3(high) if bounds else None,
        dimensions=vector3((high[0] - low[0], high[1] - low[1], high[2] - low[2])),
        area=number(area_of(mesh)),
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
