from __future__ import annotations

from typing import Annotated

from pydantic import Field

from blendwright.tool_api import Args, Example, Findings, Kind, Name, Scene
from blendwright.tool_api.mentions import removes
from blendwright.tool_api.promises import DESTRUCTIVE_WRITE
from blendwright.tools.checks import conflict, existing
from blendwright.tools.deletion import DELETION_WRITES, Deletes, Removed

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
RED = ("material.ensure_principled", {"name": "Red", "base_color": [0.8, 0.05, 0.05]})
# Largest number of users listed in a refusal.
MAX_LISTED_USERS = 5


class DeleteMaterialArgs(Args):
    name: Annotated[Name, removes(Kind.MATERIAL)] = Field(description="Name of the material to delete.")
    clear_users: bool = Field(
        default=False,
        description="True to delete it even if it has users. Their slots stay but become empty, so that face indices "
        "keep their meaning.",
    )


class DeleteMaterial(Deletes[DeleteMaterialArgs, Removed]):
    """Delete a material. If it has users, the call is refused unless clear_users is true."""

    name = "material.delete"
    promises = DESTRUCTIVE_WRITE.writes_to(*DELETION_WRITES).needs("material_write")
    examples = (
        Example({"name": "Red"}, RED),
        Example(
            {"name": "Red", "clear_users": True}, CUBE, RED, ("material.assign", {"object": "Box", "material": "Red"})
        ),
    )

    def check(self, scene: Scene, args: DeleteMaterialArgs) -> Findings:
        material = yield from existing(scene, Kind.MATERIAL, args.name, "/name")
        if material is None or args.clear_users:
            return
        users = scene.users(material)
        if users:
            names = ", ".join(f"'{user.name}'" for user in users[:MAX_LISTED_USERS])
            if len(users) > MAX_LISTED_USERS:
                names += " …"
            message = f"material '{args.name}' is used by {names}"
            yield conflict(message, "/name", "Set clear_users to true, or assign another material first.")

    def apply(self, scene: Scene, args: DeleteMaterialArgs) -> Removed:
        scene.remove(scene.require(Kind.MATERIAL, args.name, "/name"))
        return Removed(removed=[f"{Kind.MATERIAL.value}/{args.name}"])
