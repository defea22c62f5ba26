"""object.apply_transform"""

from __future__ import annotations

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, Name, Result
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation_data import channel_conflicts
from blendwright.tools.checks import conflict, differs, existing_object, required_object
from blendwright.tools.object import geometry_transform as geometry
from blendwright.tools.world_space import IDENTITY

BOX = (
    "mesh.create_primitive",
    {"kind": "cube", "name": "Box", "location": [1, 2, 3], "rotation_euler_deg": [0, 30, 45], "scale": [2, 1, -1]},
)
TIP = ("object.create_empty", {"name": "Tip", "location": [0, 0, 2], "parent": "Box"})
TWIN = ("object.duplicate", {"object": "Box", "new_name": "Twin"})

Neutral = dict[str, tuple[float, ...]]
PARTS = ("location", "rotation", "scale")
NEUTRAL_EULER: Neutral = {"rotation_euler": (0, 0, 0), "delta_rotation_euler": (0, 0, 0)}
NEUTRAL_ROTATIONS: dict[str, Neutral] = {
    "QUATERNION": {"rotation_quaternion": (1, 0, 0, 0), "delta_rotation_quaternion": (1, 0, 0, 0)},
    "AXIS_ANGLE": {"rotation_axis_angle": (0, 0, 1, 0)},
}
# Modifiers with lengths in the object's own units, or that work about its origin.
BY_UNIT = frozenset({"ARRAY", "BEVEL", "CAST", "DISPLACE", "NODES", "REMESH", "SKIN", "SOLIDIFY", "WELD", "WIREFRAME"})
BY_AXES = frozenset({"ARRAY", "CAST", "CURVE", "MIRROR", "NODES", "SCREW", "SIMPLE_DEFORM", "WARP", "WAVE"})


class ApplyTransformArgs(Args):
    object: ObjectName = Field(description="Name of the mesh, curve, surface or lattice object.")
    location: bool = Field(
        default=True, description="Apply the location: its origin comes to that of its parent or the world."
    )
    rotation: bool = Field(
        default=True, description="Apply the rotation: its axes are those of its parent or the world."
    )
    scale: bool = Field(default=True, description="Apply the scale: it becomes 1, and its size is real.")
    make_single_user: bool = Field(
        default=False, description="When others share its geometry: give the object geometry of its own."
    )
    data_name: Name | None = geometry.DATA_NAME

    @model_validator(mode="after")
    def _asks_something(self) -> ApplyTransformArgs:
        if not self.chosen():
            raise PydanticCustomError("nothing_asked", "at least one of location, rotation and scale must be true")
        return self

    def chosen(self) -> list[str]:
        return [name for name in PARTS if getattr(self, name)]


class TransformApplied(Result):
    object: str = Field(description="Name of the object.")
    data: str = Field(description="Name of its geometry.")
    changed: bool = Field(description="False when nothing had to be applied.")
    flipped: bool = Field(description="Whether its faces were turned around, because its scale was mirroring.")
    modifiers: list[str] = Field(
        description="Modifiers that may look different now, since they work in the object's units or along its axes."
    )


class ApplyTransform(Tool[ApplyTransformArgs, TransformApplied]):
    """Apply location, rotation and scale of an object to its geometry; nothing moves.

    The channels become neutral. Children keep their place, shape keys are transformed too,
    and faces stay the right way round when the scale is negative."""

    name = "object.apply_transform"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(*geometry.WRITTEN_KINDS).needs("object_write", "mesh_write")
    examples = (
        Example({"object": "Box"}, BOX, TIP),
        Example({"object": "Box", "location": False, "rotation": False}, BOX, TIP),
        Example({"object": "Box", "make_single_user": True, "data_name": "Own box"}, BOX, TWIN),
    )

    def check(self, scene: Scene, args: ApplyTransformArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object", *geometry.GEOMETRY_KINDS)
        if obj is None or _is_neutral(args, obj):
            return
        for name in args.chosen():
            for channel in _neutral(obj, name):
                yield from channel_conflicts(scene, obj, channel, f"/{name}")
        yield from geometry.child_problems(scene, obj)
        yield from geometry.sharing_problems(scene, obj, args.make_single_user, args.data_name)
        if abs(obj.matrix_basis.determinant()) < 1e-12:
            message = f"'{args.object}' has a scale of zero, which would flatten its geometry for good"
            yield conflict(message, "/object", "Give it a scale first with object.transform.")
        else:
            yield from geometry.flatness_problems(obj, _change(scene, args, obj), "/object")

    def apply(self, scene: Scene, args: ApplyTransformArgs) -> TransformApplied:
        obj = required_object(scene, args.object, "/object")
        if _is_neutral(args, obj):
            return TransformApplied(object=args.object, data=obj.data.name, changed=False, flipped=False, modifiers=[])
        change = _change(scene, args, obj)
        before = geometry.places_of(scene, obj)
        data = geometry.writable_data(scene, obj, args.data_name)
        for name in args.chosen():
            for channel, neutral in _neutral(obj, name).items():
                scene.set(obj, channel, neutral)
        geometry.move_geometry(scene, obj, change, data)
        geometry.refuse_movement(scene, obj, before, change)
        return TransformApplied(
            object=args.object,
            data=data.name,
            changed=True,
            flipped=obj.type == "MESH" and change.determinant() < 0,
            modifiers=_sensitive_modifiers(args, obj),
        )

    def verify(self, scene: Scene, args: ApplyTransformArgs, result: TransformApplied) -> Findings:
        obj = required_object(scene, args.object, "/object")
        for name in args.chosen():
            for channel, neutral in _neutral(obj, name).items():
                yield from differs(f"its {channel}", neutral, tuple(getattr(obj, channel)), f"/{name}")
        yield from differs("the name of its geometry", result.data, obj.data.name, "/data_name")


def _is_neutral(args: ApplyTransformArgs, obj: Block) -> bool:
    return all(
        tuple(getattr(obj, channel)) == neutral
        for name in args.chosen()
        for channel, neutral in _neutral(obj, name).items()
    )


def _neutral(obj: Block, part: str) -> Neutral:
    """The channels that count for a part of an object's transform, with the values that change nothing."""
    if part == "location":
        return {"location": (0, 0, 0), "delta_location": (0, 0, 0)}
    if part == "scale":
        return {"scale": (1, 1, 1), "delta_scale": (1, 1, 1)}
    return NEUTRAL_ROTATIONS.get(obj.rotation_mode, NEUTRAL_EULER)


def _change(scene: Scene, args: ApplyTransformArgs, obj: Block) -> Block:
    """What the geometry has to go through, so that it stays where it is with the channels that are left."""
    # Taking a matrix apart would not tell which axis is the mirrored one.
    size = scene.matrix(IDENTITY)
    for axis in range(3):
        size[axis][axis] = obj.scale[axis] * obj.delta_scale[axis]
    left = scene.matrix(IDENTITY)
    if not args.rotation:
        left = (obj.matrix_basis @ size.inverted()).to_3x3().to_4x4()
    if not args.scale:
        left = left @ size
    if not args.location:
        left.translation = obj.matrix_basis.translation
    return left.inverted() @ obj.matrix_basis


def _sensitive_modifiers(args: ApplyTransformArgs, obj: Block) -> list[str]:
    kinds = BY_UNIT if args.scale else frozenset[str]()
    if args.location or args.rotation:
        kinds |= BY_AXES
    return [modifier.name for modifier in obj.modifiers if modifier.type in kinds]
