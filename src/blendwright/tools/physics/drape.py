from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from blendwright.tool_api import Args, Block, Example, Findings, Kind, Result, Scene, Tool
from blendwright.tool_api.arguments import InnerName, PositiveFloat, Vector3, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.physics_port import ClothSettings
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE, Idempotence, Revert, Version
from blendwright.tools.checks import conflict, differs, existing_object, invalid, not_evaluated, required_object
from blendwright.tools.mesh.edit import shape_key_conflicts
from blendwright.tools.mesh_data import positions_of
from blendwright.tools.physics.live_setup import cloth_differs, live_note, scale_notes, setup_conflicts
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

SOLID = ("MESH", "CURVE", "SURFACE", "FONT", "META")
SHEET = ("mesh.create_primitive", {"kind": "grid", "name": "Sheet", "size": 2, "cells": 10, "location": [0, 0, 1.2]})
BALL = ("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball", "radius": 0.6, "location": [0, 0, 0.5]})
# Mass of a vertex, stiffness against stretching and against bending, damping: as Blender's own presets have them.
FABRICS: dict[str, tuple[float, float, float, float]] = {
    "silk": (0.15, 5.0, 0.05, 0.0),
    "cotton": (0.3, 15.0, 0.5, 5.0),
    "denim": (1.0, 40.0, 10.0, 25.0),
    "leather": (0.4, 80.0, 150.0, 25.0),
    "rubber": (3.0, 15.0, 25.0, 25.0),
}


class DrapeArgs(Args):
    object: ObjectName = Field(description="Mesh object that becomes cloth: a grid fine enough to fold.")
    obstacles: list[ObjectName] = Field(default=[], max_length=100, description="Objects that it falls on.")
    pins: InnerName | None = optional("Vertex group of what stays in place, as far as it has weight there.")
    fabric: Literal["silk", "cotton", "denim", "leather", "rubber"] = Field(
        default="cotton", description="How heavy and stiff it is."
    )
    frames: int = Field(default=60, ge=2, le=1000, description="How many frames it falls.")
    keep: Literal["shape", "setup"] = Field(
        default="shape",
        description="The shape that it has in the end; setup: nothing is simulated, it becomes cloth to play and tune in Blender.",
    )
    thickness: PositiveFloat = Field(default=0.01, le=1.0, description="Distance that it keeps, in metres.")
    self_collision: bool = Field(default=False, description="Whether it keeps away from itself too; slower.")
    gravity: Vector3 = Field(default=(0.0, 0.0, -9.81), description="In metres per second squared.")
    quality: int = Field(default=7, ge=1, le=80, description="Steps per frame.")


class Draped(Result):
    object: str = Field(description="Name of the object.")
    lowest: float | None = Field(default=None, description="Lowest point of the cloth in its own space, in metres.")
    farthest: float | None = Field(
        default=None, description="How far the vertex that moved most has moved, in metres of its own space."
    )
    stretch: float | None = Field(
        default=None, description="How long the edge that was stretched most is, against what it was: 1 is as long."
    )
    frames: int = Field(description="How many frames were simulated, or set up.")
    modifier: str | None = Field(default=None, description="The cloth modifier, where it stays.")
    notes: list[str] = Field(default=[], description="What may surprise about a set-up.")


class Drape(Tool[DrapeArgs, Draped]):
    """Let a mesh fall as cloth over other objects; keep the shape that it has in the end: table cloths, curtains, flags.

    Simulated by Blender in a scene of its own: no cache stays in the file, only the shape, or a cloth modifier if asked for. Equal calls
    give equal results on one machine; what was kept is never simulated again."""

    name = "physics.drape"
    version = 2
    time_limit = "render_seconds"
    promises = (
        SAFE_ONE_TIME_WRITE.but(replayable=False)
        .writes_to(Kind.OBJECT, Kind.MESH, Kind.SCENE)
        .needs("object_write", "mesh_write")
    )
    examples = (
        Example({"object": "Sheet", "obstacles": ["Ball"], "frames": 20}, SHEET, BALL),
        Example({"object": "Sheet", "fabric": "silk", "frames": 5, "gravity": [0, -5, -5]}, SHEET),
        Example({"object": "Sheet", "obstacles": ["Ball"], "fabric": "denim", "keep": "setup"}, SHEET, BALL),
    )

    def idempotence_for(self, args: DrapeArgs) -> Idempotence:
        if args.keep == "setup":
            return Idempotence.IDEMPOTENT
        return self.idempotence

    def revert_for(self, args: DrapeArgs, blender: Version) -> Revert:
        if args.keep == "setup":
            return Revert.MEMFILE
        return self.revert

    def capabilities_for(self, args: DrapeArgs) -> tuple[str, ...]:
        if args.keep == "setup":
            more = ("modifier_write", "scene_write")
        else:
            more = ()
        return (*self.requires.capabilities, *more)

    def examine(self, args: DrapeArgs, blender: tuple[int, int, int] | None) -> Findings:
        for number, name in enumerate(args.obstacles):
            if name == args.object or name in args.obstacles[:number]:
                yield invalid(f"'{name}' is named twice", f"/obstacles/{number}", "Name each object once.")

    def check(self, scene: Scene, args: DrapeArgs) -> Findings:
        for number, name in enumerate(args.obstacles):
            # Only a mesh takes the modifier that makes it an obstacle.
            if args.keep == "setup":
                solid = ("MESH",)
            else:
                solid = SOLID
            other = yield from existing_object(scene, name, f"/obstacles/{number}", *solid)
            if other is not None:
                yield from not_evaluated(scene, other, f"/obstacles/{number}")
                if args.keep == "setup":
                    yield from setup_conflicts(other, f"/obstacles/{number}")
        obj = yield from existing_object(scene, args.object, "/object", "MESH")
        if obj is None:
            return
        yield from not_evaluated(scene, obj, "/object")
        if args.keep == "setup":
            yield from setup_conflicts(obj, "/object")
        else:
            yield from shape_key_conflicts(obj)
        if not len(obj.data.polygons):
            yield conflict(f"'{args.object}' has no faces", "/object", "Name a mesh with faces, such as a grid.")
        if args.keep == "shape" and obj.data.users > 1 and any(user != obj for user in scene.users(obj.data)):
            message = f"others share the mesh of '{args.object}', and would change too"
            yield conflict(message, "/object", "Make a deep copy with object.duplicate, and drape that.")
        if args.pins is not None and args.pins not in obj.vertex_groups:
            names = [group.name for group in obj.vertex_groups]
            message = f"'{args.object}' has no vertex group '{args.pins}'"
            cure = did_you_mean(args.pins, names, otherwise="Leave it out, or make the group first.")
            yield Finding(Fault.TARGET_NOT_FOUND, message, "/pins", cure)

    def apply(self, scene: Scene, args: DrapeArgs) -> Draped:
        obj = required_object(scene, args.object, "/object")
        obstacles = [required_object(scene, name, f"/obstacles/{number}") for number, name in enumerate(args.obstacles)]
        settings = _settings(args)
        if args.keep == "setup":
            first = int(scene.active.frame_start)
            name = scene.set_up_cloth(
                obj, obstacles, settings, (first, first + args.frames - 1), gravity=args.gravity, quality=args.quality
            )
            notes = [live_note(first), *scale_notes(obj)]
            return Draped(object=args.object, frames=args.frames, modifier=name, notes=notes)
        before = positions_of(obj.data)
        after = scene.drape_cloth(obj, obstacles, settings, args.frames, gravity=args.gravity, quality=args.quality)
        ways = [math.dist(before[at : at + 3], after[at : at + 3]) for at in range(0, len(before), 3)]
        if not all(math.isfinite(way) for way in ways):
            message = "the cloth went out of bounds"
            raise StepError.of(Fault.EXECUTION_FAILED, message, at="/quality", cure="Use a higher quality.")
        mesh = scene.edit(obj.data)
        mesh.attributes["position"].data.foreach_set("vector", array("f", after))
        mesh.update()
        return Draped(
            object=args.object,
            lowest=min(after[2::3]),
            farthest=max(ways),
            stretch=_stretch(mesh, before, after),
            frames=args.frames,
        )

    def verify(self, scene: Scene, args: DrapeArgs, result: Draped) -> Findings:
        if args.keep == "setup":
            obj = required_object(scene, args.object, "/object")
            yield from cloth_differs(
                obj, _settings(args), args.quality, [scene.require(Kind.OBJECT, name) for name in args.obstacles]
            )
            return
        heights = positions_of(required_object(scene, args.object, "/object").data)[2::3]
        yield from differs("the lowest point of the cloth", result.lowest, min(heights), "/object")


def _settings(args: DrapeArgs) -> ClothSettings:
    mass, tension, bending, damping = FABRICS[args.fabric]
    return ClothSettings(args.pins, mass, tension, bending, damping, args.thickness, args.self_collision)


def _stretch(mesh: Block, before: Sequence[float], after: Sequence[float]) -> float:
    ends = array("i", bytes(8 * len(mesh.edges)))
    mesh.edges.foreach_get("vertices", ends)
    ratios: list[float] = []
    for one, other in zip(ends[0::2], ends[1::2], strict=True):
        was, now = (
            math.dist(points[3 * one : 3 * one + 3], points[3 * other : 3 * other + 3]) for points in (before, after)
        )
        if was > 0.0:
            ratios.append(now / was)
    return max(ratios, default=1.0)
