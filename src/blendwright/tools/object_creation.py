"""Creating objects: the arguments that say where one stands, the data behind it, and the family of tools that add one."""

import math
from abc import abstractmethod
from array import array
from collections.abc import Generator, Iterable, Sequence
from typing import ClassVar, Generic, Literal, TypeVar

from pydantic import Field

from blendwright.tool_api import Block, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, Result, Scale3, Vector3, optional
from blendwright.tool_api.mentions import (
    CollectionName,
    MaterialName,
    Mention,
    NewObjectName,
    ObjectName,
    Role,
    mentions,
)
from blendwright.tool_api.tool import completed
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
    scale: Scale3 = Field(default=(1.0, 1.0, 1.0), description="Scale along X, Y and Z.")
    collection: CollectionName | None = optional("Collection to link it to; the scene's own when left out.")
    parent: ObjectName | None = optional(
        "Object that it follows; location, rotation and scale are relative to it then."
    )


class SurfacePlacement(ObjectPlacement):
    """Arguments of tools that create an object with a surface."""

    material: MaterialName | None = optional("Material of its surface, which must be there; none when left out.")


class MeshPlacement(SurfacePlacement):
    """Arguments of tools that create a mesh object."""

    shading: Literal["smooth", "flat"] = Field(default="flat", description="How its faces are shaded.")


class ObjectMade(Result):
    """An object that a tool created, or found just as it should be."""

    object: str = Field(description="Name of the object.")
    data: str | None = optional("Name of the object's data, when it has any.")
    created: bool = Field(description="False when an equal object was there already and nothing was written.")


P = TypeVar("P", bound=ObjectPlacement)
M = TypeVar("M", bound=ObjectMade)


class Creates(Tool[P, M], Generic[P, M], family=True):
    """Adds an object of one type, with data of its own, at its place and in its collection.

    An object that is just so already is left alone; another one of that name is refused, with all that is different about it."""

    object_type: ClassVar[str]

    @property
    def data_kind(self) -> Kind | None:
        """The kind of its data; None for an object without any."""
        return DATA_KINDS.get(self.object_type)

    def mentions_for(self, args: P) -> Iterable[Mention]:
        yield from mentions(args)
        kind = self.data_kind
        if kind is not None:
            yield Mention(Role.MAKES, kind.blocks, args.name, at="/name")

    def problems(self, scene: Scene, args: P) -> Findings:
        """What speaks against the arguments, besides a name that is in use and a collection that is missing."""
        return ()

    def new_data(self, scene: Scene, args: P) -> Block | None:
        """New data for the object, still empty."""
        if self.data_kind is None:
            return None
        return scene.create(self.data_kind, args.name)

    def settings(self, scene: Scene, args: P, target: Block) -> Settings:
        """The settings of the data; of the object itself where it has no data."""
        return ()

    def rotation(self, scene: Scene, args: P) -> tuple[float, ...]:
        """Its XYZ angles in radians."""
        return radians(args.rotation_euler_deg)

    def build(self, scene: Scene, args: P, data: Block) -> None:
        """Fill new data with what is more than settings: geometry, points."""

    def differences(self, scene: Scene, args: P, data: Block) -> Findings:
        """How data differs from what `build` makes."""
        return ()

    def finish(self, scene: Scene, args: P, obj: Block) -> None:
        """Give the new object what is neither placement nor data: modifiers."""

    def object_differences(self, scene: Scene, args: P, obj: Block) -> Findings:
        """How an object differs from what `finish` makes."""
        return ()

    @abstractmethod
    def made(self, args: P, data: str | None, created: bool) -> M:
        """What it answers, of an object with data of that name."""

    def check(self, scene: Scene, args: P) -> Findings:
        problems = list(self.problems(scene, args))
        yield from problems
        missing = [*missing_target_collection(scene, args.collection), *_missing_relations(scene, args)]
        yield from missing
        existing = scene.find(Kind.OBJECT, args.name)
        if existing is None:
            yield from scene.name_conflicts(Kind.OBJECT, args.name, "/name")
            if self.data_kind is not None:
                yield from scene.name_conflicts(self.data_kind, args.name, "/name")
            return
        # What cannot be asked for cannot be compared either.
        if problems or missing:
            differences = ()
        else:
            differences = self._all_differences(scene, args, existing)
        if conflicts := [*differences, *_changed_since(args, existing)]:
            yield from scene.name_conflicts(Kind.OBJECT, args.name, "/name")
            yield from conflicts

    def apply(self, scene: Scene, args: P) -> M:
        return completed(self.stages(scene, args))

    def stages(self, scene: Scene, args: P) -> Generator[None, None, M]:
        existing = scene.find(Kind.OBJECT, args.name)
        if existing is not None:
            if self.data_kind is None:
                data = None
            else:
                data = existing.data
            return self.made(args, None if data is None else data.name, created=False)
        data = self.new_data(scene, args)
        yield
        if data is not None:
            initialize_settings(self.settings(scene, args, data))
            self.build(scene, args, data)
            _dress(scene, args, data)
            yield
        obj = scene.create(Kind.OBJECT, args.name, data)
        yield
        obj.location = args.location
        obj.rotation_euler = self.rotation(scene, args)
        obj.scale = args.scale
        if args.parent is not None:
            obj.parent = scene.require(Kind.OBJECT, args.parent, "/parent")
        yield
        scene.link(target_collection(scene, args.collection), obj)
        if data is None:
            initialize_settings(self.settings(scene, args, obj))
        self.finish(scene, args, obj)
        return self.made(args, None if data is None else data.name, created=True)

    def verify(self, scene: Scene, args: P, result: M) -> Findings:
        yield from self._all_differences(scene, args, required_object(scene, args.name))

    def _all_differences(self, scene: Scene, args: P, obj: Block) -> Findings:
        if obj.type != self.object_type:
            yield from differs("its type", self.object_type, obj.type, "/name")
            return
        if self.data_kind is None:
            data = obj
        else:
            data = obj.data
        yield from settings_differ(self.settings(scene, args, data))
        if self.data_kind is not None:
            yield from self.differences(scene, args, data)
            yield from _dress_differs(args, data)
        yield from self.object_differences(scene, args, obj)
        yield from _placement_differs(scene, args, obj, self.rotation(scene, args))


class CreatesObject(Creates[P, ObjectMade], Generic[P], family=True):
    """Adds an object of which there is nothing more to say."""

    def made(self, args: P, data: str | None, created: bool) -> ObjectMade:
        return ObjectMade(object=args.name, data=data, created=created)


def own_data(obj: Block) -> Block | None:
    """The data that belongs to an object, alone or shared with others like it."""
    if obj.type in DATA_KINDS:
        return obj.data
    return None


def radians(degrees: Sequence[float]) -> tuple[float, ...]:
    return tuple(map(math.radians, degrees))


def _missing_relations(scene: Scene, args: ObjectPlacement) -> Findings:
    """The parent and the material that are asked for and not there."""
    if args.parent is not None:
        yield from scene.missing(Kind.OBJECT, args.parent, "/parent")
    if isinstance(args, SurfacePlacement) and args.material is not None:
        yield from scene.missing(Kind.MATERIAL, args.material, "/material")


def _dress(scene: Scene, args: ObjectPlacement, data: Block) -> None:
    """Give new data its material and shading."""
    if isinstance(args, SurfacePlacement) and args.material is not None:
        data.materials.append(scene.require(Kind.MATERIAL, args.material, "/material"))
    if isinstance(args, MeshPlacement) and args.shading == "smooth":
        data.polygons.foreach_set("use_smooth", array("b", b"\1" * len(data.polygons)))


def _dress_differs(args: ObjectPlacement, data: Block) -> Findings:
    """How data differs from what `_dress` makes. Flat is what faces are without being asked for, so that is no difference here."""
    if isinstance(args, SurfacePlacement) and args.material is not None:
        if len(data.materials):
            first = data.materials[0]
        else:
            first = None
        yield from differs("its material", args.material, None if first is None else first.name, "/material")
    if isinstance(args, MeshPlacement) and args.shading == "smooth":
        yield from differs("that its faces are shaded smooth", True, all(_smooth_faces(data)), "/shading")


def _smooth_faces(mesh: Block) -> "array[int]":
    smooth = array("b", bytes(len(mesh.polygons)))
    mesh.polygons.foreach_get("use_smooth", smooth)
    return smooth


def _changed_since(args: ObjectPlacement, obj: Block) -> Findings:
    """How an object differs from one that was just created, in what may have changed without its arguments."""
    yield from differs("its rotation mode", "XYZ", obj.rotation_mode, "/rotation_euler_deg")
    if obj.type == "MESH" and not (isinstance(args, MeshPlacement) and args.shading == "smooth"):
        yield from differs("that its faces are shaded flat", True, not any(_smooth_faces(obj.data)), "/name")


def _placement_differs(scene: Scene, args: ObjectPlacement, obj: Block, turned: tuple[float, ...]) -> Findings:
    """How an object's placement differs from what was asked, which is `turned` by these angles."""
    # Most values come back exactly; a slice is read in one piece.
    if args.location != obj.location[:]:
        yield from differs("its location", args.location, obj.location, "/location")
    if turned != obj.rotation_euler[:] and not same(turned, obj.rotation_euler):
        actual = tuple(math.degrees(angle) for angle in obj.rotation_euler)
        expected = tuple(math.degrees(angle) for angle in turned)
        yield from differs("its rotation in degrees", expected, actual, "/rotation_euler_deg")
    if args.scale != obj.scale[:]:
        yield from differs("its scale", args.scale, obj.scale, "/scale")
    if (parent := None if obj.parent is None else obj.parent.name) != args.parent:
        yield from differs("its parent", args.parent, parent, "/parent")
    if not scene.is_in(target_collection(scene, args.collection), obj):
        yield from differs("its membership in the collection", True, False, "/collection")
