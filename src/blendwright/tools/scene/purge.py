"""scene.purge"""

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
        default=[], max_length=len(PURGED), description="Kinds of datablock to remove; none: all of these."
    )
    keep: list[Name] = Field(
        default=[], max_length=1000, description="Names of datablocks to keep, with what they use, of whatever kind."
    )


class Purged(Removed):
    """What was removed; nothing where nothing was unused."""


class Purge(Deletes[PurgeArgs, Purged]):
    """Remove orphans: meshes, materials, images, node groups, actions and other data that nothing uses, also where they only use each
    other. Objects and collections stay, and so do assets.

    A fake user does not keep data: every step gives one to what it leaves unused, so that saving loses nothing. Name what is to stay."""

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
        victims = _victims(scene, args)
        names = [f"{scene.kind_of(victim).value}/{victim.name}" for victim in victims]
        scene.remove(*victims)
        return Purged(removed=names)


def _victims(scene: Scene, args: PurgeArgs) -> list[Block]:
    kinds = [Kind[name.upper()] for name in args.kinds] or PURGED
    return list(scene.unused(kinds, keep=frozenset(args.keep)))
