"""Where an object stands: the arguments that creating tools share, and how they are written and read back."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence

from pydantic import Field

from blendwright.tool_api.arguments import Args, Name, Vector3
from blendwright.tool_api.effects import Kind
from blendwright.tool_api.scene import Block, Scene
from blendwright.tools.readback import differs, same
from blendwright.tools.targets import target_collection
from blendwright.values.findings import Finding


class ObjectPlacement(Args):
    """Arguments of tools that create an object."""

    name: Name = Field(description="Name of the new object, taken literally; must be free.")
    location: Vector3 = Field(default=(0.0, 0.0, 0.0), description="Position in metres.")
    rotation_euler_deg: Vector3 = Field(
        default=(0.0, 0.0, 0.0), description="Rotation about X, Y and Z in degrees, in XYZ order."
    )
    scale: Vector3 = Field(default=(1.0, 1.0, 1.0), description="Scale along X, Y and Z.")
    collection: Name | None = Field(
        default=None, description="Collection to link it to; the scene's own when left out."
    )


def radians(degrees: Sequence[float]) -> tuple[float, ...]:
    return tuple(map(math.radians, degrees))


def name_conflicts(
    scene: Scene, args: ObjectPlacement, data: Kind | None, differences: Callable[[Block], Iterable[Finding]]
) -> Iterator[Finding]:
    """What speaks against creating an object of that name, and its data if it has any: it is taken, and not by what is asked for.

    `differences` tells how an object that is there differs from it."""
    existing = scene.find(Kind.OBJECT, args.name)
    if existing is None:
        yield from scene.taken(Kind.OBJECT, args.name, "/name")
        if data is not None:
            yield from scene.taken(data, args.name, "/name")
    elif conflicts := [*differences(existing), *_changed_since(existing)]:
        yield from scene.taken(Kind.OBJECT, args.name, "/name")
        yield from conflicts


def _changed_since(obj: Block) -> Iterator[Finding]:
    """How an object differs from any that was just created, in what its creation takes no arguments for."""
    yield from differs("its parent", None, None if obj.parent is None else obj.parent.name, "/name")
    yield from differs("its rotation mode", "XYZ", obj.rotation_mode, "/rotation_euler_deg")
    if obj.type == "MESH":
        smooth = array("b", bytes(len(obj.data.polygons)))
        obj.data.polygons.foreach_get("use_smooth", smooth)
        yield from differs("that its faces are shaded flat", True, not any(smooth), "/name")


def create_object(scene: Scene, args: ObjectPlacement, data: Block | None) -> Block:
    """A new object with its placement, in its collection."""
    obj = scene.create(Kind.OBJECT, args.name, data)
    obj.location = args.location
    obj.rotation_euler = radians(args.rotation_euler_deg)
    obj.scale = args.scale
    scene.link(target_collection(scene, args.collection), obj)
    return obj


def placement_differs(scene: Scene, args: ObjectPlacement, obj: Block) -> Iterator[Finding]:
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
