"""physics.*: how bodies fall and cloth drapes, that nothing stays but what was asked for, and that another process finds the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.tools.animation_data import curve_list
from support.trees.node_trees import ways
from tools.objects import box, named

if TYPE_CHECKING:
    from support.stage.stage import Stage

TESTS = Path(__file__).parents[1]
Document = dict[str, Any]


def leftovers() -> list[str]:
    """What a simulation would leave behind."""
    kinds: Any = (bpy.data.scenes, bpy.data.collections)
    names = [block.name for kind in kinds for block in kind if block.name != "Scene"]
    rigid = [obj.name for obj in bpy.data.objects if obj.rigid_body is not None]
    cached = [one.name for obj in bpy.data.objects for one in obj.modifiers if one.type in ("CLOTH", "COLLISION")]
    return [*names, *rigid, *cached, *(["world"] if bpy.context.scene.rigidbody_world is not None else [])]


def tower(stage: Stage) -> list[str]:
    """Blocks with their origin at the bottom, turned so that they tumble."""
    names = [f"Block {number}" for number in range(6)]
    for number, name in enumerate(names):
        place = {"location": [0.1 * (number % 2), 0, 0.5 + 0.7 * number], "rotation_euler_deg": [10 * number, 15, 5]}
        stage.do("mesh.create_primitive", {"kind": "cube", "name": name, "size": 0.5, "origin": "bottom", **place})
    return names


def test_bodies_fall_onto_the_ground_and_every_frame_is_a_key(stage: Stage) -> None:
    names = tower(stage)
    told = stage.do("physics.simulate", {"objects": names, "ground": 0, "frames": [10, 109], "shape": "BOX"})
    assert told["actions"] == [f"{name}Action" for name in names] and not leftovers()
    assert all(one["at_rest"] for one in told["objects"]) and not told["notes"]
    scene = bpy.context.scene
    version: Any = _Version()  # all that is asked of a scene there
    for name, body in zip(names, told["objects"], strict=True):
        curves: Any = curve_list(version, named(name))
        assert [len(curve.keyframe_points) for curve in curves] == [100] * 6
        scene.frame_set(109)
        assert tuple(named(name).matrix_world.translation) == pytest.approx(body["location"], abs=1e-4)
        corners = [named(name).matrix_world @ vertex.co for vertex in named(name).data.vertices]
        assert min(corner.z for corner in corners) > -0.02, "nothing sinks into the ground"
    scene.frame_set(10)
    assert tuple(named("Block 2").location) == pytest.approx((0, 0, 1.9), abs=1e-4)
    # A frame of free fall at 24 frames a second.
    scene.frame_set(16)
    assert 1.9 - named("Block 2").location.z == pytest.approx(9.81 / 2 * (6 / 24) ** 2, rel=0.2)


class _Version:
    version = bpy.app.version


def test_only_the_place_of_rest_can_be_kept_and_settings_count(stage: Stage) -> None:
    stage.do(
        "mesh.create_primitive",
        {"kind": "cube", "name": "Ramp", "dimensions": [9, 2, 0.2], "rotation_euler_deg": [0, 20, 0]},
    )
    for name, y in (("Slides", -0.6), ("Stays", 0.6)):
        stage.do(
            "mesh.create_primitive",
            {"kind": "cube", "name": name, "size": 0.4, "location": [-2, y, 1.05], "rotation_euler_deg": [0, 20, 0]},
        )
    told = stage.do(
        "physics.simulate",
        {
            "objects": ["Slides", "Stays"], "obstacles": ["Ramp"], "frames": [1, 40], "keep": "rest", "shape": "BOX", "friction": 1,
            "bodies": [{"object": "Slides", "friction": 0}],
        },
    )  # fmt: skip
    slid, stayed = (one["distance"] for one in told["objects"])
    assert slid > 1.0 and stayed < 0.2
    assert told["actions"] == [] and not leftovers() and named("Slides").animation_data is None
    assert tuple(named("Slides").location) == pytest.approx(told["objects"][0]["location"])
    assert [obj.name for obj in bpy.data.objects if not obj.name.startswith("~bw~")] == ["Ramp", "Slides", "Stays"]


def test_a_quaternion_and_modifiers_are_followed(stage: Stage) -> None:
    box(stage, location=[0, 0, 3], rotation_euler_deg=[30, 20, 10])
    named("Box").rotation_mode = "QUATERNION"
    stage.state.refresh()
    stage.do("modifier.add", {"object": "Box", "name": "Row", "settings": {"type": "ARRAY", "count": 2}})
    stage.do("physics.simulate", {"objects": ["Box"], "ground": 0, "frames": [1, 60], "keep": "rest"})
    scene = bpy.context.scene
    scene.frame_set(scene.frame_current)
    shown: Any = named("Box").evaluated_get(bpy.context.evaluated_depsgraph_get())
    heights = [(shown.matrix_world @ vertex.co).z for vertex in shown.data.vertices]
    assert -0.05 < min(heights) < 0.05 and len(heights) == 16


def test_a_body_turns_about_its_middle_wherever_its_origin_is(stage: Stage) -> None:
    place = {"location": [0, 0, 1], "rotation_euler_deg": [30, 0, 0], "origin": "bottom"}
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Post", "dimensions": [0.5, 0.5, 2], **place})
    stage.do("physics.simulate", {"objects": ["Post"], "ground": 0, "keep": "rest"})
    bpy.context.view_layer.update()
    heights = sorted((named("Post").matrix_world @ vertex.co).z for vertex in named("Post").data.vertices)
    assert heights == pytest.approx([0.0] * 4 + [0.5] * 4, abs=0.02), (
        "it falls over, and does not stand up as a tumbler"
    )


def test_what_cannot_be_moved_is_refused(stage: Stage) -> None:
    box(stage, location=[0, 0, 3])
    box(stage, "Child", parent="Box")
    args = {"objects": ["Child"], "ground": 0}
    assert "has the parent" in stage.refusal("physics.simulate", args)[0]["message"]
    stage.do("animation.set_keyframe", {"object": "Box", "channel": "location", "frame": 1, "value": [0, 0, 0]})
    findings = stage.refusal("physics.simulate", {"objects": ["Box"], "obstacles": ["Nobody"]})
    assert {one["pointer"] for one in findings} == {"/objects/0", "/obstacles/0"}
    for wrong in (
        {"objects": ["A", "A"]},
        {"objects": ["A"], "bodies": [{"object": "B"}]},
        {"objects": ["A"], "frames": [10, 10]},
    ):
        stage.invalid("physics.simulate", wrong)


def test_cloth_hangs_from_its_pins_and_lies_on_what_is_below(stage: Stage) -> None:
    stage.do(
        "mesh.create_primitive", {"kind": "grid", "name": "Sheet", "size": 2, "cells": 12, "location": [0, 0, 1.1]}
    )
    stage.do("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball", "radius": 0.5, "location": [0, 0, 0.5]})
    told = stage.do("physics.drape", {"object": "Sheet", "obstacles": ["Ball"], "frames": 30})
    assert not leftovers() and 0.9 < told["stretch"] < 1.3
    points = [vertex.co + named("Sheet").location for vertex in named("Sheet").data.vertices]
    assert min(point.z for point in points) < 0.6, "its corners hang down"
    middle = min(points, key=lambda point: point.x**2 + point.y**2)
    assert middle.z > 0.99, "the ball carries its middle"
    assert all((point - named("Ball").location).length > 0.48 for point in points)
    flag = {"kind": "grid", "name": "Flag", "size": 1, "cells": 8, "scale": [2, 1, 1]}
    stage.do("mesh.create_primitive", flag)
    group = named("Flag").vertex_groups.new(name="Pole")
    edge = [vertex.index for vertex in named("Flag").data.vertices if vertex.co.x < -0.49]
    group.add(edge, 1.0, "REPLACE")
    stage.state.refresh()
    before = {index: tuple(named("Flag").data.vertices[index].co) for index in edge}
    told = stage.do("physics.drape", {"object": "Flag", "pins": "Pole", "frames": 30})
    assert told["lowest"] < -0.5
    for index, place in before.items():
        assert tuple(named("Flag").data.vertices[index].co) == pytest.approx(place, abs=1e-5)
    [finding] = stage.refusal("physics.drape", {"object": "Flag", "pins": "Pol"})
    assert (finding["pointer"], finding["cure"]) == ("/pins", "Did you mean 'Pole'?")


def outcomes(stage: Stage) -> list[str]:
    """Hashes after a pile of blocks and a cloth over them."""
    stage.state.reset()
    names = tower(stage)
    stage.do("physics.simulate", {"objects": names, "ground": 0, "frames": [1, 60], "bounce": 0.3})
    first = stage.state.full_root()
    stage.do(
        "mesh.create_primitive", {"kind": "grid", "name": "Sheet", "size": 3, "cells": 15, "location": [0, 0, 1.5]}
    )
    stage.do("physics.drape", {"object": "Sheet", "obstacles": names, "frames": 15, "self_collision": True})
    return [first, stage.state.full_root()]


def main(file: str) -> None:
    from support.stage.stage import Stage

    scratch = Path(file).with_suffix("")
    scratch.mkdir()
    Path(file).write_text(json.dumps(outcomes(Stage(scratch))))


@pytest.mark.slow
def test_another_process_finds_the_same(stage: Stage, tmp_path: Path) -> None:
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    file = tmp_path / "other.json"
    subprocess.run(
        [sys.executable, "-c", f"from tools.test_physics import main; main({str(file)!r})"],
        env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": path},
        check=True,
    )
    assert json.loads(file.read_text()) == outcomes(stage)


def test_a_set_up_stays_with_its_settings_and_playing_it_moves_no_hash(stage: Stage) -> None:
    box(stage, "Floor", dimensions=[4, 4, 0.2])
    box(stage, "Block", size=0.5, location=[0, 0, 2])
    call = {
        "objects": ["Block"],
        "obstacles": ["Floor"],
        "frames": [1, 40],
        "keep": "setup",
        "mass": 3,
        "friction": 0.8,
    }
    before = stage.state.root()
    if "memfile" in ways():
        rehearsed = stage.call("physics.simulate", call, rehearse="memfile")
        assert rehearsed["reverted_by"] == "memfile" and rehearsed["after"] == before == stage.state.full_root()
        assert not leftovers()
    told = stage.do("physics.simulate", call)
    assert told["bodies"] == "RigidBodyWorld" and "not deterministic" in told["notes"][0] and told["objects"] == []
    block, floor = named("Block").rigid_body, named("Floor").rigid_body
    assert (block.type, block.mass, block.kinematic, floor.type) == ("ACTIVE", 3.0, False, "PASSIVE")
    assert block.friction == pytest.approx(0.8)
    root = stage.state.full_root()
    stage.do("physics.simulate", call)
    assert stage.state.full_root() == root, "the same again changes nothing"
    scene = bpy.context.scene
    for frame in range(1, 41):
        scene.frame_set(frame)
    assert named("Block").matrix_world.translation.z == pytest.approx(0.35, abs=0.02), "it lies on the floor"
    scene.frame_set(1)
    assert stage.state.full_root() == root
    stage.do("physics.simulate", {**call, "mass": 4})
    assert stage.state.full_root() != root and named("Block").rigid_body.mass == 4.0


def test_bodies_that_are_kept_with_keyframes_follow_them_in_any_order_of_frames(stage: Stage) -> None:
    box(stage, "Floor", dimensions=[4, 4, 0.2])
    box(stage, "Block", size=0.5, location=[0, 0, 2])
    told = stage.do(
        "physics.simulate", {"objects": ["Block"], "obstacles": ["Floor"], "frames": [1, 40], "keep": "both"}
    )
    assert told["actions"] == ["BlockAction"] and named("Block").rigid_body.kinematic
    for frame in (40, 3, 40):
        bpy.context.scene.frame_set(frame)
        if frame == 40:
            place = tuple(named("Block").matrix_world.translation)
            assert place == pytest.approx(told["objects"][0]["location"], abs=1e-4)


def test_cloth_can_be_set_up_instead_of_draped(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "grid", "name": "Sheet", "size": 2, "cells": 8, "location": [0, 0, 1.2]})
    box(stage, "Table")
    call = {"object": "Sheet", "obstacles": ["Table"], "fabric": "silk", "frames": 30, "keep": "setup"}
    before = stage.state.root()
    if "memfile" in ways():
        rehearsed = stage.call("physics.drape", call, rehearse="memfile")
        assert rehearsed["reverted_by"] == "memfile" and rehearsed["after"] == before == stage.state.full_root()
    told = stage.do("physics.drape", call)
    cloth: Any = named("Sheet").modifiers[told["modifier"]]
    assert cloth.settings.mass == pytest.approx(0.15) and cloth.point_cache.frame_end == 30
    assert [each.type for each in named("Table").modifiers] == ["COLLISION"]
    root = stage.state.full_root()
    stage.do("physics.drape", {**call, "fabric": "leather"})
    assert stage.state.full_root() != root and len(named("Sheet").modifiers) == 1
    stage.do("modifier.remove", {"object": "Sheet", "modifier": told["modifier"]})
    assert not named("Sheet").modifiers


def test_what_cannot_stay_is_refused_before_blender(stage: Stage) -> None:
    box(stage, "Block")
    call = {"objects": ["Block"], "ground": 0, "keep": "setup"}
    assert stage.invalid("physics.simulate", call) == ["/ground"]
    # What is in the collection of the simulation becomes a body: one that is there already is not taken.
    stage.do("collection.create", {"name": "RigidBodyWorld"})
    (finding,) = stage.refusal("physics.simulate", {"objects": ["Block"], "keep": "setup"})
    assert finding["pointer"] == "/keep" and "RigidBodyWorld" in finding["message"]
