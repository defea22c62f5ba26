"""Tool scene.purge"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from blendwright.tool_api.arguments import Args, Name
from blendwright.tool_api.promises import DESTRUCTIVE_WRITE, Idempotence
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings
from blendwright.tools.deletion import DELETION_WRITES, Deletes, Removed
from blendwright.tools.unused_kinds import PURGED

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
RED = ("material.ensure_principled", {"name": "Red", "base_color": [1, 0, 0]})
GONE = ("object.delete", {"object": "Box", "keep_data": True})

PurgedKind = Literal[
    "action", "armature", "cache_file", "camera", "curve", "font", "grease_pencil_v3", "hair_curves", "image", "lattice",
    "light", "light_probe", "material", "mesh", "metaball", "node_group", "particles", "point_cloud", "speaker", "texture",
    "volume", "world",
]  # fmt: skip


class PurgeArgs(Args):
    kinds: list[PurgedKind] = Field(
        default=[], max_length=len(PURGED), description="Kinds of datablock to remove. Default: all."
    )
    keep: list[Name] = Field(
        default=[],
        max_length=1000,
        description="Names of datablocks of any kind to keep, with everything that they use.",
    )


class Purged(Removed):
    """The removed datablocks; empty if nothing was unused."""


class Purge(Deletes[PurgeArgs, Purged]):
    """Remove orphans: meshes, materials, images, node groups, actions and other data that nothing uses, also if they only use
    each other. Objects, collections and assets stay.

    A fake user does not keep data, because every step gives one to the data that it leaves unused, so that saving loses
    nothing. Name the data to keep in `keep`.
    """

    name = "scene.purge"
    promises = (
        DESTRUCTIVE_WRITE.but(idempotence=Idempotence.IDEMPOTENT).writes_to(*DELETION_WRITES).needs("object_write")
    )
    makes_others = True
    examples = (
        Example({}, CUBE, RED, GONE),
        Example({"kinds": ["material"]}, CUBE, RED, GONE),
        Example({"keep": ["Red"]}, CUBE, RED, GONE),
    )

    def check(self, scene: Scene, args: PurgeArgs) -> Findings:
        return ()

    def apply(self, scene: Scene, args: PurgeArgs) -> Purged:
        orphans = _orphans(scene, args)
        names = [f"{scene.kind_of(orphan).value}/{orphan.name}" for orphan in orphans]
        scene.remove(*orphans)
        return Purged(removed=names)


def _orphans(scene: Scene, args: PurgeArgs) -> list[Block]:
    kinds = [Kind[name.upper()] for name in args.kinds] or PURGED
    return list(scene.unused(kinds, keep=frozenset(args.keep)))
