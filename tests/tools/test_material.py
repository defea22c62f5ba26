"""Peculiar behaviour of the material tools; what holds for all tools is in the conformance suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

if TYPE_CHECKING:
    from support.stage.stage import Stage

RED = {"name": "Red", "base_color": [0.8, 0.1, 0.1]}


def data(kind: str, name: str) -> Any:
    """Looked up afresh: references do not outlive a reload."""
    blocks: Any = getattr(bpy.data, kind)
    return blocks[name]


def value(material: str, socket: str) -> Any:
    held = data("materials", material).node_tree.nodes["Principled BSDF"].inputs[socket].default_value
    return pytest.approx(tuple(held) if hasattr(held, "__len__") else held)


def box(stage: Stage, *materials: str) -> Any:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    for name in materials:
        stage.do("material.ensure_principled", {"name": name})
    return data("objects", "Box")


@pytest.mark.parametrize("opacity", [1, 1.0])
def test_a_colour_may_say_that_it_is_opaque_and_nothing_else(stage: Stage, opacity: float) -> None:
    stage.do("material.ensure_principled", {"name": "Paint", "base_color": [0.1, 0.2, 0.3, opacity]})
    (node,) = [node for node in bpy.data.materials["Paint"].node_tree.nodes if node.type == "BSDF_PRINCIPLED"]
    assert tuple(node.inputs["Base Color"].default_value) == pytest.approx((0.1, 0.2, 0.3, 1.0))
    assert stage.invalid("material.ensure_principled", {"name": "Paint", "base_color": [0.1, 0.2, 0.3, 0.5]}) == [
        "/base_color"
    ]


def test_every_value_reaches_its_socket(stage: Stage) -> None:
    values = {
        "metallic": 0.1,
        "roughness": 0.2,
        "alpha": 0.3,
        "ior": 1.4,
        "transmission": 0.5,
        "emission_strength": 6.0,
    }
    result = stage.do("material.ensure_principled", {**RED, **values, "emission_color": [0.2, 0.3, 0.4]})
    assert result == {"material": "Red", "node": "Principled BSDF", "created": True, "changed": True}
    assert value("Red", "Base Color") == (0.8, 0.1, 0.1, 1.0)
    assert value("Red", "Emission Color") == (0.2, 0.3, 0.4, 1.0)
    sockets = ("Metallic", "Roughness", "Alpha", "IOR", "Transmission Weight", "Emission Strength")
    for socket, asked in zip(sockets, values.values(), strict=True):
        assert value("Red", socket) == asked


def test_what_is_not_given_stays(stage: Stage) -> None:
    stage.do("material.ensure_principled", {**RED, "roughness": 0.1})
    result = stage.do("material.ensure_principled", {"name": "Red", "metallic": 1})
    assert (result["created"], result["changed"]) == (False, True)
    assert value("Red", "Roughness") == 0.1
    assert value("Red", "Metallic") == 1.0
    assert stage.do("material.ensure_principled", {"name": "Red", "metallic": 1})["changed"] is False


def test_the_viewport_colour_follows_so_that_workbench_shows_it(stage: Stage) -> None:
    stage.do("material.ensure_principled", {**RED, "alpha": 0.5, "metallic": 0.7, "roughness": 0.3})
    material = data("materials", "Red")
    assert tuple(material.diffuse_color) == pytest.approx((0.8, 0.1, 0.1, 0.5))
    assert (material.metallic, material.roughness) == pytest.approx((0.7, 0.3))


def test_an_emission_colour_alone_shines_but_a_strength_that_is_there_is_kept(stage: Stage) -> None:
    stage.do("material.ensure_principled", {"name": "Glow", "emission_color": [1, 0, 0]})
    assert value("Glow", "Emission Strength") == 1.0
    stage.do("material.ensure_principled", {"name": "Glow", "emission_strength": 4})
    stage.do("material.ensure_principled", {"name": "Glow", "emission_color": [0, 1, 0]})
    assert value("Glow", "Emission Strength") == 4.0


def test_a_material_whose_output_no_principled_reaches_is_refused(stage: Stage) -> None:
    stage.do("material.ensure_principled", {"name": "Odd"})
    tree = data("materials", "Odd").node_tree
    tree.links.remove(tree.links[0])
    stage.state.refresh()
    (finding,) = stage.refusal("material.ensure_principled", {"name": "Odd", "roughness": 0.1})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/name")
    assert "no Principled BSDF reaches" in finding["message"]


def test_a_principled_behind_a_mixer_is_found_and_two_are_one_too_many(stage: Stage) -> None:
    stage.do("material.ensure_principled", {"name": "Mixed"})
    tree = data("materials", "Mixed").node_tree
    first, output, mixer = (
        tree.nodes["Principled BSDF"],
        tree.nodes["Material Output"],
        tree.nodes.new("ShaderNodeMixShader"),
    )
    tree.links.new(first.outputs[0], mixer.inputs[1])
    tree.links.new(mixer.outputs[0], output.inputs["Surface"])
    stage.state.refresh()
    stage.do("material.ensure_principled", {"name": "Mixed", "roughness": 0.25})
    assert value("Mixed", "Roughness") == 0.25
    tree = data("materials", "Mixed").node_tree
    second = tree.nodes.new("ShaderNodeBsdfPrincipled")
    tree.links.new(second.outputs[0], tree.nodes[mixer.name].inputs[2])
    stage.state.refresh()
    (finding,) = stage.refusal("material.ensure_principled", {"name": "Mixed", "roughness": 0.1})
    assert "2 Principled BSDFs" in finding["message"]


def test_a_value_that_comes_through_a_link_is_not_overridden(stage: Stage) -> None:
    stage.do("material.ensure_principled", RED)
    tree = data("materials", "Red").node_tree
    tree.links.new(tree.nodes.new("ShaderNodeTexNoise").outputs[0], tree.nodes["Principled BSDF"].inputs["Roughness"])
    stage.state.refresh()
    (finding,) = stage.refusal("material.ensure_principled", {"name": "Red", "roughness": 0.1, "metallic": 1})
    assert finding["pointer"] == "/roughness"
    stage.do("material.ensure_principled", {"name": "Red", "metallic": 1})


@pytest.mark.parametrize(
    ("argument", "wrong"), [("base_color", [1, 1]), ("roughness", 1.1), ("ior", 0.5), ("emission_strength", -1)]
)
def test_values_out_of_range_are_invalid(stage: Stage, argument: str, wrong: Any) -> None:
    assert stage.invalid("material.ensure_principled", {"name": "Red", argument: wrong})[0].startswith(f"/{argument}")


def test_the_first_material_makes_a_slot_and_the_next_takes_its_place(stage: Stage) -> None:
    box(stage, "Red", "Blue")
    assert stage.do("material.assign", {"object": "Box", "material": "Red"})["slot"] == 0
    assert stage.do("material.assign", {"object": "Box", "material": "Blue"})["slot"] == 0
    assert [slot.material.name for slot in data("objects", "Box").material_slots] == ["Blue"]
    assert stage.do("material.assign", {"object": "Box", "material": "Blue"})["changed"] is False


def test_faces_get_the_slot_that_has_the_material_or_a_new_one(stage: Stage) -> None:
    box(stage, "Red", "Blue")
    stage.do("material.assign", {"object": "Box", "material": "Red"})
    assert stage.do("material.assign", {"object": "Box", "material": "Blue", "faces": [1, 4]})["slot"] == 1
    assert [face.material_index for face in data("meshes", "Box").polygons] == [0, 1, 0, 0, 1, 0]
    assert stage.do("material.assign", {"object": "Box", "material": "Red", "faces": [1]})["slot"] == 0
    assert len(data("objects", "Box").material_slots) == 2


def test_a_slot_linked_to_the_object_is_filled_there(stage: Stage) -> None:
    obj = box(stage, "Red", "Blue")
    stage.do("material.assign", {"object": "Box", "material": "Red"})
    obj.material_slots[0].link = "OBJECT"
    stage.state.refresh()
    answer = stage.call("material.assign", {"object": "Box", "material": "Blue"})
    assert answer["ok"]
    assert [change[0] for change in answer["changes"] if change[0] != "materials"] == ["objects"]
    assert data("meshes", "Box").materials[0].name == "Red"
    assert data("objects", "Box").material_slots[0].material.name == "Blue"


def test_wrong_slots_faces_and_objects_are_refused_with_a_cure(stage: Stage) -> None:
    box(stage, "Red")
    stage.do("object.create_empty", {"name": "Pivot"})
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"slot": 1}, "/slot", "ARGS_INVALID"),
        ({"faces": [0, 6]}, "/faces/1", "ARGS_INVALID"),
        ({"material": "Rad"}, "/material", "TARGET_NOT_FOUND"),
        ({"object": "Pivot"}, "/object", "SCENE_CONFLICT"),
    ]
    for change, pointer, code in cases:
        (finding,) = stage.refusal("material.assign", {"object": "Box", "material": "Red", **change})
        assert (finding["pointer"], finding["code"]) == (pointer, code)
        assert finding["cure"]


def test_a_curve_takes_a_material_but_no_faces(stage: Stage) -> None:
    box(stage, "Red")
    stage.do("curve.create", {"name": "Wire", "kind": "POLY", "points": [[0, 0, 0], [1, 0, 0]]})
    stage.do("material.assign", {"object": "Wire", "material": "Red"})
    assert data("curves", "Wire").materials[0].name == "Red"
    (finding,) = stage.refusal("material.assign", {"object": "Wire", "material": "Red", "faces": [0]})
    assert finding["pointer"] == "/faces"


def test_a_used_material_is_deleted_only_with_its_users_cleared(stage: Stage) -> None:
    box(stage, "Red", "Blue")
    stage.do("material.assign", {"object": "Box", "material": "Red"})
    stage.do("material.assign", {"object": "Box", "material": "Blue", "faces": [0]})
    (finding,) = stage.refusal("material.delete", {"name": "Red"})
    assert "'Box'" in finding["message"]
    assert "clear_users" in finding["cure"]
    stage.do("material.delete", {"name": "Red", "clear_users": True})
    slots = [slot.material and slot.material.name for slot in data("objects", "Box").material_slots]
    assert slots == [None, "Blue"]
    assert [face.material_index for face in data("meshes", "Box").polygons] == [1, 0, 0, 0, 0, 0]


def test_reverting_a_deletion_puts_the_material_back_into_its_slot(stage: Stage) -> None:
    box(stage, "Red")
    stage.do("material.assign", {"object": "Box", "material": "Red"})
    answer = stage.call("material.delete", {"name": "Red", "clear_users": True}, rehearse="inverse")
    assert answer["reverted_by"] == "inverse"
    assert data("objects", "Box").material_slots[0].material.name == "Red"


def test_one_material_takes_the_place_of_others_wherever_they_are_used(stage: Stage) -> None:
    for name in ("Wood", "Wood.001", "Wood.002", "Iron"):
        stage.do("material.ensure_principled", {"name": name})
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box", "material": "Wood.001"})
    stage.do("material.assign", {"object": "Box", "material": "Iron", "slot": 1})
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Own", "material": "Iron"})
    own = data("objects", "Own")
    own.material_slots[0].link = "OBJECT"
    own.material_slots[0].material = data("materials", "Wood.002")
    tree: Any = bpy.data.node_groups.new("Paint", "GeometryNodeTree")
    tree.nodes.new("GeometryNodeSetMaterial").inputs["Material"].default_value = data("materials", "Wood.002")

    result = stage.do("material.replace", {"materials": ["Wood.001", "Wood.002"], "by": "Wood"})

    assert result["users"] == ["meshes/Box", "node_groups/Paint", "objects/Own"] and result["changed"]
    assert [slot.material.name for slot in data("objects", "Box").material_slots] == ["Wood", "Iron"]
    assert data("objects", "Own").material_slots[0].material.name == "Wood"
    assert data("meshes", "Own").materials[0].name == "Iron"
    assert data("node_groups", "Paint").nodes[0].inputs["Material"].default_value.name == "Wood"
    again = stage.do("material.replace", {"materials": ["Wood.001", "Wood.002"], "by": "Wood"})
    assert again["users"] == [] and not again["changed"]


def test_a_material_is_not_replaced_by_itself_or_by_what_is_not_there(stage: Stage) -> None:
    box(stage, "Red")
    [itself] = stage.refusal("material.replace", {"materials": ["Red"], "by": "Red"})
    assert itself["pointer"] == "/materials/0"
    wrong = stage.refusal("material.replace", {"materials": ["Rad"], "by": "Blue"})
    assert [finding["pointer"] for finding in wrong] == ["/by", "/materials/0"]
