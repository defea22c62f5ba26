"""Procedural surfaces: what they are made of, when they are found as they should be, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import bpy
import pytest

from blendwright.nodes.catalogue.load import VERSIONS
from blendwright.nodes.checks.payload import check_payload_for
from blendwright.nodes.tree_payloads import ApplyTreePayload
from blendwright.tools.geonodes.examples import link
from blendwright.tools.material.ensure_procedural import EnsureProceduralArgs
from blendwright.tools.material.pattern_parts import Look
from blendwright.tools.material.patterns import STYLES, SURFACE, Pattern, second_color
from blendwright.tools.render.node_colors import viewport_color

if TYPE_CHECKING:
    from support.stage.stage import Stage

TOOL = "material.ensure_procedural"
OAK: dict[str, Any] = {"name": "Oak", "pattern": "WOOD", "color": [0.45, 0.24, 0.1]}
PATTERNS: tuple[Pattern, ...] = get_args(Pattern)


def material(name: str = "Oak") -> Any:
    """Looked up afresh: references do not outlive a reload."""
    return bpy.data.materials[name]


def nodes(name: str = "Oak") -> Any:
    return material(name).node_tree.nodes


def value(node: str, socket: str, name: str = "Oak") -> Any:
    (found,) = [each for each in nodes(name)[node].inputs if each.identifier == socket]
    held = found.default_value
    return pytest.approx(tuple(held) if hasattr(held, "__len__") else held)


def ancestors(node: Any) -> set[str]:
    """The names of all nodes that lead to one."""
    found: set[str] = set()
    ahead = [node]
    while ahead:
        for socket in ahead.pop().inputs:
            sources = [each.from_node for each in socket.links if each.from_node.name not in found]
            found |= {each.name for each in sources}
            ahead += sources
    return found


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_pattern_is_found_as_it_should_be_the_second_time(stage: Stage, pattern: Pattern) -> None:
    args = {**OAK, "pattern": pattern}
    assert stage.do(TOOL, args) == {"material": "Oak", "node": "Principled BSDF", "created": True, "changed": True}
    before = stage.state.full_root()
    again = stage.do(TOOL, args)
    assert (again["created"], again["changed"]) == (False, False)
    assert stage.state.full_root() == before


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_node_of_a_pattern_leads_to_the_surface(stage: Stage, pattern: Pattern) -> None:
    stage.do(TOOL, {**OAK, "pattern": pattern})
    surface = nodes()["Principled BSDF"]
    assert surface.inputs["Base Color"].is_linked and surface.inputs["Normal"].is_linked
    assert ancestors(nodes()["Material Output"]) == {each.name for each in nodes()} - {"Material Output"}
    assert all(gate["passed"] for gate in stage.do("nodes.gates", {"target": {"material": "Oak"}})["gates"])


def as_payload(pattern: Pattern) -> ApplyTreePayload:
    """The same nodes as operations of nodes.apply_tree, whose static checks know every Blender."""
    made: list[dict[str, Any]] = []
    filled: list[dict[str, Any]] = []
    for name, (kind, inputs, properties) in STYLES[pattern].nodes(Look((1, 1, 1), (0, 0, 0), 1.0, 1.0)).items():
        made.append({"op": "create_node", "node_id": name, "bl_idname": "ShaderNode" + kind})
        made += [
            {"op": "set_property", "node_id": name, "property": key, "value": properties[key]} for key in properties
        ]
        for key, held in inputs.items():
            if isinstance(held, str):
                filled.append(link(held, f"{name}.{key}"))
            else:
                plain = held if isinstance(held, float) else list(held)
                filled.append({"op": "set_input_default", "node_id": name, "socket": key, "value": plain})
    filled += [link(output, f"Principled BSDF.{key}") for key, output in SURFACE.items()]
    return ApplyTreePayload.model_validate({"target": {"material": "Any"}, "operations": [*made, *filled]})


@pytest.mark.parametrize("version", VERSIONS)
def test_every_blender_has_the_nodes_sockets_and_properties_of_every_pattern(version: str) -> None:
    blender = (*map(int, version.split(".")), 0)
    for pattern in PATTERNS:
        assert check_payload_for(as_payload(pattern), blender) == [], pattern


def test_colours_sizes_and_relief_reach_their_nodes(stage: Stage) -> None:
    args = {"color2": "#ff0000", "scale": 10, "bump": 0.7, "roughness": 0.2, "metallic": 0.1}
    stage.do(TOOL, {**OAK, **args})
    assert value("Pattern color", "A_Color") == (0.45, 0.24, 0.1, 1.0)
    assert value("Pattern color", "B_Color") == (1.0, 0.0, 0.0, 1.0)
    assert value("Pattern rings", "Scale") == 10 / 3.18
    assert value("Pattern bump", "Strength") == 0.7
    assert value("Principled BSDF", "Roughness") == 0.2
    assert value("Principled BSDF", "Metallic") == 0.1


def test_what_is_not_given_is_the_default_of_the_pattern(stage: Stage) -> None:
    stage.do(TOOL, {**OAK, "scale": 10, "roughness": 0.2})
    assert stage.do(TOOL, OAK)["changed"] is True
    assert value("Pattern rings", "Scale") == 25 / 3.18
    assert value("Principled BSDF", "Roughness") == 0.5
    stage.do(TOOL, {"name": "Steel", "pattern": "BRUSHED_METAL", "color": [0.6, 0.6, 0.6]})
    assert value("Principled BSDF", "Metallic", "Steel") == 1.0


def test_the_viewport_colour_follows_so_that_workbench_shows_it(stage: Stage) -> None:
    stage.do(TOOL, {**OAK, "metallic": 0.3, "roughness": 0.4})
    assert tuple(material().diffuse_color) == pytest.approx((0.45, 0.24, 0.1, 1.0))
    assert (material().metallic, material().roughness) == pytest.approx((0.3, 0.4))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_quick_pictures_show_the_main_colour_of_a_pattern(stage: Stage, pattern: Pattern) -> None:
    stage.do(TOOL, {**OAK, "pattern": pattern, "color2": [0, 0, 1]})
    assert viewport_color(material()) == pytest.approx((0.45, 0.24, 0.1, 1.0))


def test_the_second_colour_is_a_darker_shade_of_black_a_lighter_one_and_for_bricks_mortar() -> None:
    assert second_color("WOOD", (0.5, 0.25, 0.1)) == (0.2, 0.1, 0.04)
    assert min(second_color("STONE", (0.0, 0.0, 0.01))) > 0.01
    assert max(second_color("BRICK", (0.4, 0.1, 0.05))) < 0.5 and min(second_color("BRICK", (0.4, 0.1, 0.05))) > 0.3


def test_another_pattern_takes_the_place_of_the_one_before_and_leaves_nothing_of_it(stage: Stage) -> None:
    stage.do(TOOL, {**OAK, "pattern": "MARBLE"})
    alone = sorted(node.name for node in nodes())
    stage.do("material.delete", {"name": "Oak"})
    stage.do(TOOL, OAK)
    result = stage.do(TOOL, {**OAK, "pattern": "MARBLE"})
    assert (result["created"], result["changed"]) == (False, True)
    assert sorted(node.name for node in nodes()) == alone


def test_a_plain_material_gets_a_pattern_and_keeps_its_other_values(stage: Stage) -> None:
    stage.do("material.ensure_principled", {"name": "Oak", "base_color": [1, 0, 0], "ior": 1.3, "alpha": 0.5})
    assert stage.do(TOOL, OAK)["changed"] is True
    assert value("Principled BSDF", "IOR") == 1.3
    assert tuple(material().diffuse_color) == pytest.approx((0.45, 0.24, 0.1, 0.5))


def test_the_description_of_scale_names_the_defaults_that_there_are() -> None:
    told = EnsureProceduralArgs.model_fields["scale"].description or ""
    assert all(f"{pattern} {style.scale:g}" in told for pattern, style in STYLES.items())


def test_what_somebody_has_changed_in_the_pattern_is_put_right(stage: Stage) -> None:
    stage.do(TOOL, OAK)
    nodes()["Pattern rings"].inputs["Distortion"].default_value = 9.0
    nodes()["Pattern color"].data_type = "FLOAT"
    nodes().remove(nodes()["Pattern fibres"])
    stage.state.refresh()
    assert stage.do(TOOL, OAK)["changed"] is True
    assert value("Pattern rings", "Distortion") == 1.0
    assert stage.do(TOOL, OAK)["changed"] is False


def test_a_surface_of_other_nodes_is_refused_with_a_cure_and_not_overridden(stage: Stage) -> None:
    stage.do("material.ensure_principled", {"name": "Oak"})
    tree = material().node_tree
    noise = tree.nodes.new("ShaderNodeTexNoise")
    for socket in ("Base Color", "Roughness"):
        tree.links.new(noise.outputs[0], tree.nodes["Principled BSDF"].inputs[socket])
    stage.state.refresh()
    findings = stage.refusal(TOOL, OAK)
    assert sorted(finding["pointer"] for finding in findings) == ["/color", "/roughness"]
    assert {finding["code"] for finding in findings} == {"SCENE_CONFLICT"}
    assert all("unlink" in finding["cure"] for finding in findings)


def test_nodes_that_somebody_has_linked_with_the_pattern_are_not_cut_off(stage: Stage) -> None:
    stage.do(TOOL, OAK)
    tree = material().node_tree
    source, target = tree.nodes["Pattern rings"].outputs["Fac"], tree.nodes["Principled BSDF"].inputs["Coat Weight"]
    tree.links.new(source, target)
    stage.state.refresh()
    assert stage.do(TOOL, OAK)["changed"] is False
    (finding,) = stage.refusal(TOOL, {**OAK, "pattern": "STONE"})
    assert finding["pointer"] == "/pattern" and finding["cure"]


def test_a_material_without_a_principled_surface_is_refused(stage: Stage) -> None:
    stage.do(TOOL, OAK)
    tree = material().node_tree
    tree.links.remove(tree.nodes["Material Output"].inputs["Surface"].links[0])
    stage.state.refresh()
    (finding,) = stage.refusal(TOOL, OAK)
    assert finding["pointer"] == "/name" and "no Principled BSDF reaches" in finding["message"]


def test_values_that_have_keyframes_are_refused(stage: Stage) -> None:
    stage.do(TOOL, OAK)
    nodes()["Pattern rings"].inputs["Scale"].keyframe_insert("default_value", frame=1)
    material().keyframe_insert("roughness", frame=1)
    stage.state.refresh()
    findings = stage.refusal(TOOL, OAK)
    assert sorted(finding["pointer"] for finding in findings) == ["/pattern", "/roughness"]


def test_a_change_is_taken_back_by_its_inverse(stage: Stage) -> None:
    stage.do(TOOL, OAK)
    before = stage.state.full_root()
    answer = stage.call(TOOL, {**OAK, "pattern": "BRICK"}, rehearse="inverse")
    assert answer["reverted_by"] == "inverse"
    assert stage.state.full_root() == before


@pytest.mark.parametrize("scale", [1e-3, 1e4])
def test_the_smallest_and_the_largest_features_can_be_had(stage: Stage, scale: float) -> None:
    for pattern in PATTERNS:
        stage.do(TOOL, {**OAK, "name": pattern, "pattern": pattern, "scale": scale})


@pytest.mark.parametrize(
    ("argument", "wrong"),
    [
        ("pattern", "WOODEN"),
        ("color", "brown"),
        ("color2", [1, 1]),
        ("scale", 0),
        ("scale", 1e5),
        ("roughness", 1.1),
        ("metallic", -1),
        ("bump", 2),
    ],
)
def test_wrong_arguments_are_named(stage: Stage, argument: str, wrong: Any) -> None:
    assert stage.invalid(TOOL, {**OAK, argument: wrong})[0].startswith(f"/{argument}")


def test_pattern_and_colour_must_be_given(stage: Stage) -> None:
    assert len(stage.invalid(TOOL, {"name": "Oak"})) == 2
