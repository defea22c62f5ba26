"""The settings of each modifier type as typed models, and how each setting is kept in Blender.

One model per type, told apart by `type`. A setting that is left out keeps its value; on a new modifier that is Blender's default,
or ours where `for_new` says so. This module knows no scene: `blender_settings.py` reads and writes by its table.
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
        """The settings of a new modifier: what follows from those that were given."""
        return self


class ArraySettings(ModifierSettings):
    """Repeat the object in a row."""

    type: Literal["ARRAY"]
    fit_type: Literal["FIXED_COUNT", "FIT_LENGTH"] | None = optional("A number of copies, or a length.")
    count: int | None = optional("Copies, the first included.", ge=1, le=10_000)
    fit_length: LengthFloat | None = optional("Length to fill, in metres.")
    use_relative_offset: bool | None = optional("Step by multiples of the object's size.")
    relative_offset: Vector3 | None = optional("Step in sizes of the object; turns it on.")
    use_constant_offset: bool | None = optional("Step by a distance.")
    constant_offset: Vector3 | None = optional(
        "Step in metres; turns it on, and on a new modifier the relative one off."
    )
    use_object_offset: bool | None = optional("Step by another object's transform.")
    offset_object: ObjectName | None = optional(
        "Object whose transform is the step; turns it on, and on a new modifier the relative one off."
    )
    use_merge_vertices: bool | None = optional("Join vertices of neighbouring copies.")
    merge_threshold: LengthFloat | None = optional("Distance to join within, in metres.")

    def for_new(self) -> Self:
        other = self.constant_offset is not None or self.offset_object is not None
        if other and self.relative_offset is None and self.use_relative_offset is None:
            return self.model_copy(update={"use_relative_offset": False})
        return self


class BevelSettings(ModifierSettings):
    """Round edges or corners off."""

    type: Literal["BEVEL"]
    width: LengthFloat | None = optional("Width in metres (for PERCENT: of the edges, in percent).")
    segments: int | None = optional("Steps of the rounding.", ge=1, le=100)
    affect: Literal["EDGES", "VERTICES"] | None = optional("What is rounded.")
    limit_method: Literal["NONE", "ANGLE", "WEIGHT", "VGROUP"] | None = optional("Which edges.")
    angle_limit_deg: float | None = optional("For ANGLE: edges sharper than this, in degrees.", ge=0.0, le=180.0)
    vertex_group: InnerName | None = optional("For VGROUP: name of the vertex group.")
    offset_type: Literal["OFFSET", "WIDTH", "DEPTH", "PERCENT", "ABSOLUTE"] | None = optional(
        "What the width measures."
    )
    profile: UnitFloat | None = optional("Shape of the rounding; 0.5 is round.")
    material: int | None = optional(
        "Material slot of the new faces; -1 takes that of the neighbours.", ge=-1, le=32_767
    )
    harden_normals: bool | None = optional("Keep the shading of the flat faces.")
    use_clamp_overlap: bool | None = optional("Stop before bevels run into each other.")
    loop_slide: bool | None = optional("Slide along edges where that keeps widths even.")


class BooleanSettings(ModifierSettings):
    """Cut with, join with or keep what lies inside another mesh."""

    type: Literal["BOOLEAN"]
    operation: Literal["DIFFERENCE", "UNION", "INTERSECT"] | None = optional("What is done.")
    object: ObjectName | None = optional("The other mesh object; needed on a new modifier.")
    solver: Literal["EXACT", "FLOAT", "MANIFOLD"] | None = optional(
        "FLOAT is called FAST before Blender 5.0; MANIFOLD needs Blender 4.5."
    )
    use_self: bool | None = optional("Take care of a mesh that runs through itself (EXACT).")
    use_hole_tolerant: bool | None = optional("Better results with open meshes (EXACT).")


class MirrorSettings(ModifierSettings):
    """Mirror the object about its origin or another object."""

    type: Literal["MIRROR"]
    axes: Axes | None = optional("Axes to mirror along.")
    bisect_axes: Axes | None = optional("Axes along which the mesh is cut first.")
    flip_axes: Axes | None = optional("Cut axes whose other side is kept.")
    mirror_object: ObjectName | None = optional("Object to mirror about.")
    use_clip: bool | None = optional("Keep vertices from crossing the middle.")
    use_mirror_merge: bool | None = optional("Join vertices at the middle.")
    merge_threshold: LengthFloat | None = optional("Distance to join within, in metres.")


class SolidifySettings(ModifierSettings):
    """Give a surface thickness."""

    type: Literal["SOLIDIFY"]
    thickness: BoundedFloat | None = optional("Thickness in metres.")
    offset: float | None = optional("Where it grows: -1 inward, 0 to both sides, 1 outward.", ge=-1.0, le=1.0)
    use_even_offset: bool | None = optional("Keep the thickness even at sharp corners.")
    use_quality_normals: bool | None = optional("Slower normals, more even thickness.")
    use_rim: bool | None = optional("Close the rim.")
    use_rim_only: bool | None = optional("Make the rim only.")
    use_flip_normals: bool | None = optional("Turn the faces around.")
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
    use_creases: bool | None = optional("Honour creased edges.")
    use_limit_surface: bool | None = optional("Put vertices where endless subdivision would.")

    def for_new(self) -> Self:
        if self.levels is not None and self.render_levels is None:
            return self.model_copy(update={"render_levels": self.levels})
        return self


class DecimateSettings(ModifierSettings):
    """Reduce the number of faces."""

    type: Literal["DECIMATE"]
    decimate_type: Literal["COLLAPSE", "UNSUBDIV", "DISSOLVE"] | None = optional("The method.")
    ratio: UnitFloat | None = optional("For COLLAPSE: share of the faces to keep.")
    use_collapse_triangulate: bool | None = optional("For COLLAPSE: leave triangles.")
    use_symmetry: bool | None = optional("For COLLAPSE: keep symmetry.")
    symmetry_axis: Axis | None = optional("Axis of the symmetry.")
    iterations: int | None = optional("For UNSUBDIV: how often.", ge=0, le=100)
    angle_limit_deg: float | None = optional("For DISSOLVE: flatter angles than this go, in degrees.", ge=0.0, le=180.0)


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
    object: ObjectName | None = optional("Object whose axis is taken instead of the own one.")
    use_merge_vertices: bool | None = optional("Join vertices that meet.")
    merge_threshold: LengthFloat | None = optional("Distance to join within, in metres.")
    use_smooth_shade: bool | None = optional("Shade the faces smooth.")
    use_normal_calculate: bool | None = optional("Work out which way faces look.")
    use_normal_flip: bool | None = optional("Turn the faces around.")

    def for_new(self) -> Self:
        if self.steps is not None and self.render_steps is None:
            return self.model_copy(update={"render_steps": self.steps})
        return self


class DisplaceSettings(ModifierSettings):
    """Push vertices along a direction, by a texture or evenly."""

    type: Literal["DISPLACE"]
    strength: BoundedFloat | None = optional("Distance in metres for a full texture value.")
    mid_level: BoundedFloat | None = optional("Texture value that does not move anything.")
    direction: Literal["X", "Y", "Z", "NORMAL", "CUSTOM_NORMAL", "RGB_TO_XYZ"] | None = optional("Where vertices go.")
    space: Literal["LOCAL", "GLOBAL"] | None = optional("Whose axes, for X, Y and Z.")
    texture: Annotated[Name, uses(Kind.TEXTURE)] | None = optional(
        "Name of a texture; without one all vertices go equally far."
    )
    texture_coords: Literal["LOCAL", "GLOBAL", "OBJECT", "UV"] | None = optional("How it is mapped.")
    texture_coords_object: ObjectName | None = optional("For OBJECT: the object that maps it.")
    uv_layer: AttributeName | None = optional("For UV: name of the UV map.")
    vertex_group: InnerName | None = optional("Vertex group that limits it.")


class WireframeSettings(ModifierSettings):
    """Turn edges into bars."""

    type: Literal["WIREFRAME"]
    thickness: LengthFloat | None = optional("Thickness of the bars in metres.")
    offset: float | None = optional("Where they grow: -1 inward, 0 to both sides, 1 outward.", ge=-1.0, le=1.0)
    use_replace: bool | None = optional("Without the faces: only the bars are left.")
    use_boundary: bool | None = optional("Also along open borders.")
    use_even_offset: bool | None = optional("Keep the thickness even at sharp corners.")
    use_relative_offset: bool | None = optional("Thickness by the length of the edges.")
    material_offset: int | None = optional("Added to the material slot of the bars.", ge=-32_768, le=32_767)


class SimpleDeformSettings(ModifierSettings):
    """Twist, bend, taper or stretch the whole object along an axis."""

    type: Literal["SIMPLE_DEFORM"]
    deform_method: Literal["TWIST", "BEND", "TAPER", "STRETCH"] | None = optional("What is done.")
    angle_deg: BoundedFloat | None = optional("For TWIST and BEND: angle in degrees.")
    factor: BoundedFloat | None = optional("For TAPER and STRETCH: how much; 0 is nothing.")
    deform_axis: Axis | None = optional("Axis to work along.")
    origin: ObjectName | None = optional("Object whose place and axes count instead of the own ones.")
    limits: Annotated[list[UnitFloat], Field(min_length=2, max_length=2)] | None = optional(
        "Which part along the axis, from 0 to 1."
    )
    vertex_group: InnerName | None = optional("Vertex group that limits it.")

    @model_validator(mode="after")
    def _one_amount(self) -> Self:
        # Blender keeps both in one number.
        if self.angle_deg is not None and self.factor is not None:
            raise ValueError("give angle_deg for TWIST and BEND, factor for TAPER and STRETCH, not both")
        return self


class CurveSettings(ModifierSettings):
    """Bend the object along a curve object."""

    type: Literal["CURVE"]
    object: ObjectName | None = optional("The curve object; needed on a new modifier.")
    deform_axis: Literal["POS_X", "POS_Y", "POS_Z", "NEG_X", "NEG_Y", "NEG_Z"] | None = optional(
        "Axis of the object that follows the curve."
    )
    vertex_group: InnerName | None = optional("Vertex group that limits it.")


class ShrinkwrapSettings(ModifierSettings):
    """Put the vertices onto the surface of another object."""

    type: Literal["SHRINKWRAP"]
    target: ObjectName | None = optional("The mesh object to lie on; needed on a new modifier.")
    wrap_method: Literal["NEAREST_SURFACEPOINT", "PROJECT", "NEAREST_VERTEX", "TARGET_PROJECT"] | None = optional(
        "How a place on the target is found."
    )
    wrap_mode: Literal["ON_SURFACE", "INSIDE", "OUTSIDE", "OUTSIDE_SURFACE", "ABOVE_SURFACE"] | None = optional(
        "On which side of the surface."
    )
    offset: BoundedFloat | None = optional("Distance from the surface in metres.")
    use_project_x: bool | None = optional("For PROJECT: along X.")
    use_project_y: bool | None = optional("For PROJECT: along Y.")
    use_project_z: bool | None = optional("For PROJECT: along Z.")
    use_negative_direction: bool | None = optional("For PROJECT: also backward.")
    use_positive_direction: bool | None = optional("For PROJECT: also forward.")
    vertex_group: InnerName | None = optional("Vertex group that limits it.")


class CastSettings(ModifierSettings):
    """Pull the object towards a ball, a cylinder or a box."""

    type: Literal["CAST"]
    cast_type: Literal["SPHERE", "CYLINDER", "CUBOID"] | None = optional("The shape.")
    factor: BoundedFloat | None = optional("How much: 0 nothing, 1 fully.")
    radius: LengthFloat | None = optional("Only what is nearer than this is moved; 0: everything.")
    size: LengthFloat | None = optional("Size of the shape; 0: that of the object.")
    vertex_group: InnerName | None = optional("Vertex group that limits it.")


class SmoothSettings(ModifierSettings):
    """Even out bumps."""

    type: Literal["SMOOTH"]
    factor: BoundedFloat | None = optional("How much, each time.")
    iterations: int | None = optional("How often.", ge=0, le=1000)
    vertex_group: InnerName | None = optional("Vertex group that limits it.")


class WeldSettings(ModifierSettings):
    """Join vertices that are close to each other."""

    type: Literal["WELD"]
    merge_threshold: LengthFloat | None = optional("Distance to join within, in metres.")
    mode: Literal["ALL", "CONNECTED"] | None = optional("All vertices, or only along edges.")
    vertex_group: InnerName | None = optional("Vertex group that limits it.")


class TriangulateSettings(ModifierSettings):
    """Make triangles of all faces."""

    type: Literal["TRIANGULATE"]
    quad_method: Literal["BEAUTY", "FIXED", "FIXED_ALTERNATE", "SHORTEST_DIAGONAL", "LONGEST_DIAGONAL"] | None = (
        optional("How quads are cut.")
    )
    ngon_method: Literal["BEAUTY", "CLIP"] | None = optional("How faces with more corners are cut.")
    min_vertices: int | None = optional("Only faces with at least so many corners.", ge=4, le=1000)


class WeightedNormalSettings(ModifierSettings):
    """Shade by large faces, so that bevelled edges look clean."""

    type: Literal["WEIGHTED_NORMAL"]
    mode: Literal["FACE_AREA", "CORNER_ANGLE", "FACE_AREA_WITH_ANGLE"] | None = optional("What counts more.")
    weight: int | None = optional("How much more, 50 is even.", ge=1, le=100)
    keep_sharp: bool | None = optional("Leave sharp edges sharp.")
    use_face_influence: bool | None = optional("By the face strength of bevels.")


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
    """How a setting is kept: under which attribute, in which form, and which switch it turns on."""

    attribute: str
    form: Literal["plain", "degrees", "axes", "solver"] = "plain"
    refers_to: Kind | None = None
    switch: str | None = None


# Settings that are not simply the attribute of the same name; a name means the same in every type that has it.
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
# Handled separately: the discriminator, and the inputs of a tree, which are custom properties.
SEPARATE = frozenset({"type", "inputs"})


def requested(settings: ModifierSettings) -> dict[str, tuple[BlenderProperty, Any]]:
    """The settings that are not left out, by name, with how Blender keeps them; switches that they turn on come along."""
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
