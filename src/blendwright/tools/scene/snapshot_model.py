"""The snapshot of a scene as published: `schemas/scene_snapshot.v1.json` is made from these models.

Responsible for: names, meanings and bounds. Reads no scene. Changing what a field means, or removing one, is a new version.
"""

from __future__ import annotations

from typing import Annotated, Generic, Literal, TypeVar

from pydantic import Field

from blendwright.tool_api.arguments import Result

VERSION = 1
# An answer stays within bounds whatever the scene: lists inside an entry are cut here, and the entry says so.
MOST_IN_LIST = 64
MOST_CHARACTERS = 1000

# Blender's own single-precision values, exactly; null stands for what is no finite number.
Number = float | None
Vector3 = tuple[Number, Number, Number]
Vector4 = tuple[Number, Number, Number, Number]
Fingerprint = Annotated[str, Field(min_length=1, description="Content hash: equal where the content is equal.")]
Count = Annotated[int, Field(ge=0)]
CuttableList = Literal["collections", "materials", "modifiers", "custom_properties"]
# What custom properties hold, two levels deep; what lies deeper is cut.
Leaf = int | float | str | None
Flat = Leaf | list[Leaf] | dict[str, Leaf]
Plain = Leaf | list[Flat] | dict[str, Flat]

T = TypeVar("T")
Cut = Annotated[list[T], Field(max_length=MOST_IN_LIST)]
Names = Cut[str]


class Section(Result, Generic[T]):
    """One page of a list in canonical order, which is by name."""

    total: Count = Field(description="How many there are in all, after filters.")
    items: list[T] = Field(max_length=1000, description="Those from offset on, at most limit.")
    truncated: bool = Field(description="Whether there are more behind this page.")


class CustomProperty(Result):
    name: str = Field(description="Its key.")
    type: Literal["int", "float", "string", "bytes", "list", "group", "datablock"] = Field(
        description="Booleans count as int, as Blender itself stores them; bytes are in hex; a datablock is TYPE/name."
    )
    value: Plain = Field(description="Its value, cut where it is long.")
    truncated: bool = Field(description="Whether the value was cut.")


class Transform(Result):
    """Where an object stands; angles in radians, exactly as Blender holds them."""

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
    bone: str | None = Field(description="The bone, for the type BONE.")


class Used(Result):
    """A datablock that others use."""

    users: Count = Field(description="How many objects have it; of a node group, how many modifiers and nodes.")
    fake_user: bool = Field(description="Whether it is kept without any: of what a step left unused, that is so.")


class ModifierState(Result):
    name: str
    type: str = Field(description="Blender's modifier type: ARRAY, BEVEL, NODES …")
    show_viewport: bool
    show_render: bool
    node_group: str | None = Field(description="For the type NODES: its node group.")
    targets: Names = Field(
        default=[],
        description="Objects and collections that its own settings name; inputs of node groups are not among them.",
    )


class AnimationState(Result):
    channels: Names = Field(description="Paths of what its keyframes move, sorted: location, rotation_euler …")
    first_frame: Number = Field(description="Of its first keyframe.")
    last_frame: Number = Field(description="Of its last keyframe.")


class ObjectState(Result):
    name: str
    type: str = Field(description="Blender's object type: MESH, LIGHT, EMPTY …")
    fingerprint: Fingerprint
    data: str | None = Field(description="Name of its mesh, curve, light …; null for an empty.")
    data_fingerprint: Fingerprint | None = Field(description="Content hash of that data.")
    data_users: Count | None = Field(description="How many objects share that data; null for an empty.")
    transform: Transform
    dimensions: Vector3 | None = Field(
        default=None,
        description="How large it is along its own axes, modifiers and scale included, instances not; null for what has no geometry "
        "and for what the scene does not evaluate.",
    )
    animation: AnimationState | None = Field(
        default=None, description="What keyframes of its own do; null where it has none."
    )
    parent: Parent | None
    children: Count = Field(default=0, description="How many objects have it as their parent.")
    collections: Names = Field(description="Collections that hold it, sorted; the scene's own is 'Scene Collection'.")
    materials: Cut[str | None] = Field(description="Material of each slot, in order; null for an empty slot.")
    modifiers: Cut[ModifierState] = Field(description="In the order of the stack.")
    custom_properties: Cut[CustomProperty] = Field(description="Sorted by name.")
    visible_viewport: bool = Field(description="Not disabled in viewports.")
    visible_render: bool = Field(description="Not disabled in renders.")
    used_by: Names = Field(
        default=[],
        description="Whatever else refers to it (modifiers, constraints, drivers, nodes …), as kind/name, sorted; not collections, "
        "scenes and its children. Where there are more than fit, the last is '…'.",
    )
    cut: list[CuttableList] = Field(description="The lists above that were cut.")


class CollectionNode(Result):
    """A collection with what is below it. One whose parent is on another page stands at the top, with its parent's name."""

    name: str = Field(description="Its name; the scene's own collection is 'Scene Collection'.")
    parent: str | None = Field(description="The collection it is under; null for a scene's own and for unlinked ones.")
    also_in: Names = Field(description="Further collections that hold it.")
    objects: Count = Field(description="How many objects it holds itself.")
    visible_viewport: bool
    visible_render: bool
    children: list[CollectionNode] = Field(description="The collections in it, in Blender's order.")


class NodeSummary(Result):
    nodes: Count
    links: Count
    types: dict[str, Count] = Field(description="How many nodes there are of each type, by Blender's identifier.")
    groups: Names = Field(description="Node groups that it uses, sorted.")
    cut: bool = Field(description="Whether types or groups were cut.")


class Principled(Result):
    """The shader behind the active output, when it is a Principled BSDF; null where another node feeds a value."""

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
    nodes: NodeSummary | None = Field(description="Null for a material without nodes.")
    principled: Principled | None
    equal_to: str | None = Field(
        default=None,
        description="The first material of this page that differs from it in nothing but its name and users; null where it is the first.",
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
    focus_distance: Number = Field(description="Null when depth of field is off.")


class LightState(Used):
    name: str
    fingerprint: Fingerprint
    type: Literal["POINT", "SUN", "SPOT", "AREA"]
    color: Vector3
    energy: Number
    radius: Number = Field(description="Of point and spot lights; null for others.")
    sun_angle_rad: Number = Field(description="Of the sun; null for others.")
    spot_angle_rad: Number = Field(description="Of spot lights; null for others.")
    area_shape: str | None = Field(description="Of area lights; null for others.")
    area_size: tuple[Number, Number] | None = Field(description="Of area lights; null for others.")


class WorldState(Result):
    name: str
    fingerprint: Fingerprint
    color: Vector3
    nodes: NodeSummary | None


class RenderState(Result):
    engine: str
    resolution: tuple[int, int]
    resolution_percentage: int
    samples: int | None = Field(description="Of the engine in use; null where it has none that is known here.")
    seed: int | None = Field(description="Of Cycles; null for others.")
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
    type: str = Field(description="GeometryNodeTree, ShaderNodeTree …")
    nodes: NodeSummary
    interface: Cut[SocketState] = Field(description="Its sockets, in order.")
    cut: bool = Field(description="Whether the interface was cut.")


class Indices(Result):
    """Ways into the objects of this page."""

    by_name: dict[str, Count] = Field(
        description="Name to position in the canonical order: position minus offset is the item."
    )
    by_collection: dict[str, list[str]] = Field(description="Collection to the names of its objects on this page.")
    by_material: dict[str, list[str]] = Field(
        description="Material to the names of the objects on this page that have it."
    )


class Unused(Result):
    """What nothing uses, fake users or not: scene.purge removes it."""

    total: Count
    items: Names = Field(description="The first of them, as kind/name, sorted.")


class SceneName(Result):
    id: str = Field(description="Stays the same while the scene keeps its name: scenes/ and the name.")
    name: str


class Snapshot(Result):
    """The state of a scene, one page at a time. A section that was not asked for is null."""

    snapshot_version: Literal[1] = VERSION
    scene: SceneName
    blender_version: tuple[int, int, int]
    fingerprint: Fingerprint = Field(description="Hash of the whole scene.")
    offset: Count
    limit: Annotated[int, Field(ge=1, le=1000)]
    next_offset: Count | None = Field(
        description="Ask with this offset for the next page; null when no section has more."
    )
    objects: Section[ObjectState] | None
    collections: Section[CollectionNode] | None = Field(
        description="As trees, depth first; items of a page are counted with all below."
    )
    materials: Section[MaterialState] | None
    cameras: Section[CameraState] | None
    lights: Section[LightState] | None
    node_groups: Section[NodeGroupState] | None
    world: WorldState | None = Field(description="Null also when the scene has none.")
    render: RenderState | None
    unused: Unused | None
    indices: Indices | None
