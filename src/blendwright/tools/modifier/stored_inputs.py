"""Access to the stored inputs of a geometry-nodes modifier on every Blender version.

Up to Blender 5.1, inputs are custom properties of the modifier: `Socket_2`, `Socket_2_use_attribute`,
`Socket_2_attribute_name`. Since 5.2 each is a struct under `modifier.properties.inputs` with a type, a value and the name
of an attribute, and a menu's value is the name of its item. Callers use the numbers of menu items on every Blender.
"""

from __future__ import annotations

from typing import Any

from blendwright.tool_api.scene import Block
from blendwright.tools.animation_data import custom_path

FROM_ATTRIBUTE, FROM_VALUE = "ATTRIBUTE", "VALUE"


def has_input(modifier: Block, identifier: str) -> bool:
    """Return True if the modifier has stored the input. It can lack inputs of a group that changed since."""
    if not _has_structs(modifier):
        return identifier in modifier
    return modifier.properties is not None and identifier in modifier.properties.inputs.bl_rna.properties


def value_of(modifier: Block, identifier: str) -> Any:
    """Return the stored value of an input, or None if it has none."""
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
    """Write the value of an input. The caller must have opened the object for writing."""
    if not _has_structs(modifier):
        modifier[identifier] = value
        return
    menu = menu_items(modifier, identifier)
    if menu:
        _struct(modifier, identifier).value = menu.get(value, value)
    else:
        _struct(modifier, identifier).value = value


def attribute_of(modifier: Block, identifier: str) -> str | None:
    """Return the name of the attribute that supplies an input, or None if the input uses its value."""
    if _has_structs(modifier):
        struct = _struct(modifier, identifier)
        if struct.type == FROM_ATTRIBUTE:
            return struct.attribute_name
        return None
    if modifier.get(f"{identifier}_use_attribute"):
        return modifier.get(f"{identifier}_attribute_name")
    return None


def put_attribute(modifier: Block, identifier: str, attribute: str | None) -> None:
    """Make an attribute supply an input, or its value if `attribute` is None. Inputs that allow no attribute ignore this."""
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
    """Return all stored data of the inputs, under the names of the custom properties of Blender 5.1 and earlier."""
    if not _has_structs(modifier):
        return {key: modifier[key] for key in modifier.keys()}  # noqa: SIM118 - a bpy_struct is no mapping
    if modifier.properties is None:
        return {}
    stored: dict[str, Any] = {}
    structs = modifier.properties.inputs
    for prop in structs.bl_rna.properties:
        if not prop.is_runtime:
            continue
        struct = _struct(modifier, prop.identifier)
        fields = struct.bl_rna.properties
        if "value" in fields:
            stored[prop.identifier] = value_of(modifier, prop.identifier)
        if "attribute_name" in fields:
            stored[f"{prop.identifier}_use_attribute"] = struct.type == FROM_ATTRIBUTE
            stored[f"{prop.identifier}_attribute_name"] = struct.attribute_name
    return stored


def menu_items(modifier: Block, identifier: str) -> dict[int, str]:
    """Return the names of a menu's items by number. The result is empty for other inputs and for menus without items."""
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
    """Return the data path of an input's value for keyframes and drivers."""
    if _has_structs(modifier):
        return f"{modifier.path_from_id()}.properties.inputs.{identifier}.value"
    return modifier.path_from_id() + custom_path(identifier)


def _has_structs(modifier: Block) -> bool:
    return "properties" in modifier.bl_rna.properties


def _struct(modifier: Block, identifier: str) -> Block:
    return getattr(modifier.properties.inputs, identifier)
