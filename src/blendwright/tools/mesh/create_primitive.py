from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Scene
from blendwright.tool_api.arguments import LengthFloat, PositiveFloat, optional
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.mesh.primitive_shapes import Shape, build, from_parts, vertex_count
from blendwright.tools.mesh.rounding import round_edges, rounding_differs
from blendwright.tools.mesh_data import Geometry, fill_mesh, mesh_differs
from blendwright.tools.object_creation import CreatesObject, MeshPlacement

Segments = Annotated[int, Field(ge=3, le=1024)]
Dimensions = Annotated[tuple[PositiveFloat, PositiveFloat, PositiveFloat], Field(strict=False)]
# Arguments that only some kinds support.
ONLY_FOR = {"dimensions": ("cube",), "bevel": ("cube", "cylinder", "cone")}
WOOD = ("material.ensure_principled", {"name": "Wood", "base_color": [0.3, 0.15, 0.05]})
TABLE = ("object.create_empty", {"name": "Table", "location": [2, 0, 0]})


class CreatePrimitiveArgs(MeshPlacement):
    kind: Literal[
        "cube", "plane", "grid", "circle", "uv_sphere", "ico_sphere", "cylinder", "cone", "torus", "monkey"
    ] = Field(description="The shape. The axis of round shapes is Z. The monkey (Suzanne) faces -Y and is not closed.")
    origin: Literal["center", "bottom", "top"] = Field(
        default="center",
        description="Position of the object's origin in the shape, which is the pivot of location and rotation. Use "
        "bottom for objects that stand on something or rotate about a joint.",
    )
    size: PositiveFloat = Field(
        default=2.0, description="Edge length of a cube, plane or grid, width of a monkey, in metres."
    )
    dimensions: Dimensions | None = optional("Lengths of a cube along X, Y and Z in metres, instead of size.")
    bevel: LengthFloat | None = optional(
        "For a cube, cylinder or cone: width in metres of a bevel modifier that rounds the edges; 0 for none."
    )
    bevel_segments: Annotated[int, Field(ge=1, le=100)] = Field(
        default=3, description="Number of segments of the rounding."
    )
    radius: PositiveFloat = Field(
        default=1.0, description="Radius of round shapes in metres; for a torus to the centre of its tube."
    )
    radius_top: LengthFloat = Field(default=0.0, description="Upper radius of a cone in metres; 0 for a tip.")
    tube_radius: PositiveFloat = Field(default=0.25, description="Radius of the tube of a torus, in metres.")
    depth: PositiveFloat = Field(default=2.0, description="Height of a cylinder or cone, in metres.")
    segments: Segments = Field(default=32, description="Number of corners around a round shape.")
    rings: Segments = Field(
        default=16, description="Number of rings of a uv sphere, or of corners around the tube of a torus."
    )
    subdivisions: Annotated[int, Field(ge=1, le=7)] = Field(
        default=2, description="Number of subdivisions of an ico sphere."
    )
    cells: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=10, description="Number of cells along each side of a grid."
    )
    fill: bool = Field(default=True, description="Close a circle, and the ends of a cylinder or cone, with faces.")

    @field_validator("dimensions", "bevel")
    @classmethod
    def _of_this_kind(cls, value: Any, info: ValidationInfo) -> Any:
        kinds = ONLY_FOR[info.field_name or ""]
        kind = info.data.get("kind")
        if value and kind is not None and kind not in kinds:
            context = {"kind": kind, "kinds": " or a ".join(kinds)}
            raise PydanticCustomError(
                "shape_measure", "a {kind} does not support this argument; only a {kinds} does", context
            )
        return value

    def shape(self) -> Shape:
        return Shape._make(map(vars(self).__getitem__, Shape._fields))

    @cached_property
    def geometry(self) -> Geometry:
        """Return the shape's geometry. Cached, because building and verifying both need it."""
        return build(self.shape())


class CreatePrimitive(CreatesObject[CreatePrimitiveArgs]):
    """Create a mesh object of a basic shape from explicit geometry: the same arguments give the same mesh on every
    machine.
    """

    name = "mesh.create_primitive"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.MESH, Kind.COLLECTION).needs(
        "object_write", "mesh_write"
    )
    examples = (
        Example({"kind": "cube", "name": "Box"}),
        Example({"kind": "uv_sphere", "name": "Ball", "radius": 0.5, "location": [0, 0, 0.5]}),
        Example({"kind": "cylinder", "name": "Leg", "radius": 0.05, "depth": 0.7, "origin": "bottom"}),
        Example({"kind": "monkey", "name": "Suzanne", "size": 1, "origin": "bottom", "shading": "smooth"}),
        Example({"kind": "torus", "name": "Ring", "radius": 1, "tube_radius": 0.1, "shading": "smooth"}),
        Example(
            {
                "kind": "cube",
                "name": "Top",
                "dimensions": [1.2, 0.8, 0.04],
                "bevel": 0.01,
                "material": "Wood",
                "parent": "Table",
            },
            WOOD,
            TABLE,
        ),
    )

    together = True
    object_type = "MESH"

    def vertices_for(self, args: CreatePrimitiveArgs) -> int:
        return vertex_count(args.shape())

    def build(self, scene: Scene, args: CreatePrimitiveArgs, data: Block) -> None:
        fill_mesh(data, _geometry(scene, args))

    def differences(self, scene: Scene, args: CreatePrimitiveArgs, data: Block) -> Findings:
        return mesh_differs(data, _geometry(scene, args), "/kind")

    def finish(self, scene: Scene, args: CreatePrimitiveArgs, obj: Block) -> None:
        round_edges(scene, obj, args)

    def object_differences(self, scene: Scene, args: CreatePrimitiveArgs, obj: Block) -> Findings:
        return rounding_differs(scene, obj, args)


def _geometry(scene: Scene, args: CreatePrimitiveArgs) -> Geometry:
    if args.kind == "monkey":
        return from_parts(args.shape(), *scene.builtin_shape("monkey"))
    return args.geometry
