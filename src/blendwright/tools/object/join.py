from __future__ import annotations

from typing import Annotated

from pydantic import Field

from blendwright.tool_api import Args, Block, Example, Findings, Name, Scene
from blendwright.tool_api.mentions import ObjectName, removes
from blendwright.tool_api.promises import DESTRUCTIVE_WRITE
from blendwright.tool_api.scene import Kind
from blendwright.tools.checks import conflict, differs, existing_object, invalid, required_object
from blendwright.tools.deletion import DELETION_WRITES, Deletes, Removed, delete_objects
from blendwright.tools.mesh.edit import MeshCounts, counts_of, shape_key_conflicts
from blendwright.tools.world_space import unparent_conflicts, world_matrix

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
BALL = ("mesh.create_primitive", {"kind": "ico_sphere", "name": "Ball", "location": [3, 0, 0]})
ROD = ("mesh.create_primitive", {"kind": "cylinder", "name": "Rod", "segments": 8, "location": [0, 3, 0]})


class JoinArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object that receives the geometry of the other objects.")
    objects: list[Annotated[Name, removes(Kind.OBJECT)]] = Field(
        min_length=1, max_length=1000, description="Names of the mesh objects that become part of it and are removed."
    )


class Joined(Removed):
    """The object that received the geometry of the joined objects."""

    object: str = Field(description="Name of the object.")
    after: MeshCounts = Field(description="Element counts of its mesh after the join.")
    materials: list[str] = Field(description="Names of its materials.")


class JoinObjects(Deletes[JoinArgs, Joined]):
    """Join mesh objects into one: geometry stays in place; materials, UV maps, attributes and vertex groups are kept by name."""

    name = "object.join"
    promises = DESTRUCTIVE_WRITE.writes_to(*DELETION_WRITES).needs("object_write", "mesh_write")
    examples = (Example({"object": "Box", "objects": ["Ball", "Rod"]}, BOX, BALL, ROD),)

    subject_argument = "/objects"

    def examine(self, args: JoinArgs, blender: tuple[int, int, int] | None) -> Findings:
        for number, name in enumerate(args.objects):
            if name == args.object or name in args.objects[:number]:
                yield invalid(f"'{name}' is named twice", f"/objects/{number}", "Name each object once.")

    def check(self, scene: Scene, args: JoinArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object", "MESH")
        if obj is not None:
            yield from shape_key_conflicts(obj)
            if obj.data.users > 1 and any(user != obj for user in scene.users(obj.data)):
                message = f"other objects share the mesh of '{args.object}', and would receive the geometry too"
                yield conflict(message, "/object", "Make a deep copy with object.duplicate, and join into that.")
        joined: list[Block] = []
        for number, name in enumerate(args.objects):
            at = f"/objects/{number}"
            source = yield from existing_object(scene, name, at, "MESH")
            if source is None:
                continue
            joined.append(source)
            if source.data.shape_keys is not None:
                message = f"'{name}' has shape keys, which would be lost"
                yield conflict(message, at, "Remove its shape keys first.")
            if len(source.modifiers):
                message = f"'{name}' has modifiers, which would be lost"
                yield conflict(message, at, "Apply them with modifier.apply first.")
        yield from unparent_conflicts(scene, joined, "/objects")

    def apply(self, scene: Scene, args: JoinArgs) -> Joined:
        obj = required_object(scene, args.object, "/object")
        sources = [required_object(scene, name, f"/objects/{number}") for number, name in enumerate(args.objects)]
        to_local = world_matrix(scene, obj).inverted_safe()
        scene.join_meshes(obj, [(source, to_local @ world_matrix(scene, source)) for source in sources])
        removed = delete_objects(scene, sources, "/objects", keep_data=False)
        materials = [material.name for material in obj.data.materials if material is not None]
        return Joined(object=args.object, after=counts_of(obj.data), materials=materials, removed=removed)

    def verify(self, scene: Scene, args: JoinArgs, result: Joined) -> Findings:
        yield from super().verify(scene, args, result)
        mesh = required_object(scene, args.object, "/object").data
        actual = counts_of(mesh).model_dump()
        yield from differs("the element counts of the mesh", result.after.model_dump(), actual, "/objects")
