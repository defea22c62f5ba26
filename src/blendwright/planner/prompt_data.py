"""Data in a prompt: whatever a scene is full of, it stays data; and a scene in few words, within bounds whatever it holds.

A block is one JSON document between two fences. Inside it, angle brackets are written as escapes, so that no name can close the block
or open another; everything that is not ASCII is escaped too, so that nothing can look like something else.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from blendwright.values.errors import EnvironmentUnfit
from blendwright.workspace.open_scene import OpenScene

LONGEST_TEXT = 255
# Control, format (such as those that turn the direction of writing), surrogate and private characters, and separators of lines.
INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "`": "\\u0060"}
MOST_OBJECTS = 60
MOST_NAMES = 60
MOST_PARTS = 8


def data_block(label: str, value: Any) -> str:
    """A value between fences that it cannot contain, without what a model need not read. `label` is ours, never the scene's."""
    return fenced(label, json.dumps(sanitised(value), ensure_ascii=True, separators=(",", ":"), allow_nan=False))


def fenced(label: str, text: str) -> str:
    """JSON between fences. What could end the block is escaped, so that it reads back as the very same value."""
    for sign, escape in ESCAPES.items():
        text = text.replace(sign, escape)
    return f"<data {label}>\n{text}\n</data {label}>"


def sanitised(value: Any) -> Any:
    """The same value, its texts without invisible characters and bounded, its numbers no longer than anyone needs."""
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


def visible(text: str, longest: int = LONGEST_TEXT) -> str:
    """Without control and other invisible characters, and cut where it is too long."""
    shown = "".join(sign for sign in text if unicodedata.category(sign) not in INVISIBLE)
    if len(shown) <= longest:
        return shown
    return shown[: longest - 1] + "…"


def read_scene(opened: OpenScene, tool: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """What a tool reads from the scene. Starts Blender; where nothing can be read, the environment is unfit."""
    outcome = opened.outcome(tool, args)
    if not outcome.ok or outcome.result is None:
        if outcome.findings:
            cure = outcome.findings[0].cure
        else:
            cure = None
        raise EnvironmentUnfit(f"the scene cannot be looked at: {outcome.message}", cure=cure)
    return dict(outcome.result)


def summarise_scene(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    """The result of `scene.snapshot`, for a model: names, types, places, what hangs on what. Says how much it leaves out.

    A name that cannot be shown as it is stands there with `name_exact` false: it cannot be addressed.
    """
    objects = _section(snapshot, "objects")
    listed = objects["items"][:MOST_OBJECTS]
    render: Mapping[str, Any] = snapshot.get("render") or {}
    world: Mapping[str, Any] = snapshot.get("world") or {}
    return {
        "objects": [_object(item) for item in listed],
        "objects_in_all": objects["total"],
        "collections": list(collection_names(_section(snapshot, "collections")["items"]))[:MOST_NAMES],
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
    return [item["name"] for item in _section(snapshot, section)["items"][:MOST_NAMES]]


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
            summary[part] = item[part][:MOST_PARTS]
    if item.get("modifiers"):
        summary["modifiers"] = [
            {key: modifier[key] for key in ("name", "type", "node_group") if modifier.get(key)}
            for modifier in item["modifiers"][:MOST_PARTS]
        ]
    return summary


def collection_names(items: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Of the collections and of those inside them."""
    for item in items:
        yield item["name"]
        yield from collection_names(item.get("children", []))
