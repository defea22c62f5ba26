"""Placement, naming and asset data of imported datablocks."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

from blendwright.tool_api import Block, Kind, Scene
from blendwright.tool_api.arguments import Vector3
from blendwright.tools.asset.origin import Origin
from blendwright.tools.world_space import world_matrix
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

# Custom property on an instanced collection that names its asset, so that a second instance can reuse the collection.
MARK = "blendwright_asset"


class Placement(Protocol):
    """The placement arguments of a tool that adds an asset."""

    @property
    def location(self) -> Vector3 | None: ...
    @property
    def rotation_euler_deg(self) -> Vector3 | None: ...
    @property
    def scale(self) -> Vector3 | None: ...


@contextmanager
def at_asset() -> Generator[None]:
    """Re-raise a StepError with the JSON pointer `/asset`: a problem of the file is a problem of this argument."""
    try:
        yield
    except StepError as error:
        raise StepError(replace(error.finding, pointer="/asset")) from error


def own_words(block: Block) -> Origin:
    """Return the origin in a datablock's asset data, and clear that data unless the datablock is linked.

    The copy in the scene is not an asset any more.
    """
    about = getattr(block, "asset_data", None)
    if about is None:
        return Origin()
    origin = Origin(
        author=about.author, license=about.license, copyright=about.copyright, description=about.description
    )
    if block.library is None:
        block.asset_clear()
    return origin


def put_in_place(scene: Scene, placement: Placement, objects: Sequence[Block]) -> None:
    """Apply the placement to the added objects together, by moving those without an added parent."""
    if placement.location is None and placement.rotation_euler_deg is None and placement.scale is None:
        return
    angles = [math.radians(angle) for angle in placement.rotation_euler_deg or (0.0, 0.0, 0.0)]
    x, y, z = placement.scale or (1.0, 1.0, 1.0)
    scale_matrix = scene.matrix([[x, 0, 0, 0], [0, y, 0, 0], [0, 0, z, 0], [0, 0, 0, 1]])
    placement_matrix = scene.euler(angles).to_matrix().to_4x4() @ scale_matrix
    placement_matrix.translation = scene.vector(placement.location or (0.0, 0.0, 0.0))
    names = {obj.name for obj in objects}
    for obj in objects:
        if obj.parent is None or obj.parent.name not in names:
            scene.set_world_matrix(obj, placement_matrix @ world_matrix(scene, obj))


def free_name(scene: Scene, kind: Kind, name: str, *, rename: bool) -> str:
    """Return `name` if it is free. If it is in use, return it with a number, or raise StepError without `rename`."""
    if scene.find(kind, name) is None:
        return name
    if not rename:
        message = f"{kind.label} '{name}' already exists"
        fix = "Set on_collision to 'rename', or rename or delete the existing one."
        raise StepError.of(Fault.SCENE_CONFLICT, message, at="/asset", cure=fix)
    number = 2
    while scene.find(kind, f"{name} {number}") is not None:
        number += 1
    return f"{name} {number}"


def marked_collection(scene: Scene, mark: str) -> Block | None:
    """Return the instanced collection of an earlier import with the same mark, or None."""
    return next((collection for collection in scene.blocks(Kind.COLLECTION) if collection.get(MARK) == mark), None)
