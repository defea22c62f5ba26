"""Whatever can be keyed: of bones, shape keys, modifiers, nodes, data and the scene, alike on every Blender."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from tools.objects import box, named

if TYPE_CHECKING:
    from support.stage.stage import Stage

KEYS = "animation.set_keyframes"
data: Any = bpy.data


def rig(stage: Stage) -> None:
    """An armature with a bone that has a property and a constraint, as other tools or files bring it."""
    armature = data.armatures.new("Rig")
    obj = data.objects.new("Rig", armature)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    armature.edit_bones.new("Tip").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.pose.bones["Tip"]["grip"] = 0.5
    obj.pose.bones["Tip"].constraints.new("LIMIT_LOCATION").name = "Limit"
    stage.state.refresh()


def face(stage: Stage) -> None:
    obj = box(stage, "Face")
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Smile").data[0].co.z += 1
    stage.state.refresh()


def rounded(stage: Stage) -> None:
    box(stage)
    stage.do("modifier.add", {"object": "Box", "name": "Ro.und", "settings": {"type": "BEVEL", "width": 0.1}})


def geometry(stage: Stage) -> None:
    box(stage)
    tree = data.node_groups.new("Grow", "GeometryNodeTree")
    for name, side, kind in (
        ("Geometry", "INPUT", "Geometry"),
        ("Size", "INPUT", "Float"),
        ("Geometry", "OUTPUT", "Geometry"),
    ):
        tree.interface.new_socket(name, in_out=side, socket_type=f"NodeSocket{kind}")
    ends = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    tree.links.new(ends[0].outputs[0], ends[1].inputs[0])
    tree.nodes.new("ShaderNodeMath").name = "Sum"
    named("Box").modifiers.new("Grow", "NODES").node_group = tree
    stage.state.refresh()


def gold(stage: Stage) -> None:
    stage.do("material.ensure_principled", {"name": "Gold"})
    box(stage, material="Gold")


def sky(stage: Stage) -> None:
    world = data.worlds.new("Sky")
    if bpy.app.version < (5, 0, 0):
        world.use_nodes = True
    bpy.context.scene.world = world
    stage.state.refresh()


def lamp(stage: Stage) -> None:
    stage.do("light.create", {"name": "Lamp", "type": "SPOT"})
    if bpy.app.version < (5, 1, 0):
        named("Lamp").data.use_nodes = True
        stage.state.refresh()


def plain(stage: Stage) -> None:
    box(stage)


@dataclass(frozen=True)
class Case:
    """A channel, the values of its keys at frames 1 and 11, and how to read what it is in between."""

    make: Callable[[Stage], None]
    owner: dict[str, Any]
    channel: dict[str, Any]
    first: Any
    last: Any
    middle: Any
    read: Callable[[], Any]
    action: str
    skip: frozenset[str] = field(default_factory=frozenset[str])


def bone() -> Any:
    return named("Rig").pose.bones["Tip"]


def node(tree: Any, kind: str, name: str) -> Any:
    return next(each for each in tree.nodes if each.type == kind).inputs[name].default_value


def of_modifier() -> Any:
    modifier = named("Box").modifiers["Grow"]
    return modifier["Socket_1"] if bpy.app.version < (5, 2, 0) else modifier.properties.inputs.Socket_1.value


RIG, FACE, BOX, LAMP = ({"object": name} for name in ("Rig", "Face", "Box", "Lamp"))
INPUT = {"channel": "node_input"}
CASES = {
    "bone location": Case(
        rig, RIG, {"channel": "location", "bone": "Tip"}, [0, 0, 0], [0, 4, 0], [0, 2, 0], lambda: list(bone().location),
        "RigAction",
    ),
    "bone rotation": Case(
        rig, RIG, {"channel": "rotation_euler_deg", "bone": "Tip"}, [0, 0, 0], [0, 0, 90], math.pi / 4,
        lambda: bone().rotation_euler.z, "RigAction",
    ),
    "bone property": Case(
        rig, RIG, {"channel": "property", "bone": "Tip", "property": "grip"}, 0.0, 1.0, 0.5, lambda: bone()["grip"], "RigAction"
    ),
    "bone constraint": Case(
        rig, RIG, {"channel": "constraint_influence", "bone": "Tip", "constraint": "Limit"}, 0, 1, 0.5,
        lambda: bone().constraints["Limit"].influence, "RigAction",
    ),
    "shape key": Case(
        face, FACE, {"channel": "shape_key", "shape_key": "Smile"}, 0, 1, 0.5,
        lambda: named("Face").data.shape_keys.key_blocks["Smile"].value, "FaceKeysAction",
    ),
    "modifier setting": Case(
        rounded, BOX, {"channel": "setting", "modifier": "Ro.und", "setting": "width"}, 0.1, 0.3, 0.2,
        lambda: named("Box").modifiers["Ro.und"].width, "BoxAction",
    ),
    "modifier input": Case(
        geometry, BOX, {"channel": "modifier_input", "modifier": "Grow", "input": "Size"}, 0, 4, 2, of_modifier, "BoxAction"
    ),
    "node of a group": Case(
        geometry, {"node_group": "Grow"}, {**INPUT, "node": "Sum", "input": "Value_001"}, 0, 4, 2,
        lambda: data.node_groups["Grow"].nodes["Sum"].inputs[1].default_value, "GrowNodesAction",
    ),
    "node of a material": Case(
        gold, {"material": "Gold"}, {**INPUT, "node": "Principled BSDF", "input": "Base Color"},
        [0, 0, 0, 1], [1, 0.5, 0, 1], [0.5, 0.25, 0, 1],
        lambda: list(node(data.materials["Gold"].node_tree, "BSDF_PRINCIPLED", "Base Color")), "GoldMaterialNodesAction",
    ),
    "setting of a material": Case(
        gold, {"material": "Gold"}, {"channel": "setting", "setting": "metallic"}, 0, 1, 0.5,
        lambda: data.materials["Gold"].metallic, "GoldMaterialAction",
    ),
    "node of a world": Case(
        sky, {"world": "Sky"}, {**INPUT, "node": "Background", "input": "Strength"}, 0, 4, 2,
        lambda: node(data.worlds["Sky"].node_tree, "BACKGROUND", "Strength"), "SkyWorldNodesAction",
    ),
    "node of a light": Case(
        lamp, LAMP, {**INPUT, "node": "Emission", "input": "Strength"}, 0, 4, 2,
        lambda: node(named("Lamp").data.node_tree, "EMISSION", "Strength"), "LampDataNodesAction",
    ),
    "setting of data": Case(
        lamp, LAMP, {"channel": "data_setting", "setting": "spot_size_deg"}, 30, 60, math.radians(45),
        lambda: named("Lamp").data.spot_size, "LampDataAction",
    ),
    "setting of an object": Case(
        plain, BOX, {"channel": "setting", "setting": "delta_scale"}, [1, 1, 1], [3, 1, 1], 2, lambda: named("Box").delta_scale.x,
        "BoxAction",
    ),
    "setting of the scene": Case(
        plain, {"scene": True}, {"channel": "setting", "setting": "view_settings.exposure"}, 0, 2, 1,
        lambda: bpy.context.scene.view_settings.exposure, "SceneSceneAction",
    ),
}  # fmt: skip


def keys(case: Case) -> dict[str, Any]:
    one = {**case.channel, "interpolation": "LINEAR"}
    return {**case.owner, "keys": [{**one, "frame": 1, "value": case.first}, {**one, "frame": 11, "value": case.last}]}


def without_scene(stage: Stage) -> dict[Any, Any]:
    """The hashes of all datablocks but the scene, which counts frames."""
    stage.state.refresh()
    return {key: leaf for key, leaf in stage.state.fingerprint.leaves().items() if key[0] != "scenes"}


@pytest.mark.parametrize("name", CASES)
def test_keys_of_any_channel_move_it_and_are_taken_back_saved_and_cleared(stage: Stage, name: str) -> None:
    case = CASES[name]
    case.make(stage)
    way = "memfile" if "scene" in case.owner else "inverse"
    if way == "inverse" or bpy.app.version >= (4, 5, 0):
        assert stage.call(KEYS, keys(case), rehearse=way)["reverted_by"] == way
    made = stage.call(KEYS, keys(case))
    assert made["ok"], made["message"]
    assert made["result"] is not None and made["result"]["action"] == case.action
    assert stage.call(KEYS, keys(case))["after"] == made["after"]
    # Animated values are in no hash, and their curves are.
    before = without_scene(stage)
    stage.do("animation.set_frame", {"frame": 6})
    assert case.read() == pytest.approx(case.middle, abs=1e-6)
    assert without_scene(stage) == before
    saved = stage.state.root()
    stage.state.save(stage.scratch / "keys.blend")
    stage.state.open(stage.scratch / "keys.blend")
    assert stage.state.root() == saved
    stage.do("animation.set_curves", {**case.owner, **case.channel, "interpolation": "CONSTANT"})
    assert stage.state.root() != saved, "the curves are in the hash"
    stage.do("animation.set_curves", {**case.owner, **case.channel, "interpolation": "LINEAR"})
    cleared = stage.do("animation.clear", {**case.owner, **case.channel})
    assert cleared["action_removed"] == case.action
    assert case.read() == pytest.approx(case.middle, abs=1e-6)


def test_a_choice_is_keyed_by_its_name_and_steps(stage: Stage) -> None:
    obj = box(stage)
    channel = {"channel": "setting", "setting": "display_type"}
    stage.do(
        KEYS, {**BOX, "keys": [{**channel, "frame": 1, "value": "WIRE"}, {**channel, "frame": 9, "value": "SOLID"}]}
    )
    stage.do("animation.set_frame", {"frame": 8})
    assert obj.display_type == "WIRE"
    stage.do("animation.set_frame", {"frame": 9})
    assert obj.display_type == "SOLID"
    (finding,) = stage.refusal("animation.set_keyframe", {**BOX, **channel, "frame": 1, "value": "ABC"})
    assert finding["pointer"] == "/value" and "TEXTURED" in finding["cure"]


WRONG = [
    (rig, {**RIG, "channel": "location", "bone": "Tp", "value": [0, 0, 0]}, "/bone", "'Tip'"),
    (face, {**FACE, "channel": "shape_key", "shape_key": "Smil", "value": 1}, "/shape_key", "'Smile'"),
    (face, {**FACE, "channel": "shape_key", "shape_key": "Basis", "value": 1}, "/shape_key", "another"),
    (face, {**FACE, "channel": "shape_key", "shape_key": "Smile", "value": 2}, "/value", "range"),
    (
        rounded,
        {**BOX, "channel": "setting", "modifier": "Ro.und", "setting": "widht", "value": 1},
        "/setting",
        "'width'",
    ),
    (rounded, {**BOX, "channel": "setting", "modifier": "Ro.und", "setting": "width", "value": -1}, "/value", "range"),
    (
        rounded,
        {**BOX, "channel": "modifier_input", "modifier": "Ro.und", "input": "x", "value": 1},
        "/modifier",
        "setting",
    ),
    (
        geometry,
        {**BOX, "channel": "modifier_input", "modifier": "Grow", "input": "Sise", "value": 1},
        "/input",
        "'Size'",
    ),
    (plain, {**BOX, "channel": "setting", "setting": "rotation_mode", "value": "XYZ"}, "/setting", "once"),
    (
        gold,
        {"material": "Gold", **INPUT, "node": "Principled", "input": "Alpha", "value": 1},
        "/node",
        "Principled BSDF",
    ),
    (
        gold,
        {"material": "Gold", **INPUT, "node": "Principled BSDF", "input": "Rough", "value": 1},
        "/input",
        "Roughness",
    ),
    (
        gold,
        {"material": "Gold", **INPUT, "node": "Principled BSDF", "input": "Roughness", "value": 2},
        "/value",
        "range",
    ),
    (gold, {"material": "Gold", **INPUT, "node": "Material Output", "input": "Surface", "value": 2}, "/input", ""),
    (gold, {"material": "Gold", "channel": "location", "value": [0, 0, 0]}, "/channel", "object"),
    (gold, {"material": "Gold", "channel": "setting", "setting": "node_tree.name", "value": 1}, "/setting", ""),
    (gold, {**BOX, "channel": "setting", "setting": "active_material.metallic", "value": 1}, "/setting", "datablock"),
    (lamp, {**LAMP, "channel": "data_setting", "setting": "spot_size", "value": 1}, "/setting", "spot_size_deg"),
    (plain, {**BOX, "channel": "setting", "setting": "name", "value": "x"}, "/setting", "numbers"),
    (plain, {**BOX, "channel": "setting", "setting": "dimensions", "value": [1, 1, 1]}, "/setting", "numbers"),
    (plain, {**BOX, **INPUT, "node": "n", "input": "i", "value": 1}, "/node", "light"),
]


@pytest.mark.parametrize(("make", "args", "pointer", "cure"), WRONG)
def test_what_cannot_be_keyed_is_refused_with_its_place(
    stage: Stage, make: Callable[[Stage], None], args: dict[str, Any], pointer: str, cure: str
) -> None:
    make(stage)
    findings = stage.refusal("animation.set_keyframe", {"frame": 1, **args})
    assert [finding["pointer"] for finding in findings] == [pointer], findings
    assert cure in findings[0]["cure"]


@pytest.mark.parametrize(
    "args",
    [
        {"channel": "shape_key", "value": 1, **BOX},
        {"channel": "node_input", "node": "a", "value": 1, **BOX},
        {"channel": "location", "modifier": "a", "value": [0, 0, 0], **BOX},
        {"channel": "setting", "setting": "a", "modifier": "b", "node": "c", "value": 1, **BOX},
        {"channel": "setting", "setting": 'a["b"]', "value": 1, **BOX},
        {"channel": "location", "value": [0, 0, 0]},
        {"channel": "location", "value": [0, 0, 0], **BOX, "world": "World"},
    ],
)
def test_names_that_do_not_belong_to_a_channel_are_refused_before(stage: Stage, args: dict[str, Any]) -> None:
    stage.invalid("animation.set_keyframe", {"frame": 1, **args})


def test_a_linked_input_and_one_from_an_attribute_take_no_keys(stage: Stage) -> None:
    gold(stage)
    tree = data.materials["Gold"].node_tree
    value = tree.nodes.new("ShaderNodeValue")
    shader = next(each for each in tree.nodes if each.type == "BSDF_PRINCIPLED")
    tree.links.new(value.outputs[0], shader.inputs["Roughness"])
    stage.state.refresh()
    args = {"material": "Gold", **INPUT, "node": "Principled BSDF", "input": "Roughness", "frame": 1, "value": 0.5}
    (finding,) = stage.refusal("animation.set_keyframe", args)
    assert finding["pointer"] == "/input" and "nodes.patch" in finding["cure"]


def test_a_material_and_its_nodes_have_actions_of_their_own_and_go_together(stage: Stage) -> None:
    gold(stage)
    one = {"material": "Gold", "frame": 1, "value": 0.5}
    stage.do("animation.set_keyframe", {**one, "channel": "setting", "setting": "roughness"})
    stage.do("animation.set_keyframe", {**one, **INPUT, "node": "Principled BSDF", "input": "Roughness"})
    assert set(data.actions.keys()) == {"GoldMaterialAction", "GoldMaterialNodesAction"}
    assert stage.do("animation.clear", {"material": "Gold"})["curves"] == 2
    assert not [name for name in data.actions.keys() if not name.startswith("~bw~")]  # noqa: SIM118 - no mapping
