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
MOST_CHANNELS = 4
# What a line leaves out, for who wants to be sure of it.
UNSAID = "no rotation, scale 1"


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


def object_lines(snapshot: Entry, room: int) -> dict[str, Any]:
    """The objects as lines, as many as there is room for; `next_offset` leads to the others."""
    objects = snapshot["objects"]
    lines = [f"{one['name']}: {'; '.join(_object_parts(one))}" for one in objects["items"]]
    fitting = sum(1 for total in accumulate(len(orjson.dumps(line)) + 1 for line in lines) if total <= room)
    shown: dict[str, Any] = {"objects": lines[: max(1, fitting)], "total": objects["total"]}
    if lines:
        shown["unsaid"] = UNSAID
    reached = snapshot["offset"] + len(shown["objects"])
    return shown | ({"next_offset": reached} if reached < objects["total"] else {})


def scene_lines(snapshot: Entry, room: int) -> dict[str, Any]:
    """The scene as lines; of its objects, those that there is room for beside the rest."""
    render = snapshot["render"]
    rest: dict[str, Any] = {
        "collections": list(_collection_lines(snapshot["collections"]["items"])),
        "materials": [f"{one['name']}: {_material_line(one)}{_users(one)}" for one in snapshot["materials"]["items"]],
        "lights": [
            f"{one['name']}: {_light_words(one)}{_users(one)}" for one in snapshot["lights"]["items"]
        ],
        "cameras": [f"{one['name']}: {one['type']} {_text(one['lens_mm'])} mm{_users(one)}" for one in snapshot["cameras"]["items"]],
        "node_groups": [f"{one['name']}{_users(one)}" for one in snapshot["node_groups"]["items"]],
        "unused": _unused(snapshot["unused"]),
        "camera": render["camera"],
        "render": f"{render['engine']} {render['resolution'][0]}x{render['resolution'][1]}",
        "frames": [render["frame_start"], render["frame_end"]],
        "world": None if snapshot["world"] is None else snapshot["world"]["name"],
    }  # fmt: skip
    rest = {key: value for key, value in rest.items() if value not in ([], None)}
    shown = object_lines(snapshot, room - len(orjson.dumps(rest)))
    if "next_offset" not in shown and snapshot["next_offset"] is not None:
        shown["next_offset"] = snapshot["next_offset"]  # of another section
    return shown | rest


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
    if one["dimensions"] is not None:
        yield f"size {_text(one['dimensions'])}"
    shared = f" (of {one['data_users']})" if (one["data_users"] or 0) > 1 else ""
    if shared or one["data"] not in (None, one["name"]):
        yield f"data {one['data']}{shared}"
    if one["animation"]:
        moves = one["animation"]
        span = f"{_text(moves['first_frame'])} to {_text(moves['last_frame'])}"
        yield f"animated {', '.join(moves['channels'][:MOST_CHANNELS])} in {span}"
    if one["parent"]:
        yield f"child of {one['parent']['object']}"
    if any(one["materials"]):
        yield f"material {', '.join(map(str, one['materials']))}"
    if one["modifiers"]:
        yield "modifiers " + ", ".join(map(_modifier_words, one["modifiers"]))
    if one["collections"] != [ROOT]:
        yield f"in {', '.join(one['collections']) or 'no collection'}"
    if one["custom_properties"]:
        yield "properties " + ", ".join(
            f"{each['name']}={_text(each['value'])[:LONGEST_VALUE]}" for each in one["custom_properties"]
        )
    if one["used_by"]:
        yield f"used by {', '.join(name.partition('/')[2] or name for name in one['used_by'])}"
    unseen = {
        "viewport": not one["visible_viewport"] or transform["matrix_world"] is None,
        "render": not one["visible_render"],
    }
    if hidden := [where for where, is_hidden in unseen.items() if is_hidden]:
        nobody = "" if one["used_by"] or one["children"] else ", used by nothing"
        yield f"hidden in {' and '.join(hidden)}{nobody}"


def _modifier_words(one: Entry) -> str:
    with_ = f" with {', '.join(one['targets'])}" if one["targets"] else ""
    return f"{one['name']} ({one['type']}{with_})"


def _light_words(one: Entry) -> str:
    extent = {"radius": one["radius"], "size": one["area_size"]}
    told = (f", {name} {_text(value)}" for name, value in extent.items() if value)
    return f"{one['type']} {_text(one['energy'])} {_text(one['color'])}{''.join(told)}"


def _users(one: Entry) -> str:
    """How many use it, where that is not one."""
    if one["users"]:
        return "" if one["users"] == 1 else f", {one['users']} users"
    return ", unused, kept by a fake user" if one["fake_user"] else ", unused"


def _unused(found: Entry) -> list[str]:
    """What nothing uses and no line above says so."""
    told = ("materials/", "lights/", "cameras/", "node_groups/")
    others = [name for name in found["items"] if not name.startswith(told)]
    return [*others, "…"] if found["total"] > len(found["items"]) else others


# What is so of most objects, and of an exact page that is long therefore left out.
USUAL: dict[str, Any] = {
    "parent": None, "collections": [ROOT], "materials": [], "modifiers": [], "custom_properties": [], "visible_viewport": True,
    "visible_render": True, "used_by": [], "children": 0, "cut": [], "data": None, "data_fingerprint": None, "data_users": None,
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
    """One that is like another says so: whoever merges them need not compare."""
    if one["equal_to"] is not None:
        return f"equal to {one['equal_to']}"
    shader = one["principled"]
    if shader is None:
        return "nodes" if one["nodes"] else "no nodes"
    color = "nodes" if shader["base_color"] is None else _text(shader["base_color"][:3])
    usual = {"metallic": 0, "roughness": 0.5, "alpha": 1, "transmission": 0, "emission_strength": 0}
    told = (f"{key} {_text(shader[key])}" for key, value in usual.items() if rounded(shader[key]) not in (value, None))
    return ", ".join([color, *told])


def _text(value: Any) -> str:
    return orjson.dumps(rounded(value), default=str).decode()
