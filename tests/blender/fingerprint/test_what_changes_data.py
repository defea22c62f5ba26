"""Every kind of change to what objects are made of moves the hash of exactly the datablock that changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import scene_parts as parts
from changes import CUBE, MESH, Case, assert_moved_exactly, assign, kept, principled
from scene_parts import data, version


def set_attribute(kind: str, field: str, value: Any) -> Case:
    def build() -> Any:
        mesh = parts.cube().data
        mesh.attributes.new("A", kind, "POINT")
        return mesh

    # Looked up again: a reference to an attribute does not survive an evaluation.
    return build, lambda mesh: setattr(mesh.attributes["A"].data[3], field, value), MESH


def group_node(kind: str) -> Callable[[], Any]:
    return lambda: parts.group().nodes.new(kind)


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


CASES: dict[str, Case] = {
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
    "shape key range": (
        parts.shape_keys,
        lambda o: setattr(o.data.shape_keys.key_blocks[1], "slider_max", 2.0),
        {("shape_keys", "Key")},
    ),
    "what a shape key is relative to": (
        lambda: [parts.shape_keys(), data.objects["Cube"].shape_key_add(name="More")][0],
        lambda o: setattr(o.data.shape_keys.key_blocks[2], "relative_key", o.data.shape_keys.key_blocks[1]),
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
}


@pytest.mark.parametrize("name", CASES)
def test_a_change_of_data_moves_the_hash_of_exactly_what_changed(name: str) -> None:
    assert_moved_exactly(CASES[name])
