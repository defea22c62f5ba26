"""The published models of a scene snapshot, from which `schemas/scene_snapshot.v1.json` is generated.

This module defines names, meanings and limits, and reads no scene. Changing the meaning of a field, or removing a field, needs a
new version of the schema.
"""

from __future__ import annotations

from typing import Annotated, Generic, Literal, TypeVar

from pydantic import Field

from blendwright.tool_api.arguments import Result

VERSION = 1
# Limits inside an entry, so that a result stays small for every scene. A cut list or string is marked as cut.
MAX_IN_LIST = 64
MAX_CHARACTERS = 1000

# Blender's own single-precision values, unrounded; null stands for a number that is not finite.
Number = float | None
Vector3 = tuple[Number, Number, Number]
Vector4 = tuple[Number, Number, Number, Number]
Fingerprint = Annotated[str, Field(min_length=1, description="Content hash: equal for equal content.")]
Count = Annotated[int, Field(ge=0)]
CuttableList = Literal["collections", "materials", "modifiers", "custom_properties"]
# Values of custom properties, two levels deep; deeper levels are cut.
Leaf = int | float | str | None
Flat = Leaf | list[Leaf] | dict[str, Leaf]
Plain = Leaf | list[Flat] | dict[str, Flat]

T = TypeVar("T")
Cut = Annotated[list[T], Field(max_length=MAX_IN_LIST)]
Names = Cut[str]


class Section(Result, Generic[T]):
    """A page of a list in canonical order, which is by name."""

    total: Count = Field(description="Number of entries on all pages, after filters.")
    items: list[T] = Field(max_length=1000, description="Entries from offset on, at most limit.")
    truncated: bool = Field(description="Whether more entries follow this page.")


class CustomProperty(Result):
    name: str = Field(description="Name of the property.")
    type: Literal["int", "float", "string", "bytes", "list", "group", "datablock"] = Field(
        description="Booleans are int, as Blender itself stores them; bytes are in hex; a datablock is TYPE/name."
    )
    value: Plain = Field(description="Value of the property, cut if it is long.")
    truncated: bool = Field(description="Whether the value was cut.")


class Transform(Result):
    """The transform of an object; angles in radians, exactly as Blender stores them."""

    location: Vector3
    rotation_mode: Literal["QUATERNION", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE"]
    rotation_euler_rad: Vector3
    rotation_quaternion: Vector4 = Field(description="As w, x, y, z.")
    rotation_axis_angle: Vector4 = Field(description="Angle in radians, then the axis.")
    scale: Vector3
    matrix_world: tuple[Vector4, Vector4, Vector4, Vector4] | None = Field(
        description="Rows of the world matrix; null for an object that the scene does not evaluate (hidden, or in no collection)."
    )


class Parent(Result):
    object: str = Field(description="Name of the parent.")
    type: str = Field(description="Blender's parent type: OBJECT, BONE, VERTEX …")
    bone: str | None = Field(description="Name of the bone, for the type BONE.")


class Used(Result):
    """A datablock that other datablocks can use."""

    users: Count = Field(description="Number of objects that use it; for a node group, number of modifiers and nodes.")
    fake_user: bool = Field(description="Whether a fake user keeps it; a step gives one to data that it leaves unused.")


class ModifierState(Result):
    name: str
    type: str = Field(description="Blender's modifier type: ARRAY, BEVEL, NODES …")
    show_viewport: bool
    show_render: bool
    node_group: str | None = Field(description="Name of its node group, for the type NODES.")
    targets: Names = Field(
        default=[],
        description="Objects and collections that its own settings refer to; inputs of node groups are omitted.",
    )


class AnimationState(Result):
    channels: Names = Field(description="Paths of its keyed channels, sorted: location, rotation_euler …")
    first_frame: Number = Field(description="Frame of its first keyframe.")
    last_frame: Number = Field(description="Frame of its last keyframe.")


class ObjectState(Result):
    name: str
    type: str = Field(description="Blender's object type: MESH, LIGHT, EMPTY …")
    fingerprint: Fingerprint
    data: str | None = Field(description="Name of its mesh, curve, light …; null for an empty.")
    data_fingerprint: Fingerprint | None = Field(description="Content hash of that data.")
    data_users: Count | None = Field(description="Number of objects that use that data; null for an empty.")
    transform: Transform
    dimensions: Vector3 | None = Field(
        default=None,
        description="Size along its own axes, with modifiers and scale, without instances; null for an object without geometry and "
        "for one that the scene does not evaluate.",
    )
    animation: AnimationState | None = Field(default=None, description="Its own keyframes; null if it has none.")
    parent: Parent | None
    children: Count = Field(default=0, description="Number of objects that have it as parent.")
    collections: Names = Field(
        description="Collections that contain it, sorted; the scene's own is 'Scene Collection'."
    )
    materials: Cut[str | None] = Field(description="Material of each slot, in order; null for an empty slot.")
    modifiers: Cut[ModifierState] = Field(description="Modifiers in the order of the stack.")
    custom_properties: Cut[CustomProperty] = Field(description="Custom properties sorted by name.")
    visible_viewport: bool = Field(description="Not disabled in viewports.")
    visible_render: bool = Field(description="Not disabled in renders.")
    used_by: Names = Field(
        default=[],
        description="Other users (modifiers, constraints, drivers, nodes …), as kind/name, sorted, without collections, scenes and "
        "its children. If the list is cut, the last entry is '…'.",
    )
    cut: list[CuttableList] = Field(description="Names of the lists above that were cut.")


class CollectionNode(Result):
    """A collection with its descendants. If its parent is on another page, it is at the top, with its parent's name."""

    name: str = Field(description="Name of the collection; the scene's own is 'Scene Collection'.")
    parent: str | None = Field(description="Parent collection; null for a scene's own and for unlinked ones.")
    also_in: Names = Field(description="Further collections that contain it.")
    objects: Count = Field(description="Number of its direct objects.")
    visible_viewport: bool
    visible_render: bool
    children: list[CollectionNode] = Field(description="Child collections, in Blender's order.")


class NodeSummary(Result):
    nodes: Count
    links: Count
    types: dict[str, Count] = Field(description="Number of nodes of each type, by Blender's identifier.")
    groups: Names = Field(description="Node groups that it uses, sorted.")
    cut: bool = Field(description="Whether types or groups were cut.")


class Principled(Result):
    """The Principled BSDF that is linked to the active output. A value that another node supplies is null."""

    base_color: Vector4 | None
    metallic: Number
    roughness: Number
    ior: Number
    alpha: Number
    emission_color: Vector4 | None
    emission_strength: Number
    transmission: Number


class MaterialState(Used):
    name: str
    fingerprint: Fingerprint
    nodes: NodeSummary | None = Field(description="Summary of its nodes; null for a material without nodes.")
    principled: Principled | None
    equal_to: str | None = Field(
        default=None,
        description="The first material of this page with equal content apart from name and users; null if it is the first itself.",
    )


class CameraState(Used):
    name: str
    fingerprint: Fingerprint
    type: str
    lens_mm: Number
    sensor_fit: str
    sensor_width_mm: Number
    sensor_height_mm: Number
    ortho_scale: Number
    shift: tuple[Number, Number]
    clip_start: Number
    clip_end: Number
    focus_distance: Number = Field(description="Focus distance; null if depth of field is off.")


class LightState(Used):
    name: str
    fingerprint: Fingerprint
    type: Literal["POINT", "SUN", "SPOT", "AREA"]
    color: Vector3
    energy: Number
    radius: Number = Field(description="Radius of point and spot lights; null for others.")
    sun_angle_rad: Number = Field(description="Angle of the sun; null for others.")
    spot_angle_rad: Number = Field(description="Angle of spot lights; null for others.")
    area_shape: str | None = Field(description="Shape of area lights; null for others.")
    area_size: tuple[Number, Number] | None = Field(description="Size of area lights; null for others.")


class WorldState(Result):
    name: str
    fingerprint: Fingerprint
    color: Vector3
    nodes: NodeSummary | None


class RenderState(Result):
    engine: str
    resolution: tuple[int, int]
    resolution_percentage: int
    samples: int | None = Field(description="Samples of the engine in use; null for an engine without a known number.")
    seed: int | None = Field(description="Seed of Cycles; null for other engines.")
    film_transparent: bool
    view_transform: str
    frame_start: int
    frame_end: int
    frame_step: int
    frame_current: int
    fps: int
    fps_base: Number
    camera: str | None = Field(description="Name of the active camera object.")
    unit_system: str
    unit_scale: Number


class SocketState(Result):
    name: str
    identifier: str
    direction: Literal["INPUT", "OUTPUT"]
    type: str


class NodeGroupState(Used):
    name: str
    fingerprint: Fingerprint
    type: str = Field(description="Blender's type of node tree: GeometryNodeTree, ShaderNodeTree …")
    nodes: NodeSummary
    interface: Cut[SocketState] = Field(description="Its interface sockets, in order.")
    cut: bool = Field(description="Whether the interface was cut.")


class Indices(Result):
    """Indices of the objects of this page by name, collection and material."""

    by_name: dict[str, Count] = Field(
        description="Position of each object in the canonical order; position minus offset is the index in `items`."
    )
    by_collection: dict[str, list[str]] = Field(description="Names of the objects on this page, by collection.")
    by_material: dict[str, list[str]] = Field(description="Names of the objects on this page, by material.")


class Unused(Result):
    """Datablocks that nothing uses, with or without a fake user. scene.purge removes them."""

    total: Count
    items: Names = Field(description="The first of them, as kind/name, sorted.")


class SceneName(Result):
    id: str = Field(description="scenes/ and the name; stays the same while the scene keeps its name.")
    name: str


class Snapshot(Result):
    """The state of a scene, one page at a time. Sections that were not requested are null."""

    snapshot_version: Literal[1] = VERSION
    scene: SceneName
    blender_version: tuple[int, int, int]
    fingerprint: Fingerprint = Field(description="Hash of the whole scene.")
    offset: Count
    limit: Annotated[int, Field(ge=1, le=1000)]
    next_offset: Count | None = Field(
        description="Value of `offset` for the next page; null if no section has more entries."
    )
    objects: Section[ObjectState] | None
    collections: Section[CollectionNode] | None = Field(
        description="Collections as trees, depth first; the page limit counts all their descendants too."
    )
    materials: Section[MaterialState] | None
    cameras: Section[CameraState] | None
    lights: Section[LightState] | None
    node_groups: Section[NodeGroupState] | None
    world: WorldState | None = Field(description="World of the scene; null also if the scene has none.")
    render: RenderState | None
    unused: Unused | None
    indices: Indices | None
