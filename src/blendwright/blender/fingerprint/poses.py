"""Poses, as far as they differ from a new one.

An armature object must hash the same before and after its first evaluation, when Blender creates the pose and its bones.
It must also hash the same at every frame. Therefore only a bone with a non-animated difference from a new bone counts,
and a pose without such bones equals no pose.
"""

import math
from functools import cache
from typing import Any, Final, NamedTuple

import bpy

from blendwright.blender.fingerprint.type_layouts import Getter, getter, hashed_properties
from blendwright.blender.fingerprint.walk import Out, Walk

_types: Any = bpy.types

# Values of a new pose bone that differ from the RNA defaults (Blender 4.2 to 5.0).
_NEW_BONE: Final[dict[str, Any]] = {
    **dict.fromkeys(("ik_min_x", "ik_min_y", "ik_min_z"), -math.pi),
    **dict.fromkeys(("ik_max_x", "ik_max_y", "ik_max_z"), math.pi),
    "use_custom_shape_bone_size": True,
    "custom_shape_wire_width": 1.0,
    "lock_rotations_4d": True,
}


def encode_pose(walk: Walk, pose: Any, out: Out) -> None:
    """Append the pose of an object; nothing if it equals a new one."""
    changed = [bone for bone in pose.bones if not _is_new(walk, bone, "PoseBone")]
    if not changed and _is_new(walk, pose, "Pose"):
        return
    walk.inner(pose, out)
    out.append(len(changed))
    for bone in sorted(changed, key=lambda bone: bone.name):
        walk.inner(bone, out)


def _is_new(walk: Walk, struct: Any, type_name: str) -> bool:
    """Return True if a struct equals a new one, ignoring animated channels, whose values depend on the current frame."""
    new = _new(type_name)
    if new.parts and any(new.parts(struct)):
        return False
    if type_name == "PoseBone" and (struct.keys() or struct.color.palette != "DEFAULT"):
        return False
    if walk.channels:
        animated = walk.channels.get((struct.as_pointer(), type_name), {})
    else:
        animated = {}
    if new.vectors:
        for (name, expected), vector in zip(new.vector_values.items(), new.vectors(struct), strict=True):
            values = tuple(vector)
            if values != expected:
                left_out = animated.get(name, ())
                if any(i not in left_out and values[i] != expected[i] for i in range(len(expected))):
                    return False
    if new.scalars is None:
        return True
    pairs = zip(new.scalar_values.items(), new.scalars(struct), strict=True)
    return all(value == expected or name in animated or _close(value, expected) for (name, expected), value in pairs)


def _close(value: Any, expected: Any) -> bool:
    return isinstance(expected, float) and math.isclose(value, expected, rel_tol=1e-6)


class _New(NamedTuple):
    """The values of a new struct by name, and the getters that read the same values from a struct."""

    scalars: Getter | None
    scalar_values: dict[str, Any]
    vectors: Getter | None
    vector_values: dict[str, tuple[float, ...]]
    parts: Getter | None


@cache
def _new(type_name: str) -> _New:
    values: dict[str, Any] = {}
    vectors: dict[str, tuple[float, ...]] = {}
    parts: list[str] = []
    for prop in hashed_properties(getattr(_types, type_name).bl_rna):
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
    return _New(getter(tuple(values)), values, getter(tuple(vectors)), vectors, getter(tuple(parts)))
