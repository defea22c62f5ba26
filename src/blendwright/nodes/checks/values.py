"""Checks whether a value fits a socket or a property of a node, and says what would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from blendwright.nodes.catalogue.model import VALUELESS, ItemList, Property, SocketType
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean, pointer_of

DATABLOCKS = ("OBJECT", "COLLECTION", "MATERIAL", "IMAGE", "FONT", "SOUND")
SIZES = {"VECTOR": (2, 4), "RGBA": (4, 4), "ROTATION": (3, 3), "INT_VECTOR": (2, 3)}
# The numbers that Blender can store at all.
RANGES = {"INT": (-(2.0**31), 2.0**31 - 1), "FLOAT": (-3.4e38, 3.4e38)}
SHOWN = 60
RAMP = ("color_mode", "interpolation", "hue_interpolation", "elements")
CURVES = ("curves", "use_clip", "clip_min_x", "clip_min_y", "clip_max_x", "clip_max_y", "extend", "tone",
          "black_level", "white_level")  # fmt: skip


def socket_value_problems(socket: SocketType, value: Any, at: str) -> Iterator[Finding]:
    """What is wrong with giving a value to a socket."""
    what = f"input '{socket.name}'"
    if socket.kind in VALUELESS:
        yield invalid(f"{what} ({socket.kind.lower()}) holds no value", at, "Link something to it, or leave it out.")
    elif socket.kind in DATABLOCKS:
        yield from _reference(what, f"the name of a datablock ({socket.kind.lower()}) or null", value, at)
    elif socket.kind == "MENU":
        if not isinstance(value, str):
            yield _wrong_type(what, "the name of a menu item", value, at)
        elif socket.items:
            yield from _choice(what, socket.items, value, at)
    elif socket.kind in SIZES:
        least, most = SIZES[socket.kind]
        default: Any = socket.default
        if isinstance(default, list):
            least = most = len(cast("list[float]", default))
        problems = list(_numbers(what, value, least, most, socket.min, socket.max, at))
        yield from problems
        if socket.kind == "INT_VECTOR" and not problems:
            for number, part in enumerate(cast("list[float]", value)):
                if part != int(part):
                    yield _wrong_type(what, "whole numbers", part, f"{at}/{number}")
    else:
        yield from _scalar(what, SCALARS[socket.kind], value, socket.min, socket.max, at)


SCALARS = {"VALUE": "FLOAT", "INT": "INT", "BOOLEAN": "BOOLEAN", "STRING": "STRING"}


def property_problems(prop: Property, value: Any, choices: Sequence[str], at: str) -> Iterator[Finding]:
    """What is wrong with giving a value to a property. `choices` are what an enum takes just now."""
    what = f"property '{prop.name}'"
    if prop.type == "ENUM":
        yield from _enum(what, prop, choices, value, at)
    elif prop.type in ("DATABLOCK", "NODE"):
        if prop.type == "NODE":
            expected = "the id of a node or null"
        else:
            expected = f"the name of a {prop.kind} or null"
        yield from _reference(what, expected, value, at)
    elif prop.type in ("COLOR_RAMP", "CURVE_MAPPING"):
        yield from _structured(what, RAMP if prop.type == "COLOR_RAMP" else CURVES, value, at)
    elif prop.type == "PART":
        yield from _part(what, prop, value, at)
    elif prop.size is not None:
        yield from _numbers(what, value, prop.size, prop.size, prop.min, prop.max, at)
    elif prop.type == "MENU":
        if not isinstance(value, str):
            yield _wrong_type(what, "the name of a menu item", value, at)
    else:
        yield from _scalar(what, prop.type, value, prop.min, prop.max, at)


def item_list_problems(items: ItemList, value: Any, at: str) -> Iterator[Finding]:
    """What is wrong with a list of items."""
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
    keys = [*(["name"] if items.named else []), *([items.type_key] if items.type_key else []), *items.properties]
    for key, value in item.items():
        key_at = at + pointer_of([key])
        if key not in keys:
            cure = did_you_mean(key, keys, otherwise=f"Known: {', '.join(keys) or 'none'}.")
            yield invalid(f"items of '{items.name}' have no '{key[:SHOWN]}'", key_at, cure)
        elif key == "name":
            if not isinstance(value, str) or not value:
                yield _wrong_type("the name of an item", "a text", value, key_at)
            elif value in names:
                message = f"two items of '{items.name}' are named '{value[:SHOWN]}'"
                yield invalid(message, key_at, "Choose another name.")
            else:
                names.add(value)
        elif key == items.type_key:
            yield from _choice(f"'{key}' of an item", tuple(items.types), value, key_at)
        else:
            prop = items.properties[key]
            yield from property_problems(prop, value, prop.items, key_at)
    for key in ("name" if items.named else None, items.type_key):
        if key and key not in item:
            yield invalid(f"'{key}' is missing", at, f"Add '{key}'.")


def _structured(what: str, keys: Sequence[str], value: Any, at: str) -> Iterator[Finding]:
    if not isinstance(value, dict):
        yield _wrong_type(what, f"an object with {', '.join(keys)}", value, at)
        return
    for key in cast("dict[str, Any]", value):
        if key not in keys:
            cure = did_you_mean(key, keys, otherwise=f"Known: {', '.join(keys)}.")
            yield invalid(f"{what} has no '{key[:SHOWN]}'", at + pointer_of([key]), cure)


def _part(what: str, prop: Property, value: Any, at: str) -> Iterator[Finding]:
    fields = prop.fields or {}
    problems = list(_structured(what, tuple(fields), value, at))
    yield from problems
    if not problems:
        for name, part in cast("dict[str, Any]", value).items():
            yield from property_problems(fields[name], part, fields[name].items, at + pointer_of([name]))


def _enum(what: str, prop: Property, choices: Sequence[str], value: Any, at: str) -> Iterator[Finding]:
    if not prop.several:
        yield from _choice(what, choices, value, at)
    elif not isinstance(value, list):
        yield _wrong_type(what, f"a list of {', '.join(choices)}", value, at)
    else:
        for number, each in enumerate(cast("list[Any]", value)):
            yield from _choice(what, choices, each, f"{at}/{number}")


def _reference(what: str, expected: str, value: Any, at: str) -> Iterator[Finding]:
    if not (value is None or isinstance(value, str)):
        yield _wrong_type(what, expected, value, at)


def _choice(what: str, choices: Sequence[str], value: Any, at: str) -> Iterator[Finding]:
    if not isinstance(value, str) or value not in choices:
        cure = did_you_mean(str(value), choices, otherwise=f"One of: {', '.join(choices)}.")
        yield invalid(f"{what} does not take {_shortened(value)}", at, cure)


def _scalar(what: str, kind: str, value: Any, least: float | None, most: float | None, at: str) -> Iterator[Finding]:
    if kind == "BOOLEAN":
        if not isinstance(value, bool):
            yield _wrong_type(what, "true or false", value, at)
    elif kind == "STRING":
        if not isinstance(value, str):
            yield _wrong_type(what, "a text", value, at)
    elif isinstance(value, bool) or not isinstance(value, int if kind == "INT" else (int, float)):
        yield _wrong_type(what, "a whole number" if kind == "INT" else "a number", value, at)
    else:
        low, high = RANGES[kind]
        low, high = low if least is None else least, high if most is None else most
        if not low <= value <= high:
            cure = f"Give at least {low:g} and at most {high:g}."
            yield invalid(f"{what} does not take {_shortened(value)}", at, cure)


def _numbers(
    what: str, value: Any, least_size: int, most_size: int, least: float | None, most: float | None, at: str
) -> Iterator[Finding]:
    if least_size == most_size:
        size = f"{least_size}"
    else:
        size = f"{least_size} to {most_size}"
    if isinstance(value, list):
        parts = cast("list[Any]", value)
    else:
        parts = []
    if not least_size <= len(parts) <= most_size:
        yield _wrong_type(what, f"a list of {size} numbers", value, at)
        return
    for number, part in enumerate(parts):
        yield from _scalar(what, "FLOAT", part, least, most, f"{at}/{number}")


def _wrong_type(what: str, expected: str, value: Any, at: str) -> Finding:
    return invalid(f"{what} takes {expected}, not {_shortened(value)}", at, f"Give {expected}.")


def invalid(message: str, at: str, cure: str) -> Finding:
    """What is wrong with an argument."""
    return Finding(Fault.ARGS_INVALID, message, at, cure)


def _shortened(value: Any) -> str:
    text = repr(value)
    if len(text) <= SHOWN:
        return text
    return text[: SHOWN - 3] + "..."
