"""Baking: what is in the picture, what it needs, and that materials and selection stay as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.tools.render.bake import BALL, DRESSED, RED, SHAPE, SMALL, UVS

if TYPE_CHECKING:
    from support.stage.stage import Stage

BAKED: dict[str, Any] = {"object": "Low", "image": "Out", **SMALL}


def given(stage: Stage, *calls: tuple[str, dict[str, Any]]) -> None:
    for tool, args in calls:
        stage.do(tool, args)


def middle(name: str = "Out") -> tuple[float, ...]:
    images: Any = bpy.data.images
    image = images[name]
    width, height = image.size
    start = 4 * (width * (height // 2) + width // 2)
    return tuple(image.pixels[start : start + 3])


def test_colour_and_roughness_are_those_of_the_material(stage: Stage) -> None:
    given(stage, SHAPE, UVS, RED, DRESSED)
    stage.do("render.bake", {**BAKED, "type": "DIFFUSE", "float": True})
    # A little of the light is mirrored before it takes on the colour.
    assert middle() == pytest.approx((0.8 * 0.96, 0.1 * 0.96, 0.1 * 0.96), abs=2e-3)
    result = stage.do("render.bake", {**BAKED, "type": "ROUGHNESS", "image": "Rough", "float": True})
    assert middle("Rough") == pytest.approx((0.3, 0.3, 0.3), abs=1e-3)
    assert result["color_space"] == "Non-Color"


def test_a_detailed_object_is_baked_to_a_simple_one(stage: Stage) -> None:
    given(stage, SHAPE, UVS, BALL)
    stage.do("render.bake", {**BAKED, "type": "NORMAL", "float": True, "samples": 4})
    flat = middle()
    assert flat == pytest.approx((0.5, 0.5, 1), abs=0.01)
    detailed = {"from_objects": ["High"], "cage_extrusion": 2, "image": "Ball", "float": True}
    stage.do("render.bake", {**BAKED, **detailed, "type": "NORMAL"})
    images: Any = bpy.data.images
    pixels = images["Ball"].pixels
    reds = [pixels[4 * number] for number in range(16 * 16)]
    assert min(reds) < 0.35 and max(reds) > 0.65


def test_materials_and_selection_are_left_as_they_were(stage: Stage) -> None:
    given(stage, SHAPE, UVS, BALL, RED, DRESSED)
    objects, materials = bpy.context.view_layer.objects, bpy.data.materials
    objects.active = objects["High"]
    objects["High"].select_set(True)
    before = [node.name for node in materials["Red"].node_tree.nodes]
    stage.do("render.bake", {**BAKED, "type": "EMIT"})
    assert [node.name for node in materials["Red"].node_tree.nodes] == before
    assert objects.active == objects["High"]
    assert [each.name for each in objects if each.select_get()] == ["High"]
    assert bpy.context.scene.render.engine != "CYCLES" or bpy.context.scene.cycles.samples != SMALL["samples"]


def test_what_cannot_be_baked_is_refused_with_a_cure(stage: Stage) -> None:
    given(stage, SHAPE)
    (finding,) = stage.refusal("render.bake", {**BAKED, "type": "AO"})
    assert (
        finding["pointer"] == "/object" and "UV map" in finding["message"] and "mesh.set_attribute" in finding["cure"]
    )
    given(stage, UVS, ("image.create", {"name": "Color", "size": [8, 8]}))
    (finding,) = stage.refusal("render.bake", {**BAKED, "type": "NORMAL", "image": "Color"})
    assert finding["pointer"] == "/image"
    (finding,) = stage.refusal("render.bake", {**BAKED, "type": "AO", "uv_map": "Other"})
    assert finding["pointer"] == "/uv_map"
    stage.do("object.set_visibility", {"object": "Low", "render": False})
    (finding,) = stage.refusal("render.bake", {**BAKED, "type": "AO"})
    assert "object.set_visibility" in finding["cure"]
    assert stage.invalid("render.bake", {**BAKED, "type": "AO", "from_objects": ["Low"]}) == ["/from_objects"]


def reds(name: str) -> list[float]:
    images: Any = bpy.data.images
    return list(images[name].pixels)[0::4]


def test_noise_is_taken_away_and_nothing_else_is_left_behind(stage: Stage) -> None:
    given(stage, SHAPE, UVS, BALL)
    args = {**BAKED, "type": "AO", "size": [64, 64], "float": True}
    before = [scene.name for scene in bpy.data.scenes]
    stage.do("render.bake", {**args, "image": "Right", "samples": 256})
    stage.do("render.bake", {**args, "image": "Noisy", "samples": 4})
    stage.do("render.bake", {**args, "image": "Clean", "samples": 4, "denoise": True})
    noisy, clean = (
        sum((one - right) ** 2 for one, right in zip(reds(name), reds("Right"), strict=True))
        for name in ("Noisy", "Clean")
    )
    assert clean < noisy / 4
    assert [scene.name for scene in bpy.data.scenes] == before
    assert not [block.name for block in bpy.data.images if block.name.startswith("~bw~")]
    assert stage.invalid("render.bake", {**BAKED, "type": "NORMAL", "denoise": True}) == ["/denoise"]
    assert stage.invalid("render.bake", {**BAKED, "type": "EMIT", "ao_distance": 1}) == ["/ao_distance"]


def test_ambient_occlusion_looks_as_far_as_is_said_and_says_when_it_sees_nothing(stage: Stage) -> None:
    given(
        stage,
        SHAPE,
        UVS,
        ("mesh.create_primitive", {"kind": "plane", "name": "Roof", "size": 9, "location": [0, 0, 1]}),
    )
    near = stage.do("render.bake", {**BAKED, "type": "AO", "ao_distance": 0.5})
    assert "white" in near["notes"][0] and middle() == pytest.approx((1, 1, 1))
    far = stage.do("render.bake", {**BAKED, "type": "AO", "ao_distance": 50, "samples": 16})
    assert max(middle()) < 0.5 and bpy.context.scene.world is None
    given(stage, ("mesh.create_primitive", {"kind": "plane", "name": "Lid", "size": 9, "location": [0, 0, 0.001]}))
    shut = stage.do("render.bake", {**BAKED, "type": "AO"})
    assert not far["notes"] and "black" in shut["notes"][0]


def test_what_was_baked_without_a_material_can_be_given_one(stage: Stage) -> None:
    """Blender leaves a slot on the object that its mesh does not have."""
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Bare"})
    stage.do("uv.unwrap", {"object": "Bare", "method": "smart"})
    stage.do("render.bake", {"object": "Bare", "type": "NORMAL", "image": "Bumps", "size": [8, 8], "samples": 1})
    stage.do("material.ensure_principled", {"name": "Paint", "textures": {"normal": "Bumps"}})
    assert stage.do("material.assign", {"object": "Bare", "material": "Paint"})["slot"] == 0
