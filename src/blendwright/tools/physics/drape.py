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
# Mass of a vertex in kilograms, stretching stiffness, bending stiffness and damping, as in Blender's presets.
FABRICS: dict[str, tuple[float, float, float, float]] = {
    "silk": (0.15, 5.0, 0.05, 0.0),
    "cotton": (0.3, 15.0, 0.5, 5.0),
    "denim": (1.0, 40.0, 10.0, 25.0),
    "leather": (0.4, 80.0, 150.0, 25.0),
    "rubber": (3.0, 15.0, 25.0, 25.0),
}


class DrapeArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object that becomes cloth: a grid fine enough to fold.")
    obstacles: list[ObjectName] = Field(default=[], max_length=100, description="Objects that the cloth falls on.")
    pins: InnerName | None = optional("Vertex group of the vertices that stay in place; their weight is the strength.")
    fabric: Literal["silk", "cotton", "denim", "leather", "rubber"] = Field(
        default="cotton", description="Weight and stiffness of the cloth."
    )
    frames: int = Field(default=60, ge=2, le=1000, description="Number of frames that the cloth falls.")
    keep: Literal["shape", "setup"] = Field(
        default="shape",
        description="shape: keep the final shape. setup: simulate nothing; the object becomes cloth to play and tune in Blender.",
    )
    thickness: PositiveFloat = Field(default=0.01, le=1.0, description="Distance to the obstacles in metres.")
    self_collision: bool = Field(default=False, description="Whether the cloth collides with itself too; slower.")
    gravity: Vector3 = Field(default=(0.0, 0.0, -9.81), description="Gravity in metres per second squared.")
    quality: int = Field(default=7, ge=1, le=80, description="Steps per frame.")


class Draped(Result):
    object: str = Field(description="Name of the object.")
    lowest: float | None = Field(default=None, description="Lowest point of the cloth in its own space, in metres.")
    farthest: float | None = Field(
        default=None, description="Longest distance that a vertex moved, in metres of the cloth's own space."
    )
    stretch: float | None = Field(
        default=None, description="Largest ratio of an edge's final length to its first length; 1 is unstretched."
    )
    frames: int = Field(description="Number of frames that were simulated or set up.")
    modifier: str | None = Field(default=None, description="Name of the cloth modifier, if keep is setup.")
    notes: list[str] = Field(default=[], description="Unexpected effects of a setup.")


class Drape(Tool[DrapeArgs, Draped]):
    """Let a mesh fall as cloth over other objects and keep its final shape: table cloths, curtains, flags.

    Blender simulates in a temporary scene: the file gets only the shape, or a cloth modifier on request, and no cache. Equal
    calls give equal results on one machine. Blendwright stores the result and never simulates it again.
    """

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
            return (*self.requires.capabilities, "modifier_write", "scene_write")
        return self.requires.capabilities

    def examine(self, args: DrapeArgs, blender: tuple[int, int, int] | None) -> Findings:
        for number, name in enumerate(args.obstacles):
            if name == args.object or name in args.obstacles[:number]:
                yield invalid(f"'{name}' is named twice", f"/obstacles/{number}", "Name each object once.")

    def check(self, scene: Scene, args: DrapeArgs) -> Findings:
        # Blender allows the modifier that makes an obstacle only on meshes.
        obstacle_types = SOLID
        if args.keep == "setup":
            obstacle_types = ("MESH",)
        for number, name in enumerate(args.obstacles):
            obstacle = yield from existing_object(scene, name, f"/obstacles/{number}", *obstacle_types)
            if obstacle is not None:
                yield from not_evaluated(scene, obstacle, f"/obstacles/{number}")
                if args.keep == "setup":
                    yield from setup_conflicts(obstacle, f"/obstacles/{number}")
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
            message = f"other objects share the mesh of '{args.object}', and would change too"
            yield conflict(message, "/object", "Make a deep copy with object.duplicate, and drape that.")
        if args.pins is not None and args.pins not in obj.vertex_groups:
            names = [group.name for group in obj.vertex_groups]
            message = f"'{args.object}' has no vertex group '{args.pins}'"
            cure = did_you_mean(args.pins, names, otherwise="Leave pins out, or create the group first.")
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
        distances = [math.dist(before[at : at + 3], after[at : at + 3]) for at in range(0, len(before), 3)]
        if not all(math.isfinite(distance) for distance in distances):
            message = "the simulation became unstable: a vertex of the cloth has no finite position"
            raise StepError.of(Fault.EXECUTION_FAILED, message, at="/quality", cure="Use a higher quality.")
        mesh = scene.edit(obj.data)
        mesh.attributes["position"].data.foreach_set("vector", array("f", after))
        mesh.update()
        return Draped(
            object=args.object,
            lowest=min(after[2::3]),
            farthest=max(distances),
            stretch=_stretch(mesh, before, after),
            frames=args.frames,
        )

    def verify(self, scene: Scene, args: DrapeArgs, result: Draped) -> Findings:
        if args.keep == "setup":
            obj = required_object(scene, args.object, "/object")
            obstacles = [scene.require(Kind.OBJECT, name) for name in args.obstacles]
            yield from cloth_differs(obj, _settings(args), args.quality, obstacles)
            return
        heights = positions_of(required_object(scene, args.object, "/object").data)[2::3]
        yield from differs("the lowest point of the cloth", result.lowest, min(heights), "/object")


def _settings(args: DrapeArgs) -> ClothSettings:
    mass, tension, bending, damping = FABRICS[args.fabric]
    return ClothSettings(args.pins, mass, tension, bending, damping, args.thickness, args.self_collision)


def _stretch(mesh: Block, before: Sequence[float], after: Sequence[float]) -> float:
    """Return the largest ratio of an edge's length after the simulation to its length before."""
    vertices = array("i", bytes(8 * len(mesh.edges)))
    mesh.edges.foreach_get("vertices", vertices)
    ratios: list[float] = []
    for first, second in zip(vertices[0::2], vertices[1::2], strict=True):
        old_length = _distance(before, first, second)
        if old_length > 0.0:
            ratios.append(_distance(after, first, second) / old_length)
    return max(ratios, default=1.0)


def _distance(points: Sequence[float], first: int, second: int) -> float:
    return math.dist(points[3 * first : 3 * first + 3], points[3 * second : 3 * second + 3])
