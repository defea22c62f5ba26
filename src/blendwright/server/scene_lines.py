"""A snapshot of a scene that a model can afford to read: a line for each thing, numbers as a person would write them.

Fingerprints, matrices and whatever is as it usually is are left out; `detail: "full"` has them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import orjson

Entry = Mapping[str, Any]
# What the lines are made of; the rest is not asked for.
SECTIONS = ("objects", "collections", "materials", "cameras", "lights", "node_groups", "world", "render", "unused")
ROOT = "Scene Collection"
DIGITS = 3
LONGEST_VALUE = 60


def rounded(value: Any) -> Any:
    """Numbers with as many digits as a scene in metres needs; single precision shows more than it holds."""
    if isinstance(value, float):
        short = round(value, DIGITS)
        return int(short) if short.is_integer() else short
    if isinstance(value, list | tuple):
        return [rounded(part) for part in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value


def scene_lines(snapshot: Entry, room: int) -> dict[str, Any]:
    """The scene as lines. Of the objects, those that there is room for; `next_offset` leads to the others."""
    objects = snapshot["objects"]
    render = snapshot["render"]
    shown: dict[str, Any] = {
        "objects": [],
        "total": objects["total"],
        "collections": list(_collection_lines(snapshot["collections"]["items"])),
        "materials": [f"{one['name']}: {_material_line(one)}{_users(one)}" for one in snapshot["materials"]["items"]],
        "lights": [
            f"{one['name']}: {one['type']} {_text(one['energy'])} {_text(one['color'])}{_users(one)}" for one in snapshot["lights"]["items"]
        ],
        "cameras": [f"{one['name']}: {one['type']} {_text(one['lens_mm'])} mm{_users(one)}" for one in snapshot["cameras"]["items"]],
        "node_groups": [f"{one['name']}{_users(one)}" for one in snapshot["node_groups"]["items"]],
        "unused": _unused(snapshot["unused"]),
        "camera": render["camera"],
        "render": f"{render['engine']} {render['resolution'][0]}x{render['resolution'][1]}",
        "frames": [render["frame_start"], render["frame_end"]],
        "world": None if snapshot["world"] is None else snapshot["world"]["name"],
        "fingerprint": snapshot["fingerprint"],
    }  # fmt: skip
    shown = {key: value for key, value in shown.items() if value not in ([], None) or key == "objects"}
    lines = [f"{one['name']}: {'; '.join(_object_parts(one))}" for one in objects["items"]]
    left = room - len(orjson.dumps(shown))
    fitting = sum(1 for total in accumulate(len(orjson.dumps(line)) + 1 for line in lines) if total <= left)
    shown["objects"] = lines[: max(1, fitting)]
    reached = snapshot["offset"] + len(shown["objects"])
    if reached < objects["total"]:
        shown["next_offset"] = reached
    elif snapshot["next_offset"] is not None:
        shown["next_offset"] = snapshot["next_offset"]  # of another section
    return shown


def _object_parts(one: Entry) -> Iterator[str]:
    transform = one["transform"]
    yield f"{one['type']} at {_text(transform['location'])}"
    turned = rounded([math.degrees(part or 0.0) for part in transform["rotation_euler_rad"]])
    if transform["rotation_mode"] == "QUATERNION":
        yield f"quaternion {_text(transform['rotation_quaternion'])}"
    elif transform["rotation_mode"] != "AXIS_ANGLE" and any(turned):
        yield f"turned {_text(turned)}"
    if rounded(list(transform["scale"])) != [1, 1, 1]:
        yield f"scale {_text(transform['scale'])}"
    shared = f" (of {one['data_users']})" if (one["data_users"] or 0) > 1 else ""
    if shared or one["data"] not in (None, one["name"]):
        yield f"data {one['data']}{shared}"
    if one["parent"]:
        yield f"on {one['parent']['object']}"
    if any(one["materials"]):
        yield f"material {', '.join(map(str, one['materials']))}"
    if one["modifiers"]:
        yield "modifiers " + ", ".join(f"{each['name']} ({each['type']})" for each in one["modifiers"])
    if one["collections"] != [ROOT]:
        yield f"in {', '.join(one['collections']) or 'no collection'}"
    if one["custom_properties"]:
        yield "properties " + ", ".join(
            f"{each['name']}={_text(each['value'])[:LONGEST_VALUE]}" for each in one["custom_properties"]
        )
    hidden = [where for where in ("viewport", "render") if not one[f"visible_{where}"]]
    if hidden:
        yield f"hidden in {' and '.join(hidden)}"
    elif transform["matrix_world"] is None:
        yield "hidden"


def _users(one: Entry) -> str:
    """How many use it, where that is not one."""
    return "" if one["users"] == 1 else f", {one['users']} users" if one["users"] else ", unused"


def _unused(found: Entry) -> list[str]:
    """What nothing uses and no line above says so."""
    told = ("materials/", "lights/", "cameras/", "node_groups/")
    others = [name for name in found["items"] if not name.startswith(told)]
    return [*others, "…"] if found["total"] > len(found["items"]) else others


# What is so of most objects, and of an exact page that is long therefore left out.
USUAL: dict[str, Any] = {
    "parent": None, "collections": [ROOT], "materials": [], "modifiers": [], "custom_properties": [], "visible_viewport": True,
    "visible_render": True, "cut": [], "data": None, "data_fingerprint": None, "data_users": None,
}  # fmt: skip
ROTATIONS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def compact_objects(snapshot: Entry, room: int) -> dict[str, Any]:
    """The objects of an exact snapshot, each without what is as usual: those that there is room for, and the call that gives the next."""
    objects = snapshot["objects"]
    compact = [_compact(one) for one in objects["items"]]
    fitting = sum(1 for total in accumulate(len(orjson.dumps(one)) + 1 for one in compact) if total <= room)
    shown = compact[: max(1, fitting)]
    reached = snapshot["offset"] + len(shown)
    page: dict[str, Any] = {"fingerprint": snapshot["fingerprint"], "total": objects["total"], "objects": shown}
    if reached < objects["total"]:
        page |= {"next_offset": reached, "next": f'scene_snapshot {{"detail": "full", "offset": {reached}}}'}
    return page


def _compact(one: Entry) -> dict[str, Any]:
    transform = one["transform"]
    mode = transform["rotation_mode"]
    rotation = ROTATIONS.get(mode, "rotation_euler_rad")
    kept = {key: value for key, value in one.items() if key != "transform" and value != USUAL.get(key, one)}
    if one["data"] == one["name"]:
        del kept["data"]
    if one["data_users"] == 1:
        del kept["data_users"]
    kept["location"] = transform["location"]
    if rotation != "rotation_euler_rad" or any(transform[rotation]):
        kept |= {rotation: transform[rotation]} | ({} if mode == "XYZ" else {"rotation_mode": mode})
    if list(transform["scale"]) != [1, 1, 1]:
        kept["scale"] = transform["scale"]
    return kept


def _collection_lines(items: Sequence[Entry]) -> Iterator[str]:
    for one in items:
        below = f" in {one['parent']}" if one["parent"] not in (None, ROOT) else ""
        yield f"{one['name']}: {one['objects']} objects{below}"
        yield from _collection_lines(one["children"])


def _material_line(one: Entry) -> str:
    shader = one["principled"]
    if shader is None:
        return "nodes" if one["nodes"] else "no nodes"
    color = "nodes" if shader["base_color"] is None else _text(shader["base_color"][:3])
    usual = {"metallic": 0, "roughness": 0.5, "alpha": 1, "transmission": 0, "emission_strength": 0}
    told = (f"{key} {_text(shader[key])}" for key, value in usual.items() if rounded(shader[key]) not in (value, None))
    return ", ".join([color, *told])


def _text(value: Any) -> str:
    return orjson.dumps(rounded(value), default=str).decode()
