from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from blendwright.tool_api import Args, Block, Example, Findings, Kind, Result, Scene, Tool
from blendwright.tool_api.arguments import optional
from blendwright.tool_api.mentions import Mention, ObjectName, Role, mentions
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE
from blendwright.tools.checks import conflict, differs, existing_object, invalid, not_evaluated, required_object
from blendwright.tools.deletion import DELETION_WRITES, delete_objects
from blendwright.tools.mesh.edit import MeshCounts, counts_of, open_edges, shape_key_conflicts
from blendwright.tools.world_space import unparent_conflicts, world_matrix
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

MANIFOLD_SINCE = (4, 5, 0)
BLOCK = ("mesh.create_primitive", {"kind": "cube", "name": "Block"})
HOLE = ("mesh.create_primitive", {"kind": "cylinder", "name": "Hole", "radius": 0.4, "depth": 3, "segments": 12})
BALL = ("mesh.create_primitive", {"kind": "ico_sphere", "name": "Ball", "radius": 0.7, "location": [0.9, 0.8, 1.1]})
BLUE = ("material.ensure_principled", {"name": "Blue", "base_color": [0.1, 0.2, 0.8]})
PAINTED = ("material.assign", {"object": "Ball", "material": "Blue"})


class BooleanArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object that changes.")
    operation: Literal["difference", "union", "intersect"] = Field(
        description="difference: cut the cutters out of the object. union: add them. intersect: keep only the volume "
        "common to all."
    )
    cutters: list[ObjectName] = Field(
        min_length=1,
        max_length=200,
        description="Names of the other objects, applied in this order, with their modifiers.",
    )
    hide_cutters: bool = Field(default=True, description="Hide the cutters in viewports and renders.")
    delete_cutters: bool = Field(default=False, description="Delete the cutters instead; the call is then destructive.")
    solver: Literal["EXACT", "MANIFOLD"] = Field(
        default="EXACT", description="MANIFOLD is many times faster, but needs closed meshes and Blender 4.5 or later."
    )
    overlapping: bool = Field(
        default=False,
        description="True if one of the meshes intersects itself, as joined parts do. Only for EXACT; slower, and the "
        "result is not proven.",
    )


class BooleanDone(Result):
    """The result of combining a mesh with other objects."""

    object: str = Field(description="Name of the object.")
    before: MeshCounts = Field(description="Counts of its mesh before.")
    after: MeshCounts = Field(description="Counts of its mesh after.")
    open_edges: int = Field(
        description="Number of edges without exactly two faces; 0 unless parts touch along an edge."
    )
    volume: float | None = optional(
        "Volume of the result in cubic metres in world space; null unless the surface is closed."
    )
    overlaps: list[float | None] = Field(
        description="Volume that each cutter had in common with the object, in cubic metres; null if unknown."
    )
    proven: bool = Field(
        description="True if all inputs and the result are closed and the volumes add up. False if an input was open "
        "or overlapping."
    )
    materials: list[str] = Field(description="Materials of the object, including those added from the cutters.")
    removed: list[str] = Field(default=[], description="Deleted datablocks, as kind/name.")


class BooleanMesh(Tool[BooleanArgs, BooleanDone]):
    """Cut other objects out of a mesh (holes, windows, slots), unite it with them, or keep the volume they have in
    common.

    For closed meshes the result is verified: closed, not empty, within the bounds of its inputs, with matching volumes;
    otherwise nothing changes. Modifiers of the object stay and apply to the result. Cut faces get the cutter's material
    if it has one.
    """

    name = "mesh.boolean"
    promises = SAFE_ONE_TIME_WRITE.writes_to(*DELETION_WRITES).needs("mesh_write", "object_write")
    destructive_with = ("delete_cutters",)
    examples = (
        Example({"object": "Block", "operation": "difference", "cutters": ["Hole", "Ball"]}, BLOCK, HOLE, BALL),
        Example(
            {"object": "Block", "operation": "union", "cutters": ["Ball"], "delete_cutters": True},
            BLOCK, BALL, BLUE, PAINTED,
        ),
        Example({"object": "Block", "operation": "intersect", "cutters": ["Ball"], "hide_cutters": False}, BLOCK, BALL),
    )  # fmt: skip

    def mentions_for(self, args: BooleanArgs) -> Iterator[Mention]:
        for mention in mentions(args):
            if args.delete_cutters and mention.at.startswith("/cutters/"):
                yield mention._replace(role=Role.REMOVES)
            else:
                yield mention

    def examine(self, args: BooleanArgs, blender: tuple[int, int, int] | None) -> Findings:
        for number, name in enumerate(args.cutters):
            if name == args.object or name in args.cutters[:number]:
                yield invalid(f"'{name}' is named twice", f"/cutters/{number}", "Name each object once.")
        if args.solver == "MANIFOLD":
            if args.overlapping:
                yield invalid("the MANIFOLD solver does not support overlapping meshes", "/overlapping", "Use EXACT.")
            if blender is not None and blender < MANIFOLD_SINCE:
                yield Finding(
                    Fault.UNSUPPORTED_BLENDER, "the MANIFOLD solver needs Blender 4.5 or later", "/solver", "Use EXACT."
                )

    def check(self, scene: Scene, args: BooleanArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object", "MESH")
        if obj is not None:
            yield from shape_key_conflicts(obj)
            yield from not_evaluated(scene, obj, "/object")
            if obj.data.users > 1 and any(user != obj for user in scene.users(obj.data)):
                message = f"other objects share the mesh of '{args.object}' and would change too"
                yield conflict(message, "/object", "Make a deep copy with object.duplicate, and use the copy.")
        cutters: list[Block] = []
        for number, name in enumerate(args.cutters):
            cutter = yield from existing_object(scene, name, f"/cutters/{number}", "MESH")
            if cutter is not None:
                cutters.append(cutter)
        if args.delete_cutters:
            yield from unparent_conflicts(scene, cutters, "/cutters")

    def apply(self, scene: Scene, args: BooleanArgs) -> BooleanDone:
        obj = required_object(scene, args.object, "/object")
        cutters = [required_object(scene, name, f"/cutters/{number}") for number, name in enumerate(args.cutters)]
        before = counts_of(obj.data)
        volume_factor = abs(world_matrix(scene, obj).determinant())
        steps = scene.boolean_mesh(obj, cutters, args.operation, args.solver, overlapping=args.overlapping)
        removed: list[str] = []
        if args.delete_cutters:
            removed = delete_objects(scene, cutters, "/cutters", keep_data=False)
        elif args.hide_cutters:
            for cutter in cutters:
                scene.set(cutter, "hide_viewport", True)
                scene.set(cutter, "hide_render", True)
        return BooleanDone(
            object=args.object,
            before=before,
            after=counts_of(obj.data),
            open_edges=open_edges(obj.data),
            volume=_times(steps[-1].volume, volume_factor),
            overlaps=[_times(step.overlap, volume_factor) for step in steps],
            proven=all(step.proven for step in steps),
            materials=[material.name for material in obj.data.materials if material is not None],
            removed=removed,
        )

    def verify(self, scene: Scene, args: BooleanArgs, result: BooleanDone) -> Findings:
        mesh = required_object(scene, args.object, "/object").data
        yield from differs("its counts", result.after.model_dump(), counts_of(mesh).model_dump(), "/operation")
        yield from differs("its number of open edges", result.open_edges, open_edges(mesh), "/operation")
        for number, name in enumerate(args.cutters):
            cutter, at = scene.find(Kind.OBJECT, name), f"/cutters/{number}"
            yield from differs(f"the presence of '{name}'", not args.delete_cutters, cutter is not None, at)
            if cutter is not None and args.hide_cutters:
                yield from differs(
                    f"that '{name}' is hidden", (True, True), (cutter.hide_viewport, cutter.hide_render), at
                )


def _times(volume: float | None, factor: float) -> float | None:
    if volume is None:
        return None
    return volume * factor
