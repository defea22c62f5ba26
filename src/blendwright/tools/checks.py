"""Building blocks of `check` and `verify`: look up the datablocks that a call names, and compare actual with expected
values.

Generators that return a datablock are for `check`. They also yield findings, so that one line does both: `obj = yield
from existing_object(scene, args.name, "/name", "CAMERA")`.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from typing import Any, cast

from blendwright.tool_api import Block, Findings, Kind, Scene
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


def conflict(message: str, at: str, fix: str) -> Finding:
    """Return a finding for arguments that contradict the current scene."""
    return Finding(Fault.SCENE_CONFLICT, message, at, fix)


def invalid(message: str, at: str, fix: str) -> Finding:
    """Return a finding for arguments that are wrong in themselves, whatever the scene contains."""
    return Finding(Fault.ARGS_INVALID, message, at, fix)


# Tolerances for comparing values: Blender stores single-precision floats, so a written value comes back rounded.
RELATIVE = 1e-5
ABSOLUTE = 1e-6
# Beginning of the name of a Boolean value that says whether an item exists.
PRESENCE = "the presence of "


def close(expected: float, actual: float) -> bool:
    return math.isclose(expected, actual, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def same(expected: Any, actual: Any) -> bool:
    """Return True if two values are equal within single precision, element by element."""
    if isinstance(expected, bool) or expected is None or isinstance(expected, str):
        return expected == actual
    if isinstance(expected, (int, float)):
        return isinstance(actual, (int, float)) and close(expected, actual)
    if isinstance(expected, Sequence):
        parts = cast("Sequence[Any]", expected)
        return len(parts) == len(actual) and all(map(same, parts, actual))
    return expected == actual


def differs(what: str, expected: Any, actual: Any, at: str) -> Findings:
    """Yield a finding if an actual value is not the expected one.

    `what` names the value, as in "its location". With a Boolean value it may also be a clause that should be true, as
    in "that its faces are shaded smooth", or name an item that should exist, as in "the presence of 'Box'".
    """
    if isinstance(expected, tuple) and expected == tuple(actual):
        return  # fast path: most values come back exactly
    if not same(expected, actual):
        yield conflict(_difference(what, expected, actual), at, "Use another name, or change the existing datablock.")


def _difference(what: str, expected: Any, actual: Any) -> str:
    if isinstance(expected, bool) and what.startswith("that "):
        if expected:
            return f"it is not true {what}"
        return f"it is true {what}"
    if isinstance(expected, bool) and what.startswith(PRESENCE):
        if expected:
            return f"{what.removeprefix(PRESENCE)} does not exist"
        return f"{what.removeprefix(PRESENCE)} exists, but should not"
    return f"{what} is {_shown(actual)}, not {_shown(expected)}"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if hasattr(value, "__len__") and not isinstance(value, (str, bytes)):
        return "(" + ", ".join(_shown(part) for part in value) + ")"
    return repr(value)


# ---------------------------------------------------------------------- datablocks that a call names


def existing(scene: Scene, kind: Kind, name: str, at: str) -> Generator[Finding, None, Block | None]:
    """Return the datablock of that name, or yield a finding with similar names and return None."""
    block = scene.find(kind, name)
    if block is None:
        yield from scene.missing(kind, name, at)
    return block


def existing_object(scene: Scene, name: str, at: str, *types: str) -> Generator[Finding, None, Block | None]:
    """Return the object of that name, or yield a finding and return None.

    The object's type must be one of `types`; without any, all types are allowed.
    """
    obj = yield from existing(scene, Kind.OBJECT, name, at)
    if obj is None or not types or obj.type in types:
        return obj
    allowed = " or ".join(types)
    message = f"'{obj.name}' is of type {obj.type}, not {allowed}"
    yield conflict(message, at, f"Name an object of type {allowed}.")
    return None


def evaluated_object(scene: Scene, name: str, at: str) -> Generator[Finding, None, Block | None]:
    """Return the object of that name, and yield a finding if Blender does not evaluate it."""
    obj = yield from existing_object(scene, name, at)
    if obj is not None:
        yield from not_evaluated(scene, obj, at)
    return obj


def not_evaluated(scene: Scene, obj: Block, at: str) -> Findings:
    """Yield a finding if an object is not evaluated: hidden in viewports, or in no visible collection of the scene."""
    if not scene.evaluated(obj).is_evaluated:
        message = f"object '{obj.name}' is not evaluated: it is disabled in viewports, or in no visible collection"
        yield conflict(message, at, "Make it visible, or link it to a collection of the scene.")


def existing_objects(scene: Scene, names: Sequence[str], at: str) -> Generator[Finding, None, list[Block] | None]:
    """Return all objects of a list argument, or yield findings and return None if one is missing."""
    objects: list[Block | None] = []
    for index, name in enumerate(names):
        objects.append((yield from existing_object(scene, name, f"{at}/{index}")))
    if None in objects:
        return None
    return objects


def required_object(scene: Scene, name: str, at: str = "/name") -> Block:
    """Return the object of that name; raise StepError if it is missing. For use in `apply` and `verify`."""
    return scene.require(Kind.OBJECT, name, at)


# ---------------------------------------------------------------------- collections


def target_collection(scene: Scene, name: str | None) -> Block:
    """Return the collection of that name; without a name, or for the name shown for it, the scene's own collection."""
    if name is None or is_scene_collection(scene, name):
        return scene.active.collection
    return scene.require(Kind.COLLECTION, name, "/collection")


def missing_target_collection(scene: Scene, name: str | None, at: str = "/collection") -> Sequence[Finding]:
    """Return a finding if `target_collection` would not find the collection. For use in `check`."""
    if name is None or is_scene_collection(scene, name):
        return ()
    return scene.missing(Kind.COLLECTION, name, at)


def is_scene_collection(scene: Scene, name: str) -> bool:
    """Return True if a name means the scene's own collection, which is not a datablock.

    A collection datablock of that name takes precedence. Receipts name the scene's own collection `scene:Scene`; this
    form is accepted too.
    """
    names_it = name == scene.active.collection.name or name == f"scene:{scene.active.name}"
    return names_it and scene.find(Kind.COLLECTION, name) is None
