"""Payloads for materials and compositors are judged without Blender: valid trees pass, and one error is found at its place."""

from __future__ import annotations

from typing import Any

import pytest

from blendwright.nodes.catalogue.load import VERSIONS, catalogue
from blendwright.nodes.catalogue.model import TreeKind
from blendwright.nodes.checks.payload import check_payload, check_payload_for
from blendwright.nodes.tree_payloads import ApplyTreePayload, PatchTreePayload
from support.trees.node_trees import create, link, prop, value
from support.trees.random_kind_trees import ERRORS, random_tree, with_error

KINDS: tuple[TreeKind, ...] = ("shader", "compositor")
# Two rounds of every kind of error here, three hundred trees among the slow tests.
QUICK, ALL = 2 * len(ERRORS), 300


def applied(*operations: dict[str, Any], target: dict[str, str] | None = None, **more: Any) -> ApplyTreePayload:
    target = target or {"material": "M"}
    return ApplyTreePayload.model_validate({"target": target, "operations": list(operations), **more})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("blender", VERSIONS)
def test_random_valid_trees_of_a_kind_have_no_findings(blender: str, kind: TreeKind) -> None:
    known = catalogue(blender, kind)
    for seed in range(15):
        assert check_payload(ApplyTreePayload.model_validate(random_tree(seed, known)), known) == [], seed


def refused_at_its_place(seeds: range, blender: str) -> set[str]:
    known = catalogue(blender, "shader")
    kinds: set[str] = set()
    for seed in seeds:
        kind, broken, pointer = with_error(seed, random_tree(seed, known))
        found = check_payload(ApplyTreePayload.model_validate(broken), known)
        assert [finding.pointer for finding in found] == [pointer], (seed, kind, found)
        assert found[0].cure, kind
        kinds.add(kind)
    return kinds


@pytest.mark.parametrize("blender", VERSIONS)
def test_a_shader_tree_with_one_error_is_refused_at_its_place(blender: str) -> None:
    assert refused_at_its_place(range(QUICK), blender) == set(ERRORS)


@pytest.mark.slow
@pytest.mark.parametrize("blender", VERSIONS)
def test_hundreds_of_shader_trees_with_one_error_each_are_refused_at_its_place(blender: str) -> None:
    refused_at_its_place(range(QUICK, QUICK + ALL), blender)


def test_what_no_blender_takes_is_found_without_one() -> None:
    assert [each.pointer for each in check_payload_for(applied(create("a", "ShaderNodeTexNoisy")), None)] == [
        "/operations/0/bl_idname"
    ]
    # Only older ones have it.
    older = applied(create("a", "ShaderNodeTexPointDensity"))
    assert check_payload_for(older, None) == []
    assert check_payload_for(older, (5, 2, 0))


def test_the_output_of_a_compositor_has_one_name_in_every_blender() -> None:
    glow = create("glow", "CompositorNodeGlare"), link(("glow", "Image"), ("output", "Image"))
    for version in ((5, 2, 0), (5, 0, 0), (4, 5, 0), (4, 2, 0)):
        assert check_payload_for(applied(*glow, target={"compositor": "Scene"}), version) == []
    (found,) = check_payload_for(
        applied(create("end", "CompositorNodeComposite"), target={"compositor": "Scene"}), (5, 2, 0)
    )
    assert found.cure == "Link the picture to 'Image' of 'output'."


def test_creating_the_output_means_the_one_that_is_there() -> None:
    ends = create("output", "ShaderNodeOutputMaterial"), create("glow", "ShaderNodeEmission")
    joined = link(("glow", "Emission"), ("output", "Surface"))
    assert check_payload_for(applied(*ends, joined), (5, 2, 0)) == []
    assert check_payload_for(applied(*ends, joined, clear=True), (5, 2, 0)) == []


def test_nodes_of_a_tree_that_is_not_known_are_not_judged_until_it_is_cleared() -> None:
    change = value("Principled BSDF", "Roughness", 0.5)
    assert check_payload_for(applied(change), (5, 2, 0)) == []
    assert [each.pointer for each in check_payload_for(applied(change, clear=True), (5, 2, 0))] == [
        "/operations/0/node_id"
    ]


def test_a_group_cannot_hold_itself() -> None:
    for kind, node in (("shader", "ShaderNodeGroup"), ("compositor", "CompositorNodeGroup")):
        nested = create("inner", node), prop("inner", "node_tree", "Own")
        found = check_payload_for(applied(*nested, target={"group": "Own", "kind": kind}), (5, 2, 0))
        assert [each.pointer for each in found] == ["/operations/1/value"]


def test_a_patch_is_judged_as_well() -> None:
    ops = [{"op": "add_node", "id": "n", "bl_idname": "ShaderNodeTexNoise", "properties": {"noise_dimension": "2D"}}]
    patch = PatchTreePayload.model_validate({"target": {"world": "W"}, "ops": ops})
    (found,) = check_payload_for(patch, (5, 2, 0))
    assert found.pointer == "/ops/0/properties/noise_dimension"
    assert found.cure == "Did you mean 'noise_dimensions'?"


@pytest.mark.parametrize(
    "target",
    [
        {},
        {"material": "M", "world": "W"},
        {"group": "G"},
        {"material": "M", "kind": "shader"},
        {"group": "G", "kind": "texture"},
    ],
)
def test_a_target_names_exactly_one_tree(target: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"exactly one|go together|'geometry'"):
        ApplyTreePayload.model_validate({"target": target, "operations": []})
