"""Binding of a mesh to an armature: checks, weights, modifier and parent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from blendwright.tool_api import Block, Findings, Scene
from blendwright.tools.bones import existing_bone
from blendwright.tools.checks import conflict, differs, existing_object, not_evaluated, required_object
from blendwright.tools.mesh.vertex_selectors import missing_materials
from blendwright.tools.weights import Weighting, above_zero, selected_weights, shared_mesh_conflicts
from blendwright.tools.world_space import parent_space, world_matrix
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

# Modifiers that smooth a mesh: the armature modifier goes before them, to deform the coarse mesh.
SMOOTHING = frozenset({"SUBSURF", "MULTIRES", "BEVEL", "CORRECTIVE_SMOOTH", "WEIGHTED_NORMAL"})
Weights = Mapping[str, Mapping[int, float]]


class Attachment(Protocol):
    """The arguments of armature.bind that say how a mesh is attached to the armature."""

    modifier: str
    preserve_volume: bool
    parent: bool
    method: Any


class BindingProblems:
    """Checks whether the scene allows the binding, for use in `check`."""

    def __init__(self, scene: Scene, name: str, armature: Block | None, modifier: str, parent: bool) -> None:
        self._scene = scene
        self._name = name
        self._armature = armature
        self._modifier = modifier
        self._parent = parent

    def of_armature(self, *, deforms: bool) -> Findings:
        if self._armature is None:
            return
        yield from not_evaluated(self._scene, self._armature, "/armature")
        if abs(world_matrix(self._scene, self._armature).determinant()) < 1e-12:
            message = f"'{self._name}' has a scale of zero, so no mesh can follow it"
            yield conflict(message, "/armature", "Give the armature a scale.")
        if deforms and not any(bone.use_deform for bone in self._armature.data.bones):
            message = f"no bone of '{self._name}' deforms"
            yield conflict(message, "/armature", "Turn 'deform' on for a bone with armature.edit.")

    def of_part(self, part: Any, at: str, *, weighs: bool) -> Findings:
        obj = yield from existing_object(self._scene, part.object, f"{at}/object", "MESH")
        if obj is None or self._armature is None:
            return
        yield from not_evaluated(self._scene, obj, f"{at}/object")
        if weighs:
            yield from shared_mesh_conflicts(self._scene, obj, f"{at}/object")
            if not len(obj.data.vertices):
                yield conflict(f"'{obj.name}' has no vertices", f"{at}/object", "Name a mesh that has vertices.")
        if part.bone is not None:
            yield from self._bone_problems(part.bone, f"{at}/bone")
        for number, entry in enumerate(part.weights or ()):
            yield from self._bone_problems(entry.bone, f"{at}/weights/{number}/bone")
            yield from missing_materials(obj, entry.select, f"{at}/weights/{number}/select")
        yield from self._attachment_problems(obj, at)

    def _bone_problems(self, name: str, at: str) -> Findings:
        bone = yield from existing_bone(self._scene, self._armature, name, at)
        if bone is not None and not bone.bone.use_deform:
            fix = "Turn 'deform' on with armature.edit, or name another bone."
            yield conflict(f"bone '{name}' does not deform", at, fix)

    def _attachment_problems(self, obj: Block, at: str) -> Findings:
        for modifier in obj.modifiers:
            if modifier.type == "ARMATURE" and modifier.object not in (None, self._armature):
                message = f"'{obj.name}' is bound to '{modifier.object.name}' by modifier '{modifier.name}'"
                yield conflict(message, f"{at}/object", "Remove that modifier first.")
        existing = obj.modifiers.get(self._modifier)
        if existing is not None and existing.type != "ARMATURE":
            message = f"'{obj.name}' has a modifier '{existing.name}' of type {existing.type}"
            yield conflict(message, "/modifier", "Choose another name.")
        if self._parent and obj.parent not in (None, self._armature):
            message = f"'{obj.name}' already has the parent '{obj.parent.name}'"
            yield conflict(message, f"{at}/object", "Set parent to false, or clear its parent with object.set_parent.")
        ancestor: Block = self._armature
        while self._parent and ancestor is not None:
            if ancestor == obj:
                message = f"'{self._name}' is a child of '{obj.name}', so it cannot be its parent"
                yield conflict(message, f"{at}/object", "Set parent to false, or clear the armature's parent.")
                return
            ancestor = ancestor.parent


def wanted_weights(scene: Scene, armature: Block, part: Any, method: str, per: str, at: str) -> Weights | None:
    """Return the weights that a mesh should get, by bone, or None for method groups, which keeps the existing ones.

    `at` is the JSON pointer of the part. Raise StepError if no bone gets a vertex.
    """
    obj = required_object(scene, part.object, f"{at}/object")
    if method == "groups":
        return None
    if method == "given":
        entries_by_bone: dict[str, list[tuple[str, Weighting]]] = {}
        for number, entry in enumerate(part.weights):
            entries_by_bone.setdefault(entry.bone, []).append((f"{at}/weights/{number}", entry))
        return {name: above_zero(selected_weights(scene, obj, entries)) for name, entries in entries_by_bone.items()}
    if part.bone is not None:
        return {part.bone: dict.fromkeys(range(len(obj.data.vertices)), 1.0)}
    weights = scene.bone_weights(obj, armature, {"automatic": "heat", "envelope": "envelope"}.get(method, per))
    used_weights = {name: of_bone for name, of_bone in weights.items() if of_bone}
    if not used_weights:
        message = f"no bone of '{armature.name}' reaches '{obj.name}'"
        fixes = {
            "automatic": "Bone heat failed: move bones into the mesh, clean it with mesh.clean, or use method rigid.",
            "envelope": "Make the envelopes of bones reach the mesh, or use method automatic.",
        }
        raise StepError.of(Fault.EXECUTION_FAILED, message, at=f"{at}/object", cure=fixes[method])
    return used_weights


def stale_groups(obj: Block, armature: Block, wanted: Weights) -> list[str]:
    """Return the vertex groups that an earlier binding to the same bones left behind."""
    bones = {bone.name for bone in armature.data.bones}
    return [group.name for group in obj.vertex_groups if group.name in bones and group.name not in wanted]


def attach(scene: Scene, obj: Block, armature: Block, how: Attachment) -> None:
    """Give a mesh its armature modifier and, if requested, its parent; the mesh keeps its world position."""
    frame = parent_space(scene, obj)
    scene.edit(obj)
    modifier = obj.modifiers.get(how.modifier)
    if modifier is None:
        modifier = obj.modifiers.new(how.modifier, "ARMATURE")
        last = len(obj.modifiers) - 1
        smoothing = [index for index, existing in enumerate(obj.modifiers) if existing.type in SMOOTHING]
        obj.modifiers.move(last, min([*smoothing, last]))
    modifier = obj.modifiers[how.modifier]
    for name, value in _modifier_settings(armature, how).items():
        setattr(modifier, name, value)
    if how.parent and obj.parent != armature:
        obj.parent = armature
        # Change only the parent inverse and not the object's channels, because these may be animated.
        obj.matrix_parent_inverse = world_matrix(scene, armature).inverted() @ frame


def _modifier_settings(armature: Block, how: Attachment) -> dict[str, Any]:
    return {
        "object": armature,
        "use_vertex_groups": True,
        # Envelopes determine the weights, as in Blender's own binding; they do not deform directly.
        "use_bone_envelopes": False,
        "use_deform_preserve_volume": how.preserve_volume,
    }


def attachment_differences(scene: Scene, obj: Block, armature: Block, how: Attachment, at: str) -> Findings:
    """Yield findings where a mesh's armature modifier or parent differs from the requested one."""
    modifier = obj.modifiers.get(how.modifier)
    yield from differs("the presence of the armature modifier", True, modifier is not None, "/modifier")
    if modifier is not None:
        for name, value in _modifier_settings(armature, how).items():
            actual = getattr(modifier, name)
            if actual != value:
                yield from differs(f"{name} of its modifier", _named(value), _named(actual), "/modifier")
    if how.parent:
        yield from differs("that the armature is its parent", True, obj.parent == armature, f"{at}/object")


def _named(value: Any) -> Any:
    if hasattr(value, "users"):
        return value.name
    return value
