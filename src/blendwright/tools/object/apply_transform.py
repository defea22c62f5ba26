"""Tool object.apply_transform"""

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
# Types of modifiers with lengths in the object's own units, and types that work along its axes or about its origin.
BY_UNIT = frozenset({"ARRAY", "BEVEL", "CAST", "DISPLACE", "NODES", "REMESH", "SKIN", "SOLIDIFY", "WELD", "WIREFRAME"})
BY_AXES = frozenset({"ARRAY", "CAST", "CURVE", "MIRROR", "NODES", "SCREW", "SIMPLE_DEFORM", "WARP", "WAVE"})


class ApplyTransformArgs(Args):
    object: ObjectName | None = optional("Name of the mesh, curve, surface or lattice object; or give `objects`.")
    objects: Annotated[list[ObjectName], Field(min_length=1, max_length=1000)] | None = optional(
        "Names of several such objects, instead of `object`. If one cannot be done, none is."
    )
    location: bool = Field(
        default=True, description="Apply the location: the origin moves to that of the parent or the world."
    )
    rotation: bool = Field(
        default=True, description="Apply the rotation: the axes become those of the parent or the world."
    )
    scale: bool = Field(default=True, description="Apply the scale: it becomes 1, and the geometry gets the real size.")
    make_single_user: bool = Field(
        default=False, description="If other objects share the geometry: give this object a copy of it."
    )
    data_name: Name | None = geometry.DATA_NAME

    @model_validator(mode="after")
    def _require_objects(self) -> ApplyTransformArgs:
        if (self.object is None) == (self.objects is None):
            raise PydanticCustomError("one_of", "give either 'object' or 'objects'")
        return self

    @model_validator(mode="after")
    def _require_a_part(self) -> ApplyTransformArgs:
        if not self.chosen():
            raise PydanticCustomError("nothing_asked", "at least one of location, rotation and scale must be true")
        return self

    def chosen(self) -> list[str]:
        """Return the parts of the transform to apply."""
        return [name for name in PARTS if getattr(self, name)]

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield the name of each object and the JSON pointer of the argument that contains it."""
        if self.object is not None:
            yield self.object, "/object"
        for number, name in enumerate(self.objects or ()):
            yield name, f"/objects/{number}"


class AppliedToOne(Result):
    object: str = Field(description="Name of the object.")
    data: str = Field(description="Name of its geometry.")
    changed: bool = Field(description="False if there was nothing to apply.")
    flipped: bool = Field(description="Whether the tool flipped the faces, because the scale was mirroring.")
    modifiers: list[str] = Field(
        description="Modifiers whose result may look different, because they use the object's units or axes."
    )


class TransformApplied(Result):
    object: str = Field(description="Name of the object; empty with `objects`.")
    data: str = Field(description="Name of its geometry; empty with `objects`.")
    changed: bool = Field(description="False if there was nothing to apply.")
    flipped: bool = Field(description="Whether the tool flipped faces, because a scale was mirroring.")
    modifiers: list[str] = Field(
        description="Modifiers whose result may look different, because they use the object's units or axes."
    )
    objects: list[AppliedToOne] = Field(default=[], description="The result for each object, if `objects` was used.")
    notes: list[str] = Field(default=[], description="Unexpected effects, such as origins that moved.")


class ApplyTransform(Tool[ApplyTransformArgs, TransformApplied]):
    """Apply location, rotation and scale of one or several objects to their geometry; the geometry does not move.

    The applied channels become neutral. Children stay in place, the tool also transforms shape keys, and faces keep
    their direction if the scale is negative.
    """

    name = "object.apply_transform"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(*geometry.WRITTEN_KINDS).needs("object_write", "mesh_write")
    examples = (
        Example({"object": "Box"}, BOX, TIP),
        Example({"object": "Box", "location": False, "rotation": False}, BOX, TIP),
        Example({"objects": ["Box", "Strut"], "location": False}, BOX, STRUT),
        Example({"object": "Box", "make_single_user": True, "data_name": "Own box"}, BOX, TWIN),
    )

    def examine(self, args: ApplyTransformArgs, blender: tuple[int, int, int] | None) -> Findings:
        names = args.objects or []
        for number, name in enumerate(names):
            if name in names[:number]:
                yield invalid(f"'{name}' is named twice", f"/objects/{number}", "Name each object once.")
        if args.data_name is not None and len(names) > 1:
            cure = "Leave data_name out: each copied geometry gets the name of its object."
            yield invalid("several geometries cannot have one name", "/data_name", cure)

    def check(self, scene: Scene, args: ApplyTransformArgs) -> Findings:
        work: list[tuple[Block, str]] = []
        for name, at in args.named():
            obj = yield from existing_object(scene, name, at, *geometry.GEOMETRY_KINDS)
            if obj is not None and not _is_neutral(args, obj):
                work.append((obj, at))
        last_users = _last_users(scene, [obj for obj, _ in work])
        for obj, at in work:
            yield from _problems(scene, args, obj, at)
            if args.make_single_user and obj in last_users:
                continue
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
        last_users = _last_users(scene, work)
        notes = _origin_notes(args, work)
        # The last user of each shared geometry comes last, when the copies of the other objects exist.
        for obj in sorted(work, key=last_users.__contains__):
            data = geometry.writable_data(scene, obj, args.data_name)
            for name in args.chosen():
                for channel, neutral in _neutral(obj, name).items():
                    scene.set(obj, channel, neutral)
            geometry.move_geometry(scene, obj, movement.change_of(obj), data)
        movement.refuse_moved_objects()

        results: list[AppliedToOne] = []
        for obj in objects:
            change = None
            if obj in work:
                change = movement.change_of(obj)
            results.append(_applied(args, obj, change))
        if args.object is not None:
            return TransformApplied.model_validate(results[0].model_dump() | {"notes": notes})
        modifiers: set[str] = set()
        for result in results:
            modifiers.update(result.modifiers)
        return TransformApplied(
            object="",
            data="",
            changed=any(result.changed for result in results),
            flipped=any(result.flipped for result in results),
            modifiers=sorted(modifiers),
            objects=results,
            notes=notes,
        )

    def verify(self, scene: Scene, args: ApplyTransformArgs, result: TransformApplied) -> Findings:
        results = result.objects or [result]
        for (object_name, at), applied in zip(args.named(), results, strict=True):
            obj = required_object(scene, object_name, at)
            for name in args.chosen():
                for channel, neutral in _neutral(obj, name).items():
                    yield from differs(f"its {channel}", neutral, tuple(getattr(obj, channel)), f"/{name}")
            yield from differs("the name of its geometry", applied.data, obj.data.name, "/data_name")


def _problems(scene: Scene, args: ApplyTransformArgs, obj: Block, at: str) -> Findings:
    for name in args.chosen():
        for channel in _neutral(obj, name):
            yield from channel_conflicts(scene, obj, channel, f"/{name}")
    yield from geometry.child_problems(scene, obj, at)
    if abs(obj.matrix_basis.determinant()) < 1e-12:
        message = f"'{obj.name}' has a scale of zero, which would flatten its geometry permanently"
        yield conflict(message, at, "Set another scale first with object.transform.")
    else:
        yield from geometry.flatness_problems(obj, _change(scene, args, obj), at)


def _last_users(scene: Scene, objects: list[Block]) -> list[Block]:
    """Return the objects that may keep a geometry that only `objects` share, because the other users get copies.

    For each such geometry this is the object of the same name, else the last of its users.
    """
    names = {obj.name for obj in objects}
    last_users: dict[str, Block] = {}
    for obj in objects:
        data_name: str = obj.data.name
        sharers = geometry.sharers(scene, obj.data, obj)
        if not sharers or not names.issuperset(sharers):
            continue
        previous = last_users.get(data_name)
        if previous is None or previous.name != data_name:
            last_users[data_name] = obj
    return list(last_users.values())


def _origin_notes(args: ApplyTransformArgs, work: list[Block]) -> list[str]:
    """Return a note if origins move. A caller that only wants to apply scales may not expect it, and no picture shows it."""
    if not args.location:
        return []
    moved = [obj for obj in work if any(obj.location) or any(obj.delta_location)]
    if not moved:
        return []
    if len(moved) == 1:
        subject = f"the origin of '{moved[0].name}' is"
    else:
        subject = f"the origins of {len(moved)} objects are"
    return [f"{subject} now at the origin of the world or the parent (location: false leaves origins in place)"]


def _applied(args: ApplyTransformArgs, obj: Block, change: Block | None) -> AppliedToOne:
    flipped = False
    modifiers: list[str] = []
    if change is not None:
        flipped = obj.type == "MESH" and change.determinant() < 0
        modifiers = _sensitive_modifiers(args, obj)
    return AppliedToOne(
        object=obj.name, data=obj.data.name, changed=change is not None, flipped=flipped, modifiers=modifiers
    )


def _is_neutral(args: ApplyTransformArgs, obj: Block) -> bool:
    for name in args.chosen():
        for channel, neutral in _neutral(obj, name).items():
            if tuple(getattr(obj, channel)) != neutral:
                return False
    return True


def _neutral(obj: Block, part: str) -> Neutral:
    """Return the channels that Blender uses for a part of an object's transform, with their neutral values."""
    if part == "location":
        return {"location": (0, 0, 0), "delta_location": (0, 0, 0)}
    if part == "scale":
        return {"scale": (1, 1, 1), "delta_scale": (1, 1, 1)}
    return NEUTRAL_ROTATIONS.get(obj.rotation_mode, NEUTRAL_EULER)


def _change(scene: Scene, args: ApplyTransformArgs, obj: Block) -> Block:
    """Return the matrix to apply to the geometry so that it stays in place with the remaining channels."""
    # Decomposing a matrix would not show which axis is mirrored.
    size = scene.matrix(IDENTITY)
    for axis in range(3):
        size[axis][axis] = obj.scale[axis] * obj.delta_scale[axis]
    remaining = scene.matrix(IDENTITY)
    if not args.rotation:
        remaining = (obj.matrix_basis @ size.inverted()).to_3x3().to_4x4()
    if not args.scale:
        remaining = remaining @ size
    if not args.location:
        remaining.translation = obj.matrix_basis.translation
    return remaining.inverted() @ obj.matrix_basis


def _sensitive_modifiers(args: ApplyTransformArgs, obj: Block) -> list[str]:
    if args.scale:
        kinds = BY_UNIT
    else:
        kinds = frozenset[str]()
    if args.location or args.rotation:
        kinds |= BY_AXES
    return [modifier.name for modifier in obj.modifiers if modifier.type in kinds]
