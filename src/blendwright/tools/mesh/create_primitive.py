from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from blendwright.tool_api import Block, Example, Findings, Kind, Scene
from blendwright.tool_api.arguments import LengthFloat, PositiveFloat
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.mesh.primitive_shapes import Shape, build, vertex_count
from blendwright.tools.mesh_data import fill_mesh, mesh_differs
from blendwright.tools.object_creation import CreatesObject, ObjectPlacement

Segments = Annotated[int, Field(ge=3, le=1024)]


class CreatePrimitiveArgs(ObjectPlacement):
    kind: Literal["cube", "plane", "grid", "circle", "uv_sphere", "ico_sphere", "cylinder", "cone", "torus"] = Field(
        description="The shape. Round ones stand along Z; all are centred on their origin."
    )
    size: PositiveFloat = Field(default=2.0, description="Edge length of a cube, plane or grid, in metres.")
    radius: PositiveFloat = Field(
        default=1.0, description="Radius of round shapes (of a torus: to the middle of its tube), in metres."
    )
    radius_top: LengthFloat = Field(default=0.0, description="Upper radius of a cone; 0 makes a point.")
    tube_radius: PositiveFloat = Field(default=0.25, description="Radius of the tube of a torus, in metres.")
    depth: PositiveFloat = Field(default=2.0, description="Height of a cylinder or cone, in metres.")
    segments: Segments = Field(default=32, description="Corners around a round shape.")
    rings: Segments = Field(default=16, description="Rings of a uv sphere; corners around the tube of a torus.")
    subdivisions: Annotated[int, Field(ge=1, le=7)] = Field(default=2, description="Subdivisions of an ico sphere.")
    cells: Annotated[int, Field(ge=1, le=1000)] = Field(default=10, description="Cells along each side of a grid.")
    fill: bool = Field(default=True, description="Close a circle, and the ends of a cylinder or cone, with faces.")

    def shape(self) -> Shape:
        return Shape._make(getattr(self, measure) for measure in Shape._fields)


class CreatePrimitive(CreatesObject[CreatePrimitiveArgs]):
    """Add a mesh object of a basic shape, from explicit geometry: the same arguments give the same mesh everywhere."""

    name = "mesh.create_primitive"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.MESH, Kind.COLLECTION).needs(
        "object_write", "mesh_write"
    )
    examples = (
        Example({"kind": "cube", "name": "Box"}),
        Example({"kind": "uv_sphere", "name": "Ball", "radius": 0.5, "location": [0, 0, 0.5]}),
        Example({"kind": "cylinder", "name": "Leg", "radius": 0.05, "depth": 0.7, "segments": 24}),
        Example({"kind": "torus", "name": "Ring", "radius": 1, "tube_radius": 0.1}),
    )

    object_type = "MESH"

    def vertices_for(self, args: CreatePrimitiveArgs) -> int:
        return vertex_count(args.shape())

    def build(self, scene: Scene, args: CreatePrimitiveArgs, data: Block) -> None:
        fill_mesh(data, build(args.shape()))

    def differences(self, scene: Scene, args: CreatePrimitiveArgs, data: Block) -> Findings:
        return mesh_differs(data, build(args.shape()), "/kind")
