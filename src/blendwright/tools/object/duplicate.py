from __future__ import annotations

from typing import Literal

from pydantic import Field

from blendwright.tool_api import Args, Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import renamed
from blendwright.tool_api.mentions import NewObjectName, ObjectName
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE
from blendwright.tools.animation_data import action_of
from blendwright.tools.checks import conflict, differs, existing_object
from blendwright.tools.object_creation import DATA_KINDS, ObjectMade, own_data

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})


class DuplicateArgs(Args):
    object: ObjectName = renamed("object", "name", description="Name of the object to copy.")
    new_name: NewObjectName = Field(description="Name of the copy, taken literally; must be free.")
    mode: Literal["linked", "deep"] = Field(
        default="linked",
        description="linked: the copy shares mesh (or other data) and animation with the original. "
        "deep: the copy gets its own, with the copy's name. Materials are shared either way.",
    )


class Duplicate(Tool[DuplicateArgs, ObjectMade]):
    """Copy an object with its transform, parent, modifiers and custom properties, into the same collections.

    Children are not copied.
    """

    name = "object.duplicate"
    promises = SAFE_ONE_TIME_WRITE.writes_to(
        Kind.OBJECT, Kind.COLLECTION, *dict.fromkeys(DATA_KINDS.values()), Kind.ACTION, Kind.SHAPE_KEY
    ).needs("object_write")
    examples = (
        Example({"object": "Box", "new_name": "Second box"}, CUBE),
        Example({"object": "Box", "new_name": "Own box", "mode": "deep"}, CUBE),
    )

    def check(self, scene: Scene, args: DuplicateArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object")
        yield from scene.name_conflicts(Kind.OBJECT, args.new_name, "/new_name")
        if obj is None or args.mode == "linked":
            return
        if obj.data is not None and obj.type not in DATA_KINDS and obj.type != "EMPTY":
            message = f"'{args.object}' is of type {obj.type}, whose data this tool cannot copy"
            yield conflict(message, "/mode", "Use mode linked.")
            return
        if own_data(obj) is not None:
            yield from scene.name_conflicts(DATA_KINDS[obj.type], args.new_name, "/new_name")
            if _keys(obj.data) is not None:
                yield from scene.name_conflicts(Kind.SHAPE_KEY, args.new_name, "/new_name")
        if action_of(obj) is not None:
            yield from scene.name_conflicts(Kind.ACTION, f"{args.new_name}Action", "/new_name")

    def apply(self, scene: Scene, args: DuplicateArgs) -> ObjectMade:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        homes = scene.collections_of(obj)
        # Copy data before the object that uses it, because undo would otherwise delete the object together with the data.
        if args.mode == "deep":
            data = _copied_data(scene, obj, args.new_name)
        else:
            data = obj.data
        copy = scene.adopt(Kind.OBJECT, obj.copy(), args.new_name)
        copy.use_fake_user = False
        if data != obj.data:
            copy.data = data
        if args.mode == "deep":
            _copy_action(scene, obj, copy)
        for home in homes:
            scene.link(home, copy)
        data_name: str | None = None
        if copy.data is not None:
            data_name = copy.data.name
        return ObjectMade(object=args.new_name, data=data_name, created=True)

    def verify(self, scene: Scene, args: DuplicateArgs, result: ObjectMade) -> Findings:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        copy = scene.require(Kind.OBJECT, args.new_name, "/new_name")
        yield from differs("its type", obj.type, copy.type, "/new_name")
        shared = args.mode == "linked" or own_data(obj) is None
        yield from differs("that it shares its data", shared, copy.data == obj.data, "/mode")
        if action_of(obj) is not None:
            shares_action = action_of(copy) == action_of(obj)
            yield from differs("that it shares its action", args.mode == "linked", shares_action, "/mode")
        for channel in ("location", "rotation_euler", "rotation_quaternion", "scale"):
            yield from differs(f"its {channel}", tuple(getattr(obj, channel)), getattr(copy, channel), "/new_name")
        homes = [home.name for home in scene.collections_of(obj)]
        yield from differs("its collections", homes, [home.name for home in scene.collections_of(copy)], "/new_name")


def _copied_data(scene: Scene, obj: Block, name: str) -> Block | None:
    """Return a copy of an object's data under `name`, or the data itself if it is not the object's own."""
    if own_data(obj) is None:
        return obj.data
    data = scene.adopt(DATA_KINDS[obj.type], obj.data.copy(), name)
    data.use_fake_user = False
    if _keys(data) is not None:
        # Blender copies shape keys along with the data that owns them.
        scene.adopt(Kind.SHAPE_KEY, _keys(data), name)
    return data


def _copy_action(scene: Scene, obj: Block, copy: Block) -> None:
    action = action_of(obj)
    if action is None:
        return
    slot = getattr(copy.animation_data, "action_slot", None)
    copied_action = scene.adopt(Kind.ACTION, action.copy(), f"{copy.name}Action")
    copied_action.use_fake_user = False
    copy.animation_data.action = copied_action
    if slot is not None:
        # A copy of an action has the same slots, by identifier.
        copy.animation_data.action_slot = copied_action.slots[slot.identifier]


def _keys(data: Block) -> Block | None:
    return getattr(data, "shape_keys", None)
