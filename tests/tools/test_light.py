"""Peculiar behaviour of the light tools; what holds for all tools is in the conformance suite."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import bpy
import pytest

if TYPE_CHECKING:
    from support.stage.stage import Stage


def light(name: str) -> Any:
    blocks: Any = bpy.data.lights
    return blocks[name]


def test_settings_reach_the_light_in_blenders_units(stage: Stage) -> None:
    args = {"name": "Spot", "type": "SPOT", "energy": 50, "color": [1, 0.5, 0.25], "radius": 0.3, "cast_shadow": False}
    stage.do("light.create", {**args, "spot_angle_deg": 60, "spot_blend": 0.4})
    spot = light("Spot")
    assert (spot.type, spot.energy, spot.use_shadow) == ("SPOT", 50.0, False)
    assert (spot.shadow_soft_size, spot.spot_size, spot.spot_blend) == pytest.approx((0.3, math.radians(60), 0.4))
    assert tuple(spot.color) == (1.0, 0.5, 0.25)


@pytest.mark.parametrize(("kind", "energy"), [("POINT", 100.0), ("SUN", 1.0), ("SPOT", 100.0), ("AREA", 100.0)])
def test_the_energy_left_out_fits_the_type(stage: Stage, kind: str, energy: float) -> None:
    stage.do("light.create", {"name": "Lamp", "type": kind})
    assert light("Lamp").energy == energy


@pytest.mark.parametrize(
    ("kind", "argument", "value"),
    [
        ("SUN", "radius", 1),
        ("POINT", "angle_deg", 5),
        ("AREA", "spot_blend", 0.5),
        ("SPOT", "size", 2),
        ("POINT", "shape", "DISK"),
    ],
)
def test_a_setting_of_another_type_is_invalid(stage: Stage, kind: str, argument: str, value: Any) -> None:
    assert stage.invalid("light.create", {"name": "Lamp", "type": kind, argument: value}) == [f"/{argument}"]


def test_the_same_light_again_is_found_and_another_under_its_name_is_a_conflict(stage: Stage) -> None:
    args = {"name": "Panel", "type": "AREA", "shape": "DISK", "size": 2}
    assert stage.do("light.create", args)["created"] is True
    assert stage.do("light.create", args)["created"] is False
    findings = stage.refusal("light.create", {**args, "size": 3})
    assert [finding["pointer"] for finding in findings] == ["/name", "/size"]


def test_only_a_rectangle_and_an_ellipse_have_a_height(stage: Stage) -> None:
    panel = {"name": "Panel", "type": "AREA", "size": 2}
    assert stage.invalid("light.create", {**panel, "size_y": 1}) == ["/size_y"]
    assert stage.invalid("light.create", {**panel, "shape": "DISK", "size_y": 1}) == ["/size_y"]
    stage.do("light.create", panel)
    (finding,) = stage.refusal("light.set", {"object": "Panel", "size_y": 1})
    assert (finding["code"], finding["pointer"]) == ("ARGS_INVALID", "/size_y")
    stage.do("light.set", {"object": "Panel", "shape": "ELLIPSE", "size_y": 1})
    stage.do("light.set", {"object": "Panel", "size_y": 3})
    assert stage.refusal("light.set", {"object": "Panel", "shape": "DISK", "size_y": 1})[0]["pointer"] == "/size_y"


def test_the_softness_of_a_sun_is_not_set_by_its_size(stage: Stage) -> None:
    stage.do("light.create", {"name": "Sun", "type": "SUN"})
    (finding,) = stage.refusal("light.expose", {"object": "Sun", "softness": 3})
    assert (finding["code"], finding["pointer"]) == ("ARGS_INVALID", "/softness")
    stage.do("light.expose", {"object": "Sun"})


def test_set_changes_only_what_is_given(stage: Stage) -> None:
    stage.do("light.create", {"name": "Lamp", "type": "POINT", "energy": 10, "color": [1, 0, 0]})
    assert stage.do("light.set", {"object": "Lamp", "energy": 20})["changed"] is True
    assert (light("Lamp").energy, tuple(light("Lamp").color)) == (20.0, (1.0, 0.0, 0.0))
    assert stage.do("light.set", {"object": "Lamp", "energy": 20})["changed"] is False


def test_set_refuses_what_the_light_does_not_have(stage: Stage) -> None:
    stage.do("light.create", {"name": "Lamp", "type": "POINT"})
    stage.do("object.create_empty", {"name": "Pivot"})
    findings = stage.refusal("light.set", {"object": "Lamp", "angle_deg": 1, "size": 2})
    assert [finding["pointer"] for finding in findings] == ["/angle_deg", "/size"]
    assert stage.refusal("light.set", {"object": "Pivot", "energy": 1})[0]["code"] == "SCENE_CONFLICT"
    assert "'Lamp'" in stage.refusal("light.set", {"object": "Lump", "energy": 1})[0]["cure"]
