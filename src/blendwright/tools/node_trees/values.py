"""Converts values between JSON and Blender, and writes what sockets hold; datablocks go by name."""

from __future__ import annotations

import struct
from typing import Any, cast

from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tools.checks import same
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

# What datablock a socket of a type holds.
SOCKET_KINDS = {name: Kind[name] for name in ("OBJECT", "COLLECTION", "MATERIAL", "IMAGE", "TEXTURE", "FONT", "SOUND")}
SINGLE_PRECISION = struct.Struct("<f")


def has_value(socket: Block) -> bool:
    """Whether a socket holds anything when nothing is linked to it."""
    return hasattr(socket, "default_value")


def write_socket_value(scene: Scene, socket: Block, kind: str, value: Any, at: str) -> None:
    """Write a socket's value and read it back; `kind` is Blender's name of what it holds, like VALUE or OBJECT."""
    refers_to = SOCKET_KINDS.get(kind)
    blender_value = value
    if refers_to is not None:
        if not (value is None or isinstance(value, str)):
            raise invalid(f"{value!r} is not the name of a {refers_to.label}", at, "Give the name, or null for none.")
        if value is None:
            blender_value = None
        else:
            blender_value = scene.require(refers_to, value, at)
    elif value is None:
        raise invalid(f"'{socket.name}' cannot hold nothing", at, "Give a value.")
    elif kind == "INT" and isinstance(value, float) and value.is_integer():
        blender_value = int(value)
    elif kind == "INT_VECTOR" and isinstance(value, list):
        parts = cast("list[float]", value)
        blender_value = [int(part) if float(part).is_integer() else part for part in parts]
    if isinstance(value, str):
        cure = None
    else:
        cure = "Use a value inside the range of the socket."
    write_attribute(socket, "default_value", value, blender_value, f"'{socket.name}'", at, cure)


def write_attribute(
    struct: Block, name: str, value: Any, blender_value: Any, what: str, at: str, cure: str | None = None
) -> None:
    """Write a value as Blender takes it and read it back; a StepError when Blender refuses it or keeps another one."""
    try:
        setattr(struct, name, blender_value)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise refused_by_blender(f"{what} does not take {value!r}", error, at) from error
    actual = to_json(getattr(struct, name))
    if not same(value, actual):
        raise invalid(f"{what} is {actual!r} after {value!r} was given", at, cure)


def invalid(message: str, at: str, cure: str | None = None) -> StepError:
    """What is wrong with a value that was given."""
    return StepError.of(Fault.ARGS_INVALID, message, at=at, cure=cure)


def refused_by_blender(message: str, error: Exception, at: str) -> StepError:
    """What Blender says about a value that it does not take, as a finding."""
    text = " ".join(str(error).split())
    return invalid(message, at, f"Blender says: {text[:400]}")


def to_json(value: Any) -> Any:
    """A value as JSON: datablocks by name, vectors as lists, numbers in their shortest form."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return shortest_float(value)
    if hasattr(value, "bl_rna"):
        return value.name
    if isinstance(value, set):  # an enumeration of which several hold
        return sorted(cast("set[str]", value))
    return [to_json(part) for part in value]


def shortest_float(value: float) -> float:
    """The number with the fewest digits that is the same in single precision: 0.1, not 0.10000000149011612."""
    for digits in (6, 7, 8):
        rounded = float(f"{value:.{digits}g}")
        if _single(rounded) == _single(value):
            return rounded
    return value


def _single(value: float) -> float:
    try:
        return SINGLE_PRECISION.unpack(SINGLE_PRECISION.pack(value))[0]
    except OverflowError:
        return value
