"""Selection, interface state, evaluation and mere reading leave the hash as it is."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import scene_parts as parts
from scene_parts import context, data, ops

from blendwright.blender import fingerprint

Case = tuple[Callable[[], Any], Callable[[Any], Any]]


def select_vertices(owner: Any) -> None:
    for name, domain in ((".select_vert", "POINT"), (".select_edge", "EDGE"), (".select_poly", "FACE")):
        owner.data.attributes.new(name, "BOOLEAN", domain).data[0].value = True


def select_node(owner: Any) -> None:
    for node in owner.node_tree.nodes:
        node.select = not node.select
    owner.node_tree.nodes.active = owner.node_tree.nodes[0]


def select_keys(owner: Any) -> None:
    curve = parts.curves_of(owner)[0]
    curve.select = not curve.select
    for key in curve.keyframe_points:
        key.select_control_point = not key.select_control_point


def set_and_set_back(scene: Any) -> None:
    samples = scene.cycles.samples
    scene.cycles.samples = 3
    scene.cycles.samples = samples


def edit_mode_and_back(owner: Any) -> None:
    context.view_layer.objects.active = owner
    ops.object.mode_set(mode="EDIT")
    ops.object.mode_set(mode="OBJECT")


def move_animated(owner: Any) -> None:
    owner.location.x = 77


def with_custom_driver() -> Any:
    owner = parts.empty()
    owner["a"], owner["list"] = 1.0, [1.0, 2.0]
    owner.driver_add('["a"]').driver.expression = "5"
    owner.driver_add('["list"]', 1).driver.expression = "5"
    return owner


def set_driven_custom(owner: Any) -> None:
    owner["a"] = 7.0
    owner["list"][1] = 7.0


def with_driven_node() -> Any:
    made = parts.material()
    curve = made.node_tree.nodes["Principled BSDF"].inputs["Roughness"].driver_add("default_value")
    curve.driver.expression = "0.1"
    return made


def with_driven_modifier() -> Any:
    modifier = parts.cube().modifiers.new("M", "ARRAY")
    modifier.driver_add("count").driver.expression = "4"
    modifier.driver_add("relative_offset_displace", 1).driver.expression = "4"
    return modifier


def set_driven_modifier(modifier: Any) -> None:
    modifier.count = 9
    modifier.relative_offset_displace[1] = 9


def with_driven_cycles() -> Any:
    scene = context.scene
    scene.cycles.samples = 5
    scene.driver_add("cycles.samples").driver.expression = "9"
    return scene


def with_nla() -> Any:
    owner = parts.keyed()
    action = owner.animation_data.action
    owner.animation_data.action = None
    owner.animation_data.nla_tracks.new().strips.new("Strip", 1, action)
    return owner


def with_keyed_shape() -> Any:
    key = parts.shape_keys().data.shape_keys.key_blocks[1]
    key.keyframe_insert("value", frame=1)
    return key


def unevaluated_armature() -> Any:
    rig = parts.armature()
    return parts.linked("Copy", rig.data)


def ik_to_an_empty() -> Any:
    """A chain that another target would bend otherwise, by a target that only evaluation sees."""
    constraint = parts.armature().pose.bones["Tip"].constraints.new("IK")
    constraint.target = parts.empty()
    return constraint.target


def evaluate_elsewhere(target: Any) -> None:
    """Let IK solve for another place of its target, and put the target back."""
    bone = data.objects["Rig"].pose.bones["Tip"]
    before = bone.tail.copy()
    place = target.location.copy()
    target.location = (3, -2, 0.5)
    context.view_layer.update()
    target.location = place
    assert (bone.tail - before).length > 0.1, "IK has turned nothing"


CASES: dict[str, Case] = {
    "what ik solves": (ik_to_an_empty, evaluate_elsewhere),
    "object selected": (parts.cube, lambda o: o.select_set(True)),
    "active object": (parts.cube, lambda o: setattr(context.view_layer.objects, "active", o)),
    "vertices selected": (parts.cube, select_vertices),
    "edit mode and back": (parts.cube, edit_mode_and_back),
    "node selected": (parts.material, select_node),
    "keys selected": (parts.keyed, select_keys),
    "bone selected": (
        parts.armature,
        lambda o: setattr(o.data.bones, "active", o.data.bones[0]),
    ),
    "active material": (
        lambda: [parts.cube(), *[data.meshes["Cube"].materials.append(None) for _ in "ab"]][0],
        lambda o: setattr(o, "active_material_index", 1),
    ),
    "modifier folded": (
        lambda: parts.cube().modifiers.new("M", "ARRAY"),
        lambda m: setattr(m, "show_expanded", not m.show_expanded),
    ),
    "active modifier": (
        lambda: [parts.cube().modifiers.new("A", "ARRAY"), data.objects["Cube"].modifiers.new("B", "ARRAY")],
        lambda m: setattr(m[0], "is_active", True),
    ),
    "active layer collection": (
        lambda: context.scene.collection.children.link(data.collections.new("C")),
        lambda _: setattr(
            context.view_layer, "active_layer_collection", context.view_layer.layer_collection.children[0]
        ),
    ),
    "tool settings": (parts.empty, lambda _: setattr(context.scene.tool_settings, "use_snap", True)),
    "3D cursor": (parts.empty, lambda _: setattr(context.scene.cursor, "location", (1, 2, 3))),
    "add-on settings read": (parts.cube, lambda o: (o.cycles.use_motion_blur, o.data.cycles.name)),
    "add-on setting set and set back": (lambda: context.scene, set_and_set_back),
    "empty animation data": (parts.empty, lambda o: o.animation_data_create()),
    "evaluation": (parts.cube, lambda _: context.view_layer.update()),
    "first evaluation of an armature": (unevaluated_armature, lambda _: context.view_layer.update()),
    "parent moves the child's world matrix only": (
        lambda: setattr(parts.empty("Child"), "parent", parts.empty("Parent")),
        lambda _: context.view_layer.update(),
    ),
    "minus zero in an object": (parts.empty, lambda o: setattr(o, "location", (-0.0, 0.0, -0.0))),
    "minus zero in a mesh": (
        lambda: [parts.cube(), setattr(data.meshes["Cube"].vertices[0], "co", (0, 0, 0))][0],
        lambda o: setattr(o.data.vertices[0], "co", (-0.0, 0, 0)),
    ),
    "minus zero in a modifier": (
        lambda: parts.cube().modifiers.new("M", "ARRAY"),
        lambda m: setattr(m, "constant_offset_displace", (m.constant_offset_displace[0], -0.0, -0.0)),
    ),
    "minus zero in a custom property": (
        lambda: [parts.empty(), data.objects["Empty"].__setitem__("x", 0.0)][0],
        lambda o: o.__setitem__("x", -0.0),
    ),
    "animated channel": (parts.keyed, move_animated),
    "driven channel": (parts.driven, lambda o: o.location.__setitem__(1, 55)),
    "driven custom property": (with_custom_driver, set_driven_custom),
    "driven node socket": (
        with_driven_node,
        lambda m: setattr(m.node_tree.nodes["Principled BSDF"].inputs["Roughness"], "default_value", 0.9),
    ),
    "driven modifier": (with_driven_modifier, set_driven_modifier),
    "driven add-on setting": (with_driven_cycles, lambda s: setattr(s.cycles, "samples", 99)),
    "driven add-on setting at its default": (with_driven_cycles, lambda s: setattr(s.cycles, "samples", 4096)),
    "animated by a strip": (with_nla, move_animated),
    "animated shape key": (with_keyed_shape, lambda k: setattr(k, "value", 0.8)),
    "boolean as integer": (
        lambda: [parts.empty(), data.objects["Empty"].__setitem__("x", True)][0],
        lambda o: o.__setitem__("x", 1),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_no_change_leaves_every_hash(name: str) -> None:
    build, act = CASES[name]
    parts.empty_scene()
    built = build()
    before = parts.hashes()
    act(built)
    assert parts.changed(before, parts.hashes()) == set()


def test_other_indices_of_an_animated_channel_still_count() -> None:
    parts.empty_scene()
    owner = parts.keyed()
    before = parts.hashes()
    owner.location.y = 5
    assert parts.changed(before, parts.hashes()) == {("objects", "Empty")}


def test_a_muted_curve_animates_nothing() -> None:
    parts.empty_scene()
    owner = parts.keyed()
    parts.curves_of(owner)[0].mute = True
    before = parts.hashes()
    owner.location.x = 5
    assert parts.changed(before, parts.hashes()) == {("objects", "Empty")}


def test_nan_hashes_stably_and_differs_from_a_number() -> None:
    parts.empty_scene()
    owner = parts.cube()
    plain = parts.hashes()
    owner.data.vertices[0].co.x = float("nan")
    owner.empty_display_size = float("nan")
    owner["x"] = float("nan")
    first = parts.hashes()
    assert parts.changed(plain, first) >= {("meshes", "Cube"), ("objects", "Cube")}
    owner.data.vertices[0].co.x = -float("nan")
    owner["x"] = -float("nan")
    assert parts.hashes() == first
    assert fingerprint.leaf(owner) == first["objects", "Cube"]
    assert fingerprint.leaf(owner.data) == first["meshes", "Cube"]


def _blocks(path: Path) -> list[tuple[bytes, int, int, int]]:
    """(code, size, struct, count) of every block of a .blend: its content but for the values."""
    ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=False)
    raw = path.read_bytes()
    # Blender 5.0 widened the header of the file and of its blocks.
    wide = raw[7:9] == b"17"
    place = 17 if wide else 12
    found: list[tuple[bytes, int, int, int]] = []
    while raw[place : place + 4] != b"ENDB":
        if wide:
            code, kind, _, size, count = struct.unpack_from("<4siQqq", raw, place)
        else:
            code, size, _, kind, count = struct.unpack_from("<4siQii", raw, place)
        found.append((code, size, kind, count))
        place += (32 if wide else 24) + size
    return found


def test_hashing_writes_nothing_into_the_file(tmp_path: Path) -> None:
    parts.empty_scene()
    parts.zoo()
    context.view_layer.update()
    path = tmp_path / "zoo.blend"
    _blocks(path)  # the first save itself settles a few values
    before = _blocks(path)
    first = parts.hashes()
    for block in (*data.objects, *data.meshes, *data.scenes, *data.materials):
        fingerprint.leaf(block)
    assert parts.hashes() == first
    assert _blocks(path) == before
    assert len(before) > 1000
    assert data.objects["Cube"].cycles is not None
    assert len(_blocks(path)) > len(before), "reading an add-on's group the plain way writes it"
