"""The mesh object that a tool works on: how it is found, and what is said when it is none."""

from __future__ import annotations

from collections.abc import Iterator

from blendwright.tool_api.effects import Kind
from blendwright.tool_api.scene import Block, Scene
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


def no_mesh(scene: Scene, name: str, at: str) -> Iterator[Finding]:
    """What speaks against there being a mesh object of that name."""
    obj = scene.find(Kind.OBJECT, name)
    if obj is None:
        yield from scene.missing(Kind.OBJECT, name, at)
    elif obj.type != "MESH":
        cure = "Name a mesh object."
        yield Finding(Fault.SCENE_CONFLICT, f"object '{name}' is of type {obj.type}, not MESH", at, cure)


def not_evaluated(scene: Scene, obj: Block, at: str) -> Iterator[Finding]:
    """A finding when the object is out of the dependency graph: hidden from the viewport, or in no collection of the scene."""
    if not scene.evaluated(obj).is_evaluated:
        message = f"object '{obj.name}' is not evaluated: it is disabled in viewports, or in no visible collection"
        yield Finding(Fault.SCENE_CONFLICT, message, at, "Make it visible, or link it to a collection of the scene.")


def mesh_of(scene: Scene, name: str, at: str) -> Block:
    """The mesh of the object of that name, once `no_mesh` has nothing to say."""
    return scene.require(Kind.OBJECT, name, at).data
