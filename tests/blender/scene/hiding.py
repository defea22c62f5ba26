"""Drivers hidden on F-curves outside of `animation_data.drivers`. Blender's API cannot create them, so this module moves a pointer."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import bpy

# Where FCurve has its pointer to a driver, in every Blender from 4.2 to 5.2. `test_the_offset_is_that_of_the_saved_file` checks it.
OFFSET = 24
PLACES = ("strip", "nested strip", "action", "node tree strip", "shape key strip")


def hide_driver(place: str = "strip", expression: str | None = "1.0") -> str:
    """Add an object "Hiding" to the current scene, hide a driver at this location of its datablocks, and return the object's name.

    Without an expression the scene is the same except for the driver."""
    data: Any = bpy.data
    obj: Any = data.objects.new("Hiding", data.meshes.new("Hiding"))
    bpy.context.scene.collection.objects.link(obj)
    owner: Any = obj
    path = "location"
    if place == "node tree strip":
        material: Any = data.materials.new("Hiding")
        if material.node_tree is None:
            material.use_nodes = True
        obj.data.materials.append(material)
        owner, path = material.node_tree, 'nodes["Principled BSDF"].inputs[1].default_value'
    if place == "shape key strip":
        obj.shape_key_add(name="Basis")
        owner, path = obj.data.shape_keys, "eval_time"
    owner.keyframe_insert(path, frame=1)
    animation: Any = owner.animation_data
    action: Any = animation.action
    if place == "action":
        _move_driver(obj, _first_curve(action), expression)
        return obj.name
    animation.action = None
    track = animation.nla_tracks.new()
    strip = track.strips.new("Strip", 1, action)
    strip.use_animated_influence = True
    strip.influence = 0.5
    strip.keyframe_insert("influence", frame=1)
    _move_driver(obj, strip.fcurves[0], expression)
    if place == "nested strip":
        _nest(track, obj)
    return obj.name


def _first_curve(action: Any) -> Any:
    return action.layers[0].strips[0].channelbags[0].fcurves[0] if hasattr(action, "layers") else action.fcurves[0]


def _move_driver(obj: Any, target: Any, expression: str | None) -> None:
    if expression is None:
        return
    curve = obj.driver_add("scale", 0)
    curve.driver.type = "SCRIPTED"
    curve.driver.expression = expression
    source, destination = _pointer(curve), _pointer(target)
    assert source.value and not destination.value
    destination.value, source.value = source.value, 0
    obj.driver_remove("scale", 0)


def _pointer(curve: Any) -> ctypes.c_uint64:
    return ctypes.c_uint64.from_address(curve.as_pointer() + OFFSET)


def _nest(track: Any, obj: Any) -> None:
    """Turn the track's strip into a child of a meta strip, as the NLA editor's operator does, which needs a window."""
    outer = track.strips.new("Meta", 100, bpy.data.actions[0])
    inner = track.strips["Strip"]
    # NlaTrack.strips and NlaStrip.strips are lists of structs that begin with `next` and `prev`.
    offsets = _struct_offsets()
    track_list = track.as_pointer() + offsets["track.strips"]
    outer_list = outer.as_pointer() + offsets["strip.strips"]

    def at(address: int) -> ctypes.c_uint64:
        return ctypes.c_uint64.from_address(address)

    at(track_list).value = at(track_list + 8).value = outer.as_pointer()
    at(outer.as_pointer()).value = at(outer.as_pointer() + 8).value = 0
    at(inner.as_pointer()).value = at(inner.as_pointer() + 8).value = 0
    at(outer_list).value = at(outer_list + 8).value = inner.as_pointer()
    assert [strip.name for strip in outer.strips] == ["Strip"]


def _struct_offsets() -> dict[str, int]:
    import mmap
    import tempfile

    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "empty.blend")
        bpy.ops.wm.save_as_mainfile(filepath=str(file), copy=True, compress=False)
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            offsets = member_offsets(mapped)
    return {"track.strips": offsets["NlaTrack", "strips"], "strip.strips": offsets["NlaStrip", "strips"]}


def member_offsets(mapped: Any) -> dict[tuple[str, str], int]:
    """Return the offsets of the members of the animation structs, as a saved file describes them."""
    from blendwright.blendfile.file_format import Structs, heads

    [dna] = [head for head in heads(mapped) if head.code == b"DNA1"]
    structs = Structs(mapped[dna.start : dna.end])
    offsets: dict[tuple[str, str], int] = {}
    for index in range(5000):
        try:
            name = structs.type_of(index)
        except IndexError:
            break
        if name in ("FCurve", "NlaTrack", "NlaStrip"):
            offsets |= {(name, member): start for member, (start, _, _) in structs.places(index).items()}
    return offsets
