"""A short snapshot of a scene: one line for each thing, with rounded numbers.

Lines omit fingerprints, matrices and usual values. `detail: "full"` includes them.
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
# The sections of scene.snapshot that the lines use.
SECTIONS = ("objects", "collections", "materials", "cameras", "lights", "node_groups", "world", "render", "unused")
ROOT = "Scene Collection"
MAX_VALUE_CHARACTERS = 60
MAX_CHANNELS = 4
# The values that a line omits.
UNSAID = "no rotation, scale 1, data not shared"
# The fewest similar objects that are combined into one line.
MIN_SERIES_OBJECTS = 3
MORE_THAN_A_NAME = re.compile(r'[:;…"\\\x00-\x1f]')
# The tolerance for equal distances in metres: half of the last reported digit.
EVEN_TOLERANCE = 0.0005


def object_lines(snapshot: Entry, room: int) -> dict[str, Any]:
    """Return the objects as lines of at most `room` bytes. `next_offset` is the offset of the next page, if one
    exists.
    """
    objects = snapshot["objects"]
    groups = list(_in_series(objects["items"]))
    lines = [_line(members, rest) for members, rest in groups]
    fitting = max(1, _fitting(lines, room))
    shown: dict[str, Any] = {"objects": lines[:fitting], "total": objects["total"]}
    if lines:
        shown["unsaid"] = UNSAID
    reached = snapshot["offset"] + sum(len(members) for members, _ in groups[:fitting])
    if reached < objects["total"]:
        shown["next_offset"] = reached
    return shown


def _fitting(parts: Sequence[Any], room: int) -> int:
    """Return how many of the first parts have at most `room` bytes together as JSON."""
    sizes = [len(orjson.dumps(part)) + 1 for part in parts]
    return sum(total <= room for total in accumulate(sizes))


def _in_series(objects: Sequence[Entry]) -> Iterator[tuple[Sequence[Entry], str]]:
    """Yield groups of objects in their order, each with the text that its line has after the location.

    Consecutively numbered objects that differ only in name and location form a group if there are enough of them.
    """
    series: list[tuple[list[Entry], str]] = []
    for item in objects:
        details = "; ".join(_object_parts(item))
        if series and _continues(series[-1], item, details):
            series[-1][0].append(item)
        else:
            series.append(([item], details))

    for members, details in series:
        if len(members) >= MIN_SERIES_OBJECTS:
            yield members, details
        else:
            for item in members:
                yield [item], details


def _continues(series: tuple[list[Entry], str], item: Entry, details: str) -> bool:
    members, series_details = series
    last = members[-1]
    return last["type"] == item["type"] and series_details == details and follows(last["name"], item["name"])


def _line(members: Sequence[Entry], details: str) -> str:
    first, last = members[0], members[-1]
    locations: list[list[float]] = [list(member["transform"]["location"]) for member in members]
    if len(members) == 1:
        name = _quoted_name(first["name"])
        where = f"at {_text(locations[0])}"
    else:
        name = f"{_quoted_name(first['name'])} … {_quoted_name(last['name'])} ({len(members)})"
        if _are_even(locations):
            where = f"evenly from {_text(locations[0])} to {_text(locations[-1])}"
        else:
            where = f"at {', '.join(map(_text, locations))}"

    line = f"{name}: {first['type']} {where}"
    if details:
        line += f"; {details}"
    return line


def _quoted_name(name: str) -> str:
    """Return the name, in quotes if a reader could take it for more than a name."""
    if MORE_THAN_A_NAME.search(name) or name != name.strip():
        return orjson.dumps(name).decode()
    return name


def _are_even(locations: Sequence[Sequence[float]]) -> bool:
    """Return whether the locations lie on a straight line at equal distances."""
    steps = len(locations) - 1
    ends = list(zip(locations[0], locations[-1], strict=True))
    for number, location in enumerate(locations):
        for value, (start, end) in zip(location, ends, strict=True):
            expected = start + (end - start) * number / steps
            # A comparison with NaN is false, so this form also rejects NaN.
            if not abs(value - expected) < EVEN_TOLERANCE:
                return False
    return True


def scene_lines(snapshot: Entry, room: int) -> dict[str, Any]:
    """Return the sections of a snapshot as lines. The objects take the part of `room` bytes that the other sections
    leave.
    """
    render, world, unused = snapshot["render"], snapshot["world"], snapshot["unused"]
    sections: dict[str, Any] = {
        "collections": list(_collection_lines(_items(snapshot, "collections"))),
        "materials": [_material_line(item) for item in _items(snapshot, "materials")],
        "lights": [_light_line(item) for item in _items(snapshot, "lights")],
        "cameras": [_camera_line(item) for item in _items(snapshot, "cameras")],
        "node_groups": [f"{item['name']}{_users(item)}" for item in _items(snapshot, "node_groups")],
    }
    if unused is not None:
        sections["unused"] = _unused(unused)
    if world is not None:
        sections["world"] = world["name"]
    if render is not None:
        sections |= {
            "camera": render["camera"],
            "render": f"{render['engine']} {render['resolution'][0]}x{render['resolution'][1]}",
            "frames": [render["frame_start"], render["frame_end"]],
        }
    sections = {key: value for key, value in sections.items() if value not in ([], None)}

    shown: dict[str, Any] = {}
    if snapshot["objects"] is not None:
        shown = object_lines(snapshot, room - len(orjson.dumps(sections)))
    if "next_offset" not in shown and snapshot["next_offset"] is not None:
        shown["next_offset"] = snapshot["next_offset"]  # the next page of another section
    return shown | sections


def _items(snapshot: Entry, section: str) -> Sequence[Entry]:
    if snapshot[section] is None:
        return []
    return snapshot[section]["items"]


def _object_parts(item: Entry) -> Iterator[str]:
    """Yield the parts of an object's line after its name, type and location. Usual values yield no part."""
    transform = item["transform"]
    rotation = rounded([math.degrees(part or 0.0) for part in transform["rotation_euler_rad"]])
    if transform["rotation_mode"] == "QUATERNION":
        yield f"quaternion {_text(transform['rotation_quaternion'])}"
    elif transform["rotation_mode"] != "AXIS_ANGLE" and any(rotation):
        yield f"turned {_text(rotation)}"
    world_location = _world_location(transform)
    if item["parent"] is None and world_location not in (None, rounded(list(transform["location"]))):
        yield f"stands at {_text(world_location)}"  # delta transforms or constraints move the object
    if rounded(list(transform["scale"])) != [1, 1, 1]:
        yield f"scale {_text(transform['scale'])}"
    if item["dimensions"] is not None:
        yield f"size {_text(item['dimensions'])}"
    shared = ""
    if (item["data_users"] or 0) > 1:
        shared = f" (of {item['data_users']})"
    if shared or item["data"] not in (None, item["name"]):
        yield f"data {item['data']}{shared}"
    if item["animation"]:
        animation = item["animation"]
        span = f"{_text(animation['first_frame'])} to {_text(animation['last_frame'])}"
        yield f"animated {', '.join(animation['channels'][:MAX_CHANNELS])} in {span}"
    if item["parent"]:
        yield f"child of {item['parent']['object']}"
    if any(item["materials"]):
        yield f"material {', '.join(map(str, item['materials']))}"
    if item["modifiers"]:
        yield "modifiers " + ", ".join(map(_modifier_words, item["modifiers"]))
    if item["collections"] != [ROOT]:
        yield f"in {', '.join(item['collections']) or 'no collection'}"
    if item["custom_properties"]:
        properties: list[str] = []
        for property_ in item["custom_properties"]:
            properties.append(f"{property_['name']}={_text(property_['value'])[:MAX_VALUE_CHARACTERS]}")
        yield "properties " + ", ".join(properties)
    if item["used_by"]:
        yield f"used by {', '.join(name.partition('/')[2] or name for name in item['used_by'])}"

    hidden: list[str] = []
    if not item["visible_viewport"] or transform["matrix_world"] is None:
        hidden.append("viewport")
    if not item["visible_render"]:
        hidden.append("render")
    if hidden:
        users = ", used by nothing"
        if item["used_by"] or item["children"]:
            users = ""
        yield f"hidden in {' and '.join(hidden)}{users}"


def _world_location(transform: Entry) -> list[float] | None:
    matrix = transform["matrix_world"]
    if matrix is None:
        return None
    return rounded([row[3] for row in matrix[:3]])


def _modifier_words(modifier: Entry) -> str:
    targets = ""
    if modifier["targets"]:
        targets = f" with {', '.join(modifier['targets'])}"
    return f"{modifier['name']} ({modifier['type']}{targets})"


def _light_line(light: Entry) -> str:
    line = f"{light['name']}: {light['type']} {_text(light['energy'])} {_text(light['color'])}"
    if light["radius"]:
        line += f", radius {_text(light['radius'])}"
    if light["area_size"]:
        line += f", size {_text(light['area_size'])}"
    return line + _users(light)


def _camera_line(camera: Entry) -> str:
    return f"{camera['name']}: {camera['type']} {_text(camera['lens_mm'])} mm{_users(camera)}"


def _users(item: Entry) -> str:
    """Return the number of users as the end of a line, empty for one user."""
    if item["users"]:
        if item["users"] == 1:
            return ""
        return f", {item['users']} users"
    if item["fake_user"]:
        return ", unused, kept by a fake user"
    return ", unused"


def _unused(section: Entry) -> list[str]:
    """Return the unused datablocks that no other line reports as unused."""
    reported_kinds = ("materials/", "lights/", "cameras/", "node_groups/")
    unreported = [name for name in section["items"] if not name.startswith(reported_kinds)]
    if section["total"] > len(section["items"]):
        return [*unreported, "…"]
    return unreported


# The usual values of objects, which a long exact page omits.
USUAL: dict[str, Any] = {
    "parent": None, "collections": [ROOT], "materials": [], "modifiers": [], "custom_properties": [], "visible_viewport": True,
    "visible_render": True, "used_by": [], "children": 0, "cut": [], "data": None, "data_fingerprint": None, "data_users": None,
}  # fmt: skip
ROTATIONS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def compact_objects(snapshot: Entry, room: int) -> dict[str, Any]:
    """Return the objects of an exact snapshot without usual values, in at most `room` bytes, and the call for the
    next page.
    """
    objects = snapshot["objects"]
    compact = [_compact(item) for item in objects["items"]]
    shown = compact[: max(1, _fitting(compact, room))]
    reached = snapshot["offset"] + len(shown)
    page: dict[str, Any] = {"fingerprint": snapshot["fingerprint"], "total": objects["total"], "objects": shown}
    if reached < objects["total"]:
        page |= {"next_offset": reached, "next": f'scene_snapshot {{"detail": "full", "offset": {reached}}}'}
    return page


def _compact(item: Entry) -> dict[str, Any]:
    transform = item["transform"]
    mode = transform["rotation_mode"]
    rotation = ROTATIONS.get(mode, "rotation_euler_rad")
    compact = {key: value for key, value in item.items() if key != "transform" and value != USUAL.get(key, item)}
    if item["data"] == item["name"]:
        del compact["data"]
    if item["data_users"] == 1:
        del compact["data_users"]
    compact["location"] = transform["location"]
    if rotation != "rotation_euler_rad" or any(transform[rotation]):
        compact[rotation] = transform[rotation]
        if mode != "XYZ":
            compact["rotation_mode"] = mode
    if list(transform["scale"]) != [1, 1, 1]:
        compact["scale"] = transform["scale"]
    return compact


def _collection_lines(items: Sequence[Entry]) -> Iterator[str]:
    for item in items:
        parent = ""
        if item["parent"] not in (None, ROOT):
            parent = f" in {item['parent']}"
        yield f"{item['name']}: {item['objects']} objects{parent}"
        yield from _collection_lines(item["children"])


def _material_line(material: Entry) -> str:
    return f"{material['name']}: {_material_words(material)}{_users(material)}"


def _material_words(material: Entry) -> str:
    """Return the description of a material, or the name of the material that it equals."""
    if material["equal_to"] is not None:
        return f"equal to {material['equal_to']}"
    shader = material["principled"]
    if shader is None:
        if material["nodes"]:
            return "nodes"
        return "no nodes"

    if shader["base_color"] is None:
        words = ["nodes"]
    else:
        words = [_text(shader["base_color"][:3])]
    usual_values = {"metallic": 0, "roughness": 0.5, "alpha": 1, "transmission": 0, "emission_strength": 0}
    for key, usual_value in usual_values.items():
        if rounded(shader[key]) not in (usual_value, None):
            words.append(f"{key} {_text(shader[key])}")
    return ", ".join(words)


def _text(value: Any) -> str:
    return orjson.dumps(rounded(value), default=str).decode()
