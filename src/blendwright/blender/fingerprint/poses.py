"""Poses, as far as they differ from a new one.

Responsible for: an armature object hashing alike before and after its first evaluation, when Blender makes the pose and
its bones. Hence only bones that differ from new ones count, and a pose without any is like none.
"""

import math
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import bpy

from blendwright.blender.fingerprint.plans import Getter, getter, taking_part

if TYPE_CHECKING:
    from blendwright.blender.fingerprint.walk import Out, Walk

_types: Any = bpy.types

# Where a new pose bone differs from the defaults that RNA states (Blender 4.2 to 5.0).
_NEW_BONE: Final[dict[str, Any]] = {
    **dict.fromkeys(("ik_min_x", "ik_min_y", "ik_min_z"), -math.pi),
    **dict.fromkeys(("ik_max_x", "ik_max_y", "ik_max_z"), math.pi),
    "use_custom_shape_bone_size": True,
    "custom_shape_wire_width": 1.0,
    "lock_rotations_4d": True,
}


def encode_pose(walk: "Walk", owner: Any, out: "Out") -> None:
    """The pose of an object; nothing where it is as new."""
    pose = owner.pose
    if pose is None:
        return
    changed = [bone for bone in pose.bones if not _is_new(bone, "PoseBone")]
    if not changed and _is_new(pose, "Pose"):
        return
    walk.inner(pose, out)
    out.append(len(changed))
    for bone in sorted(changed, key=lambda bone: bone.name):
        walk.inner(bone, out)


def _is_new(struct: Any, type_name: str) -> bool:
    values, vectors, parts, expected, expected_vectors = _new(type_name)
    if any(parts(struct)) if parts else False:
        return False
    if type_name == "PoseBone" and (struct.keys() or struct.color.palette != "DEFAULT"):
        return False
    if vectors and tuple([tuple(vector) for vector in vectors(struct)]) != expected_vectors:
        return False
    if values is None:
        return True
    pairs = zip(values(struct), expected, strict=True)
    return all(is_ == new or (isinstance(new, float) and math.isclose(is_, new, rel_tol=1e-6)) for is_, new in pairs)


@cache
def _new(type_name: str) -> tuple[Getter | None, Getter | None, Getter | None, list[Any], tuple[Any, ...]]:
    values: dict[str, Any] = {}
    vectors: dict[str, tuple[float, ...]] = {}
    parts: list[str] = []
    for prop in taking_part(getattr(_types, type_name).bl_rna):
        name: str = prop.identifier
        if name in ("name", "color"):
            continue
        if prop.type in ("POINTER", "COLLECTION"):
            parts.append(name)
        elif getattr(prop, "is_array", False):
            vectors[name] = tuple(prop.default_array)
        elif prop.type == "ENUM" and prop.is_enum_flag:
            values[name] = set(prop.default_flag)
        else:
            values[name] = _NEW_BONE.get(name, prop.default)
    return (
        getter(tuple(values)),
        getter(tuple(vectors)),
        getter(tuple(parts)),
        list(values.values()),
        tuple(vectors.values()),
    )
