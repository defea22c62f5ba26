"""The datablocks that a call names: how they are found, and what is said when there is none, or one that does not fit.

The generators are for `check`: they yield findings and return the datablock, so that one line does both:
`obj = yield from existing_object(scene, args.name, "/name", "CAMERA")`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from blendwright.tool_api.effects import Kind
from blendwright.tool_api.scene import Block, Scene
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


def existing(scene: Scene, kind: Kind, name: str, at: str) -> Generator[Finding, None, Block | None]:
    """The datablock of that name, or a finding with the names that come near."""
    block = scene.find(kind, name)
    if block is None:
        yield from scene.missing(kind, name, at)
    return block


def existing_object(scene: Scene, name: str, at: str, *types: str) -> Generator[Finding, None, Block | None]:
    """The object of that name, where it is of one of these types (of any, when none is named)."""
    obj = yield from existing(scene, Kind.OBJECT, name, at)
    if obj is not None and types and (wrong := wrong_type(obj, types, at)):
        yield from wrong
        return None
    return obj


def wrong_type(obj: Block, types: Sequence[str], at: str) -> Sequence[Finding]:
    """A finding when an object is of none of these types."""
    if obj.type in types:
        return ()
    allowed = " or ".join(types)
    message = f"'{obj.name}' is of type {obj.type}, not {allowed}"
    return (Finding(Fault.SCENE_CONFLICT, message, at, f"Name an object of type {allowed}."),)


def evaluated_object(scene: Scene, name: str, at: str) -> Generator[Finding, None, Block | None]:
    """The object of that name, where its place and shape in the world are known."""
    obj = yield from existing_object(scene, name, at)
    if obj is not None:
        yield from not_evaluated(scene, obj, at)
    return obj


def not_evaluated(scene: Scene, obj: Block, at: str) -> Iterator[Finding]:
    """A finding when an object is out of the dependency graph: hidden from the viewport, or in no collection of the scene."""
    if not scene.evaluated(obj).is_evaluated:
        message = f"object '{obj.name}' is not evaluated: it is disabled in viewports, or in no visible collection"
        yield Finding(Fault.SCENE_CONFLICT, message, at, "Make it visible, or link it to a collection of the scene.")


def existing_objects(scene: Scene, names: Sequence[str], at: str) -> Generator[Finding, None, list[Block] | None]:
    """All objects of a list argument; None when one of them is missing."""
    objects: list[Block | None] = []
    for index, name in enumerate(names):
        objects.append((yield from existing_object(scene, name, f"{at}/{index}")))
    return None if None in objects else objects


def required_object(scene: Scene, name: str, at: str = "/name") -> Block:
    """The object of that name, for `apply` and `verify`."""
    return scene.require(Kind.OBJECT, name, at)


# ---------------------------------------------------------------------- collections


def target_collection(scene: Scene, name: str | None) -> Block:
    """The collection of that name, or the scene's own: without a name, and by the name that Blender shows for it."""
    if name is None or is_scene_collection(scene, name):
        return scene.active.collection
    return scene.require(Kind.COLLECTION, name, "/collection")


def missing_target_collection(scene: Scene, name: str | None, at: str = "/collection") -> Sequence[Finding]:
    """For `check`: a finding when `target_collection` would find none."""
    if name is None or is_scene_collection(scene, name):
        return ()
    return scene.missing(Kind.COLLECTION, name, at)


def is_scene_collection(scene: Scene, name: str) -> bool:
    """Whether a name means the scene's own collection, which is no datablock; one of that name would come first."""
    return scene.find(Kind.COLLECTION, name) is None and name == scene.active.collection.name
