"""The properties of a node type: what each takes, and what a new node has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy

from node_survey.scratch import choices, plain

# What every node has and a plan may set. The rest of the base is state of the editor.
COMMON = ("label", "location", "width", "mute", "hide", "parent", "use_custom_color", "color", "warning_propagation")
# Which item is highlighted in a list, and whether the viewer is on: state of the editor as well.
EDITOR = ("active_index", "active_item", "active_input_index", "active_output_index", "active_main_index",
          "active_generation_index", "is_active_output", "ui_shortcut", "show_ui", "inspection_index",
          # Colours that follow from a temperature and a tint.
          "input_whitepoint", "output_whitepoint")  # fmt: skip
# A whole number with at most so many values may decide which sockets there are.
FEW = 8
STRUCTURED = {"ColorRamp": "COLOR_RAMP", "CurveMapping": "CURVE_MAPPING"}
# Left-overs of materials that only shader trees read.
UNREAD = ("TexMapping", "ColorMapping")
SHADER = "ShaderNodeTree"
# Parts of a node with properties of their own.
PARTS = ("ImageUser", *UNREAD)
# What a text must not be: it would be read or written wherever it points to.
PATHS = ("FILE_PATH", "DIR_PATH")
# What Blender lists in place of names that depend on the file: layers and views.
PLACEHOLDERS = (["PLACEHOLDER"], ["ALL"])
DEPRECATED = "(Deprecated"
NAMES_OF_LAYERS = ("layer_name",)
WIDEST = {"INT": 2**31, "FLOAT": 3.4e38}


def common_properties(node: Any) -> dict[str, Any]:
    """The properties that all nodes share."""
    known = node.bl_rna.properties
    found = {name: describe(node, known[name]) for name in COMMON if name in known}
    # Each type has its own width and place to begin with.
    for name in ("width", "location"):
        found[name].pop("default")
    return found


def not_kept(node: Any) -> list[str]:
    """The switches that all nodes share and that this one does not keep: Blender 5.0 mutes no zones."""
    found: list[str] = []
    for name in COMMON:
        before = getattr(node, name, None)
        if isinstance(before, bool):
            setattr(node, name, not before)
            if getattr(node, name) == before:
                found.append(name)
            setattr(node, name, before)
    return found


def own_properties(node: Any) -> dict[str, Any]:
    """The properties that the type adds to those, in Blender's order, without lists of items."""
    types: Any = bpy.types
    shared = {prop.identifier for prop in types.Node.bl_rna.properties}
    found: dict[str, Any] = {}
    for prop in node.bl_rna.properties:
        if prop.identifier in shared or prop.identifier in EDITOR or prop.type == "COLLECTION":
            continue
        if DEPRECATED in prop.description:
            continue  # shows what an input holds
        if prop.identifier == "socket_idname" and "data_type" in node.bl_rna.properties:
            continue  # says the same in other words
        described = describe(node, prop)
        if described is not None:
            found[prop.identifier] = described
    for name, described in found.items():
        if "size" in described and (number := _size_of(node, name, found)):
            described["sized_by"] = number
    return found


def is_small(described: Mapping[str, Any]) -> bool:
    """Whether a whole number has few values."""
    return "min" in described and "max" in described and described["max"] - described["min"] < FEW


def _size_of(node: Any, name: str, properties: Mapping[str, Any]) -> str | None:
    """The property that says how many numbers a vector has, from Blender 5.2 on."""
    for other, described in properties.items():
        if described["type"] == "INT" and "size" not in described and is_small(described):
            before = len(getattr(node, name))
            setattr(node, other, described["min"] if described["default"] != described["min"] else described["max"])
            after = len(getattr(node, name))
            setattr(node, other, described["default"])
            if after != before:
                return other
    return None


def describe(holder: Any, prop: Any) -> Any:
    """One property as data; None when it cannot be set."""
    if prop.type == "POINTER":
        return _pointer(holder, prop)
    if prop.is_readonly or (prop.type == "STRING" and prop.subtype in PATHS):
        return None
    if prop.type == "ENUM" and (
        prop.identifier in NAMES_OF_LAYERS or [item.identifier for item in prop.enum_items] in PLACEHOLDERS
    ):
        return {"type": "MENU", "default": ""}
    found: dict[str, Any] = {"type": prop.type, "default": plain(getattr(holder, prop.identifier))}
    if prop.type == "ENUM" and prop.is_enum_flag:
        found |= {"items": sorted(item.identifier for item in prop.enum_items), "several": True}
    elif prop.type == "ENUM":
        found["items"] = choices(holder, prop.identifier)
        if not found["items"]:  # those of the menu that the node is linked to
            return {"type": "MENU", "default": found["default"]}
    elif prop.type in WIDEST:
        found |= _range(prop)
        if prop.is_array:
            found["size"] = len(found["default"])
    return found


def _range(prop: Any) -> dict[str, Any]:
    widest = WIDEST[prop.type]
    found: dict[str, Any] = {}
    if prop.hard_min > -widest:
        found["min"] = plain(prop.hard_min)
    if prop.hard_max < widest - 1:
        found["max"] = plain(prop.hard_max)
    return found


def _part(part: Any) -> dict[str, Any]:
    plain_fields = [prop for prop in part.bl_rna.properties if prop.type not in ("POINTER", "COLLECTION")]
    described = {prop.identifier: describe(part, prop) for prop in plain_fields}
    return {name: each for name, each in described.items() if each is not None}


def _pointer(holder: Any, prop: Any) -> dict[str, Any] | None:
    kind = prop.fixed_type.identifier
    if kind in STRUCTURED:
        return {"type": STRUCTURED[kind]}
    if kind in PARTS and holder.id_data.bl_idname == SHADER:
        return {"type": "PART", "fields": _part(getattr(holder, prop.identifier))}
    if prop.identifier in ("parent", "paired_output"):
        return {"type": "NODE", "default": None}
    if kind in UNREAD or prop.is_readonly:
        return None
    return {"type": "DATABLOCK", "kind": kind, "default": None}
