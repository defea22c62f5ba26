"""object.apply_transform"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, Name, Result, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation_data import channel_conflicts
from blendwright.tools.checks import conflict, differs, existing_object, invalid, required_object
from blendwright.tools.object import geometry_transform as geometry
from blendwright.tools.world_space import IDENTITY

BOX = (
    "mesh.create_primitive",
    {"kind": "cube", "name": "Box", "location": [1, 2, 3], "rotation_euler_deg": [0, 30, 45], "scale": [2, 1, -1]},
)
STRUT = ("mesh.create_primitive", {"kind": "cylinder", "name": "Strut", "location": [4, 0, 0], "scale": [1, 1, 3]})
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
    object: ObjectName | None = optional("Name of the mesh, curve, surface or lattice object; or give `objects`.")
    objects: Annotated[list[ObjectName], Field(min_length=1, max_length=1000)] | None = optional(
        "Names of several such objects, instead of `object`: all of them, or none where one cannot be done."
    )
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
    def _names_objects(self) -> ApplyTransformArgs:
        if (self.object is None) == (self.objects is None):
            raise PydanticCustomError("one_of", "give either 'object' or 'objects'")
        return self

    @model_validator(mode="after")
    def _asks_something(self) -> ApplyTransformArgs:
        if not self.chosen():
            raise PydanticCustomError("nothing_asked", "at least one of location, rotation and scale must be true")
        return self

    def chosen(self) -> list[str]:
        return [name for name in PARTS if getattr(self, name)]

    def named(self) -> Iterator[tuple[str, str]]:
        """The names of the objects, each with its place in the arguments."""
        if self.object is not None:
            yield self.object, "/object"
        for number, name in enumerate(self.objects or ()):
            yield name, f"/objects/{number}"


class AppliedToOne(Result):
    object: str = Field(description="Name of the object.")
    data: str = Field(description="Name of its geometry.")
    changed: bool = Field(description="False when nothing had to be applied.")
    flipped: bool = Field(description="Whether its faces were turned around, because its scale was mirroring.")
    modifiers: list[str] = Field(
        description="Modifiers that may look different now, since they work in the object's units or along its axes."
    )


class TransformApplied(Result):
    object: str = Field(description="Name of the object; empty with `objects`.")
    data: str = Field(description="Name of its geometry; empty with `objects`.")
    changed: bool = Field(description="False when nothing had to be applied.")
    flipped: bool = Field(description="Whether faces were turned around, because a scale was mirroring.")
    modifiers: list[str] = Field(
        description="Modifiers that may look different now, since they work in the object's units or along its axes."
    )
    objects: list[AppliedToOne] = Field(default=[], description="What became of each, where `objects` were given.")
    notes: list[str] = Field(default=[], description="What may surprise about it: origins that are elsewhere now.")


class ApplyTransform(Tool[ApplyTransformArgs, TransformApplied]):
    """Apply location, rotation and scale of an object, or of several, to their geometry; nothing moves.

    The channels become neutral. Children keep their place, shape keys are transformed too,
    and faces stay the right way round when the scale is negative."""

    name = "object.apply_transform"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(*geometry.WRITTEN_KINDS).needs("object_write", "mesh_write")
    examples = (
        Example({"object": "Box"}, BOX, TIP),
        Example({"object": "Box", "location": False, "rotation": False}, BOX, TIP),
        Example({"objects": ["Box", "Strut"], "location": False}, BOX, STRUT),
        Example({"object": "Box", "make_single_user": True, "data_name": "Own box"}, BOX, TWIN),
    )

    def examine(self, args: ApplyTransformArgs, blender: tuple[int, int, int] | None) -> Findings:
        given = args.objects or []
        for number, name in enumerate(given):
            if name in given[:number]:
                yield invalid(f"'{name}' is named twice", f"/objects/{number}", "Name each object once.")
        if args.data_name is not None and len(given) > 1:
            cure = "Leave it out: each geometry of its own gets the name of its object."
            yield invalid("several geometries cannot have one name", "/data_name", cure)

    def check(self, scene: Scene, args: ApplyTransformArgs) -> Findings:
        work: list[tuple[Block, str]] = []
        for name, at in args.named():
            obj = yield from existing_object(scene, name, at, *geometry.GEOMETRY_KINDS)
            if obj is not None and not _is_neutral(args, obj):
                work.append((obj, at))
        alone = _left_alone(scene, [obj for obj, _ in work])
        for obj, at in work:
            yield from _problems(scene, args, obj, at)
            if not (args.make_single_user and obj in alone):
                if args.objects:
                    named_at = at
                else:
                    named_at = "/data_name"
                yield from geometry.sharing_problems(scene, obj, args.make_single_user, args.data_name, named_at)

    def apply(self, scene: Scene, args: ApplyTransformArgs) -> TransformApplied:
        movement = geometry.Movement(scene)
        objects = [required_object(scene, name, at) for name, at in args.named()]
        work = [obj for obj in objects if not _is_neutral(args, obj)]
        for obj, (_, at) in zip(objects, args.named(), strict=True):
            if obj in work:
                movement.expect(obj, _change(scene, args, obj), at)
        alone = _left_alone(scene, work)
        notes = _origin_notes(args, work)
        for obj in sorted(work, key=alone.__contains__):
            data = geometry.writable_data(scene, obj, args.data_name)
            for name in args.chosen():
                for channel, neutral in _neutral(obj, name).items():
                    scene.set(obj, channel, neutral)
            geometry.move_geometry(scene, obj, movement.change_of(obj), data)
        movement.refuse_others()
        each = [_applied(args, obj, movement.change_of(obj) if obj in work else None) for obj in objects]
        if args.object is not None:
            return TransformApplied.model_validate(each[0].model_dump() | {"notes": notes})
        return TransformApplied(
            object="",
            data="",
            changed=any(one.changed for one in each),
            flipped=any(one.flipped for one in each),
            modifiers=sorted({modifier for one in each for modifier in one.modifiers}),
            objects=each,
            notes=notes,
        )

    def verify(self, scene: Scene, args: ApplyTransformArgs, result: TransformApplied) -> Findings:
        told = result.objects or [result]
        for (object_name, at), one in zip(args.named(), told, strict=True):
            obj = required_object(scene, object_name, at)
            for name in args.chosen():
                for channel, neutral in _neutral(obj, name).items():
                    yield from differs(f"its {channel}", neutral, tuple(getattr(obj, channel)), f"/{name}")
            yield from differs("the name of its geometry", one.data, obj.data.name, "/data_name")


def _problems(scene: Scene, args: ApplyTransformArgs, obj: Block, at: str) -> Findings:
    for name in args.chosen():
        for channel in _neutral(obj, name):
            yield from channel_conflicts(scene, obj, channel, f"/{name}")
    yield from geometry.child_problems(scene, obj, at)
    if abs(obj.matrix_basis.determinant()) < 1e-12:
        message = f"'{obj.name}' has a scale of zero, which would flatten its geometry for good"
        yield conflict(message, at, "Give it a scale first with object.transform.")
    else:
        yield from geometry.flatness_problems(obj, _change(scene, args, obj), at)


def _left_alone(scene: Scene, objects: list[Block]) -> list[Block]:
    """Of objects that share geometry with nobody but each other, the one that keeps it when the others have got their own: the one
    whose name it has, else the last one."""
    names = {obj.name for obj in objects}
    alone: dict[str, Block] = {}
    for obj in objects:
        others = geometry.sharers(scene, obj.data, obj)
        if others and names.issuperset(others):
            kept = alone.get(obj.data.name)
            if kept is None or kept.name != obj.data.name:
                alone[obj.data.name] = obj
            else:
                alone[obj.data.name] = kept
    return list(alone.values())


def _origin_notes(args: ApplyTransformArgs, work: list[Block]) -> list[str]:
    """Whoever wants scales applied does not expect that origins go elsewhere, and sees nothing of it in a picture."""
    if args.location:
        moved = [obj for obj in work if any(obj.location) or any(obj.delta_location)]
    else:
        moved = []
    if not moved:
        return []
    if len(moved) == 1:
        whose = f"the origin of '{moved[0].name}' is"
    else:
        whose = f"the origins of {len(moved)} objects are"
    return [f"{whose} at that of the world or the parent now (location: false keeps it where it was)"]


def _applied(args: ApplyTransformArgs, obj: Block, change: Block | None) -> AppliedToOne:
    return AppliedToOne(
        object=obj.name,
        data=obj.data.name,
        changed=change is not None,
        flipped=change is not None and obj.type == "MESH" and change.determinant() < 0,
        modifiers=_sensitive_modifiers(args, obj) if change is not None else [],
    )


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
    if args.scale:
        kinds = BY_UNIT
    else:
        kinds = frozenset[str]()
    if args.location or args.rotation:
        kinds |= BY_AXES
    return [modifier.name for modifier in obj.modifiers if modifier.type in kinds]
