"""Small scenes for the fingerprint's tests."""

from collections.abc import Callable
from typing import Any

import bpy

from blendwright.blender import fingerprint

types: Any = bpy.types
data: Any = bpy.data
ops: Any = bpy.ops
context: Any = bpy.context
version: tuple[int, int, int] = bpy.app.version

CORNERS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def empty_scene() -> None:
    ops.wm.read_factory_settings(use_empty=True)


def keep_all(_block: Any) -> bool:
    return False


def hashes() -> dict[fingerprint.Key, bytes]:
    return fingerprint.full(keep_all)


def changed(before: dict[fingerprint.Key, bytes], after: dict[fingerprint.Key, bytes]) -> set[fingerprint.Key]:
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


def linked(name: str, content: Any) -> Any:
    made = data.objects.new(name, content)
    context.scene.collection.objects.link(made)
    return made


def empty(name: str = "Empty") -> Any:
    return linked(name, None)


def cube(name: str = "Cube") -> Any:
    mesh = data.meshes.new(name)
    mesh.from_pydata(CORNERS, [], FACES)
    mesh.uv_layers.new(name="UVMap")
    return linked(name, mesh)


def material(name: str = "Mat") -> Any:
    made = data.materials.new(name)
    made.use_fake_user = True
    return with_nodes(made)


def with_nodes(owner: Any) -> Any:
    # Since Blender 5.0 there is always a tree, and use_nodes warns.
    if owner.node_tree is None:
        owner.use_nodes = True
    return owner


def group(kind: str = "GeometryNodeTree") -> Any:
    tree = data.node_groups.new("Group", kind)
    tree.use_fake_user = True
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Amount", in_out="INPUT", socket_type="NodeSocketFloat")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    first, last = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    tree.links.new(first.outputs[0], last.inputs[0])
    return tree


def nodes_modifier() -> Any:
    modifier = cube().modifiers.new("Nodes", "NODES")
    modifier.node_group = group()
    return modifier


def armature() -> Any:
    owner = linked("Rig", data.armatures.new("Rig"))
    context.view_layer.objects.active = owner
    ops.object.mode_set(mode="EDIT")
    root = owner.data.edit_bones.new("Root")
    root.tail = (0, 0, 1)
    tip = owner.data.edit_bones.new("Tip")
    tip.head, tip.tail, tip.parent = (0, 0, 1), (0, 1, 2), root
    ops.object.mode_set(mode="OBJECT")
    return owner


def keyed(given: Any = None) -> Any:
    owner: Any = given or empty()
    owner.location.x = 0
    owner.keyframe_insert("location", index=0, frame=1)
    owner.location.x = 10
    owner.keyframe_insert("location", index=0, frame=11)
    return owner


def curves_of(owner: Any) -> Any:
    action = owner.animation_data.action
    if not hasattr(action, "layers"):
        return action.fcurves
    return action.layers[0].strips[0].channelbag(owner.animation_data.action_slot).fcurves


def driven() -> Any:
    owner = empty()
    curve = owner.driver_add("location", 1)
    curve.driver.expression = "frame * 2"
    return owner


def curve() -> Any:
    made = data.curves.new("Curve", "CURVE")
    made.splines.new("BEZIER").bezier_points.add(2)
    made.splines.new("POLY").points.add(3)
    return linked("Curve", made)


def shape_keys() -> Any:
    owner = cube()
    owner.shape_key_add(name="Basis")
    owner.shape_key_add(name="Up")
    return owner


def grease_pencil() -> Any:
    return (data.grease_pencils_v3 if hasattr(data, "grease_pencils_v3") else data.grease_pencils).new("Drawing")


def every_modifier(owner: Any) -> None:
    for kind in types.Modifier.bl_rna.properties["type"].enum_items.keys():  # noqa: SIM118 - a bpy collection
        if kind not in ("SURFACE", "COLLISION") and not kind.startswith("GREASE_PENCIL") and kind != "LINEART":
            owner.modifiers.new(kind, kind)


def every_constraint(owner: Any) -> None:
    for kind in types.Constraint.bl_rna.properties["type"].enum_items.keys():  # noqa: SIM118 - a bpy collection
        if kind not in ("IK", "SPLINE_IK"):  # of bones
            owner.constraints.new(kind)


def every_node(tree: Any, prefix: str) -> None:
    for name in dir(types):
        kind = getattr(types, name)
        if name.startswith(prefix) and isinstance(kind, type) and issubclass(kind, types.Node):
            try:
                tree.nodes.new(name)
            except RuntimeError:
                continue  # an abstract type


def zoo() -> None:
    """One of nearly everything."""
    scene = context.scene
    box = shape_keys()
    mesh = box.data
    kinds = ("FLOAT", "INT", "FLOAT_VECTOR", "FLOAT_COLOR", "BYTE_COLOR", "STRING", "BOOLEAN", "FLOAT2", "INT8")
    for kind in (*kinds, "INT32_2D", "QUATERNION", "FLOAT4X4"):
        mesh.attributes.new(f"a {kind}", kind, "POINT")
    box.vertex_groups.new(name="Group").add([0, 1, 2], 0.5, "REPLACE")
    every_modifier(box)
    every_constraint(box)
    for kind in ("GeometryNode", "ShaderNode", "CompositorNode", "TextureNode"):
        tree = data.node_groups.new(kind, f"{kind}Tree")
        tree.use_fake_user = True
        every_node(tree, kind)
        tree.interface.new_socket(
            "In", in_out="INPUT", socket_type="NodeSocketFloat", parent=tree.interface.new_panel("P")
        )
    box.modifiers["NODES"].node_group = group()
    for kind in ("POINT", "SUN", "SPOT", "AREA"):
        linked(kind, data.lights.new(kind, kind))
    with_nodes(data.lights["AREA"])
    linked("Camera", data.cameras.new("Camera")).data.background_images.new()
    curve().shape_key_add(name="Basis")
    text = linked("Font", data.curves.new("Font", "FONT"))
    text.data.body = "hello"
    lattice = linked("Lattice", data.lattices.new("Lattice"))
    lattice.vertex_groups.new(name="Group").add([0], 0.3, "REPLACE")
    linked("Meta", data.metaballs.new("Meta")).data.elements.new()
    rig = armature()
    linked("Rig never evaluated", rig.data.copy())
    rig.data.collections.new("Bones").assign(rig.data.bones["Root"])
    rig.pose.bones["Root"].location.x = 1
    rig.pose.bones["Tip"].constraints.new("COPY_LOCATION")
    rig.pose.bones["Tip"]["custom"] = 3
    keyed(rig.pose.bones["Tip"])
    mesh.materials.append(material())
    mesh.materials.append(None)
    box.material_slots[1].link = "OBJECT"
    box.material_slots[1].material = material("Own")
    scene.world = with_nodes(data.worlds.new("World"))
    generated, packed = data.images.new("Generated", 8, 8), data.images.new("Packed", 8, 8)
    packed.pixels[0] = 0.7
    packed.pack()
    for block in (generated, packed, data.texts.new("Text"), data.particles.new("Settings"), data.masks.new("Mask")):
        block.use_fake_user = True
    data.texts["Text"].write("hello\nworld")
    data.masks["Mask"].layers.new(name="Layer")
    for kind in types.Texture.bl_rna.properties["type"].enum_items.keys():  # noqa: SIM118 - a bpy collection
        data.textures.new(kind, kind).use_fake_user = True
    data.linestyles.new("Style").use_fake_user = True
    palette = data.palettes.new("Palette")
    palette.use_fake_user = True
    palette.colors.new()
    linked("Speaker", data.speakers.new("Speaker"))
    linked("Probe", data.lightprobes.new("Probe", "SPHERE"))
    linked("Hair", data.hair_curves.new("Hair")).data.add_curves([3, 4])
    linked("Volume", data.volumes.new("Volume"))
    linked("Points", data.pointclouds.new("Points"))
    linked("Drawing", grease_pencil()).data.layers.new("Layer").frames.new(1)
    outer, inner = data.collections.new("Outer"), data.collections.new("Inner")
    scene.collection.children.link(outer)
    outer.children.link(inner)
    inner.objects.link(box)
    scene.view_layers[0].layer_collection.children["Outer"].holdout = True
    keyed(box)
    track = lattice.animation_data_create().nla_tracks.new()
    track.strips.new("Strip", 1, box.animation_data.action)
    custom: dict[str, Any] = {"float": 1.5, "bool": True, "ints": [1, 2], "floats": [1.0], "text": "x", "block": mesh}
    for name, value in {**custom, "group": {"a": 1, "b": {"c": 2.0}}, "bools": [True, False]}.items():
        box[name] = value
    box.id_properties_ui("float").update(min=0.0, description="how much")
    box.id_properties_ui("bool").update(default=True)
    hairy = cube("Hairy")
    hairy.modifiers.new("Hair", "PARTICLE_SYSTEM")
    hairy.particle_systems[0].settings.type = "HAIR"
    hairy.particle_systems[0].use_hair_dynamics = True
    # With weights, since Blender makes an empty layer of them where somebody asks.
    hairy.vertex_groups.new(name="Group").add([0], 0.3, "REPLACE")
    lit = data.collections.new("Lit")
    lit.objects.link(hairy)
    lit.collection_objects[0].light_linking.link_state = "EXCLUDE"
    data.objects["AREA"].light_linking.receiver_collection = lit
    shown = linked("Shown", data.lattices.new("Shown"))
    shown.shape_key_add(name="Basis")
    shown.data.shape_keys.use_relative, shown.data.shape_keys.eval_time = False, 40
    shown.shape_key_add(name="Late")
    shown.show_only_shape_key = True
    reads = driven().animation_data.drivers[0].driver.variables.new().targets[0]
    reads.id_type, reads.id = "NODETREE", data.materials["Mat"].node_tree
    scene.view_layers[0].freestyle_settings.linesets.new("Lines").select_crease = False
    scene.cycles.samples = 12
    scene.timeline_markers.new("Marker", frame=3)
    context.view_layer.objects.active = box
    ops.rigidbody.world_add()
    ops.rigidbody.object_add()
    box.asset_mark()


Build = Callable[[], Any]
