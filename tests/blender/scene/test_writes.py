"""Single writes and pre-images: the hash is correct, a revert restores the scene, and a saved file keeps the write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import bpy
import pytest
from trial import Trial
from village import socket

from blendwright.blender.scene import BpyScene
from blendwright.tool_api.scene import Kind

Act = Callable[[BpyScene], object]
data: Any = bpy.data


def obj(scene: BpyScene, name: str) -> Any:
    return scene.require(Kind.OBJECT, name)


# ---------------------------------------------------------------------- create and adopt


def create_cube(scene: BpyScene) -> None:
    mesh = scene.create(Kind.MESH, "Box")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (1, 1, 0)], [], [(0, 1, 2)])
    mesh.materials.append(scene.require(Kind.MATERIAL, "Wood"))
    box = scene.create(Kind.OBJECT, "Box", mesh)
    scene.link(scene.active.collection, box)
    scene.link(scene.require(Kind.COLLECTION, "Yard"), box)
    box.location = (1, 2, 3)


def create_unlinked(scene: BpyScene) -> None:
    scene.create(Kind.OBJECT, "Loner", None)
    scene.create(Kind.MATERIAL, "Unused").diffuse_color = (1, 0, 0, 1)
    scene.create(Kind.COLLECTION, "Nowhere")
    scene.create(Kind.NODE_GROUP, "Tree", "GeometryNodeTree")


def adopt_copy(scene: BpyScene) -> None:
    copy = obj(scene, "Plank").copy()
    copy.data = scene.adopt(Kind.MESH, obj(scene, "Plank").data.copy(), "Plank copy")
    scene.link(scene.active.collection, scene.adopt(Kind.OBJECT, copy, "Plank copy"))


def create_scene(scene: BpyScene) -> None:
    second_scene = scene.create(Kind.SCENE, "Other")
    scene.link(second_scene.collection, obj(scene, "Plank"))


# ---------------------------------------------------------------------- pre-images


def edit_mesh(scene: BpyScene) -> None:
    mesh = scene.edit(scene.require(Kind.MESH, "Plank"))
    mesh.clear_geometry()
    mesh.from_pydata([(0, 0, 0), (5, 0, 0), (1, 1, 0)], [], [(0, 1, 2)])
    mesh.materials.clear()


def edit_mesh_with_shape_keys(scene: BpyScene) -> None:
    mesh = scene.edit(scene.require(Kind.MESH, "Shaped"))
    mesh.shape_keys.key_blocks["Bent"].data[0].co = (9, 9, 9)
    mesh.shape_keys.key_blocks["Bent"].value = 0.5


def edit_shape_keys(scene: BpyScene) -> None:
    scene.edit(scene.require(Kind.SHAPE_KEY, "Bends")).key_blocks["Bent"].slider_max = 2


def edit_object(scene: BpyScene) -> None:
    plank = scene.edit(obj(scene, "Plank"))
    plank.location = (1, 1, 1)
    plank.modifiers.clear()
    plank.data = scene.require(Kind.MESH, "Shaped")
    plank["note"] = "edited"
    del plank["friend"]


def edit_parent_and_camera(scene: BpyScene) -> None:
    scene.edit(obj(scene, "Pivot")).empty_display_size = 3
    scene.edit(obj(scene, "Eye")).constraints.clear()
    scene.edit(scene.require(Kind.CAMERA, "Eye")).lens = 80


def edit_material(scene: BpyScene) -> None:
    tree = scene.edit(scene.require(Kind.MATERIAL, "Wood")).node_tree
    tree.nodes["Principled BSDF"].inputs["Roughness"].default_value = 0.1
    tree.nodes.remove(tree.nodes["Group"])
    tree.nodes.remove(tree.nodes["Image Texture"])
    tree.nodes.new("ShaderNodeRGB")


def edit_light(scene: BpyScene) -> None:
    scene.edit(scene.require(Kind.LIGHT, "Lamp")).type = "AREA"


def edit_curve(scene: BpyScene) -> None:
    curve = scene.edit(scene.require(Kind.CURVE, "Path"))
    curve.splines.clear()
    curve.splines.new("BEZIER").bezier_points.add(2)
    curve.bevel_depth = 0.5


def edit_action(scene: BpyScene) -> None:
    action = scene.edit(scene.require(Kind.ACTION, "Walk"))
    action.frame_start, action.use_frame_range = 3, True


def edit_keys(scene: BpyScene) -> None:
    scene.edit(scene.require(Kind.ACTION, "Walk"))
    pivot = scene.edit(obj(scene, "Pivot"))
    pivot.keyframe_insert("scale", frame=4)


def edit_world(scene: BpyScene) -> None:
    scene.edit(scene.require(Kind.WORLD, "Sky")).color = (1, 0, 0)


def edit_node_group(scene: BpyScene) -> None:
    group = scene.edit(scene.require(Kind.NODE_GROUP, "Builder"))
    group.nodes.new("GeometryNodeMeshCube")
    group.links.clear()


def edit_interface_of_modifiers_group(scene: BpyScene) -> None:
    group = scene.edit(scene.require(Kind.NODE_GROUP, "Builder"))
    items = group.interface.items_tree
    group.interface.remove(next(item for item in items if item.name == "Factor"))
    group.interface.remove(next(item for item in items if item.name == "Object"))
    group.interface.new_socket("Count", in_out="INPUT", socket_type="NodeSocketInt")


def edit_interface_of_group_nodes_group(scene: BpyScene) -> None:
    interface = scene.edit(scene.require(Kind.NODE_GROUP, "Grain")).interface
    interface.clear()
    interface.new_socket("Other", in_out="OUTPUT", socket_type="NodeSocketFloat")


def edit_image(scene: BpyScene) -> None:
    scene.edit(scene.require(Kind.IMAGE, "Rings")).colorspace_settings.name = "Non-Color"


# ---------------------------------------------------------------------- single properties


def set_on_object(scene: BpyScene) -> None:
    plank = obj(scene, "Plank")
    scene.set(plank, "location", (1, 2, 3))
    scene.set(plank, "rotation_mode", "QUATERNION")
    scene.set(plank, "hide_render", True)
    scene.set(plank, "parent", obj(scene, "Eye"))
    scene.set(plank, "lock_location", (True, False, True))
    scene.set(plank, "color", (1, 0, 0, 0.5))
    scene.set(plank, "delta_rotation_euler", scene.euler((1, 0, 0)))


def set_data(scene: BpyScene) -> None:
    scene.set(obj(scene, "Shape"), "data", scene.require(Kind.MESH, "Plank"))


def set_on_modifier(scene: BpyScene) -> None:
    modifier = obj(scene, "Plank").modifiers["Mirror"]
    scene.set(modifier, "use_axis", (False, True, True))
    scene.set(modifier, "mirror_object", None)
    scene.set(modifier, "name", "Reflection")
    scene.set(modifier, "merge_threshold", 0.5)


def set_node_group_of_modifier(scene: BpyScene) -> None:
    scene.set(obj(scene, "Plank").modifiers["Builder"], "node_group", None)


def set_on_constraint(scene: BpyScene) -> None:
    constraint = obj(scene, "Eye").constraints[0]
    scene.set(constraint, "target", obj(scene, "Lamp"))
    scene.set(constraint, "track_axis", "TRACK_X")
    scene.set(constraint, "name", "Aim")


def set_on_node_socket(scene: BpyScene) -> None:
    wood = scene.require(Kind.MATERIAL, "Wood")
    nodes = wood.node_tree.nodes
    scene.set(nodes["Principled BSDF"].inputs["Base Color"], "default_value", (1, 0, 0, 1), owner=wood)
    scene.set(nodes["Principled BSDF"].inputs["Metallic"], "default_value", 0.5, owner=wood)
    scene.set(nodes["Image Texture"], "image", None, owner=wood)
    scene.set(nodes["Image Texture"], "name", "Picture", owner=wood)


def set_on_scene(scene: BpyScene) -> None:
    active = scene.active
    scene.set(active.render, "resolution_x", 123)
    scene.set(active.render.image_settings, "color_mode", "BW")
    scene.set(active, "frame_end", 77)
    scene.set(active, "world", None)
    scene.set(active, "camera", None)
    scene.set(active.unit_settings, "system", "IMPERIAL")
    scene.set(active.view_settings, "exposure", 1.5)


def set_on_cycles(scene: BpyScene) -> None:
    scene.set(scene.active.render, "engine", "CYCLES")
    scene.set(scene.active.cycles, "samples", 7)


def set_on_display(scene: BpyScene) -> None:
    scene.set(scene.active.display, "shadow_focus", 0.5)
    scene.set(scene.active.display.shading, "light", "FLAT")


def set_on_view_layer(scene: BpyScene) -> None:
    layer = scene.active.view_layers[0]
    scene.set(layer, "use_pass_z", True)
    scene.set(layer, "material_override", scene.require(Kind.MATERIAL, "Wood"))
    scene.set(layer, "name", "Front")


def set_on_collections(scene: BpyScene) -> None:
    scene.set(scene.require(Kind.COLLECTION, "Yard"), "hide_render", True)
    scene.set(scene.active.collection, "color_tag", "COLOR_01")


def set_on_shape_key(scene: BpyScene) -> None:
    keys = scene.require(Kind.SHAPE_KEY, "Bends")
    scene.set(keys.key_blocks["Bent"], "value", 0.5)
    scene.set(keys.key_blocks["Bent"], "name", "Twisted")


def set_action(scene: BpyScene) -> None:
    scene.set(obj(scene, "Pivot").animation_data, "action", None)


def set_world_matrix(scene: BpyScene) -> None:
    matrix = scene.matrix(((0, -2, 0, 1), (2, 0, 0, 2), (0, 0, 2, 3), (0, 0, 0, 1)))
    scene.set_world_matrix(obj(scene, "Child"), matrix)
    scene.set_world_matrix(obj(scene, "Plank"), matrix)


WRITES: tuple[Act, ...] = (
    create_cube, create_unlinked, create_scene, adopt_copy, edit_mesh, edit_mesh_with_shape_keys, edit_shape_keys, edit_object,
    edit_parent_and_camera, edit_material, edit_light, edit_curve, edit_action, edit_keys, edit_world, edit_node_group,
    edit_interface_of_modifiers_group, edit_interface_of_group_nodes_group, edit_image, set_on_object, set_data,
    set_on_modifier, set_node_group_of_modifier, set_on_constraint, set_on_node_socket, set_on_scene, set_on_cycles,
    set_on_display, set_on_view_layer, set_on_collections, set_on_shape_key, set_action, set_world_matrix,
)  # fmt: skip


@pytest.mark.parametrize("act", WRITES, ids=lambda act: act.__name__)
def test_a_write_is_hashed_taken_back_and_saved(village: Trial, act: Act) -> None:
    village.proves(act)


def test_painted_pixels_come_back(village: Trial) -> None:
    rings = data.images["Rings"]
    rings.pixels[:] = [0.25] * len(rings.pixels)
    village.state.refresh()

    def paint(scene: BpyScene) -> None:
        image = scene.edit(scene.require(Kind.IMAGE, "Rings"))
        image.pixels[:] = [0.75] * len(image.pixels)

    village.proves(paint, saves=False)


def test_what_is_set_temporarily_is_back_afterwards(village: Trial) -> None:
    before = village.state.root()
    scene = village.begin()
    plank = obj(scene, "Plank")
    x = scene.evaluated(plank).matrix_world.translation.x
    with scene.temporarily(plank, location=(7, 0, 0), hide_render=True, parent=obj(scene, "Lamp")):
        assert scene.evaluated(plank).matrix_world.translation.x != x
    with pytest.raises(AttributeError), scene.temporarily(scene.active, camera=None, no_such_thing=1):
        pass
    assert scene.evaluated(plank).matrix_world.translation.x == x
    assert village.state.full_root() == before


def test_a_datablock_is_not_named_by_set(village: Trial) -> None:
    scene = village.begin()
    with pytest.raises(TypeError):
        scene.set(obj(scene, "Plank"), "name", "Board")
    with pytest.raises(TypeError):
        scene.set(scene.require(Kind.MATERIAL, "Wood").node_tree.nodes[0], "mute", True)


def test_what_cannot_be_found_again_is_not_written(village: Trial) -> None:
    before = village.state.root()
    scene = village.begin()
    flags = scene.active.view_layers[0].layer_collection.children["Yard"]
    with pytest.raises(ValueError, match="path"):
        scene.set(flags, "exclude", True)
    assert not flags.exclude
    scene.undo_log.revert()
    assert village.state.root() == before
    village.is_sound()


# ---------------------------------------------------------------------- custom properties

VALUES: tuple[Any, ...] = (
    True, 7, -1.5, "text", b"bytes", [1, 2, 3], [0.5, 1.5], [True, False], [], {}, {"a": {"b": [1, 2], "c": "d"}}, [{"a": 1}, {"b": 2}],
)  # fmt: skip


@pytest.mark.parametrize("old", [None, *VALUES], ids=repr)
def test_a_custom_property_takes_and_gives_back_any_value(trial: Trial, old: Any) -> None:
    def given() -> None:
        thing = data.objects.new("Thing", None)
        thing.use_fake_user = True
        if old is not None:
            thing["key"] = old

    def drop(scene: BpyScene) -> None:
        scene.drop_item(obj(scene, "Thing"), "key")

    def put(value: Any) -> Act:
        return lambda scene: scene.set_item(obj(scene, "Thing"), "key", value)

    trial.given(given)
    before = trial.state.root()
    acts = [put(value) for value in VALUES]
    for act in acts if old is None else [*acts, drop]:
        scene = trial.step(act)
        scene.undo_log.revert()
        assert trial.state.root() == before
        trial.is_sound()
        assert _plain(data.objects["Thing"].get("key")) == old


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(element) for element in cast("list[Any]", value)]
    return value.to_dict() if hasattr(value, "to_dict") else value.to_list() if hasattr(value, "to_list") else value


def pointers_in_items(scene: BpyScene) -> None:
    plank = obj(scene, "Plank")
    scene.set_item(plank, "friend", obj(scene, "Lamp"))
    scene.set_item(plank, "group", {"who": obj(scene, "Lamp")})
    scene.drop_item(plank, "list")
    scene.set_item(scene.active, "first", 3)
    scene.set_item(scene.require(Kind.COLLECTION, "Yard"), "owner", plank)


def input_of_geometry_nodes(scene: BpyScene) -> None:
    modifier = obj(scene, "Plank").modifiers["Builder"]
    values = {"Object": obj(scene, "Lamp"), "Factor": 0.125}
    for name, value in values.items():
        identifier = socket(modifier.node_group, name)
        if hasattr(modifier, "properties"):  # from Blender 5.2 on
            scene.set(getattr(modifier.properties.inputs, identifier), "value", value)
        else:
            scene.set_item(modifier, identifier, value)


@pytest.mark.parametrize("act", [pointers_in_items, input_of_geometry_nodes], ids=lambda act: act.__name__)
def test_custom_properties_that_point_at_datablocks_come_back(village: Trial, act: Act) -> None:
    village.proves(act)


def test_the_hints_of_a_custom_property_come_back(trial: Trial) -> None:
    def given() -> None:
        thing = data.objects.new("Thing", None)
        thing.use_fake_user = True
        thing["size"] = 1.5
        thing.id_properties_ui("size").update(min=0, max=3, description="how large")

    trial.given(given)
    thing = data.objects["Thing"]
    hints = thing.id_properties_ui("size").as_dict()
    for value in (2.5, "text", None):
        scene = trial.begin()
        if value is None:
            scene.drop_item(thing, "size")
        else:
            scene.set_item(thing, "size", value)
        scene.undo_log.revert()
        assert thing["size"] == 1.5
        assert thing.id_properties_ui("size").as_dict() == hints


def test_what_only_a_custom_property_used_is_kept(trial: Trial) -> None:
    def given() -> None:
        thing = data.objects.new("Thing", None)
        thing.use_fake_user = True
        thing["holds"] = {"it": data.materials.new("Held")}

    trial.given(given)
    trial.proves(lambda scene: scene.drop_item(obj(scene, "Thing"), "holds"))
    assert data.materials["Held"].use_fake_user
