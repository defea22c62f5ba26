"""A snapshot of a scene that a model can afford to read: a line for each thing, numbers as a person would write them.

Fingerprints, matrices and whatever is as it usually is are left out; `detail: "full"` has them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import orjson

from blendwright.server.answers.plan_report import follows, rounded

Entry = Mapping[str, Any]
# What the lines are made of; the rest is not asked for.
SECTIONS = ("objects", "collections", "materials", "cameras", "lights", "node_groups", "world", "render", "unused")
ROOT = "Scene Collection"
MAX_VALUE_CHARACTERS = 60
MAX_CHANNELS = 4
# What a line leaves out, for who wants to be sure of it.
UNSAID = "no rotation, scale 1, data not shared"
# From so many on alike objects are one line.
FEWEST_ALIKE = 3
MORE_THAN_A_NAME = re.compile(r'[:;…"\\\x00-\x1f]')
# Half of the last digit that is told.
EVEN_WITHIN = 0.0005


def object_lines(snapshot: Entry, room: int) -> dict[str, Any]:
    """The objects as lines, as many as there is room for; `next_offset` leads to the others."""
    objects = snapshot["objects"]
    groups = list(_in_series(objects["items"]))
    lines = [_line(members, rest) for members, rest in groups]
    fitting = max(1, sum(total <= room for total in accumulate(len(orjson.dumps(line)) + 1 for line in lines)))
    shown: dict[str, Any] = {"objects": lines[:fitting], "total": objects["total"]}
    if lines:
        shown["unsaid"] = UNSAID
    reached = snapshot["offset"] + sum(len(members) for members, _ in groups[:fitting])
    return shown | ({"next_offset": reached} if reached < objects["total"] else {})


def _in_series(objects: Sequence[Entry]) -> Iterator[tuple[Sequence[Entry], str]]:
    """Objects in their order, with what is to be said of them but for name and place: those whose numbers follow each other and that
    differ in nothing else together, where these are several."""
    series: list[tuple[list[Entry], str]] = []
    for one in objects:
        rest = "; ".join(_object_parts(one))
        last, last_rest = (series[-1][0][-1], series[-1][1]) if series else (None, "")
        if last and (last["type"], last_rest) == (one["type"], rest) and follows(last["name"], one["name"]):
            series[-1][0].append(one)
        else:
            series.append(([one], rest))
    for members, rest in series:
        if len(members) >= FEWEST_ALIKE:
            yield members, rest
        else:
            yield from (([one], rest) for one in members)


def _line(members: Sequence[Entry], rest: str) -> str:
    first, last = members[0], members[-1]
    places: list[list[float]] = [list(one["transform"]["location"]) for one in members]
    if len(members) == 1:
        where, who = f"at {_text(places[0])}", _named(first["name"])
    else:
        ends = f"evenly from {_text(places[0])} to {_text(places[-1])}"
        if _are_even(places):
            where = ends
        else:
            where = f"at {', '.join(map(_text, places))}"
        who = f"{_named(first['name'])} … {_named(last['name'])} ({len(members)})"
    return f"{who}: {first['type']} {where}{f'; {rest}' if rest else ''}"


def _named(name: str) -> str:
    """In quotes where it could be read as more than a name."""
    if MORE_THAN_A_NAME.search(name) or name != name.strip():
        return orjson.dumps(name).decode()
    return name


def _are_even(places: Sequence[Sequence[float]]) -> bool:
    """Whether places lie on a straight line at equal distances."""
    steps = len(places) - 1
    ends = [*zip(places[0], places[-1], strict=True)]
    return all(
        abs(value - (start + (end - start) * number / steps)) < EVEN_WITHIN
        for number, place in enumerate(places)
        for value, (start, end) in zip(place, ends, strict=True)
    )


def scene_lines(snapshot: Entry, room: int) -> dict[str, Any]:
    """The scene as lines, as far as the snapshot has it; of its objects, those that there is room for beside the rest."""
    render, world, unused = snapshot["render"], snapshot["world"], snapshot["unused"]
    rest: dict[str, Any] = {
        "collections": list(_collection_lines(_items(snapshot, "collections"))),
        "materials": [f"{one['name']}: {_material_line(one)}{_users(one)}" for one in _items(snapshot, "materials")],
        "lights": [f"{one['name']}: {_light_words(one)}{_users(one)}" for one in _items(snapshot, "lights")],
        "cameras": [
            f"{one['name']}: {one['type']} {_text(one['lens_mm'])} mm{_users(one)}"
            for one in _items(snapshot, "cameras")
        ],
        "node_groups": [f"{one['name']}{_users(one)}" for one in _items(snapshot, "node_groups")],
        "unused": [] if unused is None else _unused(unused),
        "world": None if world is None else world["name"],
    }
    if render is not None:
        rest |= {
            "camera": render["camera"],
            "render": f"{render['engine']} {render['resolution'][0]}x{render['resolution'][1]}",
            "frames": [render["frame_start"], render["frame_end"]],
        }
    rest = {key: value for key, value in rest.items() if value not in ([], None)}
    if snapshot["objects"] is not None:
        shown = object_lines(snapshot, room - len(orjson.dumps(rest)))
    else:
        shown = {}
    if "next_offset" not in shown and snapshot["next_offset"] is not None:
        shown["next_offset"] = snapshot["next_offset"]  # of another section
    return shown | rest


def _items(snapshot: Entry, section: str) -> Sequence[Entry]:
    if snapshot[section] is None:
        return []
    return snapshot[section]["items"]


def _object_parts(one: Entry) -> Iterator[str]:
    """What is to be said of an object beside its name, its type and its place."""
    transform = one["transform"]
    turned = rounded([math.degrees(part or 0.0) for part in transform["rotation_euler_rad"]])
    if transform["rotation_mode"] == "QUATERNION":
        yield f"quaternion {_text(transform['rotation_quaternion'])}"
    elif transform["rotation_mode"] != "AXIS_ANGLE" and any(turned):
        yield f"turned {_text(turned)}"
    if one["parent"] is None and (stands := _world_place(transform)) not in (
        None,
        rounded(list(transform["location"])),
    ):
        yield f"stands at {_text(stands)}"  # by delta transforms or constraints
    if rounded(list(transform["scale"])) != [1, 1, 1]:
        yield f"scale {_text(transform['scale'])}"
    if one["dimensions"] is not None:
        yield f"size {_text(one['dimensions'])}"
    if (one["data_users"] or 0) > 1:
        shared = f" (of {one['data_users']})"
    else:
        shared = ""
    if shared or one["data"] not in (None, one["name"]):
        yield f"data {one['data']}{shared}"
    if one["animation"]:
        moves = one["animation"]
        span = f"{_text(moves['first_frame'])} to {_text(moves['last_frame'])}"
        yield f"animated {', '.join(moves['channels'][:MAX_CHANNELS])} in {span}"
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
            f"{each['name']}={_text(each['value'])[:MAX_VALUE_CHARACTERS]}" for each in one["custom_properties"]
        )
    if one["used_by"]:
        yield f"used by {', '.join(name.partition('/')[2] or name for name in one['used_by'])}"
    unseen = {
        "viewport": not one["visible_viewport"] or transform["matrix_world"] is None,
        "render": not one["visible_render"],
    }
    if hidden := [where for where, is_hidden in unseen.items() if is_hidden]:
        if one["used_by"] or one["children"]:
            nobody = ""
        else:
            nobody = ", used by nothing"
        yield f"hidden in {' and '.join(hidden)}{nobody}"


def _world_place(transform: Entry) -> list[float] | None:
    matrix = transform["matrix_world"]
    if matrix is None:
        return None
    return rounded([row[3] for row in matrix[:3]])


def _modifier_words(one: Entry) -> str:
    if one["targets"]:
        with_ = f" with {', '.join(one['targets'])}"
    else:
        with_ = ""
    return f"{one['name']} ({one['type']}{with_})"


def _light_words(one: Entry) -> str:
    extent = {"radius": one["radius"], "size": one["area_size"]}
    told = (f", {name} {_text(value)}" for name, value in extent.items() if value)
    return f"{one['type']} {_text(one['energy'])} {_text(one['color'])}{''.join(told)}"


def _users(one: Entry) -> str:
    """How many use it, where that is not one."""
    if one["users"]:
        if one["users"] == 1:
            return ""
        return f", {one['users']} users"
    if one["fake_user"]:
        return ", unused, kept by a fake user"
    return ", unused"


def _unused(found: Entry) -> list[str]:
    """What nothing uses and no line above says so."""
    told = ("materials/", "lights/", "cameras/", "node_groups/")
    others = [name for name in found["items"] if not name.startswith(told)]
    if found["total"] > len(found["items"]):
        return [*others, "…"]
    return others


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
        if one["parent"] not in (None, ROOT):
            below = f" in {one['parent']}"
        else:
            below = ""
        yield f"{one['name']}: {one['objects']} objects{below}"
        yield from _collection_lines(one["children"])


def _material_line(one: Entry) -> str:
    """One that is like another says so: whoever merges them need not compare."""
    if one["equal_to"] is not None:
        return f"equal to {one['equal_to']}"
    shader = one["principled"]
    if shader is None:
        if one["nodes"]:
            return "nodes"
        return "no nodes"
    if shader["base_color"] is None:
        color = "nodes"
    else:
        color = _text(shader["base_color"][:3])
    usual = {"metallic": 0, "roughness": 0.5, "alpha": 1, "transmission": 0, "emission_strength": 0}
    told = (f"{key} {_text(shader[key])}" for key, value in usual.items() if rounded(shader[key]) not in (value, None))
    return ", ".join([color, *told])


def _text(value: Any) -> str:
    return orjson.dumps(rounded(value), default=str).decode()
