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
    shown_names,
)
from blendwright.tools.physics.motion_keys import action_name, channel_rows, motion_conflicts, write_keys
from blendwright.tools.render.rendering import FrameNumber
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

SOLID = ("MESH", "CURVE", "SURFACE", "FONT", "META")
MAX_FRAMES = 2000
# Choices of `keep` that leave rigid bodies in the scene, and choices that leave keyframes.
SETUPS, KEYED = ("setup", "both"), ("keyframes", "both")
# Movement per frame in metres, below which a body counts as being at rest.
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
    shape: Shape | None = optional("Shape of the body for collisions.")
    mass: PositiveFloat | None = optional("Mass in kilograms.")
    friction: LengthFloat | None = optional("Resistance to sliding.", le=100.0)
    bounce: UnitFloat | None = optional("Share of its speed that the body keeps in a collision.")


class SimulateArgs(Args):
    objects: list[ObjectName] = Field(
        min_length=1, max_length=500, description="Objects that fall and push each other."
    )
    obstacles: list[ObjectName] = Field(
        default=[], max_length=500, description="Objects that stay in place and that the others collide with."
    )
    ground: BoundedFloat | None = optional("Height of an infinite invisible ground in metres.")
    frames: Annotated[tuple[FrameNumber, FrameNumber], Field(strict=False)] = Field(
        default=(1, 100), description="First and last frame."
    )
    keep: Literal["keyframes", "rest", "setup", "both"] = Field(
        default="keyframes",
        description="keyframes: every frame. rest: the final position and rotation. setup: simulate nothing; the objects become"
        " rigid bodies to play and tune in Blender. both: keyframes, and bodies that follow them (Animated).",
    )
    shape: Shape = Field(default="CONVEX_HULL", description="Shape of objects for collisions; obstacles are MESH.")
    mass: PositiveFloat = Field(default=1.0, description="Mass of each object in kilograms.")
    friction: LengthFloat = Field(default=0.5, le=100.0, description="Resistance of all bodies to sliding.")
    bounce: UnitFloat = Field(default=0.0, description="Share of their speed that all bodies keep in a collision.")
    bodies: list[BodySettings] = Field(default=[], max_length=1000, description="Different settings for single bodies.")
    gravity: Vector3 = Field(default=(0.0, 0.0, -9.81), description="Gravity in metres per second squared.")
    substeps: int = Field(default=10, ge=1, le=200, description="Steps per frame; use more for fast or small objects.")

    @model_validator(mode="after")
    def _check_frames(self) -> SimulateArgs:
        first, last = self.frames
        if not 1 <= last - first < MAX_FRAMES:
            message = "frames must be a first and a later last frame, with at most {most} frames"
            raise PydanticCustomError("frames", message, {"most": MAX_FRAMES})
        return self


class BodyMoved(Result):
    object: str = Field(description="Name of the object.")
    location: tuple[float, float, float] = Field(description="Final position of its origin.")
    distance: float = Field(description="Distance between first and final position in metres.")
    at_rest: bool = Field(description="Whether the object is at rest at the end.")


class Simulated(Result):
    objects: list[BodyMoved] = Field(description="The result for each object; empty for a setup.")
    frames: int = Field(description="Number of frames that were simulated or set up.")
    actions: list[str] = Field(description="Names of the actions with the keyframes.")
    bodies: str | None = Field(
        default=None, description="Name of the collection of the scene's rigid bodies, if they stay."
    )
    notes: list[str] = Field(
        default=[], description="Unexpected results, such as objects that are not at rest at the end."
    )


class Simulate(Tool[SimulateArgs, Simulated]):
    """Let objects fall, collide and stack as rigid bodies, and keep every frame as keyframes, or only the final positions.

    Blender simulates in a temporary scene: the file gets keyframes or positions, which are the same everywhere, rigid-body
    settings on request, and no cache. Equal calls give equal results on one machine. Blendwright stores the result and never
    simulates it again.
    """

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
        for at, name in _named_objects(args):
            if name in seen:
                yield invalid(f"'{name}' is named twice", at, "Name each object once.")
            seen.append(name)
        for number, body in enumerate(args.bodies):
            if body.object not in seen:
                message = f"'{body.object}' is neither in objects nor in obstacles"
                yield invalid(message, f"/bodies/{number}/object", "Add it to objects or obstacles.")
        if args.ground is not None and args.keep in SETUPS:
            message = "an invisible ground cannot stay in the scene"
            yield invalid(message, "/ground", "Leave ground out, and name a floor in obstacles.")

    def check(self, scene: Scene, args: SimulateArgs) -> Findings:
        if args.keep in SETUPS:
            yield from home_conflicts(scene)
        for at, name in _named_objects(args):
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
        frame_count = args.frames[1] - args.frames[0] + 1
        bodies = _bodies(scene, args)
        objects = [body.obj for body in bodies if body.active]
        first = args.frames[0]
        if args.keep == "setup":
            collection = self._set_up(scene, args)
            notes = [live_note(first), *off_centre_notes(objects)]
            return Simulated(objects=[], frames=frame_count, actions=[], bodies=collection, notes=notes)

        tracks = scene.simulate_bodies(
            bodies, frame_count, gravity=args.gravity, substeps=args.substeps, ground=args.ground
        )
        results: list[BodyMoved] = []
        actions: list[str] = []
        for obj, track in zip(objects, tracks, strict=False):
            rows = channel_rows(scene, obj, track)
            if not all(math.isfinite(number) for row in rows for number in row):
                message = f"the simulation of '{obj.name}' became unstable: its position is not finite"
                raise StepError.of(Fault.EXECUTION_FAILED, message, at="/substeps", cure="Use more substeps.")
            present_row: list[float] = rows[-1]
            if args.keep in KEYED:
                actions.append(write_keys(scene, scene.edit(obj), first, rows))
                index: int = round(scene.active.frame_current_final) - first
                present_row = rows[min(max(index, 0), len(rows) - 1)]
            scene.set(obj, "location", present_row[:3])
            scene.set(obj, rotation_channel(obj), present_row[3:])
            results.append(_result(obj.name, rows))

        collection = None
        if args.keep == "both":
            collection = self._set_up(scene, args)
        return Simulated(objects=results, frames=frame_count, actions=actions, bodies=collection, notes=_notes(results))

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
            at = f"/objects/{number}"
            obj = required_object(scene, body.object, at)
            if args.keep == "rest":
                yield from differs(f"the position of '{body.object}'", body.location, tuple(obj.location), at)
                continue
            action_name: str | None = None
            if obj.animation_data is not None:
                action_name = obj.animation_data.action.name
            yield from differs(f"the action of '{body.object}'", result.actions[number], action_name, at)
        if args.keep in SETUPS:
            at = [pointer for pointer, _ in _named_objects(args)]
            yield from bodies_differ(_bodies(scene, args), at, animated=args.keep == "both")


def _named_objects(args: SimulateArgs) -> Iterator[tuple[str, str]]:
    """Yield the JSON pointer and the name of every object and obstacle."""
    for field, names in (("objects", args.objects), ("obstacles", args.obstacles)):
        for number, name in enumerate(names):
            yield f"/{field}/{number}", name


def _bodies(scene: Scene, args: SimulateArgs) -> list[Body]:
    bodies: list[Body] = []
    for at, name in _named_objects(args):
        bodies.append(_body(args, required_object(scene, name, at), active=at.startswith("/objects/")))
    return bodies


def _body(args: SimulateArgs, obj: Block, *, active: bool) -> Body:
    """Return an object's body, with the last entry of `bodies` for it before the common settings."""
    settings = BodySettings(object=obj.name)
    for body in args.bodies:
        if body.object == obj.name:
            settings = body

    shape = settings.shape
    if not shape:
        if active:
            shape = args.shape
        else:
            shape = "MESH"
    mass, friction, bounce = settings.mass, settings.friction, settings.bounce
    if mass is None:
        mass = args.mass
    if friction is None:
        friction = args.friction
    if bounce is None:
        bounce = args.bounce
    return Body(obj=obj, active=active, shape=shape, mass=mass, friction=friction, bounce=bounce)


def _result(name: str, rows: list[list[float]]) -> BodyMoved:
    first, last = rows[0][:3], rows[-1][:3]
    # Compare several frames, because a body at the top of its path hardly moves for one frame.
    late = [math.dist(rows[-1][:3], row[:3]) for row in rows[-6:]]
    x, y, z = last
    return BodyMoved(object=name, location=(x, y, z), distance=math.dist(first, last), at_rest=max(late) < 5 * REST)


def _notes(results: list[BodyMoved]) -> list[str]:
    moving = [body.object for body in results if not body.at_rest]
    if not moving:
        return []
    shown = shown_names(moving)
    return [f"Still moving in the last frame: {shown}. Give more frames, a ground or obstacles to come to rest on."]
