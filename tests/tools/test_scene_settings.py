"""Peculiar behaviour of the tools that set up the scene; what holds for all tools is in the conformance suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.blender.step_modes import HAS_UNDO

if TYPE_CHECKING:
    from support.stage.stage import Stage


def scene() -> Any:
    return bpy.context.scene


# ---------------------------------------------------------------------- frame range


@pytest.mark.parametrize("new", [(300, 400), (0, 0), (10, 20), (250, 250)])
def test_any_range_can_follow_any_other_and_be_reverted(stage: Stage, new: tuple[int, int]) -> None:
    stage.do("scene.set_frame_range", {"start": 100, "end": 200})
    args = {"start": new[0], "end": new[1]}
    assert stage.call("scene.set_frame_range", args, rehearse="inverse")["reverted_by"] == "inverse"
    assert (scene().frame_start, scene().frame_end) == (100, 200)
    stage.do("scene.set_frame_range", args)
    assert (scene().frame_start, scene().frame_end) == new


def test_a_range_that_ends_before_it_starts_is_invalid(stage: Stage) -> None:
    assert stage.invalid("scene.set_frame_range", {"start": 2, "end": 1}) == ["/end"]


# ---------------------------------------------------------------------- units


@pytest.mark.parametrize("system", ["METRIC", "IMPERIAL"])
def test_there_is_a_way_back_from_no_system(stage: Stage, system: str) -> None:
    stage.do("scene.set_units", {"system": "NONE"})
    for way in ("inverse", "memfile") if HAS_UNDO else ("inverse",):
        assert stage.call("scene.set_units", {"system": system}, rehearse=way)["reverted_by"] == way
    stage.do("scene.set_units", {"system": system})
    assert scene().unit_settings.system == system


def test_changing_the_system_is_reverted_with_the_units_that_follow_it(stage: Stage) -> None:
    scene().unit_settings.mass_unit = "GRAMS"
    stage.state.refresh()
    stage.do("scene.set_units", {"length_unit": "CENTIMETERS"})
    answer = stage.call("scene.set_units", {"system": "IMPERIAL", "length_unit": "INCHES"}, rehearse="inverse")
    assert answer["reverted_by"] == "inverse"
    units = scene().unit_settings
    assert (units.system, units.length_unit, units.mass_unit) == ("METRIC", "CENTIMETERS", "GRAMS")


def test_a_unit_must_belong_to_the_system(stage: Stage) -> None:
    (finding,) = stage.refusal("scene.set_units", {"length_unit": "FEET"})
    assert (finding["pointer"], finding["code"]) == ("/length_unit", "ARGS_INVALID")
    assert "CENTIMETERS" in finding["cure"]
    stage.do("scene.set_units", {"system": "IMPERIAL", "length_unit": "FEET", "scale": 0.3048})
    assert scene().unit_settings.scale_length == pytest.approx(0.3048)


# ---------------------------------------------------------------------- render settings


def test_engines_have_the_same_names_in_every_blender(stage: Stage) -> None:
    eevee = "BLENDER_EEVEE" if bpy.app.version >= (5, 0, 0) else "BLENDER_EEVEE_NEXT"
    for name, identifier in (("WORKBENCH", "BLENDER_WORKBENCH"), ("CYCLES", "CYCLES"), ("EEVEE", eevee)):
        stage.do("scene.set_render", {"engine": name})
        assert scene().render.engine == identifier


def test_samples_go_to_the_engine_that_is_or_becomes_the_scenes(stage: Stage) -> None:
    stage.do("scene.set_render", {"engine": "CYCLES", "samples": 17, "seed": 5})
    stage.do("scene.set_render", {"engine": "EEVEE", "samples": 9})
    assert (scene().cycles.samples, scene().cycles.seed, scene().eevee.taa_render_samples) == (17, 5, 9)
    (finding,) = stage.refusal("scene.set_render", {"engine": "WORKBENCH", "samples": 3})
    assert finding["pointer"] == "/samples"


def test_cycles_settings_of_a_fresh_scene_are_reverted_to_nothing(stage: Stage) -> None:
    before = stage.state.full_root()
    args = {"engine": "CYCLES", "samples": 17, "seed": 5}
    assert stage.call("scene.set_render", args, rehearse="inverse")["reverted_by"] == "inverse"
    assert stage.state.full_root() == before
    assert (scene().cycles.samples, scene().cycles.seed) == (4096, 0)
    assert stage.state.full_root() == before


@pytest.mark.parametrize(("fps", "held"), [(25, (25, 1.0)), (23.976, (24, 24 / 23.976)), (0.5, (1, 2.0))])
def test_frame_rates_are_kept_as_a_ratio(stage: Stage, fps: float, held: tuple[int, float]) -> None:
    stage.do("scene.set_render", {"fps": fps})
    assert (scene().render.fps, scene().render.fps_base) == pytest.approx(held)


def test_resolution_is_in_whole_pixels_within_limits(stage: Stage) -> None:
    assert stage.invalid("scene.set_render", {"resolution": [3, 100]}) == ["/resolution/0"]
    stage.do("scene.set_render", {"resolution": [100, 50], "percentage": 50, "film_transparent": True})
    assert (scene().render.resolution_x, scene().render.resolution_y) == (100, 50)


# ---------------------------------------------------------------------- world


def background() -> Any:
    return scene().world.node_tree.nodes["Background"].inputs


def test_a_scene_without_a_world_gets_one(stage: Stage) -> None:
    assert scene().world is None
    result = stage.do("scene.set_world", {"color": [0.1, 0.2, 0.3], "strength": 2})
    assert result == {"world": "World", "created": True, "changed": True}
    assert tuple(background()["Color"].default_value)[:3] == pytest.approx((0.1, 0.2, 0.3))
    assert background()["Strength"].default_value == 2.0
    assert tuple(scene().world.color) == pytest.approx((0.1, 0.2, 0.3))


def test_the_scenes_own_world_is_changed_and_another_takes_its_place_by_name(stage: Stage) -> None:
    stage.do("scene.set_world", {"name": "Day", "color": [1, 1, 1]})
    assert stage.do("scene.set_world", {"strength": 0.5}) == {"world": "Day", "created": False, "changed": True}
    assert stage.do("scene.set_world", {"name": "Night", "strength": 0})["created"] is True
    worlds: Any = bpy.data.worlds
    assert worlds["Day"].use_fake_user
    assert stage.do("scene.set_world", {"name": "Day"})["created"] is False
    assert scene().world.name == "Day"


def test_a_new_world_does_not_take_over_one_that_the_scene_does_not_use(stage: Stage) -> None:
    worlds: Any = bpy.data.worlds
    worlds.new("World").use_fake_user = True
    stage.state.refresh()
    (finding,) = stage.refusal("scene.set_world", {"strength": 1})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/name")


def test_a_world_with_other_nodes_is_refused(stage: Stage) -> None:
    stage.do("scene.set_world", {"strength": 1})
    tree = scene().world.node_tree
    tree.links.new(tree.nodes.new("ShaderNodeTexSky").outputs[0], tree.nodes["Background"].inputs["Color"])
    stage.state.refresh()
    assert stage.refusal("scene.set_world", {"color": [0, 0, 0]})[0]["pointer"] == "/color"
    tree = scene().world.node_tree
    tree.nodes.remove(tree.nodes["Background"])
    stage.state.refresh()
    assert stage.refusal("scene.set_world", {"strength": 1})[0]["code"] == "SCENE_CONFLICT"
