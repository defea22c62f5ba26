"""Operations of mesh.edit as typed models, selected by `op`. This module does not access a mesh; `blender/mesh_editing`
applies them.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import BoundedFloat, LengthFloat, PositiveFloat, UnitFloat, Vector3, optional
from blendwright.tool_api.mentions import MaterialName, NewObjectName
from blendwright.tools.mesh.selectors import ALL, Axis, SelectionName, Selector, Space

Domain = Literal["faces", "edges", "vertices"]
# Largest number of cuts or segments of one operation.
MAX_CUTS = 100


class EditOperation(BaseModel):
    """Base of all operations, with the argument that all of them have."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    name: SelectionName | None = optional("Name of its result, for selectors of later operations.")

    @property
    def domain_of_selection(self) -> Domain:
        """Return the type of elements that the operation's selector selects."""
        return getattr(self, "domain", "faces")


class OnSelection(EditOperation):
    select: Selector = Field(
        description="Elements to work on: criteria, a name, all, boundary, loose, last, or a list."
    )


class OnAll(EditOperation):
    select: Selector = Field(default=ALL, description="Elements to work on. Default: all.")


class Select(OnSelection):
    """Give a selection a name, without a change."""

    op: Literal["select"]
    domain: Domain = Field(default="faces", description="Type of the selected elements.")


class Extrude(OnSelection):
    """Extrude faces, or edges by a vector. NAME is the moved elements, NAME.sides the faces between."""

    op: Literal["extrude"]
    distance: BoundedFloat | None = optional("Distance in metres along the normals; negative extrudes inward.")
    vector: Vector3 | None = optional("Instead of distance: vector to move by, in metres.")
    individual: bool = Field(default=False, description="Treat each face separately.")
    domain: Literal["faces", "edges"] = Field(default="faces", description="Type of elements to extrude.")

    @model_validator(mode="after")
    def _one_way(self) -> Extrude:
        if (self.distance is None) == (self.vector is None):
            raise PydanticCustomError("one_way", "give either 'distance' or 'vector'")
        if self.domain == "edges" and self.vector is None:
            raise PydanticCustomError("edges_need_vector", "extruding edges needs 'vector'")
        return self


class Inset(OnSelection):
    """Inset faces. NAME is the inner faces, NAME.sides the frame around."""

    op: Literal["inset"]
    thickness: PositiveFloat = Field(description="Width of the frame in metres.")
    depth: BoundedFloat = Field(
        default=0.0, description="Distance in metres that the inner faces move outward; negative moves inward."
    )
    individual: bool = Field(default=False, description="Treat each face separately.")


class Bevel(OnSelection):
    """Round edges or corners. NAME is the new faces."""

    op: Literal["bevel"]
    width: PositiveFloat = Field(description="Width in metres.")
    segments: int = Field(default=1, ge=1, le=MAX_CUTS, description="Number of segments; 1 is a chamfer.")
    profile: UnitFloat = Field(default=0.5, description="Shape of the profile; 0.5 is round.")
    clamp: bool = Field(default=True, description="Limit the width so that bevels do not overlap.")
    domain: Literal["edges", "vertices"] = Field(default="edges", description="Type of elements to round.")


class Subdivide(OnAll):
    """Subdivide edges and the faces between them."""

    op: Literal["subdivide"]
    cuts: int = Field(default=1, ge=1, le=MAX_CUTS, description="Number of cuts per edge.")
    smooth: float = Field(
        default=0.0, ge=0.0, le=10.0, description="How much the new vertices are moved outward to round the surface."
    )
    domain: Literal["faces", "edges"] = Field(default="faces", description="Type of elements to subdivide.")


class Cut(OnAll):
    """Cut along a plane (a loop cut). NAME is the edges of the cut."""

    op: Literal["cut"]
    point: Vector3 = Field(description="A point on the plane.")
    normal: Axis | Vector3 = Field(description="Normal of the plane.")
    space: Space = Field(default="local", description="Space of point and normal.")
    remove: Literal["above", "below"] | None = optional("Side to remove; above is the side that the normal points to.")
    fill: bool = Field(default=False, description="Close the cut with faces if a side is removed.")

    @model_validator(mode="after")
    def _direction(self) -> Cut:
        if isinstance(self.normal, tuple) and not any(self.normal):
            raise PydanticCustomError("no_direction", "a normal of [0, 0, 0] has no direction")
        return self


class Bridge(OnSelection):
    """Join two or more edge loops by faces. With domain faces, the selected faces are removed and their outlines
    joined.
    """

    op: Literal["bridge"]
    domain: Literal["edges", "faces"] = Field(default="edges", description="Edge loops, or faces to replace.")
    twist: int = Field(default=0, ge=-1000, le=1000, description="Number of vertices by which one loop is rotated.")


class Fill(OnAll):
    """Close holes: every closed loop of open edges in the selection."""

    op: Literal["fill"]
    triangles: bool = Field(default=False, description="Fill with triangles instead of one face.")

    @property
    def domain_of_selection(self) -> Domain:
        return "edges"


class Dissolve(OnAll):
    """Dissolve elements and keep the surface closed: flat ones (angle_deg), or all selected ones."""

    op: Literal["dissolve"]
    angle_deg: float | None = optional(
        "Dissolve only where faces meet at a smaller angle than this, in degrees.", gt=0.0, le=180.0
    )
    domain: Domain = Field(default="edges", description="Type of elements to dissolve, without angle_deg.")


class Weld(OnAll):
    """Merge vertices that are close to each other."""

    op: Literal["weld"]
    distance: LengthFloat = Field(default=0.0001, description="Largest distance of merged vertices in metres.")

    @property
    def domain_of_selection(self) -> Domain:
        return "vertices"


class Delete(OnSelection):
    """Delete elements, and elements that cannot exist without them."""

    op: Literal["delete"]
    domain: Domain = Field(default="faces", description="Type of elements to delete.")


class Separate(OnSelection):
    """Move faces to a new object with the same position, materials and collections."""

    op: Literal["separate"]
    new_name: NewObjectName = Field(description="Name of the new object and its mesh; must be free.")


class Normals(OnAll):
    """Make normals point outward or inward, or flip them."""

    op: Literal["normals"]
    look: Literal["outward", "inward", "flip"] = Field(default="outward", description="Direction of the normals.")


class Mark(OnSelection):
    """Mark edges, or clear their marks."""

    op: Literal["mark"]
    seam: bool | None = optional("UV seam; false clears the mark.")
    sharp: bool | None = optional("Sharp in smooth shading; false clears the mark.")
    crease: UnitFloat | None = optional("Sharpness under subdivision; 0 clears the mark.")

    @property
    def domain_of_selection(self) -> Domain:
        return "edges"

    @model_validator(mode="after")
    def _some_mark(self) -> Mark:
        if self.seam is None and self.sharp is None and self.crease is None:
            raise PydanticCustomError("no_mark", "give 'seam', 'sharp' or 'crease'")
        return self


class Triangulate(OnAll):
    """Split faces into triangles."""

    op: Literal["triangulate"]


class TransformSelection(OnSelection):
    """Move, rotate and scale the selection about its centre."""

    op: Literal["transform"]
    translate: Vector3 = Field(default=(0.0, 0.0, 0.0), description="Translation in metres.")
    rotate_deg: Vector3 = Field(default=(0.0, 0.0, 0.0), description="Rotation about X, Y and Z in degrees.")
    scale: Vector3 = Field(default=(1.0, 1.0, 1.0), description="Factors along X, Y and Z.")
    pivot: Vector3 | None = optional("Point to rotate and scale about, instead of the centre.")
    space: Space = Field(default="local", description="Space of all these values.")
    domain: Domain = Field(default="vertices", description="Type of the selected elements.")


class AssignMaterial(OnSelection):
    """Assign a material to faces."""

    op: Literal["material"]
    material: MaterialName = Field(description="Name of an existing material.")


class ShadeByAngle(OnAll):
    """Shade faces smooth, with sharp edges between faces that meet at a larger angle than angle_deg."""

    op: Literal["shade"]
    angle_deg: float = Field(
        default=30.0, ge=0.0, le=180.0, description="Edges with a larger angle are marked sharp; 0 shades flat."
    )


class OnWhole(EditOperation):
    """Base of operations on the whole mesh, without a selector."""

    @property
    def select(self) -> Selector:
        return ALL


class Remesh(OnWhole):
    """Replace the whole mesh with a new, even surface. UV maps, attributes and materials per face are lost."""

    op: Literal["remesh"]
    mode: Literal["voxel", "smooth", "sharp", "blocks"] = Field(
        default="voxel", description="voxel: even cells with a closed, merged surface. sharp: keeps corners."
    )
    size: PositiveFloat | None = optional("Size of a cell in metres; required for voxel.")
    depth: int | None = optional(
        "For the other modes: number of cells along the longest side, as a power of 2.", ge=1, le=10
    )

    @model_validator(mode="after")
    def _one_measure(self) -> Remesh:
        if self.mode == "voxel" and (self.size is None or self.depth is not None):
            raise PydanticCustomError("voxel_size", "mode voxel needs 'size' and does not support 'depth'")
        if self.mode != "voxel" and (self.depth is None or self.size is not None):
            raise PydanticCustomError(
                "octree_depth", "mode {mode} needs 'depth' and does not support 'size'", {"mode": self.mode}
            )
        return self


class Decimate(OnWhole):
    """Reduce the number of faces where the shape needs them least."""

    op: Literal["decimate"]
    ratio: float | None = optional("Fraction of the faces to keep.", gt=0.0, lt=1.0)
    faces: int | None = optional("Instead of ratio: largest number of triangles to keep.", ge=4, le=10_000_000)
    unsubdivide: int | None = optional("Instead of ratio: number of subdivisions to undo.", ge=1, le=20)
    triangles: bool = Field(default=False, description="Convert the result to triangles.")

    @model_validator(mode="after")
    def _one_measure(self) -> Decimate:
        if (self.ratio, self.faces, self.unsubdivide).count(None) != 2:
            raise PydanticCustomError("one_way", "give one of 'ratio', 'faces' and 'unsubdivide'")
        return self


AnyEdit: TypeAlias = (
    Select | Extrude | Inset | Bevel | Subdivide | Cut | Bridge | Fill | Dissolve | Weld | Delete | Separate | Normals
    | Mark | Triangulate | TransformSelection | AssignMaterial | ShadeByAngle | Remesh | Decimate
)  # fmt: skip
Edit = Annotated[AnyEdit, Field(discriminator="op")]
