"""Values that evaluation writes stay out of the hash, and only those: at every frame it is the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import scene_parts as parts
from scene_parts import context, data, ops

from blendwright.blender import fingerprint

SCENE = {("scenes", "Scene")}


def keyed_bone() -> Any:
    """A bone that is as new at frame 1, and not at frame 11."""
    rig = parts.armature()
    parts.keyed(rig.pose.bones["Tip"])
    context.scene.frame_set(1)
    return rig


def emitter() -> Any:
    owner = parts.cube()
    owner.modifiers.new("Particles", "PARTICLE_SYSTEM")
    return owner


def test_a_keyed_bone_hashes_alike_at_every_frame(tmp_path: Path) -> None:
    parts.empty_scene()
    rig = keyed_bone()
    first = parts.hashes()
    context.scene.frame_set(11)
    assert rig.pose.bones["Tip"].location.x == 10
    assert parts.changed(first, parts.hashes()) == SCENE
    assert fingerprint.leaf(rig) == first["objects", "Rig"]
    before = parts.hashes()
    path = str(tmp_path / "saved.blend")
    ops.wm.save_as_mainfile(filepath=path, copy=True)
    ops.wm.open_mainfile(filepath=path, use_scripts=False)
    assert parts.changed(before, parts.hashes()) == set()


def test_what_is_not_keyed_of_a_keyed_bone_counts() -> None:
    parts.empty_scene()
    rig = keyed_bone()
    before = parts.hashes()
    rig.pose.bones["Tip"].location.y = 2
    assert parts.changed(before, parts.hashes()) == {("objects", "Rig")}


def test_a_keyed_bone_hashes_alike_before_its_pose_is_made() -> None:
    parts.empty_scene()
    rig = keyed_bone()
    other: Any = parts.linked("Other", rig.data)
    other.animation_data_create().action = rig.animation_data.action
    if hasattr(other.animation_data, "action_slot"):
        other.animation_data.action_slot = rig.animation_data.action_slot
    assert other.pose is None or not len(other.pose.bones)
    before = parts.hashes()
    context.view_layer.update()
    context.scene.frame_set(1)
    assert len(data.objects["Other"].pose.bones) == 2
    assert parts.changed(before, parts.hashes()) == set()


def test_the_range_of_a_cache_follows_the_scene_unhashed() -> None:
    parts.empty_scene()
    owner = emitter()
    context.view_layer.update()
    before = parts.hashes()
    context.scene.frame_end = 9
    context.scene.frame_set(4)
    assert owner.particle_systems[0].point_cache.frame_end == 9
    assert parts.changed(before, parts.hashes()) == SCENE
    before = parts.hashes()
    owner.particle_systems[0].point_cache.frame_step = 3
    assert parts.changed(before, parts.hashes()) == {("objects", "Cube")}


def by_strip(mute_track: bool = False, use_nla: bool = True) -> Callable[[Any], None]:
    def prepare(owner: Any) -> None:
        animation = owner.animation_data
        action = animation.action
        animation.action = None
        track = animation.nla_tracks.new()
        track.strips.new("Strip", 1, action)
        track.mute, animation.use_nla = mute_track, use_nla

    return prepare


def without_keys(owner: Any) -> None:
    points = parts.curves_of(owner)[0].keyframe_points
    while len(points):
        points.remove(points[0])


def generated(owner: Any) -> None:
    parts.curves_of(owner)[0].modifiers.new("GENERATOR")
    without_keys(owner)


def out_of_range(owner: Any) -> None:
    curves = parts.curves_of(owner)
    curves.remove(curves[0])
    curves.new("location", index=7).keyframe_points.insert(1, 5)


# How -> whether evaluation writes location.x.
WAYS: dict[str, tuple[Callable[[Any], None], bool]] = {
    "keyed": (lambda _: None, True),
    "by a strip": (by_strip(), True),
    "by a muted track": (by_strip(mute_track=True), False),
    "by a strip while strips are off": (by_strip(use_nla=False), False),
    "without keys": (without_keys, False),
    "without keys, by a generator": (generated, True),
    "at an index that is not there": (out_of_range, False),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_value_counts_unless_evaluation_writes_it(way: str) -> None:
    prepare, writes = WAYS[way]
    parts.empty_scene()
    owner = parts.keyed()
    prepare(owner)
    context.scene.frame_set(1)
    before = parts.hashes()
    owner.location.x = 7
    assert fingerprint.leaf(owner) == parts.hashes()["objects", "Empty"]
    assert parts.changed(before, parts.hashes()) == (set() if writes else {("objects", "Empty")})
    context.scene.frame_set(2)
    context.scene.frame_set(1)
    assert (owner.location.x != 7) is writes, "what Blender itself does with it"


def test_a_curve_past_the_end_of_a_vector_hides_nothing() -> None:
    parts.empty_scene()
    owner = parts.keyed()
    out_of_range(owner)
    for name in ("rotation_euler", "rotation_axis_angle", "rotation_quaternion", "scale", "delta_location", "color"):
        vector = getattr(owner, name)
        for index in range(len(vector)):
            before = fingerprint.leaf(owner)
            vector[index] += 0.25
            assert fingerprint.leaf(owner) != before, (name, index)


def test_an_index_of_a_single_number_means_nothing() -> None:
    parts.empty_scene()
    owner = parts.keyed()
    curves = parts.curves_of(owner)
    curves.new("pass_index", index=2).keyframe_points.insert(1, 5)
    context.scene.frame_set(1)
    assert owner.pass_index == 5
    before = parts.hashes()
    owner.pass_index = 6
    assert parts.changed(before, parts.hashes()) == set()
