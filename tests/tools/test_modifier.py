"""The tools of modifiers: typed settings, the order of the stack, and applying."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, get_args

import bpy
import pytest

from blendwright.contracts.effects import Determinism
from blendwright.tools.catalog import tools
from blendwright.tools.modifier.settings import APART, SPECIAL, ModifierType, Rna, Settings

if TYPE_CHECKING:
    from stage import Stage

MODELS: dict[str, Any] = {
    get_args(model.model_fields["type"].annotation)[0]: model for model in get_args(get_args(Settings)[0])
}

# For every type: settings, and the attributes that they must show in.
CASES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"type": "ARRAY", "count": 4, "constant_offset": [3, 0, 0], "use_merge_vertices": True, "merge_threshold": 0.5},
        {"count": 4, "use_constant_offset": True, "use_relative_offset": False, "merge_threshold": 0.5},
    ),
    (
        {"type": "ARRAY", "relative_offset": [0, 2, 0]},
        {"use_relative_offset": True, "relative_offset_displace": (0, 2, 0)},
    ),
    ({"type": "ARRAY", "fit_type": "FIT_LENGTH", "fit_length": 9}, {"fit_type": "FIT_LENGTH", "fit_length": 9}),
    ({"type": "ARRAY", "offset_object": "Ball"}, {"use_object_offset": True, "use_relative_offset": False}),
    (
        {
            "type": "BEVEL",
            "width": 0.25,
            "segments": 3,
            "limit_method": "ANGLE",
            "angle_limit_deg": 45,
            "affect": "EDGES",
        },
        {"width": 0.25, "segments": 3, "angle_limit": math.radians(45)},
    ),
    (
        {"type": "BOOLEAN", "object": "Ball", "operation": "UNION", "solver": "EXACT", "use_self": True},
        {"operation": "UNION", "solver": "EXACT", "use_self": True},
    ),
    (
        {"type": "MIRROR", "axes": ["Y", "Z"], "bisect_axes": ["Y"], "mirror_object": "Ball", "use_clip": True},
        {"use_axis": (False, True, True), "use_bisect_axis": (False, True, False), "use_clip": True},
    ),
    (
        {"type": "SOLIDIFY", "thickness": 0.5, "offset": 0, "use_rim": False},
        {"thickness": 0.5, "offset": 0, "use_rim": False},
    ),
    ({"type": "SUBSURF", "levels": 3}, {"levels": 3, "render_levels": 3}),
    (
        {"type": "SUBSURF", "levels": 1, "render_levels": 2, "subdivision_type": "SIMPLE"},
        {"levels": 1, "render_levels": 2},
    ),
    ({"type": "DECIMATE", "ratio": 0.5}, {"ratio": 0.5, "decimate_type": "COLLAPSE"}),
    ({"type": "DECIMATE", "decimate_type": "DISSOLVE", "angle_limit_deg": 10}, {"angle_limit": math.radians(10)}),
    (
        {"type": "SCREW", "angle_deg": 180, "steps": 8, "screw_offset": 2, "axis": "X", "object": "Ball"},
        {"angle": math.pi, "steps": 8, "render_steps": 8, "screw_offset": 2, "axis": "X"},
    ),
    ({"type": "DISPLACE", "strength": 0.5, "mid_level": 0, "direction": "Z"}, {"strength": 0.5, "direction": "Z"}),
    (
        {"type": "WIREFRAME", "thickness": 0.05, "use_replace": False, "material_offset": 1},
        {"thickness": 0.05, "use_replace": False, "material_offset": 1},
    ),
]


@pytest.fixture
def box(stage: Stage) -> Stage:
    """A stage with a cube named Box and a sphere named Ball beside it."""
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    stage.do("mesh.create_primitive", {"kind": "ico_sphere", "name": "Ball", "location": [1, 1, 1]})
    return stage


def modifier(name: str = "It", owner: str = "Box") -> Any:
    return bpy.data.objects[owner].modifiers[name]


def add(stage: Stage, settings: dict[str, Any], name: str = "It", **more: Any) -> dict[str, Any]:
    return stage.do("modifier.add", {"object": "Box", "name": name, "settings": settings, **more})


def plain(value: Any) -> Any:
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


@pytest.mark.parametrize(("settings", "held"), CASES)
def test_settings_of_each_type_arrive_in_blender(box: Stage, settings: dict[str, Any], held: dict[str, Any]) -> None:
    add(box, settings)
    found = {name: plain(getattr(modifier(), name)) for name in held}
    assert found == {
        name: pytest.approx(value) if not isinstance(value, str) else value for name, value in held.items()
    }
    for reference in ("object", "offset_object", "mirror_object"):
        if reference in settings:
            assert getattr(modifier(), reference).name == "Ball"


@pytest.mark.parametrize(("settings", "held"), CASES)
def test_adding_is_taken_back_and_repeated_as_promised(
    box: Stage, settings: dict[str, Any], held: dict[str, Any]
) -> None:
    args = {"object": "Box", "name": "It", "settings": settings}
    assert box.call("modifier.add", args, rehearse="inverse")["reverted_by"] == "inverse"
    assert box.do("modifier.add", args)["changed"]
    once = box.state.root()
    assert not box.do("modifier.add", args)["changed"]
    assert box.state.root() == once


def test_every_type_is_tested() -> None:
    assert {settings["type"] for settings, _ in CASES} | {"NODES"} == set(MODELS) == set(get_args(ModifierType))


@pytest.mark.parametrize("kind", sorted(MODELS))
def test_every_setting_names_a_writable_attribute_of_blender(stage: Stage, kind: str) -> None:
    obj = bpy.data.objects.new("It", bpy.data.meshes.new("It"))
    properties: Any = obj.modifiers.new("It", kind).bl_rna.properties
    for name in MODELS[kind].model_fields:
        rna = SPECIAL.get(kind, {}).get(name, Rna(name))
        if name in APART:
            continue
        assert not properties[rna.attribute].is_readonly
        assert rna.switch is None or rna.switch in properties
        assert (rna.refers_to is not None) == (properties[rna.attribute].type == "POINTER"), name


def test_modifiers_stand_where_they_are_put(box: Stage) -> None:
    add(box, {"type": "ARRAY"}, "A")
    add(box, {"type": "MIRROR"}, "B")
    assert add(box, {"type": "SUBSURF"}, "C", index=1)["stack"] == ["A", "C", "B"]
    assert box.do("modifier.set", {"object": "Box", "modifier": "B", "index": 0})["stack"] == ["B", "A", "C"]
    assert box.do("modifier.remove", {"object": "Box", "modifier": "A"})["stack"] == ["B", "C"]
    for index in (3, 1000):
        args = {"object": "Box", "name": "D", "settings": {"type": "ARRAY"}, "index": index}
        (finding,) = box.refusal("modifier.add", args)
        assert (finding["code"], finding["pointer"]) == ("ARGS_INVALID", "/index")


def test_setting_changes_only_what_is_given(box: Stage) -> None:
    add(box, {"type": "BEVEL", "width": 0.25, "segments": 5}, show_render=False)
    args = {"object": "Box", "modifier": "It", "settings": {"type": "BEVEL", "segments": 2}}
    assert box.do("modifier.set", args)["changed"]
    assert (modifier().width, modifier().segments, modifier().show_render) == (0.25, 2, False)
    assert not box.do("modifier.set", args)["changed"]
    assert box.do("modifier.set", {"object": "Box", "modifier": "It", "show_render": True})["changed"]
    assert modifier().show_render


def test_setting_the_wrong_type_or_a_missing_modifier_is_refused(box: Stage) -> None:
    add(box, {"type": "BEVEL"}, "Edges")
    (finding,) = box.refusal("modifier.set", {"object": "Box", "modifier": "Edges", "settings": {"type": "ARRAY"}})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/settings/type")
    for tool, more in (("modifier.set", {}), ("modifier.remove", {}), ("modifier.apply", {"type": "BEVEL"})):
        (finding,) = box.refusal(tool, {"object": "Box", "modifier": "Edge", **more})
        assert (finding["code"], finding["pointer"]) == ("TARGET_NOT_FOUND", "/modifier")
        assert finding["cure"] == "Did you mean 'Edges'?"
        (finding,) = box.refusal(tool, {"object": "Bxo", "modifier": "Edges", **more})
        assert (finding["code"], finding["pointer"]) == ("TARGET_NOT_FOUND", "/object")


@pytest.mark.parametrize(
    ("settings", "code", "pointer"),
    [
        ({"type": "BOOLEAN"}, "ARGS_INVALID", "/settings/object"),
        ({"type": "BOOLEAN", "object": "Bal"}, "TARGET_NOT_FOUND", "/settings/object"),
        ({"type": "BOOLEAN", "object": "Box"}, "SCENE_CONFLICT", "/settings/object"),
        ({"type": "BOOLEAN", "object": "Tip"}, "SCENE_CONFLICT", "/settings/object"),
        ({"type": "MIRROR", "mirror_object": "Nobody"}, "TARGET_NOT_FOUND", "/settings/mirror_object"),
        ({"type": "DISPLACE", "texture": "Noise"}, "TARGET_NOT_FOUND", "/settings/texture"),
        ({"type": "DISPLACE", "vertex_group": "Top"}, "TARGET_NOT_FOUND", "/settings/vertex_group"),
        ({"type": "DISPLACE", "uv_layer": "UVMap"}, "TARGET_NOT_FOUND", "/settings/uv_layer"),
        ({"type": "NODES"}, "ARGS_INVALID", "/settings/node_group"),
        ({"type": "NODES", "node_group": "Tree"}, "TARGET_NOT_FOUND", "/settings/node_group"),
    ],
)
def test_references_that_do_not_hold_are_refused(box: Stage, settings: dict[str, Any], code: str, pointer: str) -> None:
    box.do("object.create_empty", {"name": "Tip"})
    (finding,) = box.refusal("modifier.add", {"object": "Box", "name": "It", "settings": settings})
    assert (finding["code"], finding["pointer"]) == (code, pointer)
    assert finding["cure"]


@pytest.mark.parametrize(
    ("settings", "pointer"),
    [
        ({"type": "ARRAY", "count": 0}, "/settings/count"),
        ({"type": "ARRAY", "levels": 2}, "/settings/levels"),
        ({"type": "WAVE"}, "/settings/type"),
        ({"count": 2}, "/settings"),
        ({"type": "SUBSURF", "levels": 7}, "/settings/levels"),
        ({"type": "DECIMATE", "ratio": 1.5}, "/settings/ratio"),
        ({"type": "MIRROR", "axes": ["W"]}, "/settings/axes/0"),
        ({"type": "BEVEL", "width": -1}, "/settings/width"),
        ({"type": "SOLIDIFY", "thickness": "thick"}, "/settings/thickness"),
    ],
)
def test_settings_that_the_type_does_not_have_are_refused(stage: Stage, settings: dict[str, Any], pointer: str) -> None:
    assert pointer in stage.invalid("modifier.add", {"object": "Box", "name": "It", "settings": settings})


def test_modifiers_go_on_what_takes_them(box: Stage) -> None:
    box.do("object.create_empty", {"name": "Tip"})
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Bow", bpy.data.curves.new("Bow", "CURVE")))
    box.state.refresh()
    box.do("modifier.add", {"object": "Bow", "name": "Row", "settings": {"type": "ARRAY"}})
    for owner, settings in (("Tip", {"type": "ARRAY"}), ("Bow", {"type": "DISPLACE"})):
        (finding,) = box.refusal("modifier.add", {"object": owner, "name": "It", "settings": settings})
        assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/object")


def test_names_of_modifiers_are_kept_exactly(box: Stage) -> None:
    add(box, {"type": "ARRAY", "count": 2})
    (finding,) = box.refusal("modifier.add", {"object": "Box", "name": "It", "settings": {"type": "ARRAY", "count": 3}})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/name")
    (finding,) = box.refusal("modifier.add", {"object": "Box", "name": "é" * 32, "settings": {"type": "ARRAY"}})
    assert (finding["code"], finding["pointer"]) == ("ARGS_INVALID", "/name")
    assert add(box, {"type": "ARRAY"}, "é" * 31)["stack"] == ["It", "é" * 31]


# ---------------------------------------------------------------------- geometry nodes


@pytest.fixture
def tree(box: Stage) -> Any:
    """A geometry-nodes tree that passes its geometry through, with an input of every kind."""
    tree: Any = bpy.data.node_groups.new("Tree", "GeometryNodeTree")
    for kind in ("Geometry", "Float", "Int", "Bool", "String", "Vector", "Color", "Object", "Material"):
        tree.interface.new_socket(kind, in_out="INPUT", socket_type=f"NodeSocket{kind}")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    for name in ("Twin", "Twin"):
        tree.interface.new_socket(name, in_out="INPUT", socket_type="NodeSocketFloat")
    inside, outside = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    tree.links.new(inside.outputs[0], outside.inputs[0])
    box.state.refresh()
    return tree


def identifier(tree: Any, name: str) -> str:
    return next(item.identifier for item in tree.interface.items_tree if item.name == name and item.in_out == "INPUT")


def test_inputs_of_a_tree_are_set_by_name_or_identifier(box: Stage, tree: Any) -> None:
    inputs = {
        "Float": 2,
        identifier(tree, "Int"): 5,
        "Bool": True,
        "String": "text",
        "Vector": [1, 2, 3],
        "Color": [1, 0, 0, 1],
        "Object": "Ball",
    }
    settings = {"type": "NODES", "node_group": "Tree", "inputs": inputs}
    assert box.call("modifier.add", {"object": "Box", "name": "It", "settings": settings}, rehearse="inverse")["ok"]
    add(box, settings)
    assert modifier()[identifier(tree, "Float")] == 2.0
    assert modifier()[identifier(tree, "Int")] == 5
    assert list(modifier()[identifier(tree, "Vector")]) == [1, 2, 3]
    assert modifier()[identifier(tree, "Object")].name == "Ball"
    assert not box.do("modifier.add", {"object": "Box", "name": "It", "settings": settings})["changed"]
    change = {"object": "Box", "modifier": "It", "settings": {"type": "NODES", "inputs": {"Int": 6}}}
    assert box.do("modifier.set", change)["changed"]
    assert (modifier()[identifier(tree, "Int")], modifier()[identifier(tree, "Float")]) == (6, 2.0)


@pytest.mark.parametrize(
    ("inputs", "code", "pointer"),
    [
        ({"Flaot": 1.0}, "TARGET_NOT_FOUND", "/settings/inputs/Flaot"),
        ({"Float": True}, "ARGS_INVALID", "/settings/inputs/Float"),
        ({"Int": 1.5}, "ARGS_INVALID", "/settings/inputs/Int"),
        ({"Bool": 1}, "ARGS_INVALID", "/settings/inputs/Bool"),
        ({"Vector": [1, 2]}, "ARGS_INVALID", "/settings/inputs/Vector"),
        ({"Object": 3}, "ARGS_INVALID", "/settings/inputs/Object"),
        ({"Object": "Bll"}, "TARGET_NOT_FOUND", "/settings/inputs/Object"),
        ({"Material": "Red"}, "TARGET_NOT_FOUND", "/settings/inputs/Material"),
        ({"Twin": 1.0}, "ARGS_INVALID", "/settings/inputs/Twin"),
        ({"Geometry": 1.0}, "TARGET_NOT_FOUND", "/settings/inputs/Geometry"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(
    box: Stage, tree: Any, inputs: dict[str, Any], code: str, pointer: str
) -> None:
    settings = {"type": "NODES", "node_group": "Tree", "inputs": inputs}
    (finding,) = box.refusal("modifier.add", {"object": "Box", "name": "It", "settings": settings})
    assert (finding["code"], finding["pointer"]) == (code, pointer)
    assert finding["cure"]


def test_only_geometry_trees_make_a_modifier(box: Stage) -> None:
    bpy.data.node_groups.new("Shader", "ShaderNodeTree")
    box.state.refresh()
    settings = {"type": "NODES", "node_group": "Shader"}
    (finding,) = box.refusal("modifier.add", {"object": "Box", "name": "It", "settings": settings})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/settings/node_group")


def test_a_tree_that_loses_its_modifier_is_kept(box: Stage, tree: Any) -> None:
    add(box, {"type": "NODES", "node_group": "Tree"})
    box.do("modifier.remove", {"object": "Box", "modifier": "It"})
    assert bpy.data.node_groups["Tree"].use_fake_user


def test_a_tree_is_applied_unless_it_numbers_its_result_at_random(box: Stage, tree: Any) -> None:
    add(box, {"type": "NODES", "node_group": "Tree"})
    args = {"object": "Box", "modifier": "It", "type": "NODES"}
    assert box.call("modifier.apply", args, rehearse="inverse")["ok"]
    inner = bpy.data.node_groups.new("Inner", "GeometryNodeTree")
    inner.nodes.new("GeometryNodeMeshBoolean")
    group: Any = tree.nodes.new("GeometryNodeGroup")
    group.node_tree = inner
    box.state.refresh()
    (finding,) = box.refusal("modifier.apply", args)
    assert (finding["code"], finding["pointer"]) == ("NONDETERMINISTIC_REFUSED", "/modifier")


# ---------------------------------------------------------------------- applying


@pytest.mark.parametrize(("settings", "held"), CASES)
def test_applying_makes_the_mesh_what_it_looked_like(
    box: Stage, settings: dict[str, Any], held: dict[str, Any]
) -> None:
    add(box, settings)
    looked = box.do("mesh.measure", {"object": "Box"})
    args = {"object": "Box", "modifier": "It", "type": settings["type"]}
    assert box.call("modifier.apply", args, rehearse="inverse")["reverted_by"] == "inverse"
    result = box.do("modifier.apply", args)
    assert result["stack"] == []
    assert (result["vertices"], result["faces"]) == (looked["vertices"], looked["faces"])
    assert box.do("mesh.measure", {"object": "Box", "evaluated": False}) == looked
    assert bpy.data.objects["Box"].data.name == "Box"
    assert [mesh.name for mesh in bpy.data.meshes if not mesh.name.startswith("~")] == ["Ball", "Box"]


def test_applying_keeps_materials_properties_groups_and_the_other_modifiers(box: Stage) -> None:
    obj = bpy.data.objects["Box"]
    mesh: Any = obj.data
    for name in ("Red", "Blue"):
        mesh.materials.append(bpy.data.materials.new(name))
    mesh.polygons[2].material_index = 1
    mesh["note"] = "kept"
    obj.vertex_groups.new(name="Top").add([0], 0.5, "REPLACE")
    box.state.refresh()
    add(box, {"type": "ARRAY", "count": 2}, "Row")
    add(box, {"type": "SUBSURF", "levels": 1}, "Smooth")
    args = {"object": "Box", "modifier": "Row", "type": "ARRAY"}
    assert box.call("modifier.apply", args, rehearse="memfile")["reverted_by"] == "memfile"
    assert box.do("modifier.apply", args) == {
        "object": "Box",
        "mesh": "Box",
        "vertices": 16,
        "faces": 12,
        "stack": ["Smooth"],
    }
    obj = bpy.data.objects["Box"]
    mesh = obj.data
    assert [material.name for material in mesh.materials] == ["Red", "Blue"]
    assert [face.material_index for face in mesh.polygons].count(1) == 2
    assert mesh["note"] == "kept"
    assert obj.vertex_groups.keys() == ["Top"]
    assert mesh.vertices[8].groups[0].weight == 0.5


def test_only_the_first_working_modifier_is_applied(box: Stage) -> None:
    add(box, {"type": "ARRAY"}, "First")
    add(box, {"type": "SUBSURF"}, "Second")
    args = {"object": "Box", "modifier": "Second", "type": "SUBSURF"}
    (finding,) = box.refusal("modifier.apply", args)
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/modifier")
    assert finding["cure"] == "Apply or remove 'First' first."
    box.do("modifier.set", {"object": "Box", "modifier": "First", "show_viewport": False})
    assert box.do("modifier.apply", args)["stack"] == ["First"]


def test_a_modifier_that_is_switched_off_can_be_applied(box: Stage) -> None:
    add(box, {"type": "ARRAY", "count": 3}, show_viewport=False)
    assert box.do("modifier.apply", {"object": "Box", "modifier": "It", "type": "ARRAY"})["vertices"] == 24


def test_a_shared_mesh_is_applied_to_only_as_a_mesh_of_its_own(box: Stage) -> None:
    twin = bpy.data.objects.new("Twin", bpy.data.meshes["Box"])
    bpy.context.scene.collection.objects.link(twin)
    box.state.refresh()
    add(box, {"type": "ARRAY", "count": 2})
    args = {"object": "Box", "modifier": "It", "type": "ARRAY"}
    (finding,) = box.refusal("modifier.apply", args)
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/make_single_user")
    (finding,) = box.refusal("modifier.apply", {**args, "make_single_user": True})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/mesh_name")
    own = {**args, "make_single_user": True, "mesh_name": "Own"}
    assert box.call("modifier.apply", own, rehearse="inverse")["reverted_by"] == "inverse"
    assert box.do("modifier.apply", own)["mesh"] == "Own"
    assert bpy.data.objects["Box"].data.name == "Own"
    assert bpy.data.objects["Twin"].data.name == "Box"
    assert len(bpy.data.meshes["Box"].vertices) == 8


def test_a_mesh_that_only_has_a_fake_user_beside_its_object_is_not_shared(box: Stage) -> None:
    bpy.data.meshes["Box"].use_fake_user = True
    box.state.refresh()
    add(box, {"type": "ARRAY", "count": 2})
    box.do("modifier.apply", {"object": "Box", "modifier": "It", "type": "ARRAY"})
    assert bpy.data.meshes["Box"].use_fake_user


def test_shape_keys_keep_a_modifier_from_being_applied(box: Stage) -> None:
    bpy.data.objects["Box"].shape_key_add(name="Basis")
    box.state.refresh()
    add(box, {"type": "ARRAY"})
    (finding,) = box.refusal("modifier.apply", {"object": "Box", "modifier": "It", "type": "ARRAY"})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/object")


def test_the_declared_type_decides_what_is_promised_and_must_be_true(box: Stage) -> None:
    tool = tools()["modifier.apply"]
    promises: dict[str, tuple[Determinism, bool]] = {}
    for kind in get_args(ModifierType):
        args = tool.args_model.model_validate({"object": "Box", "modifier": "It", "type": kind})
        promises[kind] = (tool.determinism_for(args), tool.replayable_for(args))
    unstable = {kind for kind, promise in promises.items() if promise == (Determinism.NONDETERMINISTIC, False)}
    assert unstable == {"BOOLEAN", "BEVEL"}
    assert all(promises[kind] == (Determinism.DETERMINISTIC, True) for kind in promises.keys() - unstable)
    add(box, {"type": "BEVEL"})
    (finding,) = box.refusal("modifier.apply", {"object": "Box", "modifier": "It", "type": "ARRAY"})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/type")
