"""Curves, actions and NLA strips: what is between the keys, who plays them, and that all of it is in the hash."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.blender.fingerprint.animation import action_curves
from tools.objects import box, empty, named

if TYPE_CHECKING:
    from support.stage.stage import Stage

BOX = {"object": "Box"}
KEYS = [
    {"channel": "location", "frame": 1, "value": [0, 0, 0]},
    {"channel": "location", "frame": 21, "value": [10, 0, 0]},
]
data: Any = bpy.data


def moving(stage: Stage) -> Any:
    obj = box(stage)
    stage.do("animation.set_keyframes", {**BOX, "keys": KEYS})
    return obj


def x_at(stage: Stage, frame: int, name: str = "Box") -> float:
    stage.do("animation.set_frame", {"frame": frame})
    bpy.context.view_layer.update()
    return named(name).matrix_world.translation.x


def curve(obj: Any, index: int = 0) -> Any:
    animation = obj.animation_data
    return list(action_curves(animation.action, getattr(animation, "action_slot", None)))[index]


# ---------------------------------------------------------------------- set_curves


def test_easing_decides_which_end_is_slow(stage: Stage) -> None:
    moving(stage)
    ways: dict[str, float] = {}
    for easing in ("EASE_IN", "EASE_OUT", "EASE_IN_OUT"):
        stage.do("animation.set_curves", {**BOX, "channel": "location", "interpolation": "QUAD", "easing": easing})
        ways[easing] = x_at(stage, 6)
    assert ways == pytest.approx({"EASE_IN": 10 / 16, "EASE_OUT": 10 * 7 / 16, "EASE_IN_OUT": 10 / 8}, abs=1e-4)
    stage.do("animation.set_curves", {**BOX, "interpolation": "CONSTANT"})
    assert x_at(stage, 20) == 0
    assert not stage.do("animation.set_curves", {**BOX, "interpolation": "CONSTANT"})["changed"]


def test_loops_go_on_for_ever_and_end(stage: Stage) -> None:
    moving(stage)
    stage.do("animation.set_curves", {**BOX, "interpolation": "LINEAR", "handles": "VECTOR"})
    for cycles, x in (("REPEAT", 2.5), ("REPEAT_OFFSET", 12.5), ("MIRROR", 7.5), ("NONE", 10)):
        stage.do("animation.set_curves", {**BOX, "cycles": cycles})
        assert x_at(stage, 26) == pytest.approx(x), cycles
    stage.do("animation.set_curves", {**BOX, "extrapolation": "LINEAR"})
    assert x_at(stage, 41) == pytest.approx(20)


def test_curves_that_are_not_there_or_not_its_own_are_refused(stage: Stage) -> None:
    box(stage)
    (finding,) = stage.refusal("animation.set_curves", {**BOX, "cycles": "REPEAT"})
    assert finding["pointer"] == "/object" and "set_keyframes" in finding["cure"]
    stage.do("animation.set_keyframes", {**BOX, "keys": KEYS})
    (finding,) = stage.refusal("animation.set_curves", {**BOX, "channel": "scale", "cycles": "REPEAT"})
    assert finding["pointer"] == "/channel"
    box(stage, "Twin")
    stage.do("animation.assign_action", {"object": "Twin", "action": "BoxAction"})
    assert stage.refusal("animation.set_curves", {**BOX, "cycles": "REPEAT"})[0]["pointer"] == "/object"
    stage.invalid("animation.set_curves", BOX)


# ---------------------------------------------------------------------- assign_action


def test_an_action_moves_another_object_shared_or_copied(stage: Stage) -> None:
    moving(stage)
    for name in ("Shared", "Own"):
        empty(stage, name)
    stage.do("animation.assign_action", {"object": "Shared", "action": "BoxAction"})
    stage.do("animation.assign_action", {"object": "Own", "action": "BoxAction", "copy_as": "OwnAction"})
    assert [x_at(stage, 21, name) for name in ("Shared", "Own")] == pytest.approx([10, 10])
    key = {"channel": "location", "frame": 21, "value": [5, 0, 0]}
    stage.do("animation.set_keyframe", {"object": "Own", **key})
    assert stage.refusal("animation.set_keyframe", {"object": "Shared", **key})[0]["pointer"] == "/object"
    assert [x_at(stage, 21, name) for name in ("Box", "Shared", "Own")] == pytest.approx([10, 10, 5])
    found = stage.do("animation.inspect", {})
    assert {one["name"]: one["users"] for one in found["actions"]} == {
        "BoxAction": ["Box", "Shared"],
        "OwnAction": ["Own"],
    }


def test_an_action_of_data_goes_to_data_and_one_that_fits_nothing_is_refused(stage: Stage) -> None:
    for name in ("Lamp", "Other"):
        stage.do("light.create", {"name": name, "type": "POINT"})
    stage.do("animation.set_keyframe", {"object": "Lamp", "channel": "light_energy", "frame": 1, "value": 7})
    stage.do("animation.assign_action", {"object": "Other", "action": "LampDataAction"})
    assert named("Other").data.animation_data.action.name == "LampDataAction" and named("Other").data.energy == 7
    box(stage)
    (finding,) = stage.refusal("animation.assign_action", {**BOX, "action": "LampDataAction"})
    assert finding["pointer"] == "/action"
    assert stage.refusal("animation.assign_action", {**BOX, "action": "LampAction"})[0]["pointer"] == "/action"


def test_what_moved_it_before_leaves_its_values_and_stays_an_action(stage: Stage) -> None:
    moving(stage)
    empty(stage)
    stage.do("animation.set_keyframe", {"object": "Pivot", "channel": "scale", "frame": 1, "value": [3, 3, 3]})
    stage.do("animation.set_frame", {"frame": 11})
    stage.do("animation.assign_action", {"object": "Box", "action": "PivotAction"})
    assert tuple(named("Box").scale) == (3, 3, 3) and named("Box").location.x == pytest.approx(5)
    assert "BoxAction" in data.actions


# ---------------------------------------------------------------------- add_strip


def test_strips_play_an_action_when_as_fast_and_as_often_as_asked(stage: Stage) -> None:
    moving(stage)
    stage.do("animation.set_curves", {**BOX, "interpolation": "LINEAR"})
    first = stage.do("animation.add_strip", {**BOX, "track": "Moves"})
    assert named("Box").animation_data.action is None and (first["frame_start"], first["frame_end"]) == (1, 21)
    again = {"action": "BoxAction", "track": "Moves", "start": 41, "scale": 0.5, "repeat": 2.0}
    second = stage.do("animation.add_strip", {**BOX, **again, "extrapolation": "NOTHING"})
    assert (second["frame_start"], second["frame_end"], second["new_track"]) == (41, 61, False)
    assert [x_at(stage, frame) for frame in (11, 31, 46, 56)] == pytest.approx([5, 10, 5, 5])
    stage.do("animation.add_strip", {**BOX, "action": "BoxAction", "track": "More", "blend": "ADD", "start": 1})
    assert x_at(stage, 11) == pytest.approx(10)
    (finding,) = stage.refusal("animation.add_strip", {**BOX, **again, "start": 60})
    assert finding["pointer"] == "/start"
    stage.do("animation.clear", {**BOX, "track": "More"})
    assert x_at(stage, 11) == pytest.approx(5)
    assert stage.refusal("animation.clear", {**BOX, "track": "Mores"})[0]["pointer"] == "/track"
    assert stage.refusal("animation.add_strip", {**BOX, "track": "Moves"})[0]["pointer"] == "/object"


def test_inspecting_tells_keys_loops_strips_and_drivers(stage: Stage) -> None:
    moving(stage)
    stage.do("animation.add_strip", {**BOX, "track": "Moves", "repeat": 2.0})
    scale = [{"channel": "scale", "frame": frame, "value": [frame, 1, 1]} for frame in (1, 5)]
    assert stage.refusal("animation.set_keyframes", {**BOX, "keys": scale})[0]["pointer"] == "/object", "name taken"
    stage.do("animation.set_keyframes", {**BOX, "action": "Pulse", "keys": scale})
    (finding,) = stage.refusal("animation.set_keyframes", {**BOX, "action": "Other", "keys": scale})
    assert finding["pointer"] == "/action" and "add_strip" in finding["cure"]
    stage.do("animation.set_curves", {**BOX, "cycles": "MIRROR"})
    stage.do("driver.set", {**BOX, "channel": "rotation_euler_deg", "axis": "X", "expression": "frame"})
    (one,) = stage.do("animation.inspect", BOX)["animated"]
    (channel,) = one["channels"]
    assert (channel["path"], channel["keys"], channel["frames"], channel["cycles"]) == ("scale", 2, [1, 5], "MIRROR")
    assert channel["values"] == [[1, 1, 1, 1], [5, 5, 1, 1]]
    (strip,) = one["strips"]
    assert (strip["track"], strip["action"], strip["frames"]) == ("Moves", "BoxAction", [1, 41])
    assert one["drivers"] == ["rotation_euler"]
    assert stage.refusal("animation.inspect", {"object": "Bx"})[0]["pointer"] == "/object"


# ---------------------------------------------------------------------- the hash


def strip_of(name: str) -> Any:
    return named(name).animation_data.nla_tracks[0].strips[0]


def _mute(of: Any) -> None:
    of.mute = True


def _in_key(name: str, value: Any) -> Callable[[], None]:
    return lambda: setattr(curve(named("Box")).keyframe_points[0], name, value)


def _in_strip(name: str, value: Any) -> Callable[[], None]:
    return lambda: setattr(strip_of("Strip"), name, value)


def _slot() -> None:
    action = data.actions["BoxAction"]
    if bpy.app.version < (4, 4, 0):
        action.use_frame_range = True
    else:
        action.slots.new(id_type="OBJECT", name="Another")


CHANGES: dict[str, Callable[[], None]] = {
    "interpolation": _in_key("interpolation", "SINE"),
    "easing": _in_key("easing", "EASE_OUT"),
    "value": _in_key("co", (1, 3)),
    "frame": _in_key("co", (2, 0)),
    "left handle": _in_key("handle_left_type", "FREE"),
    "place of a handle": _in_key("handle_right", (3, 9)),
    "amplitude": _in_key("amplitude", 0.5),
    "extrapolation": lambda: setattr(curve(named("Box")), "extrapolation", "LINEAR"),
    "muted curve": lambda: _mute(curve(named("Box"))),
    "loop": lambda: curve(named("Box")).modifiers.new("CYCLES") and None,
    "kind of loop": lambda: setattr(curve(named("Box"), 1).modifiers[0], "mode_after", "MIRROR"),
    "slot": _slot,
    "start of a strip": _in_strip("frame_start", -4),
    "speed of a strip": _in_strip("scale", 1.5),
    "repeat of a strip": _in_strip("repeat", 3),
    "blend of a strip": _in_strip("blend_type", "ADD"),
    "end of a strip": _in_strip("extrapolation", "NOTHING"),
    "blend out": _in_strip("blend_out", 3),
    "reverse": _in_strip("use_reverse", True),
    "muted track": lambda: _mute(named("Strip").animation_data.nla_tracks[0]),
    "name of a track": lambda: setattr(named("Strip").animation_data.nla_tracks[0], "name", "Other"),
}


def test_all_that_decides_an_animation_is_hashed_and_survives_saving(stage: Stage) -> None:
    moving(stage)
    empty(stage, "Strip")
    curve(named("Box"), 1).modifiers.new("CYCLES")
    stage.state.refresh()
    stage.do("animation.add_strip", {"object": "Strip", "action": "BoxAction", "track": "Moves"})
    stage.state.save(stage.scratch / "before.blend")
    before = stage.state.root()
    seen = {before: "nothing"}
    for name, change in CHANGES.items():
        stage.state.open(stage.scratch / "before.blend")
        assert stage.state.root() == before
        change()
        changed = stage.state.full_root()
        assert changed not in seen, f"{name} is as {seen.get(changed)}"
        seen[changed] = name
        stage.state.refresh()
        stage.state.save(stage.scratch / "after.blend")
        stage.state.open(stage.scratch / "after.blend")
        assert stage.state.root() == changed, f"{name} does not survive saving"
