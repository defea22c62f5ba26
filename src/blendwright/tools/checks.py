"""What `check` and `verify` ask of a scene: the datablocks that a call names, and how what is there differs from what was asked.

The generators that return a datablock are for `check`: they yield findings, so that one line does both:
`obj = yield from existing_object(scene, args.name, "/name", "CAMERA")`.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from typing import Any, cast

from blendwright.tool_api import Block, Findings, Kind, Scene
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


def conflict(message: str, at: str, cure: str) -> Finding:
    """What the scene holds speaks against these arguments."""
    return Finding(Fault.SCENE_CONFLICT, message, at, cure)


def invalid(message: str, at: str, cure: str) -> Finding:
    """These arguments are wrong in themselves, or for any such target."""
    return Finding(Fault.ARGS_INVALID, message, at, cure)


# Blender keeps single-precision floats: a value that was asked for in double precision comes back rounded.
RELATIVE = 1e-5
ABSOLUTE = 1e-6


def close(expected: float, actual: float) -> bool:
    return math.isclose(expected, actual, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def same(expected: Any, actual: Any) -> bool:
    """Equal within single precision, element by element."""
    if isinstance(expected, bool) or expected is None or isinstance(expected, str):
        return expected == actual
    if isinstance(expected, (int, float)):
        return isinstance(actual, (int, float)) and close(expected, actual)
    if isinstance(expected, Sequence):
        parts = cast("Sequence[Any]", expected)
        return len(parts) == len(actual) and all(same(one, other) for one, other in zip(parts, actual, strict=True))
    return expected == actual


def differs(what: str, expected: Any, actual: Any, at: str) -> Findings:
    """A finding when a value is not what was asked for."""
    if isinstance(expected, tuple) and expected == tuple(actual):
        return  # most values come back exactly, and most calls ask for plain ones
    if not same(expected, actual):
        cure = "Use another name, or change the one that is there."
        # `what` is a value, or a clause that should be true: "that its faces are shaded smooth".
        if what.startswith("that ") and isinstance(expected, bool):
            yield conflict(f"it is {'not so' if expected else 'so'} {what}", at, cure)
        else:
            yield conflict(f"{what} is {_shown(actual)}, not {_shown(expected)}", at, cure)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if hasattr(value, "__len__") and not isinstance(value, (str, bytes)):
        return "(" + ", ".join(_shown(part) for part in value) + ")"
    return repr(value)


# ---------------------------------------------------------------------- datablocks that a call names


def existing(scene: Scene, kind: Kind, name: str, at: str) -> Generator[Finding, None, Block | None]:
    """The datablock of that name, or a finding with the names that come near."""
    block = scene.find(kind, name)
    if block is None:
        yield from scene.missing(kind, name, at)
    return block


def existing_object(scene: Scene, name: str, at: str, *types: str) -> Generator[Finding, None, Block | None]:
    """The object of that name, where it is of one of these types (of any, when none is named)."""
    obj = yield from existing(scene, Kind.OBJECT, name, at)
    if obj is None or not types or obj.type in types:
        return obj
    allowed = " or ".join(types)
    message = f"'{obj.name}' is of type {obj.type}, not {allowed}"
    yield conflict(message, at, f"Name an object of type {allowed}.")
    return None


def evaluated_object(scene: Scene, name: str, at: str) -> Generator[Finding, None, Block | None]:
    """The object of that name, where its place and shape in the world are known."""
    obj = yield from existing_object(scene, name, at)
    if obj is not None:
        yield from not_evaluated(scene, obj, at)
    return obj


def not_evaluated(scene: Scene, obj: Block, at: str) -> Findings:
    """A finding when an object is out of the dependency graph: hidden from the viewport, or in no collection of the scene."""
    if not scene.evaluated(obj).is_evaluated:
        message = f"object '{obj.name}' is not evaluated: it is disabled in viewports, or in no visible collection"
        yield conflict(message, at, "Make it visible, or link it to a collection of the scene.")


def existing_objects(scene: Scene, names: Sequence[str], at: str) -> Generator[Finding, None, list[Block] | None]:
    """All objects of a list argument; None when one of them is missing."""
    objects: list[Block | None] = []
    for index, name in enumerate(names):
        objects.append((yield from existing_object(scene, name, f"{at}/{index}")))
    if None in objects:
        return None
    return objects


def required_object(scene: Scene, name: str, at: str = "/name") -> Block:
    """The object of that name, for `apply` and `verify`."""
    return scene.require(Kind.OBJECT, name, at)


# ---------------------------------------------------------------------- collections


def target_collection(scene: Scene, name: str | None) -> Block:
    """The collection of that name, or the scene's own: without a name, and by the name that Blender shows for it."""
    if name is None or is_scene_collection(scene, name):
        return scene.active.collection
    return scene.require(Kind.COLLECTION, name, "/collection")


def missing_target_collection(scene: Scene, name: str | None, at: str = "/collection") -> Sequence[Finding]:
    """For `check`: a finding when `target_collection` would find none."""
    if name is None or is_scene_collection(scene, name):
        return ()
    return scene.missing(Kind.COLLECTION, name, at)


def is_scene_collection(scene: Scene, name: str) -> bool:
    """Whether a name means the scene's own collection, which is no datablock; one of that name would come first.

    Receipts name it by its scene (`scene:Scene`), which is understood too."""
    own = name == scene.active.collection.name or name == f"scene:{scene.active.name}"
    return own and scene.find(Kind.COLLECTION, name) is None
