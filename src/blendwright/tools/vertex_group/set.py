from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from blendwright.tool_api import Args, Block, Example, Findings, Kind, Result, Scene, Tool
from blendwright.tool_api.arguments import InnerName
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import existing_object, required_object
from blendwright.tools.mesh.vertex_selectors import missing_materials, selector_problems
from blendwright.tools.weights import Weighting, above_zero, selected_weights, weights_differ, weights_of

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
TOP = {"select": {"normal": "+Z"}, "weight": 0.5}


class SetVertexGroupArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object; objects that share its mesh change too.")
    name: InnerName = Field(min_length=1, description="Name of the vertex group; created if it does not exist.")
    weights: Annotated[list[Weighting], Field(max_length=1000)] = Field(
        description="Vertices and their weights. If several entries select a vertex, the last one applies."
    )
    mode: Literal["replace", "update"] = Field(
        default="replace", description="replace: the group has only these weights. update: other vertices keep theirs."
    )


class VertexGroupSet(Result):
    object: str = Field(description="Name of the object.")
    vertex_group: str = Field(description="Name of the vertex group.")
    vertices: int = Field(description="Number of vertices in it after the call.")
    groups: list[str] = Field(description="Names of all vertex groups of the object.")
    changed: bool = Field(description="False if everything already was as requested.")


class SetVertexGroup(Tool[SetVertexGroupArgs, VertexGroupSet]):
    """Set weights of a vertex group by selectors. The group is created if it does not exist."""

    name = "vertex_group.set"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.MESH).needs("mesh_write")
    examples = (
        Example({"object": "Box", "name": "Pin", "weights": [{"select": "all", "weight": 0.25}, TOP]}, BOX),
        Example(
            {
                "object": "Box",
                "name": "Pin",
                "weights": [{"select": {"box": [[0, None, None], [None, None, None]]}}],
                "mode": "update",
            },
            BOX,
            ("vertex_group.set", {"object": "Box", "name": "Pin", "weights": [TOP]}),
        ),
        Example({"object": "Box", "name": "Empty", "weights": []}, BOX),
    )

    def examine(self, args: SetVertexGroupArgs, blender: tuple[int, int, int] | None) -> Findings:
        for number, entry in enumerate(args.weights):
            yield from selector_problems(entry.select, f"/weights/{number}/select")

    def check(self, scene: Scene, args: SetVertexGroupArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object", "MESH")
        if obj is not None:
            for number, entry in enumerate(args.weights):
                yield from missing_materials(obj, entry.select, f"/weights/{number}/select")

    def apply(self, scene: Scene, args: SetVertexGroupArgs) -> VertexGroupSet:
        obj = required_object(scene, args.object, "/object")
        weights = self._requested_weights(scene, args, obj)
        changed = any(weights_differ(obj, {args.name: weights}, "/weights"))
        if changed:
            scene.write_weights(obj, {args.name: weights})
        return VertexGroupSet(
            object=args.object,
            vertex_group=args.name,
            vertices=len(weights),
            groups=[group.name for group in obj.vertex_groups],
            changed=changed,
        )

    def verify(self, scene: Scene, args: SetVertexGroupArgs, result: VertexGroupSet) -> Findings:
        obj = required_object(scene, args.object, "/object")
        yield from weights_differ(obj, {args.name: self._requested_weights(scene, args, obj)}, "/weights")

    def _requested_weights(self, scene: Scene, args: SetVertexGroupArgs, obj: Block) -> dict[int, float]:
        """Return the weight of each vertex of the group by index, without vertices of weight zero."""
        weights: dict[int, float] = {}
        if args.mode == "update":
            weights.update(weights_of(obj, [args.name]).get(args.name, {}))
        entries = ((f"/weights/{number}", entry) for number, entry in enumerate(args.weights))
        weights.update(selected_weights(scene, obj, entries))
        return above_zero(weights)
