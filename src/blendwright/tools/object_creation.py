"""Creating objects: the arguments that say where one stands, the data behind it, and the family of tools that add one."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from typing import ClassVar, Generic, TypeVar

from pydantic import Field

from blendwright.tool_api import Block, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, Result, Vector3, optional
from blendwright.tool_api.mentions import CollectionName, Mention, NewObjectName, Role, mentions
from blendwright.tools.checks import differs, missing_target_collection, required_object, same, target_collection
from blendwright.tools.settings import Settings, initialize_settings, settings_differ

# Types of object whose data belongs to them. An empty may show an image, which is nobody's own.
DATA_KINDS: dict[str, Kind] = {
    "MESH": Kind.MESH,
    "CURVE": Kind.CURVE,
    "SURFACE": Kind.CURVE,
    "FONT": Kind.CURVE,
    "LIGHT": Kind.LIGHT,
    "CAMERA": Kind.CAMERA,
    "ARMATURE": Kind.ARMATURE,
}


class ObjectPlacement(Args):
    """Arguments of tools that create an object."""

    name: NewObjectName = Field(description="Name of the new object, taken literally; must be free.")
    location: Vector3 = Field(default=(0.0, 0.0, 0.0), description="Position in metres.")
    rotation_euler_deg: Vector3 = Field(
        default=(0.0, 0.0, 0.0), description="Rotation about X, Y and Z in degrees, in XYZ order."
    )
    scale: Vector3 = Field(default=(1.0, 1.0, 1.0), description="Scale along X, Y and Z.")
    collection: CollectionName | None = optional("Collection to link it to; the scene's own when left out.")


class ObjectMade(Result):
    """An object that a tool created, or found just as it should be."""

    object: str = Field(description="Name of the object.")
    data: str | None = optional("Name of the object's data, when it has any.")
    created: bool = Field(description="False when an equal object was there already and nothing was written.")


P = TypeVar("P", bound=ObjectPlacement)


class CreatesObject(Tool[P, ObjectMade], Generic[P], family=True):
    """Adds an object of one type, with data of its own, at its place and in its collection.

    An object that is just so already is left alone; another one of that name is refused, with all that is different about it."""

    object_type: ClassVar[str]

    @property
    def data_kind(self) -> Kind | None:
        """The kind of its data; None for an object without any."""
        return DATA_KINDS.get(self.object_type)

    def mentions_for(self, args: P) -> Iterable[Mention]:
        yield from mentions(args)
        if self.data_kind is not None:
            yield Mention(Role.MAKES, self.data_kind.blocks, args.name, at="/name")

    def problems(self, scene: Scene, args: P) -> Findings:
        """What speaks against the arguments, besides a name that is in use and a collection that is missing."""
        return ()

    def new_data(self, scene: Scene, args: P) -> Block | None:
        """New data for the object, still empty."""
        return None if self.data_kind is None else scene.create(self.data_kind, args.name)

    def settings(self, scene: Scene, args: P, target: Block) -> Settings:
        """The settings of the data; of the object itself where it has no data."""
        return ()

    def build(self, scene: Scene, args: P, data: Block) -> None:
        """Fill new data with what is more than settings: geometry, points."""

    def differences(self, scene: Scene, args: P, data: Block) -> Findings:
        """How data differs from what `build` makes."""
        return ()

    def check(self, scene: Scene, args: P) -> Findings:
        problems = list(self.problems(scene, args))
        yield from problems
        missing = missing_target_collection(scene, args.collection)
        yield from missing
        existing = scene.find(Kind.OBJECT, args.name)
        if existing is None:
            yield from scene.name_conflicts(Kind.OBJECT, args.name, "/name")
            if self.data_kind is not None:
                yield from scene.name_conflicts(self.data_kind, args.name, "/name")
            return
        # What cannot be asked for cannot be compared either.
        differences = () if problems or missing else self._all_differences(scene, args, existing)
        if conflicts := [*differences, *_changed_since(existing)]:
            yield from scene.name_conflicts(Kind.OBJECT, args.name, "/name")
            yield from conflicts

    def apply(self, scene: Scene, args: P) -> ObjectMade:
        existing = scene.find(Kind.OBJECT, args.name)
        if existing is None:
            data = self.new_data(scene, args)
            if data is not None:
                initialize_settings(self.settings(scene, args, data))
                self.build(scene, args, data)
            obj = scene.create(Kind.OBJECT, args.name, data)
            obj.location = args.location
            obj.rotation_euler = radians(args.rotation_euler_deg)
            obj.scale = args.scale
            scene.link(target_collection(scene, args.collection), obj)
            if data is None:
                initialize_settings(self.settings(scene, args, obj))
        else:
            data = None if self.data_kind is None else existing.data
        return ObjectMade(object=args.name, data=None if data is None else data.name, created=existing is None)

    def verify(self, scene: Scene, args: P, result: ObjectMade) -> Findings:
        yield from self._all_differences(scene, args, required_object(scene, args.name))

    def _all_differences(self, scene: Scene, args: P, obj: Block) -> Findings:
        if obj.type != self.object_type:
            yield from differs("its type", self.object_type, obj.type, "/name")
            return
        yield from settings_differ(self.settings(scene, args, obj if self.data_kind is None else obj.data))
        if self.data_kind is not None:
            yield from self.differences(scene, args, obj.data)
        yield from _placement_differs(scene, args, obj)


def own_data(obj: Block) -> Block | None:
    """The data that belongs to an object, alone or shared with others like it."""
    return obj.data if obj.type in DATA_KINDS else None


def radians(degrees: Sequence[float]) -> tuple[float, ...]:
    return tuple(map(math.radians, degrees))


def _changed_since(obj: Block) -> Findings:
    """How an object differs from any that was just created, in what its creation takes no arguments for."""
    yield from differs("its parent", None, None if obj.parent is None else obj.parent.name, "/name")
    yield from differs("its rotation mode", "XYZ", obj.rotation_mode, "/rotation_euler_deg")
    if obj.type == "MESH":
        smooth = array("b", bytes(len(obj.data.polygons)))
        obj.data.polygons.foreach_get("use_smooth", smooth)
        yield from differs("that its faces are shaded flat", True, not any(smooth), "/name")


def _placement_differs(scene: Scene, args: ObjectPlacement, obj: Block) -> Findings:
    """How an object's placement differs from what was asked."""
    # Most values come back exactly; a slice is read in one piece.
    if args.location != obj.location[:]:
        yield from differs("its location", args.location, obj.location, "/location")
    turned = radians(args.rotation_euler_deg)
    if turned != obj.rotation_euler[:] and not same(turned, obj.rotation_euler):
        actual = tuple(math.degrees(angle) for angle in obj.rotation_euler)
        yield from differs("its rotation in degrees", args.rotation_euler_deg, actual, "/rotation_euler_deg")
    if args.scale != obj.scale[:]:
        yield from differs("its scale", args.scale, obj.scale, "/scale")
    if not scene.is_in(target_collection(scene, args.collection), obj):
        yield from differs("its membership in the collection", True, False, "/collection")
