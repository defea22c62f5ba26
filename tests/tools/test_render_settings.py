"""Render settings: valid values are asked of this Blender, and what is written is what a file holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import pytest

if TYPE_CHECKING:
    from support.stage.stage import Stage


def scene() -> Any:
    return bpy.context.scene


def test_light_settings_reach_cycles(stage: Stage) -> None:
    args: dict[str, Any] = {"denoise": False, "viewport_denoise": True, "viewport_samples": 7, "noise_threshold": 0.05}
    stage.do(
        "scene.set_render", {**args, "bounces": {"total": 5, "transparent": 3}, "clamp_indirect": 4, "clamp_direct": 6}
    )
    cycles = scene().cycles
    held = (cycles.use_denoising, cycles.use_preview_denoising, cycles.preview_samples, cycles.max_bounces)
    assert held == (False, True, 7, 5)
    assert (cycles.transparent_max_bounces, cycles.sample_clamp_indirect, cycles.sample_clamp_direct) == (3, 4, 6)
    assert cycles.adaptive_threshold == pytest.approx(0.05)
    stage.do("scene.set_render", {"noise_threshold": 0})
    assert not cycles.use_adaptive_sampling


def test_a_border_is_a_part_of_the_picture_and_the_whole_is_none(stage: Stage) -> None:
    stage.do("scene.set_render", {"border": [0.1, 0.2, 0.5, 0.9], "crop": True})
    assert scene().render.use_border and scene().render.use_crop_to_border
    assert scene().render.border_max_y == pytest.approx(0.9)
    stage.do("scene.set_render", {"border": [0, 0, 1, 1]})
    assert not scene().render.use_border
    (finding,) = stage.refusal("scene.set_render", {"border": [0.5, 0, 0.5, 1]})
    assert finding["pointer"] == "/border"


def test_looks_are_those_of_the_view_transform(stage: Stage) -> None:
    stage.do("scene.set_color_management", {"view_transform": "AgX", "look": "Punchy"})
    assert scene().view_settings.look == "AgX - Punchy"
    (finding,) = stage.refusal("scene.set_color_management", {"look": "Punchier"})
    assert finding["pointer"] == "/look" and "Punchy" in finding["cure"]
    (finding,) = stage.refusal("scene.set_color_management", {"view_transform": "Agx"})
    assert finding["pointer"] == "/view_transform" and "AgX" in finding["cure"]
    stage.do("scene.set_color_management", {"view_transform": "Standard"})
    assert scene().view_settings.look == "None"
    (finding,) = stage.refusal("scene.set_color_management", {"look": "AgX - Punchy"})
    assert finding["pointer"] == "/look"


@pytest.mark.parametrize("first", ["PNG", "JPEG", "EXR", "EXR_MULTILAYER"])
@pytest.mark.parametrize("then", [{"format": "EXR", "depth": 32}, {"format": "JPEG"}, {"format": "PNG", "depth": 16}])
def test_any_output_format_is_taken_back_exactly(stage: Stage, first: str, then: dict[str, Any]) -> None:
    stage.do("scene.set_output", {"format": first})
    answer = stage.call("scene.set_output", then, rehearse="inverse")
    assert answer["reverted_by"] == "inverse", answer["message"]
    stage.do("scene.set_output", then)
    assert scene().render.image_settings.color_depth == str(then.get("depth", 8))


def test_a_still_has_the_bits_and_the_layers_that_were_asked_for(stage: Stage, tmp_path: Path) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    stage.do("scene.set_render", {"engine": "CYCLES", "samples": 1, "resolution": [32, 16]})
    stage.do("scene.set_passes", {"passes": ["Z", "CRYPTOMATTE_OBJECT", "DENOISING_DATA"]})
    before = stage.state.full_root()

    def render(path: str, **args: Any) -> bytes:
        made = stage.do("render.still", {"view": "ISO", "path": path, **args}, files={path: str(tmp_path / path)})
        assert (made["width"], made["height"]) == (32, 16)
        return (tmp_path / path).read_bytes()

    layers = render("a.exr", layers=True)
    assert b"CryptoObject00" in layers and b"Depth" in layers and b"Denoising" in layers
    assert b"CryptoObject00" not in render("b.exr", depth=32)
    assert render("c.png", depth=16)[24] == 16
    assert render("d.jpg", quality=50).startswith(b"\xff\xd8")
    assert stage.state.full_root() == before
    assert stage.invalid("render.still", {"view": "ISO", "path": "a.png", "layers": True}) == ["/layers"]
    assert stage.invalid("render.still", {"view": "ISO", "depth": 16}) == ["/depth"]


def test_an_object_can_be_hidden_from_some_rays(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    rays = {"camera": False, "shadow": False, "volume": False, "shadow_catcher": True}
    stage.do("object.set_visibility", {"object": "Box", **rays})
    objects: Any = bpy.data.objects
    box = objects["Box"]
    assert (box.visible_camera, box.visible_shadow, box.visible_volume_scatter) == (False, False, False)
    assert box.visible_glossy and box.is_shadow_catcher


def test_an_image_around_the_scene_lights_it(stage: Stage) -> None:
    stage.do("image.create", {"name": "Sky", "size": [8, 4], "float": True, "color": [2, 1, 0.5]})
    assert stage.do("scene.set_world", {"image": "Sky", "rotation_deg": 90, "strength": 2})["changed"] is True
    assert stage.do("scene.set_world", {"image": "Sky", "rotation_deg": 90})["changed"] is False
    assert stage.do("scene.set_world", {"image": "Sky"})["changed"] is True
    worlds: Any = bpy.data.worlds
    kinds = sorted(node.bl_idname for node in worlds["World"].node_tree.nodes)
    assert kinds.count("ShaderNodeTexEnvironment") == 1
    assert stage.invalid("scene.set_world", {"image": "Sky", "color": [1, 1, 1]}) == [""]
    (finding,) = stage.refusal("scene.set_world", {"image": "Nothing"})
    assert finding["pointer"] == "/image"


@pytest.mark.parametrize("form", ["JPEG", "EXR", "PNG"])
def test_an_output_of_layers_is_taken_back_to_whatever_it_was(stage: Stage, form: str) -> None:
    stage.do("scene.set_output", {"format": form})
    before = stage.state.full_root()
    assert stage.call("scene.set_output", {"format": "EXR_MULTILAYER"}, rehearse="inverse")["reverted_by"] == "inverse"
    assert stage.state.full_root() == before
