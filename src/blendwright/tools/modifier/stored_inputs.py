"""Where Blender keeps the inputs of a geometry-nodes modifier.

Up to Blender 5.1 they are custom properties of the modifier: `Socket_2`, `Socket_2_use_attribute`, `Socket_2_attribute_name`.
From 5.2 on each is a struct under `modifier.properties.inputs` with a type, a value and the name of an attribute, and a
menu's value is the name of its item. Callers speak of numbers of items on every Blender."""

from __future__ import annotations

from typing import Any

from blendwright.tool_api.scene import Block
from blendwright.tools.animation_data import custom_path

FROM_ATTRIBUTE, FROM_VALUE = "ATTRIBUTE", "VALUE"


def has_input(modifier: Block, identifier: str) -> bool:
    """Whether the modifier knows of an input: one of a group that was changed since may still be missing."""
    if not _has_structs(modifier):
        return identifier in modifier
    return modifier.properties is not None and identifier in modifier.properties.inputs.bl_rna.properties


def value_of(modifier: Block, identifier: str) -> Any:
    """What an input holds; None where it holds nothing."""
    if not _has_structs(modifier):
        value = modifier.get(identifier)
        if hasattr(value, "to_list"):
            return list(value)
        return value
    struct = _struct(modifier, identifier)
    if "value" not in struct.bl_rna.properties:
        return None
    value = struct.value
    menu = menu_items(modifier, identifier)
    if menu:
        return next((number for number, name in menu.items() if name == value), None)
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return value
    return list(value)


def put_value(modifier: Block, identifier: str, value: Any) -> None:
    """Write an input; the object must be open for writing."""
    if not _has_structs(modifier):
        modifier[identifier] = value
        return
    menu = menu_items(modifier, identifier)
    if menu:
        _struct(modifier, identifier).value = menu.get(value, value)
    else:
        _struct(modifier, identifier).value = value


def attribute_of(modifier: Block, identifier: str) -> str | None:
    """The attribute that an input is read from; None when it has a value of its own."""
    if _has_structs(modifier):
        struct = _struct(modifier, identifier)
        if struct.type == FROM_ATTRIBUTE:
            return struct.attribute_name
        return None
    if modifier.get(f"{identifier}_use_attribute"):
        return modifier.get(f"{identifier}_attribute_name")
    return None


def put_attribute(modifier: Block, identifier: str, attribute: str | None) -> None:
    """Let an input be read from an attribute, or with None from its value; what cannot be read from any has a value anyway."""
    if _has_structs(modifier):
        struct = _struct(modifier, identifier)
        if attribute is not None:
            struct.attribute_name = attribute
        if attribute is None:
            struct.type = FROM_VALUE
        else:
            struct.type = FROM_ATTRIBUTE
        return
    if attribute is not None:
        modifier[f"{identifier}_attribute_name"] = attribute
    if f"{identifier}_use_attribute" in modifier:
        modifier[f"{identifier}_use_attribute"] = attribute is not None


def all_of(modifier: Block) -> dict[str, Any]:
    """Everything that the inputs hold, on every Blender under the names that the custom properties of the older ones have."""
    if not _has_structs(modifier):
        return {key: modifier[key] for key in modifier.keys()}  # noqa: SIM118 - a bpy_struct is no mapping
    found: dict[str, Any] = {}
    if modifier.properties is not None:
        structs = modifier.properties.inputs
    else:
        structs = None
    for prop in structs.bl_rna.properties if structs is not None else ():
        if prop.is_runtime:
            fields = getattr(structs, prop.identifier).bl_rna.properties
        else:
            fields = ()
        if "value" in fields:
            found[prop.identifier] = value_of(modifier, prop.identifier)
        if "attribute_name" in fields:
            struct = _struct(modifier, prop.identifier)
            found[f"{prop.identifier}_use_attribute"] = struct.type == FROM_ATTRIBUTE
            found[f"{prop.identifier}_attribute_name"] = struct.attribute_name
    return found


def menu_items(modifier: Block, identifier: str) -> dict[int, str]:
    """The names of a menu's items by their number; empty for what is no menu, and for a menu without items."""
    if _has_structs(modifier):
        prop = _struct(modifier, identifier).bl_rna.properties["value"]
        if prop.type == "ENUM":
            return {item.value: item.identifier for item in prop.enum_items}
        return {}
    if identifier not in modifier:
        return {}
    shown = modifier.id_properties_ui(identifier).as_dict()
    return {item[-1]: item[1] for item in shown.get("items", ())}


def data_path(modifier: Block, identifier: str) -> str:
    """The path that keyframes and drivers of an input's value have."""
    if _has_structs(modifier):
        return f"{modifier.path_from_id()}.properties.inputs.{identifier}.value"
    return modifier.path_from_id() + custom_path(identifier)


def _has_structs(modifier: Block) -> bool:
    return "properties" in modifier.bl_rna.properties


def _struct(modifier: Block, identifier: str) -> Block:
    return getattr(modifier.properties.inputs, identifier)
