from __future__ import annotations

from pydantic import Field

from blendwright.tool_api import Args, Example, Findings, Kind, Result, Scene, Tool
from blendwright.tool_api.arguments import InnerName
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import DESTRUCTIVE_WRITE
from blendwright.tools.checks import differs, existing_object, required_object
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
PIN = ("vertex_group.set", {"object": "Box", "name": "Pin", "weights": [{"select": {"normal": "+Z"}}]})
REST = ("vertex_group.set", {"object": "Box", "name": "Rest", "weights": [{"select": {"normal": "-Z"}, "weight": 0.5}]})


class RemoveVertexGroupArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object; objects that share its mesh change too.")
    name: InnerName = Field(min_length=1, description="Name of the vertex group to remove.")


class VertexGroupRemoved(Result):
    object: str = Field(description="Name of the object.")
    vertex_group: str = Field(description="Name of the removed vertex group.")
    groups: list[str] = Field(description="Names of the remaining vertex groups.")


class RemoveVertexGroup(Tool[RemoveVertexGroupArgs, VertexGroupRemoved]):
    """Remove a vertex group with its weights."""

    name = "vertex_group.remove"
    promises = DESTRUCTIVE_WRITE.writes_to(Kind.OBJECT, Kind.MESH).needs("mesh_write")
    examples = (Example({"object": "Box", "name": "Pin"}, BOX, PIN, REST),)

    def check(self, scene: Scene, args: RemoveVertexGroupArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object", "MESH")
        if obj is not None and args.name not in obj.vertex_groups:
            names = [group.name for group in obj.vertex_groups]
            quoted_names = ", ".join(f"'{name}'" for name in names[:10]) or "none"
            cure = did_you_mean(args.name, names, otherwise=f"It has {quoted_names}.")
            message = f"'{args.object}' has no vertex group named '{args.name}'"
            yield Finding(Fault.TARGET_NOT_FOUND, message, "/name", cure)

    def apply(self, scene: Scene, args: RemoveVertexGroupArgs) -> VertexGroupRemoved:
        obj = required_object(scene, args.object, "/object")
        scene.remove_vertex_groups(obj, [args.name])
        remaining = [group.name for group in obj.vertex_groups]
        return VertexGroupRemoved(object=args.object, vertex_group=args.name, groups=remaining)

    def verify(self, scene: Scene, args: RemoveVertexGroupArgs, result: VertexGroupRemoved) -> Findings:
        obj = required_object(scene, args.object, "/object")
        yield from differs("the presence of the vertex group", False, args.name in obj.vertex_groups, "/name")
