"""Copies scattered on a surface."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from tools.objects import box

if TYPE_CHECKING:
    from support.stage.stage import Stage


@pytest.fixture
def ground(stage: Stage) -> Stage:
    stage.do("mesh.create_primitive", {"kind": "grid", "name": "Ground", "size": 10, "cells": 3})
    box(stage, "Stone", 0.2, location=[50, 0, 0], scale=[1, 1, 2])
    return stage


SCATTER: dict[str, Any] = {"source": "Stone", "target": "Ground", "count": 40, "prefix": "Rock"}


def rocks() -> list[Any]:
    return [obj for obj in bpy.data.objects if obj.name.startswith("Rock_")]


def test_copies_share_the_data_lie_on_the_surface_and_are_numbered(ground: Stage) -> None:
    result = ground.do("place.scatter", SCATTER)
    assert result["objects"] == [f"Rock_{number:04d}" for number in range(1, 41)]
    assert [obj.name for obj in rocks()] == result["objects"]
    assert all(obj.data == bpy.data.meshes["Stone"] for obj in rocks())
    assert all(obj.location.z == pytest.approx(0, abs=1e-6) for obj in rocks())
    assert all(max(abs(obj.location.x), abs(obj.location.y)) <= 5 for obj in rocks())
    assert all(tuple(obj.scale) == pytest.approx((1, 1, 2)) for obj in rocks())
    assert len({round(obj.rotation_euler.z, 3) for obj in rocks()}) > 30
    assert len({tuple(obj.location) for obj in rocks()}) == 40


def test_equal_seeds_give_equal_places_and_others_do_not(ground: Stage) -> None:
    places: list[list[tuple[float, ...]]] = []
    for number, seed in enumerate((1, 1, 2)):
        names = ground.do("place.scatter", {**SCATTER, "prefix": f"Set{number}", "seed": seed})["objects"]
        places.append([tuple(bpy.data.objects[name].location) for name in names])
    assert places[0] == places[1] != places[2]


def test_an_option_does_not_move_the_copies(ground: Stage) -> None:
    plain = ground.do("place.scatter", SCATTER)["objects"]
    scaled = {**SCATTER, "prefix": "Other", "scale_range": [1, 3], "random_yaw": False, "align_to_normal": True}
    other = ground.do("place.scatter", scaled)["objects"]
    places = [[tuple(bpy.data.objects[name].location) for name in names] for names in (plain, other)]
    assert places[0] == places[1]


def test_a_scatter_is_repeated_without_effect_and_other_copies_are_a_conflict(ground: Stage) -> None:
    assert ground.do("place.scatter", SCATTER)["created"]
    once = ground.state.root()
    assert not ground.do("place.scatter", SCATTER)["created"]
    assert ground.state.root() == once
    (finding,) = ground.refusal("place.scatter", {**SCATTER, "seed": 9})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/prefix")
    (finding,) = ground.refusal("place.scatter", {**SCATTER, "count": 41})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/prefix")


def test_copies_keep_their_distance_or_the_call_is_refused(ground: Stage) -> None:
    ground.do("place.scatter", {**SCATTER, "min_distance": 0.9})
    near = min(math.dist(a.location, b.location) for a, b in itertools.combinations(rocks(), 2))
    assert near >= 0.9
    (finding,) = ground.refusal("place.scatter", {**SCATTER, "prefix": "More", "min_distance": 5})
    assert (finding["code"], finding["pointer"]) == ("ARGS_INVALID", "/min_distance")


def test_copies_fall_by_area_and_stand_by_the_normal(stage: Stage) -> None:
    # Two squares that face +X and +Z, the second with nine times the area, under a mirroring scale.
    vertices = [[0, 0, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [5, 0, 0], [8, 0, 0], [8, 3, 0], [5, 3, 0]]
    faces = [[0, 1, 2, 3], [4, 5, 6, 7]]
    stage.do("mesh.create", {"name": "Two", "vertices": vertices, "faces": faces, "scale": [1, -1, 1]})
    box(stage, "Stone", 0.1)
    stage.do(
        "place.scatter",
        {
            "object": "Stone",
            "target": "Two",
            "count": 1000,
            "prefix": "Rock",
            "align_to_normal": True,
            "scale_range": [0.5, 2],
        },
    )
    bpy.context.view_layer.update()
    wall = [obj for obj in rocks() if obj.location.x < 1]
    floor = [obj for obj in rocks() if obj.location.x > 1]
    assert 70 <= len(wall) <= 130
    assert all(obj.matrix_world.col[2].xyz.normalized().x > 0.999 for obj in wall)
    assert all(obj.matrix_world.col[2].xyz.normalized().z > 0.999 for obj in floor)
    scales = [obj.scale.x for obj in rocks()]
    assert 0.5 <= min(scales) < 0.6
    assert 1.9 < max(scales) <= 2


def test_copies_are_spread_evenly_within_a_face(stage: Stage) -> None:
    stage.do("mesh.create", {"name": "Tri", "vertices": [[0, 0, 0], [3, 0, 0], [0, 3, 0]], "faces": [[0, 1, 2]]})
    box(stage, "Stone", 0.1)
    stage.do("place.scatter", {"object": "Stone", "target": "Tri", "count": 2000, "prefix": "Rock"})
    middle = [sum(obj.location[axis] for obj in rocks()) / 2000 for axis in (0, 1)]
    assert middle == pytest.approx([1, 1], abs=0.06)


def test_copies_go_to_their_collection_above_the_surface(ground: Stage) -> None:
    ground.do("collection.create", {"name": "Rocks"})
    ground.do("place.scatter", {**SCATTER, "collection": "Rocks", "offset": 0.5})
    assert len(bpy.data.collections["Rocks"].objects) == 40
    assert all(obj.location.z == pytest.approx(0.5) for obj in rocks())


def test_copies_of_a_hidden_parented_and_keyed_model_stand_by_themselves(ground: Stage) -> None:
    ground.do("object.create_empty", {"name": "Pivot", "location": [3, 3, 3]})
    stone = bpy.data.objects["Stone"]
    stone.keyframe_insert("location", frame=1)
    stone.hide_viewport = stone.hide_render = True
    stone.delta_location = (9, 9, 9)
    stone.parent = bpy.data.objects["Pivot"]
    stone.constraints.new("LIMIT_LOCATION")
    ground.state.refresh()
    assert ground.call("place.scatter", SCATTER, rehearse="inverse")["reverted_by"] == "inverse"
    ground.do("place.scatter", SCATTER)
    bpy.context.view_layer.update()
    for rock in rocks():
        assert rock.parent is None
        assert rock.animation_data is None
        assert not rock.hide_viewport
        assert tuple(rock.matrix_world.translation) == pytest.approx(tuple(rock.location))
    assert stone.animation_data is not None


def test_what_cannot_be_scattered_is_refused(ground: Stage) -> None:
    ground.do("object.create_empty", {"name": "Tip"})
    for wrong, code, pointer in (
        ({"target": "Tip"}, "SCENE_CONFLICT", "/target"),
        ({"target": "Grund"}, "TARGET_NOT_FOUND", "/target"),
        ({"source": "Ston"}, "TARGET_NOT_FOUND", "/object"),
        ({"collection": "Rocks"}, "TARGET_NOT_FOUND", "/collection"),
    ):
        (finding,) = ground.refusal("place.scatter", {**SCATTER, **wrong})
        assert (finding["code"], finding["pointer"]) == (code, pointer)
    assert ground.invalid("place.scatter", {**SCATTER, "count": 0}) == ["/count"]
    assert ground.invalid("place.scatter", {**SCATTER, "count": 10_001}) == ["/count"]
    assert ground.invalid("place.scatter", {**SCATTER, "seed": -1}) == ["/seed"]
    assert ground.invalid("place.scatter", {**SCATTER, "scale_range": [2, 1]})
    assert ground.invalid("place.scatter", {**SCATTER, "scale_range": [0, 1]}) == ["/scale_range/0"]
