"""Every kind of change to objects, collections and scenes moves the hash of exactly the datablock that changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import scene_parts as parts
from changes import CUBE, MESH, Case, assert_moved_exactly, assign, kept, principled
from scene_parts import context, data

from blendwright.tools.modifier.stored_inputs import put_value

OBJECT = {("objects", "Empty")}
SCENE = {("scenes", "Scene")}
MASTER = "scene\0Scene"  # the scene's own collection


def scene() -> Any:
    return context.scene


def modified(kind: str) -> Callable[[], Any]:
    return lambda: parts.cube().modifiers.new("M", kind)


def constrained() -> Any:
    return parts.empty().constraints.new("COPY_LOCATION")


def nla() -> Any:
    owner = parts.keyed()
    action = owner.animation_data.action
    owner.animation_data.action = None
    return owner.animation_data.nla_tracks.new().strips.new("Strip", 1, action)


def in_collection() -> Any:
    made = data.collections.new("Col")
    context.scene.collection.children.link(made)
    return made


RIG = {("armatures", "Rig")}


def collected() -> Any:
    rig = parts.armature()
    rig.data.collections.new("C")
    return rig


def edit_tip(rig: Any, attribute: str, value: Any) -> None:
    """Change a bone at rest, which edit mode only can."""
    parts.context.view_layer.objects.active = rig
    parts.ops.object.mode_set(mode="EDIT")
    setattr(rig.data.edit_bones["Tip"], attribute, value)
    parts.ops.object.mode_set(mode="OBJECT")


def solved() -> Any:
    """An IK constraint that has something to do."""
    constraint = parts.armature().pose.bones["Tip"].constraints.new("IK")
    constraint.target = parts.empty()
    return constraint


def boned() -> Any:
    made = parts.empty()
    made.parent = parts.armature()
    return made


def item(name: str, value: Any) -> Callable[[Any], None]:
    def change(target: Any) -> None:
        target[name] = value

    return change


def pointer() -> Any:
    return parts.empty(), parts.empty("Other")


CASES: dict[str, Case] = {
    # objects
    "object location": (parts.empty, assign("location", (1, 2, 3)), OBJECT),
    "object rotation": (parts.empty, assign("rotation_euler", (1, 2, 3)), OBJECT),
    "object rotation mode": (parts.empty, assign("rotation_mode", "QUATERNION"), OBJECT),
    "object delta scale": (parts.empty, assign("delta_scale", (1, 2, 1)), OBJECT),
    "object parent inverse": (parts.empty, lambda o: o.matrix_parent_inverse.__setitem__(0, (2, 0, 0, 0)), OBJECT),
    "object lock": (parts.empty, lambda o: o.lock_location.__setitem__(1, True), OBJECT),
    "object hidden in render": (parts.empty, assign("hide_render", True), OBJECT),
    "object display type": (parts.empty, assign("display_type", "WIRE"), OBJECT),
    "object shadow display": (parts.empty, assign("display.show_shadows", False), OBJECT),
    "object line art": (parts.empty, assign("lineart.usage", "EXCLUDE"), OBJECT),
    "object light group": (parts.empty, assign("lightgroup", "Key"), OBJECT),
    "object pass index": (parts.empty, assign("pass_index", 3), OBJECT),
    "object fake user": (parts.empty, assign("use_fake_user", True), OBJECT),
    "object colour": (parts.empty, lambda o: o.color.__setitem__(0, 0.5), OBJECT),
    "object parent": (pointer, lambda p: setattr(p[0], "parent", p[1]), OBJECT),
    "object parent type": (boned, assign("parent_type", "BONE"), OBJECT),
    "object parent bone": (boned, assign("parent_bone", "Tip"), OBJECT),
    "object data": (parts.cube, lambda o: setattr(o, "data", data.meshes.new("New")), CUBE | {("meshes", "New")}),
    "object instance collection": (
        parts.empty,
        lambda o: setattr(o, "instance_collection", data.collections.new("C")),
        OBJECT | {("collections", "C")},
    ),
    "object name": (
        parts.empty,
        assign("name", "Renamed"),
        {*OBJECT, ("objects", "Renamed"), ("member", MASTER, "Empty"), ("member", MASTER, "Renamed")},
    ),
    "object linked": (
        lambda: (parts.empty(), in_collection()),
        lambda p: p[1].objects.link(p[0]),
        {("member", "Col", "Empty")},
    ),
    "object unlinked": (
        parts.empty,
        lambda o: context.scene.collection.objects.unlink(o),
        {("member", MASTER, "Empty")},
    ),
    "object added": (
        lambda: None,
        lambda _: parts.empty("New"),
        {("objects", "New"), ("member", MASTER, "New")},
    ),
    "object marked as asset": (parts.empty, lambda o: o.asset_mark(), OBJECT),
    # custom and add-on properties
    "custom float": (parts.empty, item("x", 1.5), OBJECT),
    "custom text": (parts.empty, item("x", "text"), OBJECT),
    "custom boolean": (parts.empty, item("x", True), OBJECT),
    "custom array": (parts.empty, item("x", [1, 2]), OBJECT),
    "custom group": (parts.empty, item("x", {"a": {"b": 1}}), OBJECT),
    "custom pointer": (pointer, lambda p: p[0].__setitem__("x", p[1]), OBJECT),
    "custom on mesh": (lambda: parts.cube().data, item("x", 1), MESH),
    "custom on bone": (lambda: parts.armature().data.bones["Tip"], item("x", 1), {("armatures", "Rig")}),
    "custom on view layer": (lambda: context.view_layer, item("x", 1), SCENE),
    "custom on node": (principled, item("x", 1), {("materials", "Mat")}),
    "cycles samples": (scene, assign("cycles.samples", 7), SCENE),
    "cycles on object": (parts.empty, assign("cycles.use_deform_motion", False), OBJECT),
    "cycles on view layer": (lambda: context.view_layer, assign("cycles.use_denoising", False), SCENE),
    # modifiers and constraints
    "modifier added": (parts.cube, lambda o: o.modifiers.new("M", "ARRAY"), CUBE),
    "modifier count": (modified("ARRAY"), assign("count", 9), CUBE),
    "modifier vector": (modified("ARRAY"), assign("relative_offset_displace", (0, 3, 0)), CUBE),
    "modifier flag set": (modified("SIMPLE_DEFORM"), assign("deform_axis", "Z"), CUBE),
    "modifier pointer": (
        lambda: (modified("BOOLEAN")(), parts.empty()),
        lambda p: setattr(p[0], "collection", context.scene.collection.children.get("x") or data.collections.new("C")),
        CUBE | {("collections", "C")},
    ),
    "modifier order": (
        lambda: [parts.cube().modifiers.new("A", "ARRAY"), data.objects["Cube"].modifiers.new("B", "BEVEL")],
        lambda _: data.objects["Cube"].modifiers.move(0, 1),
        CUBE,
    ),
    "modifier shown in render": (modified("SUBSURF"), assign("show_render", False), CUBE),
    "bevel profile point": (
        modified("BEVEL"),
        lambda m: m.custom_profile.points.add(0.3, 0.9),
        CUBE,
    ),
    "nodes modifier input": (parts.nodes_modifier, lambda m: put_value(m, "Socket_1", 4.0), CUBE),
    "nodes modifier group": (parts.nodes_modifier, assign("node_group", None), CUBE),
    "constraint added": (parts.empty, lambda o: o.constraints.new("LIMIT_SCALE"), OBJECT),
    "constraint influence": (constrained, assign("influence", 0.5), OBJECT),
    "constraint target": (
        lambda: (constrained(), parts.empty("Other")),
        lambda p: setattr(p[0], "target", p[1]),
        OBJECT,
    ),
    "particle system": (
        parts.cube,
        lambda o: o.modifiers.new("P", "PARTICLE_SYSTEM"),
        CUBE | {("particles", "ParticleSettings")},
    ),
    "particle count": (
        lambda: kept(data.particles.new("P")),
        assign("count", 5),
        {("particles", "P")},
    ),
    # animation
    "keyframe value": (
        parts.keyed,
        lambda o: parts.curves_of(o)[0].keyframe_points[0].co.__setitem__(1, 3),
        {("actions", "EmptyAction")},
    ),
    "keyframe interpolation": (
        parts.keyed,
        lambda o: setattr(parts.curves_of(o)[0].keyframe_points[0], "interpolation", "CONSTANT"),
        {("actions", "EmptyAction")},
    ),
    "curve modifier": (
        parts.keyed,
        lambda o: parts.curves_of(o)[0].modifiers.new("NOISE"),
        {("actions", "EmptyAction")},
    ),
    "action taken off": (parts.keyed, lambda o: setattr(o.animation_data, "action", None), OBJECT),
    "driver expression": (
        parts.driven,
        lambda o: setattr(o.animation_data.drivers[0].driver, "expression", "frame * 3"),
        OBJECT,
    ),
    "driver variable": (parts.driven, lambda o: o.animation_data.drivers[0].driver.variables.new(), OBJECT),
    "nla strip": (nla, assign("scale", 2.0), OBJECT),
    "nla influence": (nla, assign("blend_type", "ADD"), OBJECT),
    # armatures
    "pose location": (lambda: parts.armature().pose.bones["Tip"], assign("location", (1, 0, 0)), {("objects", "Rig")}),
    "pose constraint": (
        lambda: parts.armature().pose.bones["Tip"],
        lambda b: b.constraints.new("IK"),
        {("objects", "Rig")},
    ),
    "bone flag": (lambda: parts.armature().data.bones["Tip"], assign("use_deform", False), {("armatures", "Rig")}),
    "bone collection": (parts.armature, lambda o: o.data.collections.new("C"), {("armatures", "Rig")}),
    "bone in a collection": (collected, lambda o: o.data.collections["C"].assign(o.data.bones["Tip"]), RIG),
    "collection in another": (collected, lambda o: o.data.collections.new("D", parent=o.data.collections["C"]), RIG),
    "bone at rest": (parts.armature, lambda o: edit_tip(o, "tail", (0, 1.5, 2)), RIG),
    "bone roll": (parts.armature, lambda o: edit_tip(o, "roll", 1.0), RIG),
    "bone parent": (parts.armature, lambda o: edit_tip(o, "parent", None), RIG),
    "bone connected": (parts.armature, lambda o: edit_tip(o, "use_connect", True), RIG),
    "pose rotation mode": (
        lambda: parts.armature().pose.bones["Tip"],
        assign("rotation_mode", "XYZ"),
        {("objects", "Rig")},
    ),
    "limit of ik": (lambda: parts.armature().pose.bones["Tip"], assign("ik_max_x", 1.0), {("objects", "Rig")}),
    "chain of ik": (solved, lambda c: setattr(c, "chain_count", 1), {("objects", "Rig")}),
    # collections and scenes
    "collection colour": (in_collection, assign("color_tag", "COLOR_03"), {("collections", "Col")}),
    "collection hidden": (in_collection, assign("hide_render", True), {("collections", "Col")}),
    "collection child": (
        in_collection,
        lambda c: c.children.link(data.collections.new("Sub")),
        {("collections", "Col"), ("collections", "Sub")},
    ),
    "top collection": (lambda: data.collections.new("C"), lambda c: context.scene.collection.children.link(c), SCENE),
    "view layer exclusion": (
        in_collection,
        lambda _: setattr(context.view_layer.layer_collection.children[0], "exclude", True),
        SCENE,
    ),
    "view layer pass": (lambda: context.view_layer, assign("use_pass_z", True), SCENE),
    "frame": (scene, lambda s: s.frame_set(7), SCENE),
    "frame range": (scene, assign("frame_end", 7), SCENE),
    "resolution": (scene, assign("render.resolution_x", 7), SCENE),
    "engine": (scene, assign("render.engine", "CYCLES"), SCENE),
    "output path": (scene, assign("render.filepath", "/tmp/elsewhere"), SCENE),
    "image format": (scene, assign("render.image_settings.color_mode", "RGB"), SCENE),
    "view transform": (scene, assign("view_settings.view_transform", "Standard"), SCENE),
    "unit": (scene, assign("unit_settings.system", "IMPERIAL"), SCENE),
    "gravity": (scene, assign("gravity", (0, 0, -1)), SCENE),
    "scene camera": (
        lambda: parts.linked("C", data.cameras.new("C")),
        lambda c: setattr(context.scene, "camera", c),
        SCENE,
    ),
    "scene world": (lambda: kept(data.worlds.new("W")), lambda w: setattr(context.scene, "world", w), SCENE),
    "marker": (scene, lambda s: s.timeline_markers.new("M", frame=4), SCENE),
}


@pytest.mark.parametrize("name", CASES)
def test_a_change_of_the_scene_moves_the_hash_of_exactly_what_changed(name: str) -> None:
    assert_moved_exactly(CASES[name])
