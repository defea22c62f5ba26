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
        "object", "name", description="Name of the object to rename."
    )
    new_name: NewObjectName = Field(description="New name, taken literally; must be free.")
    rename_data: bool = Field(
        default=False,
        description="Give its mesh, curve, light or other data the same name; no other object may use the data.",
    )


class ObjectRenamed(Result):
    """The object that a tool renamed."""

    object: str = Field(description="New name of the object.")
    data: str | None = Field(description="Name of its own data after the call, if any.")
    changed: bool = Field(description="False if everything already had the requested name.")


class Rename(Tool[RenameArgs, ObjectRenamed]):
    """Rename an object and, on request, its data. All references to them stay."""

    name = "object.rename"
    # Any kind may refer to the object or to its data, and its recorded content then contains the new name.
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
            sharers = sorted(user.name for user in scene.users(data) if user.id_type == "OBJECT" and user != obj)
            if sharers:
                message = f"the data of '{args.object}' is shared with '{sharers[0]}'"
                if len(sharers) > 1:
                    message += f" and {len(sharers) - 1} more"
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
        data_name: str | None = None
        if data is not None:
            data_name = data.name
        return ObjectRenamed(object=args.new_name, data=data_name, changed=changed)

    def verify(self, scene: Scene, args: RenameArgs, result: ObjectRenamed) -> Findings:
        obj = scene.require(Kind.OBJECT, args.new_name, "/new_name")
        yield from differs("its name", args.new_name, obj.name, "/new_name")
        if args.new_name != args.object:
            is_free = scene.find(Kind.OBJECT, args.object) is None
            yield from differs(f"that no object is named '{args.object}'", True, is_free, "/object")
        if args.rename_data:
            yield from differs("the name of its data", args.new_name, obj.data.name, "/rename_data")
