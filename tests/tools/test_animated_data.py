"""Keyframes of lights and cameras."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from tools.objects import box, named

if TYPE_CHECKING:
    from support.stage.stage import Stage


def lamp(stage: Stage) -> None:
    stage.do("light.create", {"name": "Lamp", "type": "POINT"})


def keyed(stage: Stage, name: str, channel: str, *values: Any) -> dict[str, Any]:
    """Keys at the frames 1, 11, 21 …, straight lines between them."""
    keys = [
        {"channel": channel, "frame": 1 + 10 * number, "value": value, "interpolation": "LINEAR"}
        for number, value in enumerate(values)
    ]
    return stage.do("animation.set_keyframes", {"object": name, "keys": keys})


def test_a_light_is_dimmed_and_changes_its_colour(stage: Stage) -> None:
    lamp(stage)
    assert keyed(stage, "Lamp", "light_energy", 0, 100)["action"] == "LampDataAction"
    keyed(stage, "Lamp", "light_color", [1, 0, 0], [0, 0, 1])
    bpy.context.scene.frame_set(6)
    assert named("Lamp").data.energy == pytest.approx(50)
    assert tuple(named("Lamp").data.color) == pytest.approx((0.5, 0, 0.5))


def test_a_lens_zooms_and_its_focus_is_pulled(stage: Stage) -> None:
    stage.do("camera.create", {"name": "Eye"})
    keyed(stage, "Eye", "camera_lens", 20, 40)
    keyed(stage, "Eye", "camera_focus_distance", 1, 3)
    keyed(stage, "Eye", "location", [0, 0, 0], [0, 0, 4])
    bpy.context.scene.frame_set(6)
    eye = named("Eye")
    assert (eye.data.lens, eye.data.dof.focus_distance, eye.location.z) == pytest.approx((30, 2, 2))
    assert eye.animation_data.action.name == "EyeAction" and eye.data.animation_data.action.name == "EyeDataAction"


def test_what_has_keys_is_not_set_and_clearing_them_sets_it_free(stage: Stage) -> None:
    lamp(stage)
    keyed(stage, "Lamp", "light_energy", 10, 100)
    brighter = {"object": "Lamp", "energy": 5}
    assert "animation.clear" in stage.refusal("light.set", brighter)[0]["cure"]
    assert stage.do("animation.clear", {"object": "Lamp"})["curves"] == 0
    cleared = stage.do("animation.clear", {"object": "Lamp", "channel": "light_energy"})
    assert (cleared["keys"], cleared["action_removed"]) == (2, "LampDataAction")
    stage.do("light.set", brighter)


def test_channels_go_with_types_and_values_with_channels(stage: Stage) -> None:
    box(stage)
    key: dict[str, Any] = {"object": "Box", "frame": 1}
    assert (
        stage.refusal("animation.set_keyframe", {**key, "channel": "light_energy", "value": 1})[0]["pointer"]
        == "/channel"
    )
    assert stage.refusal("animation.clear", {"object": "Box", "channel": "camera_lens"})[0]["pointer"] == "/channel"
    for channel, value in (("camera_lens", 0.5), ("light_color", [1, 1]), ("light_energy", [1]), ("light_energy", True),
                           ("light_color", [0, -1, 0])):  # fmt: skip
        assert stage.invalid("animation.set_keyframe", {**key, "channel": channel, "value": value}), channel
