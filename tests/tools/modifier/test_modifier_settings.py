"""Adding and setting modifiers: typed settings, and the order of the stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import bpy
import pytest

from blendwright.tools.modifier.settings import SEPARATE, SPECIAL, BlenderProperty, ModifierType, Settings
from tools.modifier.modifiers import CASES, add, modifier

if TYPE_CHECKING:
    from support.stage.stage import Stage

MODELS: dict[str, Any] = {
    get_args(model.model_fields["type"].annotation)[0]: model for model in get_args(get_args(Settings)[0])
}


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
    assert (
        {settings["type"] for settings, _ in CASES} | {"CURVE", "SHRINKWRAP", "NODES"}
        == set(MODELS)
        == set(get_args(ModifierType))
    )


@pytest.mark.parametrize("kind", sorted(MODELS))
def test_every_setting_names_a_writable_attribute_of_blender(stage: Stage, kind: str) -> None:
    obj = bpy.data.objects.new("It", bpy.data.meshes.new("It"))
    properties: Any = obj.modifiers.new("It", kind).bl_rna.properties
    for name in MODELS[kind].model_fields:
        rna = SPECIAL.get(name, BlenderProperty(name))
        if name in SEPARATE:
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
    for name, form in (("Bow", "CURVE"), ("Sail", "SURFACE")):
        bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, bpy.data.curves.new(name, form)))
    bpy.data.node_groups.new("Tree", "GeometryNodeTree").use_fake_user = True
    box.state.refresh()
    box.do("modifier.add", {"object": "Bow", "name": "Row", "settings": {"type": "ARRAY"}})
    cases = [("Tip", {"type": "ARRAY"}), ("Sail", {"type": "NODES", "node_group": "Tree"})]
    cases += [("Bow", {"type": kind}) for kind in ("DISPLACE", "WIREFRAME", "WEIGHTED_NORMAL")]
    for owner, settings in cases:
        (finding,) = box.refusal("modifier.add", {"object": owner, "name": "It", "settings": settings})
        assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/object")


def test_names_of_modifiers_are_kept_exactly(box: Stage) -> None:
    add(box, {"type": "ARRAY", "count": 2})
    (finding,) = box.refusal("modifier.add", {"object": "Box", "name": "It", "settings": {"type": "ARRAY", "count": 3}})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/name")
    (finding,) = box.refusal("modifier.add", {"object": "Box", "name": "é" * 32, "settings": {"type": "ARRAY"}})
    assert (finding["code"], finding["pointer"]) == ("ARGS_INVALID", "/name")
    assert add(box, {"type": "ARRAY"}, "é" * 31)["stack"] == ["It", "é" * 31]


def test_a_plank_is_bent_along_a_curve_and_laid_on_a_ball(box: Stage) -> None:
    box.do("curve.create", {"name": "Bow", "kind": "BEZIER", "points": [[0, 0, 0], [5, 0, 3], [10, 0, 0]]})
    box.do("mesh.create_primitive", {"kind": "uv_sphere", "name": "Globe", "radius": 4})
    add(box, {"type": "CURVE", "object": "Bow", "deform_axis": "POS_X"}, "Along")
    assert modifier("Along").object.name == "Bow" and modifier("Along").deform_axis == "POS_X"
    add(box, {"type": "SHRINKWRAP", "target": "Globe", "wrap_method": "NEAREST_SURFACEPOINT", "offset": 0.1}, "On")
    obj: Any = bpy.data.objects["Box"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    # The ball is made of flat faces.
    assert all(3.8 < (obj.matrix_world @ vertex.co).length < 4.15 for vertex in obj.data.vertices)
    for settings in ({"type": "CURVE", "object": "Globe"}, {"type": "SHRINKWRAP", "target": "Bow"}):
        (finding,) = box.refusal("modifier.add", {"object": "Box", "name": "No", "settings": settings})
        assert finding["pointer"] in ("/settings/object", "/settings/target")
    for kind, needed in (("CURVE", "object"), ("SHRINKWRAP", "target")):
        (finding,) = box.refusal("modifier.add", {"object": "Box", "name": "No", "settings": {"type": kind}})
        assert finding["pointer"] == f"/settings/{needed}"
    both = {"type": "SIMPLE_DEFORM", "angle_deg": 3, "factor": 1}
    assert box.invalid("modifier.add", {"object": "Box", "name": "No", "settings": both}) == ["/settings"]
