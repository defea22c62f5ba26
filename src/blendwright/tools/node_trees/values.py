"""Conversion of values between JSON and Blender, and writing of socket values. JSON refers to datablocks by name."""

from __future__ import annotations

import struct
from typing import Any, cast

from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tools.checks import same
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

# The kind of datablock that a socket of a type refers to.
SOCKET_KINDS = {name: Kind[name] for name in ("OBJECT", "COLLECTION", "MATERIAL", "IMAGE", "TEXTURE", "FONT", "SOUND")}
SINGLE_PRECISION = struct.Struct("<f")


def has_value(socket: Block) -> bool:
    """Return True if a socket has a value that applies without a link."""
    return hasattr(socket, "default_value")


def write_socket_value(scene: Scene, socket: Block, kind: str, value: Any, at: str) -> None:
    """Write a socket's value and compare the stored value. `kind` is Blender's type of the value, such as VALUE or OBJECT.

    Raise StepError if the value does not suit the socket.
    """
    refers_to = SOCKET_KINDS.get(kind)
    blender_value = value
    if refers_to is not None:
        if not (value is None or isinstance(value, str)):
            raise invalid(f"{value!r} is not the name of a {refers_to.label}", at, "Give the name, or null for none.")
        if value is not None:
            blender_value = scene.require(refers_to, value, at)
    elif value is None:
        raise invalid(f"'{socket.name}' does not accept null", at, "Give a value.")
    elif kind == "INT" and isinstance(value, float) and value.is_integer():
        blender_value = int(value)
    elif kind == "INT_VECTOR" and isinstance(value, list):
        parts = cast("list[float]", value)
        blender_value = [_whole_number(part) for part in parts]
    if isinstance(value, str):
        cure = None
    else:
        cure = "Use a value inside the range of the socket."
    write_attribute(socket, "default_value", value, blender_value, f"'{socket.name}'", at, cure)


def write_attribute(
    struct: Block, name: str, value: Any, blender_value: Any, what: str, at: str, cure: str | None = None
) -> None:
    """Write an attribute and compare it with `value`, its JSON form. `what` names the attribute in messages.

    Raise StepError if Blender refuses `blender_value` or stores another value.
    """
    try:
        setattr(struct, name, blender_value)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise refused_by_blender(f"{what} does not accept {value!r}", error, at) from error
    actual = to_json(getattr(struct, name))
    if not same(value, actual):
        raise invalid(f"Blender set {what} to {actual!r} instead of {value!r}", at, cure)


def _whole_number(value: float) -> float:
    """Return an int for a number without a fraction, else the number itself."""
    if float(value).is_integer():
        return int(value)
    return value


def invalid(message: str, at: str, cure: str | None = None) -> StepError:
    """Return the error for an unsuitable value at the JSON pointer `at`."""
    return StepError.of(Fault.ARGS_INVALID, message, at=at, cure=cure)


def refused_by_blender(message: str, error: Exception, at: str) -> StepError:
    """Return the error for a value that Blender refused. Its fix quotes up to 400 characters of Blender's message."""
    text = " ".join(str(error).split())
    return invalid(message, at, f"Blender says: {text[:400]}")


def to_json(value: Any) -> Any:
    """Return a value as JSON: datablocks by name, vectors as lists, numbers in their shortest form."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return shortest_float(value)
    if hasattr(value, "bl_rna"):
        return value.name
    if isinstance(value, set):  # an enumeration that allows several values
        return sorted(cast("set[str]", value))
    return [to_json(part) for part in value]


def shortest_float(value: float) -> float:
    """Return the number with the fewest digits that is equal in single precision: 0.1, not 0.10000000149011612."""
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
