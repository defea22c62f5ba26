"""Tools that break their promises on purpose, so that tests can see each of them caught. A worker extension."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from typing import Literal

from blendwright.tool_api.arguments import Args, Result
from blendwright.tool_api.promises import READ_ONLY, SAFE_ONE_TIME_WRITE
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import AnyTool, Example, Tool
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

_FOREVER = 1_000_000


class MisbehaveArgs(Args):
    how: Literal[
        "run_away",
        "crash",
        "raise",
        "fail",
        "unverified",
        "undeclared",
        "unrecorded",
        "irreversible",
        "nothing",
        "linger",
        "differ",
    ]
    name: str = "Trial"


class Nothing(Result):
    pass


class Misbehave(Tool[MisbehaveArgs, Nothing]):
    """Create an empty, then break a promise."""

    name = "trial.misbehave"
    promises = SAFE_ONE_TIME_WRITE.writes_to(Kind.OBJECT, Kind.COLLECTION).needs("object_write")
    examples = (Example({"how": "nothing"}),)

    def check(self, scene: Scene, args: MisbehaveArgs) -> Iterator[Finding]:
        yield from scene.name_conflicts(Kind.OBJECT, args.name, "/name")

    def apply(self, scene: Scene, args: MisbehaveArgs) -> Nothing:
        made = scene.create(Kind.OBJECT, args.name, None)
        scene.link(scene.active.collection, made)
        if args.how == "differ":
            # Another scene in every process, though it promises the same one.
            made.location.x = float(os.getpid())
        if args.how == "run_away":
            # Like native work of Blender: holds the interpreter lock and never comes back.
            ctypes.PyDLL(None).sleep(_FOREVER)
        if args.how == "crash":
            os.abort()
        if args.how == "raise":
            raise ValueError("raised on purpose")
        if args.how == "fail":
            raise StepError.of(Fault.SCENE_CONFLICT, "failed on purpose", at="/how", cure="Ask for something else.")
        if args.how == "undeclared":
            scene.create(Kind.MESH, args.name)
        if args.how == "unrecorded":
            for obj in scene.blocks(Kind.OBJECT):
                if obj.name != args.name:
                    obj.location.x += 1.0
        if args.how == "irreversible":
            for obj in scene.blocks(Kind.OBJECT):
                if obj.name != args.name:
                    # One write is recorded and so is hashed again; the other one no inverse takes back.
                    scene.set(obj, "hide_render", True)
                    obj.location.x += 1.0
            raise ValueError("raised on purpose, with a write that nobody recorded")
        return Nothing()

    def verify(self, scene: Scene, args: MisbehaveArgs, result: Nothing) -> Iterator[Finding]:
        if args.how == "linger":
            ctypes.PyDLL(None).sleep(_FOREVER)
        if args.how == "unverified":
            yield Finding(Fault.SCENE_CONFLICT, "not as promised, on purpose", "/how", "Ask for something else.")


class Peek(Tool[MisbehaveArgs, Nothing]):
    """Claims to be read-only and creates an empty."""

    name = "trial.peek"
    promises = READ_ONLY.needs("scene_read")
    examples = (Example({"how": "nothing"}),)

    def check(self, scene: Scene, args: MisbehaveArgs) -> Iterator[Finding]:
        yield from ()

    def apply(self, scene: Scene, args: MisbehaveArgs) -> Nothing:
        if args.how == "undeclared":
            scene.link(scene.active.collection, scene.create(Kind.OBJECT, args.name, None))
        return Nothing()

    def verify(self, scene: Scene, args: MisbehaveArgs, result: Nothing) -> Iterator[Finding]:
        if args.how == "unverified":
            yield Finding(Fault.SCENE_CONFLICT, "not as promised, on purpose", "/how")


TOOLS: tuple[AnyTool, ...] = (Misbehave(), Peek())
