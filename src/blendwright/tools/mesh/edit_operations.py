"""The operations of mesh.edit as typed models, told apart by `op`. This module knows no mesh: `blender/mesh_editing` carries them out."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import BoundedFloat, LengthFloat, PositiveFloat, UnitFloat, Vector3, optional
from blendwright.tool_api.mentions import MaterialName, NewObjectName
from blendwright.tools.mesh.selectors import ALL, Axis, SelectionName, Selector, Space

Domain = Literal["faces", "edges", "vertices"]
# More would make a mesh that no plan means.
MOST_CUTS = 100


class EditOperation(BaseModel):
    """What all operations have."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    name: SelectionName | None = optional("Name for what it makes or changes, for later selectors.")

    @property
    def domain_of_selection(self) -> Domain:
        """The sort of element that its selector selects."""
        return getattr(self, "domain", "faces")


class OnSelection(EditOperation):
    select: Selector = Field(description="What it works on: criteria, a name, all, boundary, loose, last, or a list.")


class OnAll(EditOperation):
    select: Selector = Field(default=ALL, description="What it works on; everything unless said.")


class Select(OnSelection):
    """Only give a selection a name."""

    op: Literal["select"]
    domain: Domain = Field(default="faces", description="What is selected.")


class Extrude(OnSelection):
    """Draw faces out, or edges by a vector. NAME is what was moved, NAME.sides the faces between."""

    op: Literal["extrude"]
    distance: BoundedFloat | None = optional("How far faces move along their normals; negative goes inward.")
    vector: Vector3 | None = optional("Where everything moves instead.")
    individual: bool = Field(default=False, description="Each face by itself.")
    domain: Literal["faces", "edges"] = Field(default="faces", description="What is drawn out.")

    @model_validator(mode="after")
    def _one_way(self) -> Extrude:
        if (self.distance is None) == (self.vector is None):
            raise PydanticCustomError("one_way", "give either 'distance' or 'vector'")
        if self.domain == "edges" and self.vector is None:
            raise PydanticCustomError("edges_need_vector", "edges are extruded by a 'vector'")
        return self


class Inset(OnSelection):
    """Inset faces. NAME is the inner faces, NAME.sides the frame around."""

    op: Literal["inset"]
    thickness: PositiveFloat = Field(description="Width of the frame in metres.")
    depth: BoundedFloat = Field(default=0.0, description="How far the inner faces move out (or in).")
    individual: bool = Field(default=False, description="Each face by itself.")


class Bevel(OnSelection):
    """Round edges or corners. NAME is the new faces."""

    op: Literal["bevel"]
    width: PositiveFloat = Field(description="Width in metres.")
    segments: int = Field(default=1, ge=1, le=MOST_CUTS, description="Steps of the rounding; 1 is a chamfer.")
    profile: UnitFloat = Field(default=0.5, description="Shape: 0.5 is round.")
    clamp: bool = Field(default=True, description="Stop before bevels run into each other.")
    domain: Literal["edges", "vertices"] = Field(default="edges", description="What is rounded.")


class Subdivide(OnAll):
    """Cut edges into pieces, and the faces between."""

    op: Literal["subdivide"]
    cuts: int = Field(default=1, ge=1, le=MOST_CUTS, description="Cuts of each edge.")
    smooth: float = Field(default=0.0, ge=0.0, le=10.0, description="How much the new vertices are rounded out.")
    domain: Literal["faces", "edges"] = Field(default="faces", description="What is subdivided.")


class Cut(OnAll):
    """Cut along a plane (a loop cut). NAME is the cut's edges."""

    op: Literal["cut"]
    point: Vector3 = Field(description="A point of the plane.")
    normal: Axis | Vector3 = Field(description="Its normal.")
    space: Space = Field(default="local", description="Space of both.")
    remove: Literal["above", "below"] | None = optional("Side that goes; above is where the normal looks.")
    fill: bool = Field(default=False, description="Close the cut where a side goes.")

    @model_validator(mode="after")
    def _direction(self) -> Cut:
        if isinstance(self.normal, tuple) and not any(self.normal):
            raise PydanticCustomError("no_direction", "a normal of [0, 0, 0] has no direction")
        return self


class Bridge(OnSelection):
    """Join two or more loops of edges by faces; of faces, these go and their outlines are joined."""

    op: Literal["bridge"]
    domain: Literal["edges", "faces"] = Field(default="edges", description="Loops, or faces that make way.")
    twist: int = Field(default=0, ge=-1000, le=1000, description="By how many vertices one loop is turned.")


class Fill(OnAll):
    """Close holes: every closed loop of open edges among those selected."""

    op: Literal["fill"]
    triangles: bool = Field(default=False, description="Fill with triangles instead of one face.")

    @property
    def domain_of_selection(self) -> Domain:
        return "edges"


class Dissolve(OnAll):
    """Take elements out and keep the surface closed: flat ones (angle_deg), or all that are selected."""

    op: Literal["dissolve"]
    angle_deg: float | None = optional("Only where faces meet flatter than this.", gt=0.0, le=180.0)
    domain: Domain = Field(default="edges", description="What is taken out, without angle_deg.")


class Weld(OnAll):
    """Merge vertices that are near each other."""

    op: Literal["weld"]
    distance: LengthFloat = Field(default=0.0001, description="How near, in metres.")

    @property
    def domain_of_selection(self) -> Domain:
        return "vertices"


class Delete(OnSelection):
    """Delete elements, with what cannot be without them."""

    op: Literal["delete"]
    domain: Domain = Field(default="faces", description="What is deleted.")


class Separate(OnSelection):
    """Move faces to a new object of the same place, materials and collections."""

    op: Literal["separate"]
    new_name: NewObjectName = Field(description="Name of the new object and its mesh; must be free.")


class Normals(OnAll):
    """Turn faces: all outward, all inward, or the other way round."""

    op: Literal["normals"]
    look: Literal["outward", "inward", "flip"] = Field(default="outward", description="Where they shall look.")


class Mark(OnSelection):
    """Mark edges, or clear their marks."""

    op: Literal["mark"]
    seam: bool | None = optional("Cut of UV maps; false clears.")
    sharp: bool | None = optional("Sharp in smooth shading; false clears.")
    crease: UnitFloat | None = optional("Sharpness under subdivision; 0 clears.")

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
    """Move, turn and scale what is selected about its centre."""

    op: Literal["transform"]
    translate: Vector3 = Field(default=(0.0, 0.0, 0.0), description="In metres.")
    rotate_deg: Vector3 = Field(default=(0.0, 0.0, 0.0), description="About X, Y and Z in degrees.")
    scale: Vector3 = Field(default=(1.0, 1.0, 1.0), description="Factors along X, Y and Z.")
    pivot: Vector3 | None = optional("Point to turn and scale about instead.")
    space: Space = Field(default="local", description="Space of all of these.")
    domain: Domain = Field(default="vertices", description="What is selected.")


class AssignMaterial(OnSelection):
    """Give faces a material."""

    op: Literal["material"]
    material: MaterialName = Field(description="Name of the material, which must be there.")


class ShadeByAngle(OnAll):
    """Shade faces smooth, with sharp edges where they meet at more than an angle."""

    op: Literal["shade"]
    angle_deg: float = Field(
        default=30.0, ge=0.0, le=180.0, description="Sharper edges are marked sharp; 0 shades flat."
    )


class OnWhole(EditOperation):
    """What works on the whole mesh."""

    @property
    def select(self) -> Selector:
        return ALL


class Remesh(OnWhole):
    """Make a new, even surface of the whole mesh. UV maps, attributes and materials by face are lost."""

    op: Literal["remesh"]
    mode: Literal["voxel", "smooth", "sharp", "blocks"] = Field(
        default="voxel", description="voxel: even cells, closed and merged; sharp keeps corners."
    )
    size: PositiveFloat | None = optional("Size of a cell in metres; voxel needs it.")
    depth: int | None = optional("Detail of the other modes: 2 to this power along the longest side.", ge=1, le=10)

    @model_validator(mode="after")
    def _one_measure(self) -> Remesh:
        if self.mode == "voxel" and (self.size is None or self.depth is not None):
            raise PydanticCustomError("voxel_size", "voxel takes a 'size' and no 'depth'")
        if self.mode != "voxel" and (self.depth is None or self.size is not None):
            raise PydanticCustomError("octree_depth", "{mode} takes a 'depth' and no 'size'", {"mode": self.mode})
        return self


class Decimate(OnWhole):
    """Make do with fewer faces, where they are needed least."""

    op: Literal["decimate"]
    ratio: float | None = optional("Part of the faces that stays.", gt=0.0, lt=1.0)
    faces: int | None = optional("How many triangles may stay, instead.", ge=4, le=10_000_000)
    unsubdivide: int | None = optional("Undo so many subdivisions instead.", ge=1, le=20)
    triangles: bool = Field(default=False, description="Leave triangles only.")

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
