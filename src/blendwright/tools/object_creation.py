"""Creation of objects: the placement arguments, the object data, and the tool family for creating objects."""

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

# Types of objects that own their data. An empty may display an image, but it does not own it.
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
    collection: CollectionName | None = optional(
        "Collection to link the object to. Default: the scene's own collection."
    )
    parent: ObjectName | None = optional("Parent object. Location, rotation and scale are then relative to the parent.")


class SurfacePlacement(ObjectPlacement):
    """Arguments of tools that create an object with a surface."""

    material: MaterialName | None = optional("Existing material of its surface. Default: no material.")


class MeshPlacement(SurfacePlacement):
    """Arguments of tools that create a mesh object."""

    shading: Literal["smooth", "flat"] = Field(default="flat", description="How its faces are shaded.")


class ObjectMade(Result):
    """The object that a tool created, or found to exist exactly as requested."""

    object: str = Field(description="Name of the object.")
    data: str | None = optional("Name of the object's data, if it has data.")
    created: bool = Field(description="False if an identical object already existed and nothing was written.")


P = TypeVar("P", bound=ObjectPlacement)
M = TypeVar("M", bound=ObjectMade)


class Creates(Tool[P, M], Generic[P, M], family=True):
    """Create an object of one type with new data, at the given position and in the given collection.

    An object that already exists exactly as requested stays unchanged. If the name belongs to a different object, the
    call is refused and the findings list all differences.
    """

    object_type: ClassVar[str]

    @property
    def data_kind(self) -> Kind | None:
        """Return the kind of the object's data, or None for an object without data."""
        return DATA_KINDS.get(self.object_type)

    def mentions_for(self, args: P) -> Iterable[Mention]:
        yield from mentions(args)
        kind = self.data_kind
        if kind is not None:
            yield Mention(Role.MAKES, kind.blocks, args.name, at="/name")

    def problems(self, scene: Scene, args: P) -> Findings:
        """Yield findings about the arguments, except for names in use and missing collections, which `check` covers."""
        return ()

    def new_data(self, scene: Scene, args: P) -> Block | None:
        """Return new, empty data for the object, or None for an object type without data."""
        if self.data_kind is None:
            return None
        return scene.create(self.data_kind, args.name)

    def settings(self, scene: Scene, args: P, target: Block) -> Settings:
        """Return the settings of the data, or of the object itself if it has no data."""
        return ()

    def rotation(self, scene: Scene, args: P) -> tuple[float, ...]:
        """Return the object's XYZ Euler angles in radians."""
        return radians(args.rotation_euler_deg)

    def build(self, scene: Scene, args: P, data: Block) -> None:
        """Fill new data with everything that is not a plain setting, such as geometry or points."""

    def differences(self, scene: Scene, args: P, data: Block) -> Findings:
        """Yield findings where existing data differs from what `build` creates."""
        return ()

    def finish(self, scene: Scene, args: P, obj: Block) -> None:
        """Add to the new object everything that is neither placement nor data, such as modifiers."""

    def object_differences(self, scene: Scene, args: P, obj: Block) -> Findings:
        """Yield findings where an existing object differs from what `finish` creates."""
        return ()

    @abstractmethod
    def made(self, args: P, data: str | None, created: bool) -> M:
        """Return the result of the call. `data` is the name of the object's data."""

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
        # Arguments that are refused cannot be compared with the scene.
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
            existing_name = None
            if self.data_kind is not None and existing.data is not None:
                existing_name = existing.data.name
            return self.made(args, existing_name, created=False)
        data = self.new_data(scene, args)
        yield
        if data is not None:
            initialize_settings(self.settings(scene, args, data))
            self.build(scene, args, data)
            _apply_look(scene, args, data)
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
        data_name = None
        if data is not None:
            data_name = data.name
        return self.made(args, data_name, created=True)

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
            yield from _look_differences(args, data)
        yield from self.object_differences(scene, args, obj)
        yield from _placement_differs(scene, args, obj, self.rotation(scene, args))


class CreatesObject(Creates[P, ObjectMade], Generic[P], family=True):
    """Create an object and return the plain `ObjectMade` result."""

    def made(self, args: P, data: str | None, created: bool) -> ObjectMade:
        return ObjectMade(object=args.name, data=data, created=created)


def own_data(obj: Block) -> Block | None:
    """Return the data that the object owns, alone or shared with objects of its type; None otherwise."""
    if obj.type in DATA_KINDS:
        return obj.data
    return None


def radians(degrees: Sequence[float]) -> tuple[float, ...]:
    return tuple(map(math.radians, degrees))


def _missing_relations(scene: Scene, args: ObjectPlacement) -> Findings:
    """Yield findings for a requested parent or material that does not exist."""
    if args.parent is not None:
        yield from scene.missing(Kind.OBJECT, args.parent, "/parent")
    if isinstance(args, SurfacePlacement) and args.material is not None:
        yield from scene.missing(Kind.MATERIAL, args.material, "/material")


def _apply_look(scene: Scene, args: ObjectPlacement, data: Block) -> None:
    """Give new data its material and shading."""
    if isinstance(args, SurfacePlacement) and args.material is not None:
        data.materials.append(scene.require(Kind.MATERIAL, args.material, "/material"))
    if isinstance(args, MeshPlacement) and args.shading == "smooth":
        data.polygons.foreach_set("use_smooth", array("b", b"\1" * len(data.polygons)))


def _look_differences(args: ObjectPlacement, data: Block) -> Findings:
    """Yield findings where data differs from what `_apply_look` writes.

    Flat shading is the default and is not compared here.
    """
    if isinstance(args, SurfacePlacement) and args.material is not None:
        material = None
        if len(data.materials) and data.materials[0] is not None:
            material = data.materials[0].name
        yield from differs("its material", args.material, material, "/material")
    if isinstance(args, MeshPlacement) and args.shading == "smooth":
        yield from differs("that its faces are shaded smooth", True, all(_smooth_faces(data)), "/shading")


def _smooth_faces(mesh: Block) -> "array[int]":
    smooth = array("b", bytes(len(mesh.polygons)))
    mesh.polygons.foreach_get("use_smooth", smooth)
    return smooth


def _changed_since(args: ObjectPlacement, obj: Block) -> Findings:
    """Yield findings where an object differs from a newly created one in properties that no argument sets."""
    yield from differs("its rotation mode", "XYZ", obj.rotation_mode, "/rotation_euler_deg")
    if obj.type == "MESH" and not (isinstance(args, MeshPlacement) and args.shading == "smooth"):
        yield from differs("that its faces are shaded flat", True, not any(_smooth_faces(obj.data)), "/name")


def _placement_differs(scene: Scene, args: ObjectPlacement, obj: Block, turned: tuple[float, ...]) -> Findings:
    """Yield findings where an object's placement differs from the requested one. `turned` holds the XYZ angles in
    radians.
    """
    # Fast path: most values come back exactly, and a slice is read in one call.
    if args.location != obj.location[:]:
        yield from differs("its location", args.location, obj.location, "/location")
    if turned != obj.rotation_euler[:] and not same(turned, obj.rotation_euler):
        actual = tuple(math.degrees(angle) for angle in obj.rotation_euler)
        expected = tuple(math.degrees(angle) for angle in turned)
        yield from differs("its rotation in degrees", expected, actual, "/rotation_euler_deg")
    if args.scale != obj.scale[:]:
        yield from differs("its scale", args.scale, obj.scale, "/scale")
    parent = None
    if obj.parent is not None:
        parent = obj.parent.name
    if parent != args.parent:
        yield from differs("its parent", args.parent, parent, "/parent")
    if not scene.is_in(target_collection(scene, args.collection), obj):
        yield from differs("that it is in the collection", True, False, "/collection")
