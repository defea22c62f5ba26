"""Every kind of change moves the hash of exactly the datablock that changed."""

from collections.abc import Callable
from typing import Any

import pytest
import scene_parts as parts
from scene_parts import context, data, version

from blendwright.blender import fingerprint

Case = tuple[Callable[[], Any], Callable[[Any], Any], set[fingerprint.Key]]

OBJECT = {("objects", "Empty")}
CUBE = {("objects", "Cube")}
MESH = {("meshes", "Cube")}
SCENE = {("scenes", "Scene")}


def assign(path: str, value: Any) -> Callable[[Any], None]:
    """Set an attribute (`a.b`) of what was built."""

    def change(target: Any) -> None:
        *owners, name = path.split(".")
        for owner in owners:
            target = getattr(target, owner)
        setattr(target, name, value)

    return change


def item(name: str, value: Any) -> Callable[[Any], None]:
    def change(target: Any) -> None:
        target[name] = value

    return change


def scene() -> Any:
    return context.scene


def modified(kind: str) -> Callable[[], Any]:
    return lambda: parts.cube().modifiers.new("M", kind)


def constrained() -> Any:
    return parts.empty().constraints.new("COPY_LOCATION")


def set_attribute(kind: str, field: str, value: Any) -> Case:
    def build() -> Any:
        mesh = parts.cube().data
        mesh.attributes.new("A", kind, "POINT")
        return mesh

    # Looked up again: a reference to an attribute does not survive an evaluation.
    return build, lambda mesh: setattr(mesh.attributes["A"].data[3], field, value), MESH


def principled() -> Any:
    return parts.material().node_tree.nodes["Principled BSDF"]


def kept(block: Any) -> Any:
    block.use_fake_user = True
    return block


def group_node(kind: str) -> Callable[[], Any]:
    return lambda: parts.group().nodes.new(kind)


def nla() -> Any:
    owner = parts.keyed()
    action = owner.animation_data.action
    owner.animation_data.action = None
    return owner.animation_data.nla_tracks.new().strips.new("Strip", 1, action)


def in_collection() -> Any:
    made = data.collections.new("Col")
    context.scene.collection.children.link(made)
    return made


def weighted() -> Any:
    owner = parts.cube()
    owner.vertex_groups.new(name="G").add([0, 1], 0.5, "REPLACE")
    return owner


def hair() -> Any:
    made = parts.linked("Hair", data.hair_curves.new("Hair")).data
    made.add_curves([3, 4])
    return made


def image() -> Any:
    return kept(data.images.new("Image", 4, 4))


def dirty_image() -> Any:
    made = image()
    made.pixels[0] = 0.25
    return made


def boned() -> Any:
    made = parts.empty()
    made.parent = parts.armature()
    return made


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
        {*OBJECT, ("objects", "Renamed"), ("member", "scene:Scene", "Empty"), ("member", "scene:Scene", "Renamed")},
    ),
    "object linked": (
        lambda: (parts.empty(), in_collection()),
        lambda p: p[1].objects.link(p[0]),
        {("member", "Col", "Empty")},
    ),
    "object unlinked": (
        parts.empty,
        lambda o: context.scene.collection.objects.unlink(o),
        {("member", "scene:Scene", "Empty")},
    ),
    "object added": (
        lambda: None,
        lambda _: parts.empty("New"),
        {("objects", "New"), ("member", "scene:Scene", "New")},
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
    "nodes modifier input": (parts.nodes_modifier, item("Socket_1", 4.0), CUBE),
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
    # meshes
    "vertex position": (lambda: parts.cube().data, lambda m: setattr(m.vertices[0], "co", (9, 9, 9)), MESH),
    "uv": (lambda: parts.cube().data, lambda m: m.uv_layers[0].uv[0].vector.__setitem__(0, 0.7), MESH),
    "uv layer added": (lambda: parts.cube().data, lambda m: m.uv_layers.new(name="Second"), MESH),
    "smooth face": (lambda: parts.cube().data, lambda m: setattr(m.polygons[0], "use_smooth", True), MESH),
    "material index": (lambda: parts.cube().data, lambda m: setattr(m.polygons[0], "material_index", 1), MESH),
    "sharp edge": (lambda: parts.cube().data, lambda m: setattr(m.edges[0], "use_edge_sharp", True), MESH),
    "seam": (lambda: parts.cube().data, lambda m: setattr(m.edges[0], "use_seam", True), MESH),
    "crease": (
        lambda: parts.cube().data,
        lambda m: setattr(m.attributes.new("crease_edge", "FLOAT", "EDGE").data[0], "value", 0.5),
        MESH,
    ),
    "custom normals": (
        lambda: parts.cube().data,
        lambda m: m.normals_split_custom_set_from_vertices([(0, 0, 1)] * 8),
        MESH,
    ),
    "freestyle mark": (
        lambda: parts.cube().data,
        lambda m: (
            setattr(m.edges[0], "use_freestyle_mark", True)
            if version < (4, 5, 0)
            else setattr(m.attributes.new("freestyle_edge", "BOOLEAN", "EDGE").data[0], "value", True)
        ),
        MESH,
    ),
    "mesh material": (lambda: parts.cube().data, lambda m: m.materials.append(None), MESH),
    "mesh texture space": (lambda: parts.cube().data, assign("use_auto_texspace", False), MESH),
    "mesh symmetry": (lambda: parts.cube().data, assign("use_mirror_x", True), MESH),
    "float attribute": set_attribute("FLOAT", "value", 0.5),
    "integer attribute": set_attribute("INT", "value", 5),
    "byte attribute": set_attribute("INT8", "value", 5),
    "boolean attribute": set_attribute("BOOLEAN", "value", True),
    "vector attribute": set_attribute("FLOAT_VECTOR", "vector", (1, 2, 3)),
    "2D attribute": set_attribute("FLOAT2", "vector", (1, 2)),
    "integer pair attribute": set_attribute("INT32_2D", "value", (1, 2)),
    "colour attribute": set_attribute("FLOAT_COLOR", "color", (1, 0.5, 0, 1)),
    "byte colour attribute": set_attribute("BYTE_COLOR", "color", (1, 0.5, 0, 1)),
    "quaternion attribute": set_attribute("QUATERNION", "value", (0, 1, 0, 0)),
    "matrix attribute": set_attribute("FLOAT4X4", "value", [[2.0] * 4] * 4),
    "text attribute": set_attribute("STRING", "value", b"text"),
    "attribute renamed": (lambda: parts.cube().data, lambda m: setattr(m.attributes["UVMap"], "name", "Other"), MESH),
    "render colour layer": (
        lambda: [parts.cube().data.attributes.new(n, "FLOAT_COLOR", "POINT") for n in "AB"],
        lambda _: setattr(data.meshes["Cube"].attributes, "default_color_name", "B"),
        MESH,
    ),
    "vertex weight": (weighted, lambda o: o.vertex_groups[0].add([0], 0.75, "REPLACE"), MESH),
    "vertex group name": (weighted, lambda o: setattr(o.vertex_groups[0], "name", "H"), CUBE),
    "shape key point": (
        parts.shape_keys,
        lambda o: setattr(o.data.shape_keys.key_blocks[1].data[0], "co", (5, 5, 5)),
        {("shape_keys", "Key")},
    ),
    "shape key value": (
        parts.shape_keys,
        lambda o: setattr(o.data.shape_keys.key_blocks[1], "value", 0.5),
        {("shape_keys", "Key")},
    ),
    "material slot of the object": (
        lambda: [parts.cube(), data.meshes["Cube"].materials.append(parts.material())][0],
        lambda o: setattr(o.material_slots[0], "link", "OBJECT"),
        CUBE,
    ),
    # nodes
    "node socket value": (
        principled,
        lambda n: setattr(n.inputs["Roughness"], "default_value", 0.9),
        {("materials", "Mat")},
    ),
    "node socket colour": (
        principled,
        lambda n: setattr(n.inputs["Base Color"], "default_value", (1, 0, 0, 1)),
        {("materials", "Mat")},
    ),
    "node property": (principled, assign("distribution", "GGX"), {("materials", "Mat")}),
    "node location": (principled, assign("location", (5, 5)), {("materials", "Mat")}),
    "node muted": (principled, assign("mute", True), {("materials", "Mat")}),
    "node added": (lambda: parts.material().node_tree, lambda t: t.nodes.new("ShaderNodeMath"), {("materials", "Mat")}),
    "node removed": (parts.material, lambda m: m.node_tree.nodes.clear(), {("materials", "Mat")}),
    "node link removed": (
        parts.material,
        lambda m: m.node_tree.links.remove(m.node_tree.links[0]),
        {("materials", "Mat")},
    ),
    "node link muted": (
        parts.material,
        lambda m: setattr(m.node_tree.links[0], "is_muted", True),
        {("materials", "Mat")},
    ),
    "value node output": (
        lambda: parts.material().node_tree.nodes.new("ShaderNodeValue"),
        lambda n: setattr(n.outputs[0], "default_value", 0.3),
        {("materials", "Mat")},
    ),
    "colour ramp": (
        group_node("ShaderNodeValToRGB"),
        lambda n: setattr(n.color_ramp.elements[0], "position", 0.3),
        {("node_groups", "Group")},
    ),
    "curve mapping": (
        group_node("ShaderNodeFloatCurve"),
        lambda n: n.mapping.curves[0].points.new(0.5, 0.9),
        {("node_groups", "Group")},
    ),
    "repeat item": (
        group_node("GeometryNodeRepeatOutput"),
        lambda n: n.repeat_items.new("FLOAT", "X"),
        {("node_groups", "Group")},
    ),
    "node frame": (
        lambda: (parts.group().nodes.new("NodeFrame"), data.node_groups["Group"].nodes[0]),
        lambda p: setattr(p[1], "parent", p[0]),
        {("node_groups", "Group")},
    ),
    "interface default": (
        parts.group,
        lambda g: setattr(g.interface.items_tree[2], "default_value", 3.0),
        {("node_groups", "Group")},
    ),
    "interface panel": (parts.group, lambda g: g.interface.new_panel("P"), {("node_groups", "Group")}),
    "group pointer": (
        lambda: (
            parts.material().node_tree.nodes.new("ShaderNodeGroup"),
            kept(data.node_groups.new("G", "ShaderNodeTree")),
        ),
        lambda p: setattr(p[0], "node_tree", p[1]),
        {("materials", "Mat")},
    ),
    "world nodes": (
        lambda: parts.with_nodes(kept(data.worlds.new("W"))),
        lambda w: setattr(w.node_tree.nodes["Background"].inputs["Strength"], "default_value", 3),
        {("worlds", "W")},
    ),
    "light nodes": (
        lambda: parts.with_nodes(kept(data.lights.new("L", "POINT"))),
        lambda li: setattr(li.node_tree.nodes["Emission"].inputs["Strength"], "default_value", 3),
        {("lights", "L")},
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
    # other data
    "camera lens": (lambda: kept(data.cameras.new("C")), assign("lens", 80), {("cameras", "C")}),
    "camera depth of field": (lambda: kept(data.cameras.new("C")), assign("dof.use_dof", True), {("cameras", "C")}),
    "light energy": (lambda: kept(data.lights.new("L", "SPOT")), assign("energy", 80), {("lights", "L")}),
    "light type": (
        lambda: parts.linked("L", data.lights.new("L", "SPOT")).data,
        assign("type", "SUN"),
        {("lights", "L")},
    ),
    "bezier point": (
        lambda: parts.curve().data,
        lambda c: setattr(c.splines[0].bezier_points[1], "co", (1, 2, 3)),
        {("curves", "Curve")},
    ),
    "poly point": (
        lambda: parts.curve().data,
        lambda c: setattr(c.splines[1].points[1], "co", (1, 2, 3, 1)),
        {("curves", "Curve")},
    ),
    "spline closed": (
        lambda: parts.curve().data,
        lambda c: setattr(c.splines[1], "use_cyclic_u", True),
        {("curves", "Curve")},
    ),
    "text body": (lambda: kept(data.curves.new("T", "FONT")), assign("body", "other"), {("curves", "T")}),
    "metaball": (
        lambda: kept(data.metaballs.new("M")).elements.new(),
        assign("radius", 3),
        {("metaballs", "M")},
    ),
    "lattice point": (
        lambda: kept(data.lattices.new("L")),
        lambda la: setattr(la.points[0], "co_deform", (5, 5, 5)),
        {("lattices", "L")},
    ),
    "hair point": (hair, lambda h: setattr(h.points[0], "position", (1, 2, 3)), {("hair_curves", "Hair")}),
    "grease pencil layer": (
        lambda: kept(parts.grease_pencil()),
        lambda g: g.layers.new("L"),
        {("grease_pencils_v3" if hasattr(data, "grease_pencils_v3") else "grease_pencils", "Drawing")},
    ),
    "volume density": (lambda: kept(data.volumes.new("V")), assign("display.density", 2), {("volumes", "V")}),
    "speaker volume": (lambda: kept(data.speakers.new("S")), assign("volume", 0.5), {("speakers", "S")}),
    "probe": (
        lambda: kept(data.lightprobes.new("P", "SPHERE")),
        assign("influence_distance", 5),
        {("lightprobes", "P")},
    ),
    "text": (lambda: kept(data.texts.new("T")), lambda t: t.write("x"), {("texts", "T")}),
    "texture": (lambda: kept(data.textures.new("T", "CLOUDS")), assign("noise_scale", 2), {("textures", "T")}),
    "mask": (lambda: kept(data.masks.new("M")), lambda m: m.layers.new(name="L"), {("masks", "M")}),
    "palette": (lambda: kept(data.palettes.new("P")), lambda p: p.colors.new(), {("palettes", "P")}),
    "line style": (lambda: kept(data.linestyles.new("S")), assign("thickness", 9), {("linestyles", "S")}),
    "generated image": (image, assign("generated_type", "UV_GRID"), {("images", "Image")}),
    "painted image": (image, lambda i: i.pixels.__setitem__(0, 0.5), {("images", "Image")}),
    "image painted again": (dirty_image, lambda i: i.pixels.__setitem__(0, 0.5), {("images", "Image")}),
    "packed image": (dirty_image, lambda i: i.pack(), {("images", "Image")}),
    "image colour space": (image, assign("colorspace_settings.name", "Non-Color"), {("images", "Image")}),
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
def test_a_change_moves_the_hash_of_exactly_what_changed(name: str) -> None:
    build, change, expected = CASES[name]
    parts.empty_scene()
    built = build()
    context.view_layer.update()
    before = parts.hashes()
    change(built)
    after = parts.hashes()
    assert parts.changed(before, after) == expected
    assert fingerprint.Fingerprint(before).root() != fingerprint.Fingerprint(after).root()
