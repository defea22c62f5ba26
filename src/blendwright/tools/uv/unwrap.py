from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Args, Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import PositiveFloat, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import conflict, differs, evaluated_object, existing_object, required_object
from blendwright.tools.uv.maps import DEFAULT, MAX_MAPS, UvMapMade, UvMapName, mesh_with_faces
from blendwright.tools.world_space import world_matrix

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
SEAMS = ("mesh.edit", {"object": "Box", "operations": [{"op": "mark", "select": {"sharp_deg": 60}, "seam": True}]})
CAMERA = ("camera.create", {"name": "Camera", "location": [0, -8, 1], "rotation_euler_deg": [85, 0, 0]})


class UnwrapArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object; objects that share its mesh change too.")
    method: Literal["smart", "angle", "conformal", "cube", "view"] = Field(
        default="smart",
        description="smart cuts automatically; angle and conformal unfold along marked seams (mesh.edit); cube projects from "
        "six sides; view projects from one side or a camera.",
    )
    uv_map: UvMapName = Field(default=DEFAULT, description="Name of the UV map; created if it does not exist.")
    margin: float = Field(default=0.01, ge=0.0, le=0.5, description="Space between islands, as a share of the tile.")
    angle_deg: float = Field(
        default=66.0, gt=0.0, le=89.0, description="For smart: cut between faces at a larger angle."
    )
    cube_size: PositiveFloat = Field(default=1.0, description="For cube: length in metres that fills the tile.")
    view: Literal["front", "back", "left", "right", "top", "bottom"] | None = optional("For view: side to look from.")
    camera: ObjectName | None = optional("For view: camera to look through instead; its picture fills the tile.")
    pack: bool = Field(default=False, description="Scale islands evenly and pack them into the tile afterwards.")

    @model_validator(mode="after")
    def _check_view(self) -> UnwrapArgs:
        if (self.method == "view") != ((self.view is None) != (self.camera is None)):
            message = "method view needs either 'view' or 'camera', and other methods allow neither"
            raise PydanticCustomError("one_view", "{message}", {"message": message})
        return self


class Unwrap(Tool[UnwrapArgs, UvMapMade]):
    """Unwrap a mesh: create a UV map by smart projection, along seams, by cube or view projection, and pack it."""

    name = "uv.unwrap"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.MESH, Kind.MATERIAL).needs("mesh_write")
    examples = (
        Example({"object": "Box"}, BOX),
        Example({"object": "Box", "method": "angle", "pack": True, "margin": 0.02}, BOX, SEAMS),
        Example({"object": "Box", "method": "cube", "cube_size": 2, "uv_map": "Tiles"}, BOX),
        Example({"object": "Box", "method": "view", "camera": "Camera"}, BOX, CAMERA),
    )

    def check(self, scene: Scene, args: UnwrapArgs) -> Findings:
        obj = yield from mesh_with_faces(scene, args.object)
        if args.camera is not None:
            camera = yield from existing_object(scene, args.camera, "/camera", "CAMERA")
            if camera is not None:
                yield from evaluated_object(scene, args.camera, "/camera")
        if obj is None:
            return
        maps = obj.data.uv_layers
        if maps.get(args.uv_map) is None:
            if len(maps) >= MAX_MAPS:
                message = f"'{args.object}' already has {MAX_MAPS} UV maps, which is Blender's limit"
                yield conflict(message, "/uv_map", "Name one of them.")
            elif obj.data.attributes.get(args.uv_map) is not None or obj.vertex_groups.get(args.uv_map) is not None:
                message = f"'{args.uv_map}' is an attribute or vertex group of '{args.object}'"
                yield conflict(message, "/uv_map", "Use another name.")

    def apply(self, scene: Scene, args: UnwrapArgs) -> UvMapMade:
        obj = required_object(scene, args.object, "/object")
        created = obj.data.uv_layers.get(args.uv_map) is None
        if args.method == "view":
            camera: Block | None = None
            if args.camera is not None:
                camera = required_object(scene, args.camera, "/camera")
            scene.project_uvs(obj, args.uv_map, world_matrix(scene, obj), args.view, camera)
        else:
            settings = {"margin": args.margin, "angle_deg": args.angle_deg, "cube_size": args.cube_size}
            scene.unwrap(obj, args.uv_map, args.method, pack=args.pack, **settings)
        if args.method == "view" and args.pack:
            scene.pack_uvs(obj, args.uv_map, args.margin, rotate=True, even=True)
        return UvMapMade(object=args.object, uv_map=args.uv_map, created=created)

    def verify(self, scene: Scene, args: UnwrapArgs, result: UvMapMade) -> Findings:
        mesh = required_object(scene, args.object, "/object").data
        layer = mesh.uv_layers.get(args.uv_map)
        count = 0
        if layer is not None:
            count = len(layer.data)
        yield from differs("the number of UVs", len(mesh.loops), count, "/uv_map")
