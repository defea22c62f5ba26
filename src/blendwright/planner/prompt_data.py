"""Data blocks of a prompt, which keep any content of a scene marked as data; and a short summary of a scene of any
size.

A block is one JSON document between two fences. It contains angle brackets only as escapes, so that no name can close
the block or open another. It also escapes all non-ASCII characters, so that no text can look like another.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from blendwright.values.errors import EnvironmentUnfit
from blendwright.workspace.open_scene import OpenScene

MAX_TEXT_CHARACTERS = 255
# Unicode categories: control, format (such as changes of the writing direction), surrogate, private, unassigned, line separators.
INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "`": "\\u0060"}
# Limits of the summary of a scene: objects, names of each other kind, and parts of each list of an object.
MAX_OBJECTS = 60
MAX_NAMES = 60
MAX_PARTS = 8


def data_block(label: str, value: Any) -> str:
    """Return a sanitised value between fences that it cannot contain. `label` must be our own text, never the scene's."""
    return fenced(label, json.dumps(sanitised(value), ensure_ascii=True, separators=(",", ":"), allow_nan=False))


def fenced(label: str, text: str) -> str:
    """Return JSON between fences.

    It escapes the characters that could end the block, and still reads back as the same value.
    """
    for character, escape in ESCAPES.items():
        text = text.replace(character, escape)
    return f"<data {label}>\n{text}\n</data {label}>"


def sanitised(value: Any) -> Any:
    """Return the value with visible, bounded strings and with numbers rounded to four decimals; NaN and infinities
    become None.
    """
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, float):
        if value == value and abs(value) != float("inf"):
            return round(value, 4)
        return None
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {visible(str(key)): sanitised(inner) for key, inner in items}
    if isinstance(value, list | tuple):
        return [sanitised(part) for part in cast("list[Any]", value)]
    return value


def visible(text: str, longest: int = MAX_TEXT_CHARACTERS) -> str:
    """Return the text without control and other invisible characters, cut to `longest` characters."""
    shown = "".join(character for character in text if unicodedata.category(character) not in INVISIBLE)
    if len(shown) <= longest:
        return shown
    return shown[: longest - 1] + "…"


def read_scene(opened: OpenScene, tool: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a reading tool. This starts Blender. Raise EnvironmentUnfit if the tool fails."""
    outcome = opened.outcome(tool, args)
    if not outcome.ok or outcome.result is None:
        cure = None
        if outcome.findings:
            cure = outcome.findings[0].cure
        raise EnvironmentUnfit(f"cannot read the scene: {outcome.message}", cure=cure)
    return dict(outcome.result)


def summarise_scene(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    """Return a summary of a `scene.snapshot` for a model: names, types, locations, parents, and the number of all
    objects.

    An object whose name contains invisible characters has `name_exact` false, because a plan cannot address it.
    """
    objects = _section(snapshot, "objects")
    render: Mapping[str, Any] = snapshot.get("render") or {}
    world: Mapping[str, Any] = snapshot.get("world") or {}
    return {
        "objects": [_object(item) for item in objects["items"][:MAX_OBJECTS]],
        "objects_in_all": objects["total"],
        "collections": list(collection_names(_section(snapshot, "collections")["items"]))[:MAX_NAMES],
        "materials": _names(snapshot, "materials"),
        "node_groups": _names(snapshot, "node_groups"),
        "world": world.get("name"),
        "active_camera": render.get("camera"),
        "frames": [render.get("frame_start"), render.get("frame_end")],
        "render_engine": render.get("engine"),
    }


def _section(snapshot: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return snapshot.get(name) or {"items": [], "total": 0}


def _names(snapshot: Mapping[str, Any], section: str) -> list[str]:
    return [item["name"] for item in _section(snapshot, section)["items"][:MAX_NAMES]]


def _object(item: Mapping[str, Any]) -> dict[str, Any]:
    transform = item["transform"]
    summary: dict[str, Any] = {"name": item["name"], "type": item["type"], "location": transform["location"]}
    if visible(item["name"]) != item["name"]:
        summary["name_exact"] = False
    if list(transform["scale"]) != [1.0, 1.0, 1.0]:
        summary["scale"] = transform["scale"]
    if any(transform["rotation_euler_rad"]):
        summary["rotation_euler_rad"] = transform["rotation_euler_rad"]
    if item.get("parent"):
        summary["parent"] = item["parent"]["object"]
    for part in ("collections", "materials"):
        if item.get(part):
            summary[part] = item[part][:MAX_PARTS]
    if item.get("modifiers"):
        summary["modifiers"] = list(map(_modifier, item["modifiers"][:MAX_PARTS]))
    return summary


def _modifier(modifier: Mapping[str, Any]) -> dict[str, Any]:
    return {key: modifier[key] for key in ("name", "type", "node_group") if modifier.get(key)}


def collection_names(items: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the names of the collections and of all collections inside them."""
    for item in items:
        yield item["name"]
        yield from collection_names(item.get("children", []))
