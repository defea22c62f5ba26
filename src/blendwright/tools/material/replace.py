from __future__ import annotations

from typing import Annotated

from pydantic import Field

from blendwright.tool_api import Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, Result
from blendwright.tool_api.mentions import MaterialName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import differs, invalid
from blendwright.tools.deletion import DELETION_WRITES

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box", "material": "Wood.001"})
BALL = ("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball", "material": "Wood.002"})
WOODS = tuple(
    ("material.ensure_principled", {"name": name, "base_color": [0.4, 0.2, 0.1]})
    for name in ("Wood", "Wood.001", "Wood.002")
)


class ReplaceArgs(Args):
    materials: Annotated[list[MaterialName], Field(min_length=1, max_length=1000)] = Field(
        description="Names of the materials to replace."
    )
    by: MaterialName = Field(description="Name of the material to use instead.")


class MaterialsReplaced(Result):
    by: str = Field(description="Name of the material that is used instead.")
    users: list[str] = Field(description="Datablocks that now use it instead of another material, as kind/name.")
    changed: bool = Field(description="False if the replaced materials had no users.")


class ReplaceMaterials(Tool[ReplaceArgs, MaterialsReplaced]):
    """Use one material instead of several others: in slots, node trees and modifiers. This merges duplicates.

    The replaced materials stay without users; scene.purge or material.delete removes them.
    """

    name = "material.replace"
    # All kinds of datablocks may refer to a material.
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(*DELETION_WRITES).needs("material_write")
    examples = (Example({"materials": ["Wood.001", "Wood.002"], "by": "Wood"}, *WOODS, CUBE, BALL),)

    def check(self, scene: Scene, args: ReplaceArgs) -> Findings:
        yield from scene.missing(Kind.MATERIAL, args.by, "/by")
        for index, name in enumerate(args.materials):
            yield from scene.missing(Kind.MATERIAL, name, f"/materials/{index}")
            if name == args.by:
                fix = "Leave it out of materials, because it replaces the others."
                yield invalid(f"'{name}' cannot be replaced by itself", f"/materials/{index}", fix)

    def apply(self, scene: Scene, args: ReplaceArgs) -> MaterialsReplaced:
        replaced = [scene.require(Kind.MATERIAL, name, f"/materials/{at}") for at, name in enumerate(args.materials)]
        users = scene.replace(replaced, scene.require(Kind.MATERIAL, args.by, "/by"))
        names = [f"{scene.kind_of(user).value}/{user.name}" for user in users]
        return MaterialsReplaced(by=args.by, users=names, changed=bool(names))

    def verify(self, scene: Scene, args: ReplaceArgs, result: MaterialsReplaced) -> Findings:
        for index, name in enumerate(args.materials):
            remaining_users = [user.name for user in scene.users(scene.require(Kind.MATERIAL, name))]
            yield from differs(f"the list of users of '{name}'", [], remaining_users, f"/materials/{index}")
