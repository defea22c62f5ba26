from __future__ import annotations

from array import array
from typing import Literal

from pydantic import Field

from blendwright.tool_api import Args, Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import differs, existing_object, required_object
from blendwright.tools.settings import ObjectChanged

BALL = ("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball"})


class ShadeArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object. Objects that share its mesh change too.")
    shading: Literal["smooth", "flat"] = Field(description="Shading of all its faces.")


class Shade(Tool[ShadeArgs, ObjectChanged]):
    """Shade all faces of a mesh smooth or flat. Edges marked sharp stay sharp."""

    name = "mesh.shade"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.MESH).needs("mesh_write")
    examples = (
        Example({"object": "Ball", "shading": "smooth"}, BALL),
        Example({"object": "Ball", "shading": "flat"}, BALL, ("mesh.shade", {"object": "Ball", "shading": "smooth"})),
    )

    def check(self, scene: Scene, args: ShadeArgs) -> Findings:
        yield from existing_object(scene, args.object, "/object", "MESH")

    def apply(self, scene: Scene, args: ShadeArgs) -> ObjectChanged:
        mesh = required_object(scene, args.object, "/object").data
        if _smooth_faces(mesh) == _requested(mesh, args):
            return ObjectChanged(object=args.object, changed=False)
        scene.edit(mesh)
        mesh.polygons.foreach_set("use_smooth", _requested(mesh, args))
        mesh.update()
        return ObjectChanged(object=args.object, changed=True)

    def verify(self, scene: Scene, args: ShadeArgs, result: ObjectChanged) -> Findings:
        mesh = required_object(scene, args.object, "/object").data
        yield from differs(
            "that all faces have the requested shading", True, _smooth_faces(mesh) == _requested(mesh, args), "/shading"
        )


def _requested(mesh: Block, args: ShadeArgs) -> array[int]:
    flag = 0
    if args.shading == "smooth":
        flag = 1
    return array("b", [flag]) * len(mesh.polygons)


def _smooth_faces(mesh: Block) -> array[int]:
    smooth = array("b", bytes(len(mesh.polygons)))
    mesh.polygons.foreach_get("use_smooth", smooth)
    return smooth
