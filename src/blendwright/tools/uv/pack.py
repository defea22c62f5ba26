from __future__ import annotations

from pydantic import Field

from blendwright.tool_api import Args, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE
from blendwright.tools.checks import differs, required_object
from blendwright.tools.uv.maps import DEFAULT, UvMapMade, UvMapName, mesh_with_faces, missing_map, uvs_of

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
CUBE = ("uv.unwrap", {"object": "Box", "method": "cube", "cube_size": 1})
# Largest distance outside the tile, because packing is exact only to single precision.
MAX_OUTSIDE = 1e-4


class PackArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object; objects that share its mesh change too.")
    uv_map: UvMapName = Field(default=DEFAULT, description="Name of its UV map.")
    margin: float = Field(default=0.01, ge=0.0, le=0.5, description="Space between islands, as a share of the tile.")
    rotate: bool = Field(default=True, description="Rotate islands if that saves space.")
    even: bool = Field(default=True, description="First scale islands to the same texel density.")
    tight: bool = Field(
        default=False, description="Pack islands by their shapes instead of their boxes; takes seconds."
    )


class PackUvs(Tool[PackArgs, UvMapMade]):
    """Pack the islands of a UV map into the tile, at an even texel density."""

    name = "uv.pack"
    promises = SAFE_ONE_TIME_WRITE.writes_to(Kind.MESH, Kind.MATERIAL).needs("mesh_write")
    examples = (Example({"object": "Box", "margin": 0.02}, BOX, CUBE),)

    def check(self, scene: Scene, args: PackArgs) -> Findings:
        obj = yield from mesh_with_faces(scene, args.object)
        if obj is not None:
            yield from missing_map(obj, args.uv_map)

    def apply(self, scene: Scene, args: PackArgs) -> UvMapMade:
        obj = required_object(scene, args.object, "/object")
        scene.pack_uvs(obj, args.uv_map, args.margin, rotate=args.rotate, even=args.even, tight=args.tight)
        return UvMapMade(object=args.object, uv_map=args.uv_map, created=False)

    def verify(self, scene: Scene, args: PackArgs, result: UvMapMade) -> Findings:
        uvs = uvs_of(required_object(scene, args.object, "/object"), args.uv_map)
        fits = bool(uvs) and min(uvs) >= -MAX_OUTSIDE and max(uvs) <= 1.0 + MAX_OUTSIDE
        yield from differs("that all islands are in the tile", True, fits, "/uv_map")
