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
        description="Cut the others out of it, add them to it, or leave only what it has in common with all of them."
    )
    cutters: list[ObjectName] = Field(
        min_length=1,
        max_length=200,
        description="Names of the other objects, taken in this order with their modifiers.",
    )
    hide_cutters: bool = Field(default=True, description="Hide the others in viewports and renders.")
    delete_cutters: bool = Field(default=False, description="Delete the others instead; the call is then destructive.")
    solver: Literal["EXACT", "MANIFOLD"] = Field(
        default="EXACT", description="MANIFOLD is many times faster, for closed meshes and from Blender 4.5 on."
    )
    overlapping: bool = Field(
        default=False,
        description="Whether one of the meshes goes through itself, as joined parts do; EXACT only, slower, and "
        "nothing is proven then.",
    )


class BooleanDone(Result):
    """A mesh that others were combined with."""

    object: str = Field(description="Name of the object.")
    before: MeshCounts = Field(description="What its mesh had.")
    after: MeshCounts = Field(description="What it has.")
    open_edges: int = Field(
        description="Edges that have not exactly two faces: none, but where parts touch along an edge."
    )
    volume: float | None = optional(
        "What the surface encloses, in cubic metres of the world; null unless it is closed."
    )
    overlaps: list[float | None] = Field(
        description="What each of the others had in common with it, in cubic metres; null where it cannot be told."
    )
    proven: bool = Field(
        description="True: all were closed, the result is, and the volumes add up. False: an input was open or "
        "overlapping."
    )
    materials: list[str] = Field(description="Materials of the object; those of the others came along.")
    removed: list[str] = Field(default=[], description="What was deleted, as kind/name.")


class BooleanMesh(Tool[BooleanArgs, BooleanDone]):
    """Cut other objects out of a mesh (holes, windows, slots), unite it with them, or keep what they have in common.

    Of closed meshes the result is proven: closed, not empty, inside the bounds of its inputs, with a volume that adds up; else nothing is
    changed. Modifiers of the object stay and work on the result. Cut faces have the cutter's material where it has one."""

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
            gone = args.delete_cutters and mention.at.startswith("/cutters/")
            yield mention._replace(role=Role.REMOVES) if gone else mention

    def examine(self, args: BooleanArgs, blender: tuple[int, int, int] | None) -> Findings:
        for number, name in enumerate(args.cutters):
            if name == args.object or name in args.cutters[:number]:
                yield invalid(f"'{name}' is named twice", f"/cutters/{number}", "Name each object once.")
        if args.solver == "MANIFOLD":
            if args.overlapping:
                yield invalid("the MANIFOLD solver takes no overlapping meshes", "/overlapping", "Use EXACT.")
            if blender is not None and blender < MANIFOLD_SINCE:
                yield Finding(
                    Fault.UNSUPPORTED_BLENDER, "the MANIFOLD solver came with Blender 4.5", "/solver", "Use EXACT."
                )

    def check(self, scene: Scene, args: BooleanArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object", "MESH")
        if obj is not None:
            yield from shape_key_conflicts(obj)
            yield from not_evaluated(scene, obj, "/object")
            if obj.data.users > 1 and any(user != obj for user in scene.users(obj.data)):
                message = f"others share the mesh of '{args.object}', and would change too"
                yield conflict(message, "/object", "Make a deep copy with object.duplicate, and cut that.")
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
        size = abs(world_matrix(scene, obj).determinant())
        done = scene.boolean_mesh(obj, cutters, args.operation, args.solver, overlapping=args.overlapping)
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
            volume=_times(done[-1].volume, size),
            overlaps=[_times(one.overlap, size) for one in done],
            proven=all(one.proven for one in done),
            materials=[one.name for one in obj.data.materials if one is not None],
            removed=removed,
        )

    def verify(self, scene: Scene, args: BooleanArgs, result: BooleanDone) -> Findings:
        mesh = required_object(scene, args.object, "/object").data
        yield from differs("what the mesh has", result.after.model_dump(), counts_of(mesh).model_dump(), "/operation")
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
