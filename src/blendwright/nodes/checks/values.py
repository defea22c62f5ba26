"""Checks whether a value fits a socket or a property of a node; each finding names values that fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from blendwright.nodes.catalogue.model import VALUELESS, ItemList, Property, SocketType
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean, pointer_of

DATABLOCKS = ("OBJECT", "COLLECTION", "MATERIAL", "IMAGE", "FONT", "SOUND")
SIZES = {"VECTOR": (2, 4), "RGBA": (4, 4), "ROTATION": (3, 3), "INT_VECTOR": (2, 3)}
# The smallest and largest numbers that Blender can store.
RANGES = {"INT": (-(2.0**31), 2.0**31 - 1), "FLOAT": (-3.4e38, 3.4e38)}
# Characters of a wrong value that a message shows.
MAX_SHOWN_CHARACTERS = 60
RAMP = ("color_mode", "interpolation", "hue_interpolation", "elements")
CURVES = ("curves", "use_clip", "clip_min_x", "clip_min_y", "clip_max_x", "clip_max_y", "extend", "tone",
          "black_level", "white_level")  # fmt: skip


def socket_value_problems(socket: SocketType, value: Any, at: str) -> Iterator[Finding]:
    """Yield a finding for each reason why a socket cannot hold this value."""
    subject = f"input '{socket.name}'"
    if socket.kind in VALUELESS:
        yield invalid(f"{subject} ({socket.kind.lower()}) holds no value", at, "Link something to it, or leave it out.")
    elif socket.kind in DATABLOCKS:
        yield from _reference(subject, f"the name of a datablock ({socket.kind.lower()}) or null", value, at)
    elif socket.kind == "MENU":
        if not isinstance(value, str):
            yield _wrong_type(subject, "the name of a menu item", value, at)
        elif socket.items:
            yield from _choice(subject, socket.items, value, at)
    elif socket.kind in SIZES:
        least, most = SIZES[socket.kind]
        default: Any = socket.default
        if isinstance(default, list):
            least = most = len(cast("list[float]", default))
        problems = list(_numbers(subject, value, least, most, socket.min, socket.max, at))
        yield from problems
        if socket.kind == "INT_VECTOR" and not problems:
            for number, part in enumerate(cast("list[float]", value)):
                if part != int(part):
                    yield _wrong_type(subject, "whole numbers", part, f"{at}/{number}")
    else:
        yield from _scalar(subject, SCALARS[socket.kind], value, socket.min, socket.max, at)


SCALARS = {"VALUE": "FLOAT", "INT": "INT", "BOOLEAN": "BOOLEAN", "STRING": "STRING"}


def property_problems(prop: Property, value: Any, choices: Sequence[str], at: str) -> Iterator[Finding]:
    """Yield a finding for each reason why a property cannot hold this value.

    `choices` are the values that an enum currently takes.
    """
    subject = f"property '{prop.name}'"
    if prop.type == "ENUM":
        yield from _enum(subject, prop, choices, value, at)
    elif prop.type in ("DATABLOCK", "NODE"):
        if prop.type == "NODE":
            expected = "the id of a node or null"
        else:
            expected = f"the name of a {prop.kind} or null"
        yield from _reference(subject, expected, value, at)
    elif prop.type in ("COLOR_RAMP", "CURVE_MAPPING"):
        if prop.type == "COLOR_RAMP":
            keys = RAMP
        else:
            keys = CURVES
        yield from _structured(subject, keys, value, at)
    elif prop.type == "PART":
        yield from _part(subject, prop, value, at)
    elif prop.size is not None:
        yield from _numbers(subject, value, prop.size, prop.size, prop.min, prop.max, at)
    elif prop.type == "MENU":
        if not isinstance(value, str):
            yield _wrong_type(subject, "the name of a menu item", value, at)
    else:
        yield from _scalar(subject, prop.type, value, prop.min, prop.max, at)


def item_list_problems(items: ItemList, value: Any, at: str) -> Iterator[Finding]:
    """Yield a finding for each invalid item, or one finding if the value is not a list of items."""
    if not isinstance(value, list):
        yield _wrong_type(f"property '{items.name}'", "a list of items", value, at)
        return
    names: set[str] = set()
    for number, item in enumerate(cast("list[Any]", value)):
        item_at = f"{at}/{number}"
        if not isinstance(item, dict):
            yield _wrong_type("an item", "an object of its properties", item, item_at)
            continue
        yield from _item(items, cast("dict[str, Any]", item), names, item_at)


def _item(items: ItemList, item: Mapping[str, Any], names: set[str], at: str) -> Iterator[Finding]:
    required: list[str] = []
    if items.named:
        required.append("name")
    if items.type_key:
        required.append(items.type_key)
    keys = [*required, *items.properties]

    for key, value in item.items():
        key_at = at + pointer_of([key])
        if key not in keys:
            cure = did_you_mean(key, keys, otherwise=f"Known: {', '.join(keys) or 'none'}.")
            yield invalid(f"items of '{items.name}' have no '{key[:MAX_SHOWN_CHARACTERS]}'", key_at, cure)
        elif key == "name":
            if not isinstance(value, str) or not value:
                yield _wrong_type("the name of an item", "a string", value, key_at)
            elif value in names:
                message = f"two items of '{items.name}' are named '{value[:MAX_SHOWN_CHARACTERS]}'"
                yield invalid(message, key_at, "Choose another name.")
            else:
                names.add(value)
        elif key == items.type_key:
            yield from _choice(f"'{key}' of an item", tuple(items.types), value, key_at)
        else:
            prop = items.properties[key]
            yield from property_problems(prop, value, prop.items, key_at)

    for key in required:
        if key not in item:
            yield invalid(f"'{key}' is missing", at, f"Add '{key}'.")


def _structured(subject: str, keys: Sequence[str], value: Any, at: str) -> Iterator[Finding]:
    if not isinstance(value, dict):
        yield _wrong_type(subject, f"an object with {', '.join(keys)}", value, at)
        return
    for key in cast("dict[str, Any]", value):
        if key not in keys:
            cure = did_you_mean(key, keys, otherwise=f"Known: {', '.join(keys)}.")
            yield invalid(f"{subject} has no '{key[:MAX_SHOWN_CHARACTERS]}'", at + pointer_of([key]), cure)


def _part(subject: str, prop: Property, value: Any, at: str) -> Iterator[Finding]:
    fields = prop.fields or {}
    problems = list(_structured(subject, tuple(fields), value, at))
    yield from problems
    if not problems:
        for name, part in cast("dict[str, Any]", value).items():
            yield from property_problems(fields[name], part, fields[name].items, at + pointer_of([name]))


def _enum(subject: str, prop: Property, choices: Sequence[str], value: Any, at: str) -> Iterator[Finding]:
    if not prop.several:
        yield from _choice(subject, choices, value, at)
    elif not isinstance(value, list):
        yield _wrong_type(subject, f"a list of {', '.join(choices)}", value, at)
    else:
        for number, choice in enumerate(cast("list[Any]", value)):
            yield from _choice(subject, choices, choice, f"{at}/{number}")


def _reference(subject: str, expected: str, value: Any, at: str) -> Iterator[Finding]:
    if not (value is None or isinstance(value, str)):
        yield _wrong_type(subject, expected, value, at)


def _choice(subject: str, choices: Sequence[str], value: Any, at: str) -> Iterator[Finding]:
    if not isinstance(value, str) or value not in choices:
        cure = did_you_mean(str(value), choices, otherwise=f"One of: {', '.join(choices)}.")
        yield invalid(f"{subject} does not take {_shortened(value)}", at, cure)


def _scalar(subject: str, kind: str, value: Any, least: float | None, most: float | None, at: str) -> Iterator[Finding]:
    if kind == "BOOLEAN":
        if not isinstance(value, bool):
            yield _wrong_type(subject, "true or false", value, at)
    elif kind == "STRING":
        if not isinstance(value, str):
            yield _wrong_type(subject, "a string", value, at)
    elif kind == "INT" and (isinstance(value, bool) or not isinstance(value, int)):
        yield _wrong_type(subject, "a whole number", value, at)
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        yield _wrong_type(subject, "a number", value, at)
    else:
        low, high = RANGES[kind]
        if least is not None:
            low = least
        if most is not None:
            high = most
        if not low <= value <= high:
            cure = f"Give at least {low:g} and at most {high:g}."
            yield invalid(f"{subject} does not take {_shortened(value)}", at, cure)


def _numbers(
    subject: str, value: Any, least_size: int, most_size: int, least: float | None, most: float | None, at: str
) -> Iterator[Finding]:
    if least_size == most_size:
        size = f"{least_size}"
    else:
        size = f"{least_size} to {most_size}"
    parts: list[Any] = []
    if isinstance(value, list):
        parts = cast("list[Any]", value)
    if not least_size <= len(parts) <= most_size:
        yield _wrong_type(subject, f"a list of {size} numbers", value, at)
        return
    for number, part in enumerate(parts):
        yield from _scalar(subject, "FLOAT", part, least, most, f"{at}/{number}")


def _wrong_type(subject: str, expected: str, value: Any, at: str) -> Finding:
    return invalid(f"{subject} takes {expected}, not {_shortened(value)}", at, f"Give {expected}.")


def invalid(message: str, at: str, cure: str) -> Finding:
    """Return a finding about an invalid argument."""
    return Finding(Fault.ARGS_INVALID, message, at, cure)


def _shortened(value: Any) -> str:
    text = repr(value)
    if len(text) <= MAX_SHOWN_CHARACTERS:
        return text
    return text[: MAX_SHOWN_CHARACTERS - 3] + "..."
