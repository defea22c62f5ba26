"""How what an asset brings comes to its place and its name."""

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

# What an instance is made of says where it came from, so that the next one needs no second copy.
MARK = "blendwright_asset"


class Placement(Protocol):
    """Where what is added goes, as the arguments say."""

    @property
    def location(self) -> Vector3 | None: ...
    @property
    def rotation_euler_deg(self) -> Vector3 | None: ...
    @property
    def scale(self) -> Vector3 | None: ...


@contextmanager
def at_asset() -> Generator[None]:
    """What is wrong with a file is wrong with the asset."""
    try:
        yield
    except StepError as error:
        raise StepError(replace(error.finding, pointer="/asset")) from error


def own_words(block: Block) -> Origin:
    """What a datablock says of itself as an asset; in the scene it is none any more, unless it stays in its file."""
    about = getattr(block, "asset_data", None)
    if about is None:
        return Origin()
    told = Origin(author=about.author, license=about.license, copyright=about.copyright, description=about.description)
    if block.library is None:
        block.asset_clear()
    return told


def put_in_place(scene: Scene, placement: Placement, objects: Sequence[Block]) -> None:
    """Move what was added to its place, as a whole: the topmost objects, which take the others along."""
    if placement.location is None and placement.rotation_euler_deg is None and placement.scale is None:
        return
    turn = [math.radians(angle) for angle in placement.rotation_euler_deg or (0.0, 0.0, 0.0)]
    x, y, z = placement.scale or (1.0, 1.0, 1.0)
    size = scene.matrix([[x, 0, 0, 0], [0, y, 0, 0], [0, 0, z, 0], [0, 0, 0, 1]])
    place = scene.euler(turn).to_matrix().to_4x4() @ size
    place.translation = scene.vector(placement.location or (0.0, 0.0, 0.0))
    among = {obj.name for obj in objects}
    for obj in objects:
        if obj.parent is None or obj.parent.name not in among:
            scene.set_world_matrix(obj, place @ world_matrix(scene, obj))


def free_name(scene: Scene, kind: Kind, name: str, *, rename: bool) -> str:
    """A name that is not taken: the one that is wanted, or with a number. Raises StepError."""
    if scene.find(kind, name) is None:
        return name
    if not rename:
        message = f"there is {kind.label} '{name}' already"
        cure = "Set on_collision to 'rename', or rename or delete the one that is there."
        raise StepError.of(Fault.SCENE_CONFLICT, message, at="/asset", cure=cure)
    return next(free for number in range(2, 100_000) if scene.find(kind, free := f"{name} {number}") is None)
