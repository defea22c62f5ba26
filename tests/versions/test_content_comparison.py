"""What parts and what is not the same by design, on contents as workers write them."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from blendwright.versions.compare_content import ContentDifference, compare_content
from blendwright.versions.content_files import Content, Struct

Structs = Mapping[str, tuple[str, Mapping[str, Any]]]
OBJECT = ("objects", "Box")


def content(structs: Structs, numbers: Path = Path(), key: tuple[str, str] = OBJECT) -> Content:
    return Content({key: {path: Struct(type, values) for path, (type, values) in structs.items()}}, numbers)


def compared(old: Structs, new: Structs) -> ContentDifference:
    return compare_content(content(old), content(new))


def parts(difference: ContentDifference) -> list[tuple[str, Any, Any]]:
    return [(part.property, part.old, part.new) for part in difference.parts]


def notes(difference: ContentDifference) -> dict[tuple[str, str, str], int]:
    return {(note.type, note.property, note.what): count for note, count in difference.notes.items()}


def test_equal_content_has_no_difference() -> None:
    same: Structs = {"": ("Object", {"location": [0.0, 1.0, 2.0], "hide": False, "parent": None})}
    assert compared(same, same) == ContentDifference((), {})


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        (1.0, 1.000001, True),
        (1.0, 1.001, False),
        ([1.0, 2.0], [1.0, 2.000001], True),
        ([1.0, 2.0], [1.0, 2.0, 3.0], False),
        ("NONE", "SOME", False),
        (True, False, False),
        ("nan", "nan", True),
        (None, "objects/Other", False),
    ],
)
def test_values_are_the_same_but_for_rounding(old: Any, new: Any, is_same: bool) -> None:
    difference = compared({"": ("Object", {"value": old})}, {"": ("Object", {"value": new})})
    assert parts(difference) == ([] if is_same else [("value", old, new)])


def test_a_property_of_one_blender_only_is_by_design_and_a_custom_one_is_not() -> None:
    old: Structs = {"": ("Material", {"use_nodes": True}), "properties": ("properties", {"tag": 1})}
    new: Structs = {"": ("Material", {"surface": "FLAT"}), "properties": ("properties", {})}
    difference = compared(old, new)
    assert parts(difference) == [("properties.tag", 1, None)]
    assert notes(difference) == {
        ("Material", "use_nodes", "only in the old one"): 1,
        ("Material", "surface", "only in the new one"): 1,
    }


def test_a_datablock_that_one_scene_does_not_have_parts() -> None:
    difference = compare_content(content({}), content({}, key=("objects", "Other")))
    assert [(part.name, part.property, part.old, part.new) for part in difference.parts] == [
        ("Box", "", "present", None),
        ("Other", "", None, "present"),
    ]


def test_what_is_in_one_scene_only_is_said_once_not_for_all_that_is_in_it() -> None:
    old: Structs = {"": ("Light", {"node_tree": None})}
    new: Structs = {
        "": ("Light", {"node_tree": "present"}),
        "node_tree": ("ShaderNodeTree", {"parts": "present"}),
        "node_tree.nodes[Emission]": ("ShaderNodeEmission", {}),
        "node_tree.links": ("links", {"links": []}),
    }
    assert parts(compared(old, new)) == [("node_tree", None, "present")]


def test_an_item_of_a_list_that_both_have_parts() -> None:
    array_modifier = ("ArrayModifier", {"count": 2})
    old: Structs = {"": ("Object", {"modifiers": "present"}), "modifiers[One]": array_modifier}
    new: Structs = {"": ("Object", {"modifiers": "present"}), "modifiers[Other]": array_modifier}
    assert parts(compared(old, new)) == [("modifiers[One]", "present", None), ("modifiers[Other]", None, "present")]


def test_a_part_whose_property_only_one_blender_has_is_by_design() -> None:
    old: Structs = {"": ("ShaderNodeBsdfPrincipled", {})}
    new: Structs = {
        "": ("ShaderNodeBsdfPrincipled", {"panel_states": "present"}),
        "panel_states": ("NodePanelState", {"is_collapsed": [1]}),
    }
    difference = compared(old, new)
    assert not difference.parts
    assert notes(difference) == {("ShaderNodeBsdfPrincipled", "panel_states", "only in the new one"): 1}


def socket(identifier: str, value: float) -> tuple[str, dict[str, Any]]:
    return "NodeSocket VALUE", {"identifier": identifier, "default_value": value}


def test_a_socket_that_was_renamed_is_compared_under_both_names() -> None:
    node: tuple[str, dict[str, Any]] = ("ShaderNodeTexNoise", {})
    old: Structs = {"nodes[N]": node, "nodes[N].inputs[Fac]": socket("Fac", 0.5)}
    same = compared(old, {"nodes[N]": node, "nodes[N].inputs[Factor]": socket("Fac", 0.5)})
    assert not same.parts and list(same.notes.values()) == [1]
    other = compared(old, {"nodes[N]": node, "nodes[N].inputs[Factor]": socket("Fac", 0.75)})
    assert parts(other) == [("nodes[N].inputs[Fac].default_value", 0.5, 0.75)]


def test_another_identifier_under_the_same_name_is_the_same_socket() -> None:
    node: tuple[str, dict[str, Any]] = ("FunctionNodeRandomValue", {})
    old: Structs = {"nodes[R]": node, "nodes[R].inputs[Max]": socket("Max_001", 2.0)}
    assert not compared(old, {"nodes[R]": node, "nodes[R].inputs[Max]": socket("Max", 2.0)}).parts
    assert compared(old, {"nodes[R]": node, "nodes[R].inputs[Max]": socket("Max", 3.0)}).parts


def test_a_socket_of_one_blender_only_is_by_design() -> None:
    node: tuple[str, dict[str, Any]] = ("GeometryNodeTransform", {})
    difference = compared({"nodes[T]": node}, {"nodes[T]": node, "nodes[T].inputs[Mode]": socket("Mode", 0.0)})
    assert not difference.parts
    assert notes(difference) == {("GeometryNodeTransform", "inputs[Mode]", "only in the new one"): 1}


def test_links_go_by_either_name_of_their_sockets() -> None:
    link = ["Noise", "Fac", "Fac", "Add", "Value", "Value", False]
    renamed = ["Noise", "Factor", "Fac", "Add", "Value", "Value_001", False]
    elsewhere = ["Noise", "Color", "Color", "Add", "Value", "Value", False]

    def of(*links: list[Any]) -> Structs:
        return {"links": ("links", {"links": list(links)})}

    assert not compared(of(link), of(renamed)).parts
    assert parts(compared(of(link), of(elsewhere))) == [
        ("links[Noise.Fac → Add.Value]", "linked", "not linked"),
        ("links[Noise.Color → Add.Value]", "not linked", "linked"),
    ]


def test_values_that_another_blender_spells_differently_are_by_design() -> None:
    old: Structs = {"render": ("RenderSettings", {"engine": "BLENDER_EEVEE_NEXT"})}
    difference = compared(old, {"render": ("RenderSettings", {"engine": "BLENDER_EEVEE"})})
    assert not difference.parts and difference.notes
    assert compared(old, {"render": ("RenderSettings", {"engine": "CYCLES"})}).parts


def test_how_wide_a_node_is_drawn_is_by_design_and_the_width_of_anything_else_is_not() -> None:
    node = compared(
        {"nodes[N]": ("ShaderNodeMath", {"width": 140.0})}, {"nodes[N]": ("ShaderNodeMath", {"width": 145.0})}
    )
    assert not node.parts and node.notes
    assert compared({"": ("BevelModifier", {"width": 0.1})}, {"": ("BevelModifier", {"width": 0.2})}).parts


def long_list(file: Path, *values: float) -> dict[str, Any]:
    numbers = array("f", values)
    file.write_bytes(numbers.tobytes())
    return {"array": "f4", "count": len(numbers), "width": 3, "offset": 0, "digest": str(hash(tuple(values)))}


def test_long_lists_are_compared_number_by_number_where_digests_differ(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"

    def difference(*new: float) -> list[tuple[str, Any, Any]]:
        old = {"attributes[position]": ("properties", {"values": long_list(ours, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0)})}
        other = {"attributes[position]": ("properties", {"values": long_list(theirs, *new)})}
        return parts(compare_content(content(old, ours), content(other, theirs)))

    assert not difference(0.0, 1.0, 2.0, 3.0, 4.000001, 5.0)
    assert difference(0.0, 1.0, 2.0, 3.0, 4.5, 5.0) == [
        (
            "attributes[position].values",
            "element 1, component 1: 4",
            "element 1, component 1: 4.5 (1 of 6 numbers differ, by 0.5 at most)",
        )
    ]
    assert difference(0.0, 1.0, 2.0) == [("attributes[position].values", "2 elements", "1 elements")]


def test_what_blender_computes_from_values_that_are_compared_is_by_design() -> None:
    def of(whitepoint: list[float], tint: float = 10.0) -> Structs:
        values = {"white_balance_whitepoint": whitepoint, "white_balance_tint": tint}
        return {"view_settings": ("ColorManagedViewSettings", values)}

    difference = compared(of([1.0, 1.0, 1.0]), of([1.0, 1.1, 1.0]))
    assert not difference.parts and difference.notes
    assert parts(compared(of([1.0]), of([1.0], 20.0))) == [("view_settings.white_balance_tint", 10.0, 20.0)]
