"""A file whose datablocks have the properties of an add-on that is not registered any more.

`python addon_scene.py FILE` writes it with the Blender of that Python. Up to Blender 4.5 such properties are among the user's own, with
floats of 32 bits, which no assignment makes.
"""

from __future__ import annotations

import sys
from typing import Any

import bpy

_data: Any = bpy.data
_types: Any = bpy.types
_props: Any = bpy.props

LETTERS = [("A", "A", ""), ("B", "B", "")]
# What `new` takes besides a name.
FURTHER_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "curves": ("CURVE",),
    "images": (4, 4),
    "lightprobes": ("SPHERE",),
    "lights": ("POINT",),
    "node_groups": ("GeometryNodeTree",),
    "objects": (None,),
    "textures": ("CLOUDS",),
}


def _group(name: str, properties: dict[str, Any]) -> Any:
    group: Any = type(name, (_types.PropertyGroup,), {"__annotations__": properties})
    bpy.utils.register_class(group)
    return group


def write(file: str) -> None:
    inner = _group("AddonInner", {"number": _props.FloatProperty(), "numbers": _props.FloatVectorProperty(size=3)})
    outer = _group("AddonOuter", {"inner": _props.PointerProperty(type=inner), "text": _props.StringProperty()})
    values: dict[str, tuple[Any, Any]] = {
        "addon_float": (_props.FloatProperty(), 1.25),
        "addon_floats": (_props.FloatVectorProperty(size=3), (1.0, 2.5, -3.0)),
        "addon_matrix": (_props.FloatVectorProperty(size=(2, 2)), ((1.0, 2.0), (3.0, 4.0))),
        "addon_int": (_props.IntProperty(), 4),
        "addon_ints": (_props.IntVectorProperty(size=2), (1, 2)),
        "addon_bool": (_props.BoolProperty(), True),
        "addon_bools": (_props.BoolVectorProperty(size=2), (True, False)),
        "addon_text": (_props.StringProperty(), "text"),
        "addon_bytes": (_props.StringProperty(subtype="BYTE_STRING"), b"bytes"),
        "addon_enum": (_props.EnumProperty(items=LETTERS), "B"),
        "addon_flags": (_props.EnumProperty(items=LETTERS, options={"ENUM_FLAG"}), {"B"}),
    }
    for name, (prop, _) in values.items():
        setattr(_types.ID, name, prop)
    _types.ID.addon_group = _props.PointerProperty(type=outer)
    _types.ID.addon_list = _props.CollectionProperty(type=outer)
    _types.ID.addon_object = _props.PointerProperty(type=_types.Object)
    named = _data.objects.new("Named", None)
    for block in _every_datablock():
        for name, (_, value) in values.items():
            setattr(block, name, value)
        block.addon_group.text = "nested"
        block.addon_group.inner.number = 0.5
        block.addon_group.inner.numbers = (1.0, 2.0, 3.0)
        block.addon_list.add().inner.number = 0.75
        block.addon_object = named
    for name in (*values, "addon_group", "addon_list", "addon_object"):
        delattr(_types.ID, name)
    for group in (outer, inner):
        bpy.utils.unregister_class(group)
    bpy.ops.wm.save_as_mainfile(filepath=file)


def _every_datablock() -> list[Any]:
    """A new datablock of every kind that Python can make, and those that are there."""
    for prop in _types.BlendData.bl_rna.properties:
        kind: str = prop.identifier
        new = getattr(getattr(_data, kind), "new", None) if prop.type == "COLLECTION" else None
        if new is not None:
            new("Of the add-on", *FURTHER_ARGUMENTS.get(kind, ()))
    blocks = [
        block
        for prop in _types.BlendData.bl_rna.properties
        if prop.type == "COLLECTION" and prop.identifier not in ("window_managers", "screens", "workspaces")
        for block in getattr(_data, prop.identifier)
    ]
    for block in blocks:
        if not isinstance(block, _types.Scene):
            block.use_fake_user = True
    return blocks


if __name__ == "__main__":
    write(sys.argv[1])
