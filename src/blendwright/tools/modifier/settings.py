"""Typed models of the settings of each modifier type, and the table of how Blender stores each setting.

Each type has one model, selected by `type`. An omitted setting keeps its value; on a new modifier it gets Blender's
default, or the project's default that `for_new` sets. This module reads no scene: `blender_settings.py` reads and writes
with its table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from blendwright.tool_api.arguments import (
    AttributeName,
    BoundedFloat,
    InnerName,
    LengthFloat,
    Name,
    UnitFloat,
    Vector3,
    optional,
)
from blendwright.tool_api.mentions import PERHAPS_A_NAME, ObjectName, uses
from blendwright.tool_api.scene import Kind

Axis = Literal["X", "Y", "Z"]
Axes = Annotated[list[Axis], Field(max_length=3)]
KeptCorners = Literal["PRESERVE_CORNERS", "PRESERVE_CORNERS_AND_JUNCTIONS", "PRESERVE_CORNERS_JUNCTIONS_AND_CONCAVE"]
InputValue = bool | int | float | str | Annotated[list[float], Field(min_length=2, max_length=4)]


class ModifierSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    def for_new(self) -> Self:
        """Return the settings for a new modifier, with values added that follow from the requested ones."""
        return self


class ArraySettings(ModifierSettings):
    """Repeat the object in a row."""

    type: Literal["ARRAY"]
    fit_type: Literal["FIXED_COUNT", "FIT_LENGTH"] | None = optional("A number of copies, or a length.")
    count: int | None = optional("Copies, the first included.", ge=1, le=10_000)
    fit_length: LengthFloat | None = optional("Length to fill, in metres.")
    use_relative_offset: bool | None = optional("Step by multiples of the object's size.")
    relative_offset: Vector3 | None = optional("Step in multiples of the object's size; sets use_relative_offset.")
    use_constant_offset: bool | None = optional("Step by a distance.")
    constant_offset: Vector3 | None = optional(
        "Step in metres; sets use_constant_offset. On a new modifier it turns use_relative_offset off."
    )
    use_object_offset: bool | None = optional("Step by another object's transform.")
    offset_object: ObjectName | None = optional(
        "Object whose transform is the step; sets use_object_offset. On a new modifier it turns use_relative_offset off."
    )
    use_merge_vertices: bool | None = optional("Join vertices of neighbouring copies.")
    merge_threshold: LengthFloat | None = optional("Largest distance between vertices to join, in metres.")

    def for_new(self) -> Self:
        has_other_offset = self.constant_offset is not None or self.offset_object is not None
        if has_other_offset and self.relative_offset is None and self.use_relative_offset is None:
            return self.model_copy(update={"use_relative_offset": False})
        return self


class BevelSettings(ModifierSettings):
    """Round edges or corners off."""

    type: Literal["BEVEL"]
    width: LengthFloat | None = optional("Width in metres (for PERCENT: of the edges, in percent).")
    segments: int | None = optional("Number of segments across the bevel.", ge=1, le=100)
    affect: Literal["EDGES", "VERTICES"] | None = optional("Whether edges or vertices are bevelled.")
    limit_method: Literal["NONE", "ANGLE", "WEIGHT", "VGROUP"] | None = optional("How the bevelled edges are selected.")
    angle_limit_deg: float | None = optional("For ANGLE: edges sharper than this, in degrees.", ge=0.0, le=180.0)
    vertex_group: InnerName | None = optional("For VGROUP: name of the vertex group.")
    offset_type: Literal["OFFSET", "WIDTH", "DEPTH", "PERCENT", "ABSOLUTE"] | None = optional("What `width` measures.")
    profile: UnitFloat | None = optional("Shape of the bevel; 0.5 is round.")
    material: int | None = optional(
        "Material slot of the new faces; -1 takes that of the adjacent faces.", ge=-1, le=32_767
    )
    harden_normals: bool | None = optional("Keep the shading of the flat faces.")
    use_clamp_overlap: bool | None = optional("Limit the width so that bevels do not overlap.")
    loop_slide: bool | None = optional("Slide along edges to keep widths even.")


class BooleanSettings(ModifierSettings):
    """Cut with another mesh, join with it, or keep only the part inside it."""

    type: Literal["BOOLEAN"]
    operation: Literal["DIFFERENCE", "UNION", "INTERSECT"] | None = optional("The operation.")
    object: ObjectName | None = optional("The other mesh object; needed on a new modifier.")
    solver: Literal["EXACT", "FLOAT", "MANIFOLD"] | None = optional(
        "FLOAT is called FAST before Blender 5.0; MANIFOLD needs Blender 4.5."
    )
    use_self: bool | None = optional("Handle meshes that intersect themselves (EXACT).")
    use_hole_tolerant: bool | None = optional("Improve results with open meshes (EXACT).")


class MirrorSettings(ModifierSettings):
    """Mirror the object about its origin or another object."""

    type: Literal["MIRROR"]
    axes: Axes | None = optional("Axes to mirror along.")
    bisect_axes: Axes | None = optional("Axes along which the mesh is cut first.")
    flip_axes: Axes | None = optional("Cut axes on which the other side is kept.")
    mirror_object: ObjectName | None = optional("Object to mirror about.")
    use_clip: bool | None = optional("Keep vertices from crossing the middle.")
    use_mirror_merge: bool | None = optional("Join vertices at the middle.")
    merge_threshold: LengthFloat | None = optional("Largest distance between vertices to join, in metres.")


class SolidifySettings(ModifierSettings):
    """Give a surface thickness."""

    type: Literal["SOLIDIFY"]
    thickness: BoundedFloat | None = optional("Thickness in metres.")
    offset: float | None = optional("Direction of growth: -1 inward, 0 both sides, 1 outward.", ge=-1.0, le=1.0)
    use_even_offset: bool | None = optional("Keep the thickness even at sharp corners.")
    use_quality_normals: bool | None = optional("Compute better normals: slower, with a more even thickness.")
    use_rim: bool | None = optional("Close the rim.")
    use_rim_only: bool | None = optional("Create only the rim.")
    use_flip_normals: bool | None = optional("Flip the faces.")
    material_offset: int | None = optional("Added to the material slot of the new side.", ge=-32_768, le=32_767)


class SubsurfSettings(ModifierSettings):
    """Subdivide, with or without smoothing."""

    type: Literal["SUBSURF"]
    levels: int | None = optional("Subdivisions in the viewport.", ge=0, le=6)
    render_levels: int | None = optional("Subdivisions in renders; on a new modifier the same as `levels`.", ge=0, le=6)
    subdivision_type: Literal["CATMULL_CLARK", "SIMPLE"] | None = optional("Smooth, or only subdivide.")
    boundary_smooth: Literal["ALL", "PRESERVE_CORNERS"] | None = optional("Smoothing of open borders.")
    uv_smooth: Literal["NONE", KeptCorners, "PRESERVE_BOUNDARIES", "SMOOTH_ALL"] | None = optional(
        "Smoothing of UV maps."
    )
    use_creases: bool | None = optional("Use edge creases.")
    use_limit_surface: bool | None = optional("Put vertices on the surface that infinite subdivision would give.")

    def for_new(self) -> Self:
        if self.levels is not None and self.render_levels is None:
            return self.model_copy(update={"render_levels": self.levels})
        return self


class DecimateSettings(ModifierSettings):
    """Reduce the number of faces."""

    type: Literal["DECIMATE"]
    decimate_type: Literal["COLLAPSE", "UNSUBDIV", "DISSOLVE"] | None = optional("The method.")
    ratio: UnitFloat | None = optional("For COLLAPSE: share of the faces to keep.")
    use_collapse_triangulate: bool | None = optional("For COLLAPSE: keep the triangles that it creates.")
    use_symmetry: bool | None = optional("For COLLAPSE: keep symmetry.")
    symmetry_axis: Axis | None = optional("Axis of the symmetry.")
    iterations: int | None = optional("For UNSUBDIV: number of iterations.", ge=0, le=100)
    angle_limit_deg: float | None = optional(
        "For DISSOLVE: angles below this are dissolved, in degrees.", ge=0.0, le=180.0
    )


class ScrewSettings(ModifierSettings):
    """Turn a profile around an axis."""

    type: Literal["SCREW"]
    angle_deg: BoundedFloat | None = optional("Angle of one turn in degrees.")
    screw_offset: BoundedFloat | None = optional("Rise along the axis per turn, in metres.")
    steps: int | None = optional("Steps per turn in the viewport.", ge=1, le=1000)
    render_steps: int | None = optional(
        "Steps per turn in renders; on a new modifier the same as `steps`.", ge=1, le=1000
    )
    iterations: int | None = optional("Number of turns.", ge=1, le=1000)
    axis: Axis | None = optional("Axis to turn around.")
    object: ObjectName | None = optional("Object whose axis is used instead of this object's.")
    use_merge_vertices: bool | None = optional("Join vertices that meet.")
    merge_threshold: LengthFloat | None = optional("Largest distance between vertices to join, in metres.")
    use_smooth_shade: bool | None = optional("Shade the faces smooth.")
    use_normal_calculate: bool | None = optional("Compute the direction of the faces.")
    use_normal_flip: bool | None = optional("Flip the faces.")

    def for_new(self) -> Self:
        if self.steps is not None and self.render_steps is None:
            return self.model_copy(update={"render_steps": self.steps})
        return self


class DisplaceSettings(ModifierSettings):
    """Push vertices along a direction, by a texture or evenly."""

    type: Literal["DISPLACE"]
    strength: BoundedFloat | None = optional("Distance in metres for a full texture value.")
    mid_level: BoundedFloat | None = optional("Texture value that moves no vertex.")
    direction: Literal["X", "Y", "Z", "NORMAL", "CUSTOM_NORMAL", "RGB_TO_XYZ"] | None = optional(
        "Direction of movement."
    )
    space: Literal["LOCAL", "GLOBAL"] | None = optional("For X, Y and Z: local or global axes.")
    texture: Annotated[Name, uses(Kind.TEXTURE)] | None = optional(
        "Name of a texture; without one all vertices move equally far."
    )
    texture_coords: Literal["LOCAL", "GLOBAL", "OBJECT", "UV"] | None = optional("Coordinates that map the texture.")
    texture_coords_object: ObjectName | None = optional("For OBJECT: the object whose coordinates map the texture.")
    uv_layer: AttributeName | None = optional("For UV: name of the UV map.")
    vertex_group: InnerName | None = optional("Vertex group that limits the effect.")


class WireframeSettings(ModifierSettings):
    """Turn edges into bars."""

    type: Literal["WIREFRAME"]
    thickness: LengthFloat | None = optional("Thickness of the bars in metres.")
    offset: float | None = optional("Direction of growth: -1 inward, 0 both sides, 1 outward.", ge=-1.0, le=1.0)
    use_replace: bool | None = optional("Remove the faces and keep only the bars.")
    use_boundary: bool | None = optional("Also make bars along open borders.")
    use_even_offset: bool | None = optional("Keep the thickness even at sharp corners.")
    use_relative_offset: bool | None = optional("Scale the thickness with the length of the edges.")
    material_offset: int | None = optional("Added to the material slot of the bars.", ge=-32_768, le=32_767)


class SimpleDeformSettings(ModifierSettings):
    """Twist, bend, taper or stretch the whole object along an axis."""

    type: Literal["SIMPLE_DEFORM"]
    deform_method: Literal["TWIST", "BEND", "TAPER", "STRETCH"] | None = optional("The deformation.")
    angle_deg: BoundedFloat | None = optional("For TWIST and BEND: angle in degrees.")
    factor: BoundedFloat | None = optional("For TAPER and STRETCH: strength; 0 has no effect.")
    deform_axis: Axis | None = optional("Axis of the deformation.")
    origin: ObjectName | None = optional("Object whose location and axes are used instead of this object's.")
    limits: Annotated[list[UnitFloat], Field(min_length=2, max_length=2)] | None = optional(
        "Start and end of the deformed part along the axis, from 0 to 1."
    )
    vertex_group: InnerName | None = optional("Vertex group that limits the effect.")

    @model_validator(mode="after")
    def _one_amount(self) -> Self:
        # Blender stores both in one number.
        if self.angle_deg is not None and self.factor is not None:
            raise ValueError("give angle_deg for TWIST and BEND, or factor for TAPER and STRETCH, not both")
        return self


class CurveSettings(ModifierSettings):
    """Bend the object along a curve object."""

    type: Literal["CURVE"]
    object: ObjectName | None = optional("The curve object; needed on a new modifier.")
    deform_axis: Literal["POS_X", "POS_Y", "POS_Z", "NEG_X", "NEG_Y", "NEG_Z"] | None = optional(
        "Axis of the object that follows the curve."
    )
    vertex_group: InnerName | None = optional("Vertex group that limits the effect.")


class ShrinkwrapSettings(ModifierSettings):
    """Put the vertices onto the surface of another object."""

    type: Literal["SHRINKWRAP"]
    target: ObjectName | None = optional("The mesh object to wrap onto; needed on a new modifier.")
    wrap_method: Literal["NEAREST_SURFACEPOINT", "PROJECT", "NEAREST_VERTEX", "TARGET_PROJECT"] | None = optional(
        "How the point on the target is determined."
    )
    wrap_mode: Literal["ON_SURFACE", "INSIDE", "OUTSIDE", "OUTSIDE_SURFACE", "ABOVE_SURFACE"] | None = optional(
        "Side of the surface for the vertices."
    )
    offset: BoundedFloat | None = optional("Distance from the surface in metres.")
    use_project_x: bool | None = optional("For PROJECT: project along X.")
    use_project_y: bool | None = optional("For PROJECT: project along Y.")
    use_project_z: bool | None = optional("For PROJECT: project along Z.")
    use_negative_direction: bool | None = optional("For PROJECT: also project backward.")
    use_positive_direction: bool | None = optional("For PROJECT: also project forward.")
    vertex_group: InnerName | None = optional("Vertex group that limits the effect.")


class CastSettings(ModifierSettings):
    """Pull the object towards a ball, a cylinder or a box."""

    type: Literal["CAST"]
    cast_type: Literal["SPHERE", "CYLINDER", "CUBOID"] | None = optional("The shape.")
    factor: BoundedFloat | None = optional("Strength: 0 has no effect, 1 gives the full shape.")
    radius: LengthFloat | None = optional("Only vertices within this distance move; 0 moves all.")
    size: LengthFloat | None = optional("Size of the shape; 0 takes the size of the object.")
    vertex_group: InnerName | None = optional("Vertex group that limits the effect.")


class SmoothSettings(ModifierSettings):
    """Even out bumps."""

    type: Literal["SMOOTH"]
    factor: BoundedFloat | None = optional("Strength of each repetition.")
    iterations: int | None = optional("Number of repetitions.", ge=0, le=1000)
    vertex_group: InnerName | None = optional("Vertex group that limits the effect.")


class WeldSettings(ModifierSettings):
    """Join vertices that are close to each other."""

    type: Literal["WELD"]
    merge_threshold: LengthFloat | None = optional("Largest distance between vertices to join, in metres.")
    mode: Literal["ALL", "CONNECTED"] | None = optional("Join all near vertices, or only vertices connected by edges.")
    vertex_group: InnerName | None = optional("Vertex group that limits the effect.")


class TriangulateSettings(ModifierSettings):
    """Convert all faces to triangles."""

    type: Literal["TRIANGULATE"]
    quad_method: Literal["BEAUTY", "FIXED", "FIXED_ALTERNATE", "SHORTEST_DIAGONAL", "LONGEST_DIAGONAL"] | None = (
        optional("How quads are split.")
    )
    ngon_method: Literal["BEAUTY", "CLIP"] | None = optional("How faces with more than four corners are split.")
    min_vertices: int | None = optional("Smallest number of corners of the faces to split.", ge=4, le=1000)


class WeightedNormalSettings(ModifierSettings):
    """Weight normals by face size, so that bevelled edges look clean."""

    type: Literal["WEIGHTED_NORMAL"]
    mode: Literal["FACE_AREA", "CORNER_ANGLE", "FACE_AREA_WITH_ANGLE"] | None = optional("What determines the weight.")
    weight: int | None = optional("Strength of the weighting; 50 is even.", ge=1, le=100)
    keep_sharp: bool | None = optional("Leave sharp edges sharp.")
    use_face_influence: bool | None = optional("Use the face strength that bevels set.")


class NodesSettings(ModifierSettings):
    """A geometry-nodes tree and the values of its inputs."""

    type: Literal["NODES"]
    node_group: Annotated[Name, uses(Kind.NODE_GROUP)] | None = optional(
        "Name of the geometry-nodes tree; needed on a new modifier."
    )
    inputs: Annotated[dict[str, InputValue], PERHAPS_A_NAME] = Field(
        default={},
        max_length=200,
        description="Values by the name or identifier of the input; objects, collections, materials and images by name.",
    )


Settings = Annotated[
    ArraySettings | BevelSettings | BooleanSettings | MirrorSettings | SolidifySettings | SubsurfSettings
    | DecimateSettings | ScrewSettings | DisplaceSettings | WireframeSettings | SimpleDeformSettings | CurveSettings
    | ShrinkwrapSettings | CastSettings | SmoothSettings | WeldSettings | TriangulateSettings | WeightedNormalSettings
    | NodesSettings,
    Field(discriminator="type"),
]  # fmt: skip
ModifierType = Literal[
    "ARRAY", "BEVEL", "BOOLEAN", "MIRROR", "SOLIDIFY", "SUBSURF", "DECIMATE", "SCREW", "DISPLACE", "WIREFRAME",
    "SIMPLE_DEFORM", "CURVE", "SHRINKWRAP", "CAST", "SMOOTH", "WELD", "TRIANGULATE", "WEIGHTED_NORMAL", "NODES",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class BlenderProperty:
    """The storage of a setting in Blender: the attribute, its form, and the switch that the setting turns on."""

    attribute: str
    form: Literal["plain", "degrees", "axes", "solver"] = "plain"
    refers_to: Kind | None = None
    switch: str | None = None


# Settings that differ from the attribute of the same name; a name means the same in every type that has it.
SPECIAL: dict[str, BlenderProperty] = {
    "relative_offset": BlenderProperty("relative_offset_displace", switch="use_relative_offset"),
    "constant_offset": BlenderProperty("constant_offset_displace", switch="use_constant_offset"),
    "offset_object": BlenderProperty("offset_object", refers_to=Kind.OBJECT, switch="use_object_offset"),
    "angle_limit_deg": BlenderProperty("angle_limit", "degrees"),
    "angle_deg": BlenderProperty("angle", "degrees"),
    "axes": BlenderProperty("use_axis", "axes"),
    "bisect_axes": BlenderProperty("use_bisect_axis", "axes"),
    "flip_axes": BlenderProperty("use_bisect_flip_axis", "axes"),
    "solver": BlenderProperty("solver", "solver"),
    "object": BlenderProperty("object", refers_to=Kind.OBJECT),
    "origin": BlenderProperty("origin", refers_to=Kind.OBJECT),
    "target": BlenderProperty("target", refers_to=Kind.OBJECT),
    "mirror_object": BlenderProperty("mirror_object", refers_to=Kind.OBJECT),
    "texture_coords_object": BlenderProperty("texture_coords_object", refers_to=Kind.OBJECT),
    "texture": BlenderProperty("texture", refers_to=Kind.TEXTURE),
    "node_group": BlenderProperty("node_group", refers_to=Kind.NODE_GROUP),
}
# Handled separately: the discriminator, and the inputs of a tree.
SEPARATE = frozenset({"type", "inputs"})


def requested(settings: ModifierSettings) -> dict[str, tuple[BlenderProperty, Any]]:
    """Return the settings that are not omitted, by name, each with how Blender stores it.

    The result also includes the switches that these settings turn on.
    """
    by_name: dict[str, tuple[BlenderProperty, Any]] = {}
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if name in SEPARATE or value is None:
            continue
        rna = SPECIAL.get(name, BlenderProperty(name))
        by_name[name] = (rna, value)
        if rna.switch and getattr(settings, rna.switch) is None:
            by_name[rna.switch] = (BlenderProperty(rna.switch), True)
    return by_name
