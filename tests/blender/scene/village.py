"""A small scene with datablocks of every kind that refer to each other."""

from __future__ import annotations

from typing import Any

import bpy

from blendwright.tools.modifier.stored_inputs import put_value

data: Any = bpy.data
context: Any = bpy.context


def build() -> None:
    scene = context.scene
    yard, shed, loft, spare = (data.collections.new(name) for name in ("Yard", "Shed", "Loft", "Spare"))
    scene.collection.children.link(yard)
    scene.collection.children.link(shed)
    scene.collection.children.link(spare)
    yard.children.link(loft)
    layer = scene.view_layers[0].layer_collection
    layer.children["Shed"].exclude = True
    layer.children["Yard"].children["Loft"].holdout = True

    wood, stone, paint = _materials()
    mesh = data.meshes.new("Plank")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [], [(0, 1, 2, 3)])
    for material in (wood, stone, wood):
        mesh.materials.append(material)
    plank = data.objects.new("Plank", mesh)
    twin = data.objects.new("Twin", mesh)
    twin.material_slots[1].link = "OBJECT"
    twin.material_slots[1].material = paint
    shaped = data.meshes.new("Shaped")
    shaped.from_pydata([(0, 0, 0), (1, 0, 0), (1, 1, 0)], [], [(0, 1, 2)])
    shape = data.objects.new("Shape", shaped)
    shape.shape_key_add(name="Basis")
    shape.shape_key_add(name="Bent").data[1].co = (1, 0, 1)
    shaped.shape_keys.name = "Bends"
    pivot, eye, lamp, child = (
        data.objects.new("Pivot", None),
        data.objects.new("Eye", data.cameras.new("Eye")),
        data.objects.new("Lamp", data.lights.new("Lamp", "POINT")),
        data.objects.new("Child", None),
    )
    curve = data.curves.new("Path", "CURVE")
    curve.dimensions = "3D"
    curve.splines.new("POLY").points.add(3)
    path = data.objects.new("Path", curve)
    instance = data.objects.new("Instance", None)
    instance.instance_type = "COLLECTION"
    instance.instance_collection = loft
    for obj in (plank, twin, pivot, eye):
        scene.collection.objects.link(obj)
    for obj in (plank, lamp, child, shape, instance):
        yard.objects.link(obj)
    for obj in (path, pivot):
        loft.objects.link(obj)
    scene.camera = eye
    child.parent = pivot
    child.matrix_parent_inverse = pivot.matrix_world.inverted()
    child.matrix_parent_inverse[0][3] = 2.5
    mirror = plank.modifiers.new("Mirror", "MIRROR")
    mirror.mirror_object = pivot
    aim = eye.constraints.new("TRACK_TO")
    aim.target = pivot
    plank["friend"] = pivot
    plank["group"] = {"inner": {"who": pivot, "what": wood}, "numbers": [1, 2, 3], "text": "x"}
    plank["list"] = [{"who": pivot}, {"who": wood}]
    mesh["made_of"] = wood
    scene["first"] = pivot
    _drive(lamp, pivot)
    _nodes(plank, pivot, wood, loft)
    _animate(pivot)
    world = data.worlds.new("Sky")
    scene.world = world
    world["sign"] = pivot


def _materials() -> tuple[Any, Any, Any]:
    group = data.node_groups.new("Grain", "ShaderNodeTree")
    group.interface.new_socket("Shade", in_out="OUTPUT", socket_type="NodeSocketColor")
    group.interface.new_socket("Scale", in_out="INPUT", socket_type="NodeSocketFloat")
    group.nodes.new("NodeGroupInput")
    group.nodes.new("NodeGroupOutput")
    image = data.images.new("Rings", 4, 4)
    image.pack()
    made: list[Any] = []
    for name in ("Wood", "Stone", "Paint"):
        material: Any = data.materials.new(name)
        if material.node_tree is None:  # before Blender 5.0
            material.use_nodes = True
        tree: Any = material.node_tree
        user = tree.nodes.new("ShaderNodeGroup")
        user.node_tree = group
        user.inputs["Scale"].default_value = 3.5
        picture = tree.nodes.new("ShaderNodeTexImage")
        picture.image = image
        shader = tree.nodes["Principled BSDF"]
        tree.links.new(user.outputs[0], shader.inputs["Base Color"])
        made.append(material)
    return made[0], made[1], made[2]


def _drive(driven: Any, target: Any) -> None:
    curve = driven.driver_add("location", 0)
    variable = curve.driver.variables.new()
    variable.name = "x"
    variable.type = "TRANSFORMS"
    variable.targets[0].id = target
    curve.driver.expression = "x + 1"


def _nodes(obj: Any, pivot: Any, material: Any, collection: Any) -> None:
    group = data.node_groups.new("Builder", "GeometryNodeTree")
    for name, kind in (
        ("Geometry", "NodeSocketGeometry"),
        ("Object", "NodeSocketObject"),
        ("Material", "NodeSocketMaterial"),
        ("Collection", "NodeSocketCollection"),
        ("Factor", "NodeSocketFloat"),
    ):
        group.interface.new_socket(name, in_out="INPUT", socket_type=kind)
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    group.nodes.new("NodeGroupInput")
    group.nodes.new("NodeGroupOutput")
    group.links.new(group.nodes["Group Input"].outputs[0], group.nodes["Group Output"].inputs[0])
    info = group.nodes.new("GeometryNodeObjectInfo")
    info.inputs["Object"].default_value = pivot
    modifier = obj.modifiers.new("Builder", "NODES")
    modifier.node_group = group
    for name, value in (("Object", pivot), ("Material", material), ("Collection", collection), ("Factor", 0.75)):
        put_value(modifier, socket(group, name), value)


def socket(group: Any, name: str) -> str:
    items = (item for item in group.interface.items_tree if item.item_type == "SOCKET" and item.in_out == "INPUT")
    return next(item.identifier for item in items if item.name == name)


def _animate(obj: Any) -> None:
    obj.keyframe_insert("location", frame=1)
    obj.location.x = 4
    obj.keyframe_insert("location", frame=10)
    obj.animation_data.action.name = "Walk"
