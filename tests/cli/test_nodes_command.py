"""blendwright nodes: the catalogues of nodes, without any Blender."""

from __future__ import annotations

import pytest

from blendwright.nodes.catalogue.load import NEWEST, catalogue
from support.processes.shell import Shell


def test_without_words_every_node_is_listed(shell: Shell) -> None:
    listed = shell("nodes", "--blender", "4.5", "--json", code=0).document
    assert listed["blender"] == "4.5"
    assert sorted(node["bl_idname"] for node in listed["nodes"]) == sorted(catalogue("4.5"))


def test_words_are_looked_for(shell: Shell) -> None:
    spoken = shell("nodes", "set", "position", code=0).out
    assert spoken.startswith("GeometryNodeSetPosition")


def test_each_kind_of_tree_has_its_nodes(shell: Shell) -> None:
    assert shell("nodes", "glare", "--kind", "compositor", code=0).out.startswith("CompositorNodeGlare")
    assert "Base Color" in shell("nodes", "ShaderNodeBsdfPrincipled", "--kind", "shader", code=0).out
    assert "One of: geometry, shader, compositor." in shell("nodes", "--kind", "texture", code=2).err


def test_a_page_has_all_there_is_to_know(shell: Shell) -> None:
    page = shell("nodes", "ShaderNodeMix", "--json", code=0).document
    assert page["deciding"] == ["data_type", "factor_mode"]
    assert ["RGBA", "UNIFORM"] in [words[:-1] for words in page["settings"]]
    assert {"name": "A", "identifier": "A_Float"}.items() <= page["layouts"][0]["inputs"][1].items()
    spoken = shell("nodes", "GeometryNodeMeshCube", code=0).out
    assert all(part in spoken for part in ("Vertices X", "Int", "2..1000", "= 2", "Mesh"))


@pytest.mark.parametrize("words", [["NoiseTexture"], ["ShaderNodeTexNoize"]])
def test_what_is_not_there_is_refused_with_what_was_meant(shell: Shell, words: list[str]) -> None:
    assert "Did you mean 'ShaderNodeTexNoise'" in shell("nodes", *words, code=2).err
    assert f"One of: {NEWEST}" in shell("nodes", "--blender", "3.6", code=2).err
