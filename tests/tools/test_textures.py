"""Image textures of materials, and materials made of folders of pictures."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.tools.material.texture_names import guess
from support.stage.pictures import png

if TYPE_CHECKING:
    from support.stage.stage import Stage


def principled(material: str) -> Any:
    materials: Any = bpy.data.materials
    return materials[material].node_tree.nodes["Principled BSDF"].inputs


def feeds(socket: Any) -> list[str]:
    """The nodes that lead to a socket, nearest first."""
    if not socket.is_linked:
        return []
    node = socket.links[0].from_node
    return [node.bl_idname, *(kind for each in node.inputs for kind in feeds(each))]


def images(stage: Stage, **spaces: str) -> None:
    for name, space in spaces.items():
        stage.do("image.create", {"name": name, "size": [4, 4], "color_space": space})


def test_each_texture_reaches_its_input_by_the_right_nodes(stage: Stage) -> None:
    images(stage, C="sRGB", D="Non-Color")
    textures = {
        "base_color": "C",
        "ambient_occlusion": "D",
        "metallic": "D",
        "gloss": "D",
        "alpha": "C",
        "emission": "C",
    }
    more = {"normal": "D", "normal_directx": True, "normal_strength": 0.5, "height": "D", "bump_distance": 0.2}
    args = {"name": "M", "textures": textures | more | {"repeat": 3}}
    assert stage.do("material.ensure_principled", args)["changed"] is True
    sockets, mapped = principled("M"), ["ShaderNodeTexImage", "ShaderNodeMapping", "ShaderNodeTexCoord"]
    assert feeds(sockets["Base Color"]) == ["ShaderNodeMix", *mapped, *mapped]
    assert feeds(sockets["Metallic"]) == mapped
    assert feeds(sockets["Roughness"]) == ["ShaderNodeInvert", *mapped]
    assert sockets["Alpha"].links[0].from_socket.name == "Alpha"
    assert feeds(sockets["Emission Color"]) == mapped
    assert sockets["Emission Strength"].default_value == 1.0
    bump = sockets["Normal"].links[0].from_node
    assert feeds(sockets["Normal"]) == [
        "ShaderNodeBump",
        *mapped,
        "ShaderNodeNormalMap",
        "ShaderNodeVectorMath",
        *mapped,
    ]
    assert bump.inputs["Distance"].default_value == pytest.approx(0.2)
    assert bump.inputs["Normal"].links[0].from_node.inputs["Strength"].default_value == 0.5
    assert stage.do("material.ensure_principled", args)["changed"] is False


def test_another_image_takes_the_place_of_the_one_before_and_leaves_no_nodes(stage: Stage) -> None:
    images(stage, A="sRGB", B="sRGB", D="Non-Color")
    stage.do("material.ensure_principled", {"name": "M", "textures": {"base_color": "A", "normal": "D"}})
    stage.do("material.ensure_principled", {"name": "M", "textures": {"base_color": "B"}})
    materials: Any = bpy.data.materials
    kinds = sorted(node.bl_idname for node in materials["M"].node_tree.nodes)
    assert kinds.count("ShaderNodeTexImage") == 2
    assert principled("M")["Base Color"].links[0].from_node.image.name == "B"
    assert feeds(principled("M")["Normal"])[0] == "ShaderNodeNormalMap"


@pytest.mark.parametrize(
    ("textures", "pointer", "words"),
    [
        ({"base_color": "Nothing"}, "/textures/base_color", "no image"),
        ({"roughness": "C"}, "/textures/roughness", "Non-Color"),
        ({"ambient_occlusion": "C"}, "/textures/ambient_occlusion", "base_color"),
        ({"roughness": "D", "gloss": "D"}, "/textures/gloss", "one of them"),
    ],
)
def test_images_that_do_not_fit_are_refused(stage: Stage, textures: dict[str, str], pointer: str, words: str) -> None:
    images(stage, C="sRGB", D="Non-Color")
    (finding,) = stage.refusal("material.ensure_principled", {"name": "M", "textures": textures})
    assert finding["pointer"] == pointer
    assert words in finding["message"] + finding["cure"]
    assert stage.invalid("material.ensure_principled", {"name": "M", "alpha": 1, "textures": {"alpha": "D"}}) == [""]


@pytest.mark.parametrize(
    ("file", "role"),
    [
        ("Metal034_1K_Color.jpg", "base_color"),
        ("rough_wood_diff_2k.png", "base_color"),
        ("T_Rock_BaseColor.tga", "base_color"),
        ("Bricks_base_color.png", "base_color"),
        ("Rock_Albedo.png", "base_color"),
        ("aerial_beach_rough_4k.exr", "roughness"),
        ("Paint-Glossiness.tif", "gloss"),
        ("Metal034_2K-JPG_Metalness.jpg", "metallic"),
        ("wood_nor_gl_1k.exr", "normal"),
        ("Metal034_NormalGL.png", "normal"),
        ("wood_nor_dx_1k.png", "normal_directx"),
        ("Metal034_2K_NormalDX.png", "normal_directx"),
        ("floor_ao_2k.jpg", "ambient_occlusion"),
        ("Floor_AmbientOcclusion.png", "ambient_occlusion"),
        ("floor_disp.png", "height"),
        ("Leaf_Opacity.png", "alpha"),
        ("Screen_emissive.png", "emission"),
        ("preview.png", None),
        ("floor_arm_2k.png", None),
    ],
)
def test_the_usual_names_are_understood(file: str, role: str | None) -> None:
    found = guess(file)
    assert (None if found is None else found.role) == role


def folder(tmp_path: Path, *names: str) -> Path:
    made = tmp_path / "maps"
    made.mkdir()
    for name in names:
        png(made / name, (128, 128, 255))
    return made


def make(stage: Stage, place: Path, **args: Any) -> dict[str, Any]:
    return stage.do("material.from_textures", {"name": "Oak", "folder": "maps", **args}, files={"maps": str(place)})


def refused(stage: Stage, place: Path, **args: Any) -> dict[str, Any]:
    found = stage.refusal(
        "material.from_textures", {"name": "Oak", "folder": "maps", **args}, files={"maps": str(place)}
    )
    return found[0]


def test_a_folder_becomes_a_material_and_says_how_it_was_understood(stage: Stage, tmp_path: Path) -> None:
    names = ("oak_col.png", "oak_rough.png", "oak_nor_gl.png", "oak_nor_dx.png", "oak_ao.png", "preview.png")
    result = make(stage, folder(tmp_path, *names), repeat=2)
    assert [(each["map"], each["file"], each["because"]) for each in result["maps"]] == [
        ("ambient_occlusion", "oak_ao.png", "ao"),
        ("base_color", "oak_col.png", "col"),
        ("normal", "oak_nor_gl.png", "nor gl"),
        ("roughness", "oak_rough.png", "rough"),
    ]
    assert result["left_over"] == ["oak_nor_dx.png", "preview.png"]
    spaces = {each.name: each.colorspace_settings.name for each in bpy.data.images}
    assert spaces == {
        "Oak ambient occlusion": "sRGB",
        "Oak base color": "sRGB",
        "Oak normal": "Non-Color",
        "Oak roughness": "Non-Color",
    }
    assert feeds(principled("Oak")["Normal"])[0] == "ShaderNodeNormalMap"


def test_what_is_ambiguous_or_says_nothing_is_refused_until_it_is_said(stage: Stage, tmp_path: Path) -> None:
    place = folder(tmp_path, "a_diffuse.png", "b_diffuse.png", "strange.png")
    finding = refused(stage, place)
    assert "several pictures are for base_color" in finding["message"]
    assert "a_diffuse.png" in finding["cure"]
    result = make(stage, place, maps={"base_color": "b_diffuse.png", "metallic": "strange.png"})
    assert [each["file"] for each in result["maps"]] == ["b_diffuse.png", "strange.png"]
    assert result["left_over"] == ["a_diffuse.png"]
    other = tmp_path / "other"
    other.mkdir()
    png(other / "x.png", (0, 0, 0))
    assert "maps" in refused(stage, other, name="New")["cure"]
    assert refused(stage, other, name="New", maps={"normal": "y.png"})["pointer"] == "/maps/normal"


@pytest.mark.parametrize("asked", [{"textures": {"base_color": "C"}}, {"base_color": [1, 0, 0]}])
def test_an_input_that_comes_from_another_node_is_made_free_by_the_call_that_the_refusal_names(
    stage: Stage, asked: dict[str, Any]
) -> None:
    images(stage, C="sRGB")
    stage.do("material.ensure_principled", {"name": 'It\'s "M"'})
    noise = [
        {"op": "create_node", "node_id": "noise", "bl_idname": "ShaderNodeTexNoise"},
        {"op": "link", "from": {"node_id": "noise", "socket": "Color"}, "to": {"node_id": "Principled BSDF", "socket": "Base Color"}},
    ]  # fmt: skip
    stage.do("nodes.apply_tree", {"target": {"material": 'It\'s "M"'}, "operations": noise})
    [finding] = stage.refusal("material.ensure_principled", {"name": 'It\'s "M"', **asked})
    call = ast.parse(finding["cure"].removeprefix("Call ").removesuffix(" first, or leave it out."), mode="eval").body
    assert isinstance(call, ast.Call) and ast.unparse(call.func) == "nodes.apply_tree"
    stage.do("nodes.apply_tree", {str(word.arg): ast.literal_eval(word.value) for word in call.keywords})
    assert stage.do("material.ensure_principled", {"name": 'It\'s "M"', **asked})["changed"] is True
