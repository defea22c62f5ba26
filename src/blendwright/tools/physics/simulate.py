from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Args, Block, Example, Findings, Kind, Result, Scene, Tool
from blendwright.tool_api.arguments import BoundedFloat, LengthFloat, PositiveFloat, UnitFloat, Vector3, optional
from blendwright.tool_api.mentions import Mention, ObjectName, Role, mentions
from blendwright.tool_api.physics_port import BODIES, Body, Shape
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE, Idempotence, Revert, Version
from blendwright.tools.animation_data import rotation_channel
from blendwright.tools.checks import differs, existing_object, invalid, not_evaluated, required_object
from blendwright.tools.physics.live_setup import (
    bodies_differ,
    home_conflicts,
    live_note,
    off_centre_notes,
    setup_conflicts,
)
from blendwright.tools.physics.motion_keys import action_name, channel_rows, motion_conflicts, write_keys
from blendwright.tools.render.rendering import FrameNumber
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

SOLID = ("MESH", "CURVE", "SURFACE", "FONT", "META")
MOST_FRAMES = 2000
# What stays in the scene: rigid bodies, keyframes.
SETUPS, KEYED = ("setup", "both"), ("keyframes", "both")
# A body that moves less than this in a frame has come to rest, in metres.
REST = 1e-3
BLOCK = ("mesh.create_primitive", {"kind": "cube", "name": "Block", "size": 0.5, "location": [0, 0, 2],
                                   "rotation_euler_deg": [20, 30, 0]})  # fmt: skip
BALL = ("mesh.create_primitive", {"kind": "ico_sphere", "name": "Ball", "radius": 0.3, "location": [0.1, 0, 3]})
RAMP = (
    "mesh.create_primitive",
    {"kind": "cube", "name": "Ramp", "dimensions": [4, 2, 0.2], "rotation_euler_deg": [0, 15, 0]},
)


class BodySettings(Args):
    object: ObjectName = Field(description="One of objects or obstacles.")
    shape: Shape | None = optional("Its shape for collisions.")
    mass: PositiveFloat | None = optional("In kilograms.")
    friction: LengthFloat | None = optional("How little it slides.", le=100.0)
    bounce: UnitFloat | None = optional("How much of its speed it keeps when it hits something.")


class SimulateArgs(Args):
    objects: list[ObjectName] = Field(
        min_length=1, max_length=500, description="Objects that fall and push each other."
    )
    obstacles: list[ObjectName] = Field(
        default=[], max_length=500, description="Objects that they meet and that stand still."
    )
    ground: BoundedFloat | None = optional("Height of a ground without an end that nobody sees.")
    frames: Annotated[tuple[FrameNumber, FrameNumber], Field(strict=False)] = Field(
        default=(1, 100), description="First and last frame."
    )
    keep: Literal["keyframes", "rest", "setup", "both"] = Field(
        default="keyframes",
        description="Every frame as keyframes; the place where each one is in the end; setup: nothing is simulated, they become"
        " rigid bodies to play and tune in Blender; both: keyframes, and bodies that follow them (Animated).",
    )
    shape: Shape = Field(default="CONVEX_HULL", description="Shape of objects for collisions; obstacles are MESH.")
    mass: PositiveFloat = Field(default=1.0, description="Mass of each object in kilograms.")
    friction: LengthFloat = Field(default=0.5, le=100.0, description="How little all of them slide.")
    bounce: UnitFloat = Field(default=0.0, description="How much of their speed they keep when they hit something.")
    bodies: list[BodySettings] = Field(default=[], max_length=1000, description="What is different about single ones.")
    gravity: Vector3 = Field(default=(0.0, 0.0, -9.81), description="In metres per second squared.")
    substeps: int = Field(default=10, ge=1, le=200, description="Steps per frame; more for fast and small ones.")

    @model_validator(mode="after")
    def _in_order(self) -> SimulateArgs:
        first, last = self.frames
        if not 1 <= last - first < MOST_FRAMES:
            raise PydanticCustomError("frames", "frames are a first and a later last one, at most 2000")
        return self


class BodyMoved(Result):
    object: str = Field(description="Name of the object.")
    location: tuple[float, float, float] = Field(description="Where its origin is in the end.")
    distance: float = Field(description="How far that is from where it was, in metres.")
    at_rest: bool = Field(description="Whether it has come to rest.")


class Simulated(Result):
    objects: list[BodyMoved] = Field(description="What became of each of them; empty for a set-up.")
    frames: int = Field(description="How many frames were simulated, or set up.")
    actions: list[str] = Field(description="The actions that hold the keyframes.")
    bodies: str | None = Field(
        default=None, description="The collection that the scene's rigid bodies are in, where they stay."
    )
    notes: list[str] = Field(
        default=[], description="What may surprise: what is not at rest yet, or fell out of sight."
    )


class Simulate(Tool[SimulateArgs, Simulated]):
    """Let objects fall, collide and stack as rigid bodies, and keep every frame as keyframes, or only where they come to rest.

    Simulated by Blender in a scene of its own: no cache stays in the file, only keyframes or places, which are the same everywhere, and
    rigid-body settings if asked for. Equal calls give equal results on one machine; what was kept is never simulated again."""

    name = "physics.simulate"
    version = 2
    time_limit = "render_seconds"
    promises = (
        SAFE_ONE_TIME_WRITE.but(replayable=False)
        .writes_to(Kind.OBJECT, Kind.ACTION, Kind.COLLECTION, Kind.SCENE)
        .needs("object_write", "animation_write")
    )
    examples = (
        Example({"objects": ["Block", "Ball"], "ground": 0, "frames": [1, 20]}, BLOCK, BALL),
        Example(
            {"objects": ["Block"], "obstacles": ["Ramp"], "frames": [1, 30], "keep": "rest",
             "bodies": [{"object": "Ramp", "friction": 0.1}, {"object": "Block", "shape": "BOX", "mass": 5}]},
            BLOCK, RAMP,
        ),
        Example({"objects": ["Block", "Ball"], "obstacles": ["Ramp"], "frames": [1, 60], "keep": "setup"}, BLOCK, BALL, RAMP),
        Example({"objects": ["Block"], "obstacles": ["Ramp"], "frames": [1, 10], "keep": "both"}, BLOCK, RAMP),
    )  # fmt: skip

    def idempotence_for(self, args: SimulateArgs) -> Idempotence:
        if args.keep == "setup":
            return Idempotence.IDEMPOTENT
        return self.idempotence

    def revert_for(self, args: SimulateArgs, blender: Version) -> Revert:
        if args.keep in SETUPS:
            return Revert.MEMFILE
        return self.revert

    def capabilities_for(self, args: SimulateArgs) -> tuple[str, ...]:
        if args.keep in SETUPS:
            return (*self.requires.capabilities, "scene_write")
        return self.requires.capabilities

    def mentions_for(self, args: SimulateArgs) -> Iterator[Mention]:
        yield from mentions(args)
        if args.keep in SETUPS:
            yield Mention(Role.ENSURES, Kind.COLLECTION.blocks, BODIES, surely=False, at="/keep")

    def examine(self, args: SimulateArgs, blender: tuple[int, int, int] | None) -> Findings:
        seen: list[str] = []
        for at, name in _named(args):
            if name in seen:
                yield invalid(f"'{name}' is named twice", at, "Name each object once.")
            seen.append(name)
        for number, body in enumerate(args.bodies):
            if body.object not in seen:
                message = f"'{body.object}' is neither among objects nor among obstacles"
                yield invalid(message, f"/bodies/{number}/object", "Add it to one of them.")
        if args.ground is not None and args.keep in SETUPS:
            message = "a ground that nobody sees cannot stay in the scene"
            yield invalid(message, "/ground", "Leave it out, and name a floor among obstacles.")

    def check(self, scene: Scene, args: SimulateArgs) -> Findings:
        if args.keep in SETUPS:
            yield from home_conflicts(scene)
        for at, name in _named(args):
            obj = yield from existing_object(scene, name, at, *SOLID)
            if obj is None:
                continue
            yield from not_evaluated(scene, obj, at)
            if args.keep in SETUPS:
                yield from setup_conflicts(obj, at)
            if at.startswith("/objects/"):
                yield from motion_conflicts(scene, obj, at)
                if args.keep in KEYED:
                    yield from scene.name_conflicts(Kind.ACTION, action_name(obj), at)

    def apply(self, scene: Scene, args: SimulateArgs) -> Simulated:
        bodies = _bodies(scene, args)
        objects = [body.obj for body in bodies if body.active]
        first, last = args.frames
        if args.keep == "setup":
            home = self._set_up(scene, args)
            notes = [live_note(first), *off_centre_notes(objects)]
            return Simulated(objects=[], frames=last - first + 1, actions=[], bodies=home, notes=notes)
        tracks = scene.simulate_bodies(
            bodies, last - first + 1, gravity=args.gravity, substeps=args.substeps, ground=args.ground
        )
        moved: list[BodyMoved] = []
        actions: list[str] = []
        for obj, track in zip(objects, tracks, strict=False):
            rows = channel_rows(scene, obj, track)
            if not all(math.isfinite(number) for row in rows for number in row):
                message = f"the simulation of '{obj.name}' went out of bounds"
                raise StepError.of(Fault.EXECUTION_FAILED, message, at="/substeps", cure="Use more substeps.")
            kept: list[float] = rows[-1]
            if args.keep in KEYED:
                actions.append(write_keys(scene, scene.edit(obj), first, rows))
                now: int = round(scene.active.frame_current_final) - first
                kept = rows[min(max(now, 0), len(rows) - 1)]
            scene.set(obj, "location", kept[:3])
            scene.set(obj, rotation_channel(obj), kept[3:])
            moved.append(_moved(obj.name, rows))
        if args.keep == "both":
            home = self._set_up(scene, args)
        else:
            home = None
        return Simulated(objects=moved, frames=last - first + 1, actions=actions, bodies=home, notes=_notes(moved))

    def _set_up(self, scene: Scene, args: SimulateArgs) -> str:
        return scene.set_up_bodies(
            _bodies(scene, args),
            args.frames,
            gravity=args.gravity,
            substeps=args.substeps,
            animated=args.keep == "both",
        )

    def verify(self, scene: Scene, args: SimulateArgs, result: Simulated) -> Findings:
        for number, body in enumerate(result.objects):
            obj, at = required_object(scene, body.object, f"/objects/{number}"), f"/objects/{number}"
            if args.keep == "rest":
                yield from differs(f"where '{body.object}' is", body.location, tuple(obj.location), at)
            else:
                if obj.animation_data is None:
                    name = None
                else:
                    name = obj.animation_data.action.name
                yield from differs(f"the action of '{body.object}'", result.actions[number], name, at)
        if args.keep in SETUPS:
            at = [pointer for pointer, _ in _named(args)]
            yield from bodies_differ(_bodies(scene, args), at, animated=args.keep == "both")


def _named(args: SimulateArgs) -> Iterator[tuple[str, str]]:
    for field, names in (("objects", args.objects), ("obstacles", args.obstacles)):
        for number, name in enumerate(names):
            yield f"/{field}/{number}", name


def _bodies(scene: Scene, args: SimulateArgs) -> list[Body]:
    return [
        _body(args, required_object(scene, name, at), active=at.startswith("/objects/")) for at, name in _named(args)
    ]


def _body(args: SimulateArgs, obj: Block, *, active: bool) -> Body:
    own = next((body for body in reversed(args.bodies) if body.object == obj.name), BodySettings(object=obj.name))
    return Body(
        obj=obj,
        active=active,
        shape=own.shape or (args.shape if active else "MESH"),
        mass=args.mass if own.mass is None else own.mass,
        friction=args.friction if own.friction is None else own.friction,
        bounce=args.bounce if own.bounce is None else own.bounce,
    )


def _moved(name: str, rows: list[list[float]]) -> BodyMoved:
    first, last = rows[0][:3], rows[-1][:3]
    # Over a few frames: what has just turned round at the top of its way stands still for one.
    late = [math.dist(rows[-1][:3], row[:3]) for row in rows[-6:]]
    x, y, z = last
    return BodyMoved(object=name, location=(x, y, z), distance=math.dist(first, last), at_rest=max(late) < 5 * REST)


def _notes(moved: list[BodyMoved]) -> list[str]:
    moving = [body.object for body in moved if not body.at_rest]
    if not moving:
        return []
    shown = ", ".join(repr(name) for name in moving[:5]) + (f" and {len(moving) - 5} more" if len(moving) > 5 else "")
    return [f"Still moving at the last frame: {shown}. Give more frames, a ground or obstacles to come to rest on."]
