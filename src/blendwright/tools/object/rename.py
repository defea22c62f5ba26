from __future__ import annotations

from typing import Annotated

from pydantic import Field

from blendwright.tool_api import Args, Example, Findings, Kind, Name, Result, Scene, Tool
from blendwright.tool_api.arguments import renamed
from blendwright.tool_api.mentions import NewObjectName, removes
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE, Idempotence
from blendwright.tools.checks import conflict, differs, existing_object
from blendwright.tools.object_creation import DATA_KINDS, own_data

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})


class RenameArgs(Args):
    object: Annotated[Name, removes(Kind.OBJECT)] = renamed(
        "object", "name", description="Name of the object as it is."
    )
    new_name: NewObjectName = Field(description="Its new name, taken literally; must be free.")
    rename_data: bool = Field(
        default=False,
        description="Give its mesh, curve, light or other data the same name; the data must be its alone.",
    )


class ObjectRenamed(Result):
    """An object that a tool gave another name."""

    object: str = Field(description="Name of the object now.")
    data: str | None = Field(description="Name of its data now, when it has any of its own.")
    changed: bool = Field(description="False when everything was named as asked already.")


class Rename(Tool[RenameArgs, ObjectRenamed]):
    """Give an object another name, and if asked its data as well. Whatever refers to it goes on doing so."""

    name = "object.rename"
    # Any kind may refer to the object or to its data, and is then told apart by the new name.
    promises = SAFE_ONE_TIME_WRITE.writes_to(*Kind).needs("object_write")
    examples = (
        Example({"object": "Box", "new_name": "Crate"}, CUBE),
        Example({"object": "Box", "new_name": "Crate", "rename_data": True}, CUBE),
    )

    def idempotence_for(self, args: RenameArgs) -> Idempotence:
        if args.object == args.new_name:
            return Idempotence.IDEMPOTENT
        return Idempotence.NON_IDEMPOTENT

    def check(self, scene: Scene, args: RenameArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object")
        if args.new_name != args.object:
            yield from scene.name_conflicts(Kind.OBJECT, args.new_name, "/new_name")
        if obj is None or not args.rename_data:
            return
        data = own_data(obj)
        if data is None:
            message = f"'{args.object}' is of type {obj.type} and has no data that could be renamed"
            yield conflict(message, "/rename_data", "Leave rename_data out.")
        elif data.name != args.new_name:
            yield from scene.name_conflicts(DATA_KINDS[obj.type], args.new_name, "/new_name")
            others = sorted(user.name for user in scene.users(data) if user.id_type == "OBJECT" and user != obj)
            if others:
                message = f"the data of '{args.object}' is shared with '{others[0]}'" + (
                    " and others" if others[1:] else ""
                )
                yield conflict(message, "/rename_data", "Leave rename_data out.")

    def apply(self, scene: Scene, args: RenameArgs) -> ObjectRenamed:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        changed = False
        if args.new_name != args.object:
            scene.rename(obj, args.new_name)
            changed = True
        if args.rename_data and obj.data.name != args.new_name:
            scene.rename(obj.data, args.new_name)
            changed = True
        data = own_data(obj)
        return ObjectRenamed(object=args.new_name, data=None if data is None else data.name, changed=changed)

    def verify(self, scene: Scene, args: RenameArgs, result: ObjectRenamed) -> Findings:
        obj = scene.require(Kind.OBJECT, args.new_name, "/new_name")
        yield from differs("its name", args.new_name, obj.name, "/new_name")
        if args.new_name != args.object:
            is_free = scene.find(Kind.OBJECT, args.object) is None
            yield from differs(f"that nothing is named '{args.object}'", True, is_free, "/object")
        if args.rename_data:
            yield from differs("the name of its data", args.new_name, obj.data.name, "/rename_data")
