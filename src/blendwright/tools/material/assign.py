from __future__ import annotations

from array import array
from typing import Annotated

from pydantic import Field

from blendwright.tool_api import Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, Result, optional
from blendwright.tool_api.mentions import MaterialName, ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import conflict, differs, existing_object, invalid

TYPES_WITH_MATERIALS = ("MESH", "CURVE", "SURFACE", "FONT")
CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
RED = ("material.ensure_principled", {"name": "Red", "base_color": [0.8, 0.05, 0.05]})
BLUE = ("material.ensure_principled", {"name": "Blue", "base_color": [0.05, 0.05, 0.8]})

FaceIndex = Annotated[int, Field(ge=0, le=2**31 - 1)]


class AssignArgs(Args):
    object: ObjectName = Field(description="Name of the object: a mesh, curve, surface or text.")
    material: MaterialName = Field(description="Name of the material.")
    slot: int | None = optional(
        "Index of the material slot; the number of slots adds a new one. Default: slot 0, or with faces the slot that "
        "has the material, or a new one.",
        ge=0,
        le=32766,
    )
    faces: list[FaceIndex] | None = optional(
        "Indices of the mesh faces that get the material. Default: no face changes its slot.",
        min_length=1,
        max_length=100_000,
    )


class MaterialAssigned(Result):
    object: str = Field(description="Name of the object.")
    material: str = Field(description="Name of the material.")
    slot: int = Field(description="Index of the slot that contains the material.")
    changed: bool = Field(description="False if everything was already as requested.")


class AssignMaterial(Tool[AssignArgs, MaterialAssigned]):
    """Assign a material to a slot of an object, or to some faces of a mesh.

    Slots belong to the object's data: objects that share a mesh share its materials, unless the slot is linked to the
    object.
    """

    name = "material.assign"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.MESH, Kind.CURVE, Kind.MATERIAL).needs(
        "material_write"
    )
    examples = (
        Example({"object": "Box", "material": "Red"}, CUBE, RED),
        Example(
            {"object": "Box", "material": "Blue", "faces": [0, 1]},
            CUBE,
            RED,
            BLUE,
            ("material.assign", {"object": "Box", "material": "Red"}),
        ),
    )

    def check(self, scene: Scene, args: AssignArgs) -> Findings:
        yield from scene.missing(Kind.MATERIAL, args.material, "/material")
        obj = yield from existing_object(scene, args.object, "/object", *TYPES_WITH_MATERIALS)
        if obj is None:
            return
        count = len(obj.material_slots)
        if args.slot is not None and args.slot > count:
            yield invalid(f"'{args.object}' has {count} material slots", "/slot", f"Use a slot from 0 to {count}.")
        yield from self._wrong_faces(args, obj)

    def _wrong_faces(self, args: AssignArgs, obj: Block) -> Findings:
        if args.faces is None:
            return
        if obj.type != "MESH":
            yield conflict(f"'{args.object}' has no faces to choose from", "/faces", "Leave faces out.")
            return
        count = len(obj.data.polygons)
        for position, index in enumerate(args.faces):
            if index >= count:
                if count:
                    fix = f"Use indices from 0 to {count - 1}."
                else:
                    fix = "Leave faces out, because the mesh has no faces."
                yield invalid(f"'{args.object}' has {count} faces", f"/faces/{position}", fix)
                return

    def apply(self, scene: Scene, args: AssignArgs) -> MaterialAssigned:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        material = scene.require(Kind.MATERIAL, args.material, "/material")
        slot = _slot(obj, material, args)
        changed = _put_into_slot(scene, obj, slot, material)
        if args.faces is not None:
            changed = _assign_faces(scene, obj.data, args.faces, slot) or changed
        return MaterialAssigned(object=args.object, material=args.material, slot=slot, changed=changed)

    def verify(self, scene: Scene, args: AssignArgs, result: MaterialAssigned) -> Findings:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        material = obj.material_slots[result.slot].material
        material_name = None
        if material:
            material_name = material.name
        yield from differs("the material in its slot", args.material, material_name, "/material")
        if args.faces is not None:
            indices = _face_slots(obj.data)
            wrong = [face for face in args.faces if indices[face] != result.slot]
            yield from differs("the list of faces in another slot", [], wrong, "/faces")


def _slot(obj: Block, material: Block, args: AssignArgs) -> int:
    """Return the index of the slot to use, which may be one more than the last."""
    if args.slot is not None:
        return args.slot
    if args.faces is None:
        return 0
    materials = [slot.material for slot in obj.material_slots]
    if material in materials:
        return materials.index(material)
    return len(materials)


def _put_into_slot(scene: Scene, obj: Block, slot: int, material: Block) -> bool:
    material_slot = None
    if slot < len(obj.material_slots):
        material_slot = obj.material_slots[slot]
    # An object can have a slot that its data no longer has.
    if material_slot is None or (material_slot.link == "DATA" and slot == len(obj.data.materials)):
        scene.edit(obj.data).materials.append(material)
        return True
    if material_slot.material == material:
        return False
    if material_slot.link == "OBJECT":
        scene.set(material_slot, "material", material)
    else:
        scene.edit(obj.data).materials[slot] = material
    return True


def _face_slots(mesh: Block) -> array[int]:
    indices = array("i", bytes(4 * len(mesh.polygons)))
    mesh.polygons.foreach_get("material_index", indices)
    return indices


def _assign_faces(scene: Scene, mesh: Block, faces: list[int], slot: int) -> bool:
    indices = _face_slots(mesh)
    if all(indices[face] == slot for face in faces):
        return False
    for face in faces:
        indices[face] = slot
    scene.edit(mesh).polygons.foreach_set("material_index", indices)
    mesh.update_tag()
    return True
