"""The tools of placing: resting on surfaces, scattering, aligning and distributing."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.contracts.effects import Idempotence
from blendwright.tools.catalog import tools

if TYPE_CHECKING:
    from stage import Stage


def cube(stage: Stage, name: str, size: float = 2.0, **more: Any) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": name, "size": size, **more})


def bounds(stage: Stage, name: str) -> tuple[list[float], list[float]]:
    found = stage.do("mesh.measure", {"object": name})
    return found["bounds_min"], found["bounds_max"]


def place(name: str) -> Any:
    return bpy.data.objects[name].matrix_world.translation


# ---------------------------------------------------------------------- place.on_surface


def test_an_object_comes_to_rest_on_another(stage: Stage) -> None:
    cube(stage, "Table", location=[0, 0, 1])
    cube(stage, "Cup", 0.5, location=[0.3, 0.4, 7], rotation_euler_deg=[45, 0, 0])
    result = stage.do("place.on_surface", {"object": "Cup", "target": "Table"})
    assert result["moved"]
    assert result["point"] == pytest.approx([0.3, 0.4, 2])
    assert result["normal"] == pytest.approx([0, 0, 1])
    assert bounds(stage, "Cup")[0][2] == pytest.approx(2)
    assert result["location"] == pytest.approx([0.3, 0.4, 2 + 0.25 * math.sqrt(2)])
    assert list(bpy.data.objects["Cup"].rotation_euler) == pytest.approx([math.pi / 4, 0, 0], abs=1e-7)
    assert not stage.do("place.on_surface", {"object": "Cup", "target": "Table"})["moved"]


def test_the_surface_is_the_evaluated_one(stage: Stage) -> None:
    cube(stage, "Table")
    cube(stage, "Cup", 1)
    settings = {"type": "ARRAY", "count": 3, "constant_offset": [0, 0, 4]}
    stage.do("modifier.add", {"object": "Table", "name": "Floors", "settings": settings})
    stage.do("place.on_surface", {"object": "Cup", "target": "Table"})
    assert place("Cup").z == pytest.approx(9.5)


def test_an_object_hangs_below_and_keeps_a_gap(stage: Stage) -> None:
    cube(stage, "Ceiling", location=[0, 0, 5])
    cube(stage, "Lamp", 1)
    stage.do(
        "place.on_surface", {"object": "Lamp", "target": "Ceiling", "side": "bottom", "gap": 0.25, "at": [0.5, -0.5]}
    )
    assert tuple(place("Lamp")) == pytest.approx((0.5, -0.5, 3.25))


def test_contact_is_made_by_mesh_bounds_or_origin(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "plane", "name": "Floor", "size": 20})
    ball = {"kind": "ico_sphere", "subdivisions": 4, "name": "Ball", "rotation_euler_deg": [45, 0, 0]}
    stage.do("mesh.create_primitive", ball)
    heights: dict[str, float] = {}
    for contact in ("mesh", "bounds", "origin"):
        stage.do("place.on_surface", {"object": "Ball", "target": "Floor", "contact": contact})
        heights[contact] = place("Ball").z
    assert heights["mesh"] == pytest.approx(1, abs=0.01)
    assert heights["bounds"] == pytest.approx(math.sqrt(2), abs=0.01)
    assert heights["origin"] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("scale", [[1, 1, 1], [-1, 2, 1]])
def test_an_aligned_object_stands_upright_on_a_slope(stage: Stage, scale: list[float]) -> None:
    stage.do(
        "mesh.create_primitive",
        {"kind": "plane", "name": "Slope", "size": 20, "rotation_euler_deg": [30, 0, 0], "scale": scale},
    )
    cube(stage, "Box", 1, rotation_euler_deg=[0, 0, 20], scale=[1, 2, 3])
    args = {"object": "Box", "target": "Slope", "at": [1, 1], "align_to_normal": True}
    assert stage.call("place.on_surface", args, rehearse="inverse")["reverted_by"] == "inverse"
    result = stage.do("place.on_surface", args)
    normal = (0, -math.sin(math.radians(30)), math.cos(math.radians(30)))
    assert result["normal"] == pytest.approx(normal, abs=1e-5)
    matrix = bpy.data.objects["Box"].matrix_world
    assert tuple(matrix.col[2].xyz.normalized()) == pytest.approx(normal, abs=1e-5)
    assert tuple(matrix.to_scale()) == pytest.approx((1, 2, 3), abs=1e-5)
    middle = [point + 1.5 * part for point, part in zip(result["point"], normal, strict=True)]
    assert tuple(matrix.translation) == pytest.approx(middle, abs=1e-4)
    assert not stage.do("place.on_surface", args)["moved"]


def test_repetition_is_promised_where_the_place_is_fixed() -> None:
    tool = tools()["place.on_surface"]
    args: dict[str, Any] = {"object": "A", "target": "B"}

    def promise(**more: Any) -> Idempotence:
        return tool.idempotence_for(tool.args_model.model_validate({**args, **more}))

    assert promise() is Idempotence.IDEMPOTENT
    assert promise(align_to_normal=True, at=[0, 0]) is Idempotence.IDEMPOTENT
    assert promise(align_to_normal=True) is Idempotence.ACCUMULATING


def test_a_child_is_moved_in_the_world_whatever_its_parent(stage: Stage) -> None:
    cube(stage, "Table", location=[0, 0, 1])
    stage.do(
        "object.create_empty",
        {"name": "Pivot", "location": [3, 1, 0], "rotation_euler_deg": [0, 0, 90], "scale": [2, 2, 2]},
    )
    cube(stage, "Cup", 0.5, location=[0, 0, 3])
    bpy.data.objects["Cup"].parent = bpy.data.objects["Pivot"]
    stage.state.refresh()
    stage.do("place.on_surface", {"object": "Cup", "target": "Table", "at": [0.5, 0.25]})
    assert tuple(place("Cup")) == pytest.approx((0.5, 0.25, 2.5), abs=1e-5)


def test_what_cannot_rest_is_refused(stage: Stage) -> None:
    cube(stage, "Table")
    cube(stage, "Cup", location=[9, 0, 0])
    stage.do("object.create_empty", {"name": "Tip"})
    bpy.data.objects["Tip"].parent = bpy.data.objects["Cup"]
    child = bpy.data.objects.new("Tray", bpy.data.meshes["Table"])
    bpy.context.scene.collection.objects.link(child)
    child.parent = bpy.data.objects["Cup"]
    stage.state.refresh()
    cases = [
        ({"object": "Cup", "target": "Table"}, "SCENE_CONFLICT", "/object"),
        ({"object": "Cup", "target": "Table", "at": [1.5, 0]}, "SCENE_CONFLICT", "/at"),
        ({"object": "Cup", "target": "Cup"}, "SCENE_CONFLICT", "/target"),
        ({"object": "Cup", "target": "Tray"}, "SCENE_CONFLICT", "/target"),
        ({"object": "Cup", "target": "Tip"}, "SCENE_CONFLICT", "/target"),
        ({"object": "Cpu", "target": "Table"}, "TARGET_NOT_FOUND", "/object"),
        ({"object": "Cup", "target": "Tabel"}, "TARGET_NOT_FOUND", "/target"),
    ]
    for args, code, pointer in cases:
        finding = stage.refusal("place.on_surface", args)[0]
        assert (finding["code"], finding["pointer"]) == (code, pointer), args
        assert finding["cure"]


def test_what_has_no_surface_rests_on_its_origin(stage: Stage) -> None:
    cube(stage, "Table")
    stage.do("object.create_empty", {"name": "Tip", "location": [0, 0, 9]})
    stage.do("place.on_surface", {"object": "Tip", "target": "Table"})
    assert tuple(place("Tip")) == pytest.approx((0, 0, 1))


# ---------------------------------------------------------------------- place.scatter


@pytest.fixture
def ground(stage: Stage) -> Stage:
    stage.do("mesh.create_primitive", {"kind": "grid", "name": "Ground", "size": 10, "cells": 3})
    cube(stage, "Stone", 0.2, location=[50, 0, 0], scale=[1, 1, 2])
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
    cube(stage, "Stone", 0.1)
    stage.do(
        "place.scatter",
        {
            "source": "Stone",
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
    cube(stage, "Stone", 0.1)
    stage.do("place.scatter", {"source": "Stone", "target": "Tri", "count": 2000, "prefix": "Rock"})
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
        ({"source": "Ston"}, "TARGET_NOT_FOUND", "/source"),
        ({"collection": "Rocks"}, "TARGET_NOT_FOUND", "/collection"),
    ):
        (finding,) = ground.refusal("place.scatter", {**SCATTER, **wrong})
        assert (finding["code"], finding["pointer"]) == (code, pointer)
    assert ground.invalid("place.scatter", {**SCATTER, "count": 0}) == ["/count"]
    assert ground.invalid("place.scatter", {**SCATTER, "count": 10_001}) == ["/count"]
    assert ground.invalid("place.scatter", {**SCATTER, "seed": -1}) == ["/seed"]
    assert ground.invalid("place.scatter", {**SCATTER, "scale_range": [2, 1]})
    assert ground.invalid("place.scatter", {**SCATTER, "scale_range": [0, 1]}) == ["/scale_range/0"]


# ---------------------------------------------------------------------- place.align


def test_objects_are_aligned_by_their_bounds(stage: Stage) -> None:
    cube(stage, "Box", 2, location=[1, 2, 3])
    cube(stage, "Turned", 1, location=[9, 9, 9], rotation_euler_deg=[0, 0, 45])
    args = {"objects": ["Turned"], "axis": "X", "edge": "min", "reference": "Box", "reference_edge": "max"}
    assert stage.do("place.align", args)["moved"] == ["Turned"]
    assert bounds(stage, "Turned")[0][0] == pytest.approx(2, abs=1e-5)
    assert (place("Turned").y, place("Turned").z) == (9, 9)
    assert stage.do("place.align", args)["moved"] == []
    stage.do("place.align", {"objects": ["Turned"], "axis": "Y", "reference": "Box"})
    assert place("Turned").y == pytest.approx(2, abs=1e-5)
    both = {"objects": ["Box", "Turned"], "axis": "Z", "edge": "max", "value": 0.5}
    assert stage.do("place.align", both)["moved"] == ["Box", "Turned"]
    assert [bounds(stage, name)[1][2] for name in ("Box", "Turned")] == pytest.approx([0.5, 0.5])


def test_alignment_sees_what_modifiers_make(stage: Stage) -> None:
    cube(stage, "Box", 2)
    settings = {"type": "ARRAY", "count": 3, "constant_offset": [0, 0, 2]}
    stage.do("modifier.add", {"object": "Box", "name": "Up", "settings": settings})
    stage.do("place.align", {"objects": ["Box"], "axis": "Z", "edge": "max", "value": 0})
    assert place("Box").z == pytest.approx(-5)


def test_alignment_that_contradicts_itself_is_refused(stage: Stage) -> None:
    cube(stage, "Box")
    cube(stage, "Lid")
    bpy.data.objects["Lid"].parent = bpy.data.objects["Box"]
    stage.state.refresh()
    base: dict[str, Any] = {"axis": "X", "value": 0}
    for args, code, pointer in (
        ({**base, "objects": ["Box", "Lid"]}, "SCENE_CONFLICT", "/objects/1"),
        ({**base, "objects": ["Box", "Box"]}, "ARGS_INVALID", "/objects/1"),
        ({**base, "objects": ["Box", "Bix"]}, "TARGET_NOT_FOUND", "/objects/1"),
        ({"axis": "X", "objects": ["Box"], "reference": "Lid"}, "SCENE_CONFLICT", "/objects/0"),
        ({"axis": "X", "objects": ["Box"], "reference": "Lit"}, "TARGET_NOT_FOUND", "/reference"),
    ):
        (finding,) = stage.refusal("place.align", args)
        assert (finding["code"], finding["pointer"]) == (code, pointer)
    assert stage.invalid("place.align", {"axis": "X", "objects": ["Box"]})
    assert stage.invalid("place.align", {**base, "objects": ["Box"], "reference": "Lid"})
    assert stage.invalid("place.align", {**base, "objects": ["Box"], "reference_edge": "max"})
    assert stage.invalid("place.align", {**base, "objects": []}) == ["/objects"]


# ---------------------------------------------------------------------- place.distribute


@pytest.fixture
def row(stage: Stage) -> Stage:
    """Cubes of 1, 2 and 3 metres at 0, 9 and 4 along X."""
    for name, size, x in (("One", 1, 0), ("Two", 2, 9), ("Three", 3, 4)):
        cube(stage, name, size, location=[x, 0, 0])
    return stage


NAMES = ["One", "Two", "Three"]


def xs() -> list[float]:
    return [place(name).x for name in NAMES]


def test_centres_are_spaced_evenly_between_the_outermost(row: Stage) -> None:
    result = row.do("place.distribute", {"objects": NAMES, "axis": "X"})
    assert result == {"objects": ["One", "Three", "Two"], "moved": ["Three"]}
    assert xs() == pytest.approx([0, 9, 4.5])


def test_the_listed_order_can_be_kept(row: Stage) -> None:
    row.do("place.distribute", {"objects": NAMES, "axis": "X", "order": "given"})
    assert xs() == pytest.approx([0, 2, 4])


def test_gaps_are_spaced_evenly_or_fixed(row: Stage) -> None:
    # From -0.5 to 10 are 10.5 metres, of which the cubes take 6.
    args = {"objects": NAMES, "axis": "X", "spacing": "gaps"}
    row.do("place.distribute", args)
    assert xs() == pytest.approx([0, 9, 0.5 + 2.25 + 1.5])
    assert row.do("place.distribute", args)["moved"] == []
    row.do("place.distribute", {**args, "gap": 0.5})
    assert xs() == pytest.approx([0, 0.5 + 0.5 + 3 + 0.5 + 1, 0.5 + 0.5 + 1.5])


def test_objects_are_spread_between_two_points(row: Stage) -> None:
    row.do("place.distribute", {"objects": NAMES, "start": [0, 0, 0], "end": [4, 4, 8], "order": "given"})
    assert [tuple(place(name)) for name in NAMES] == [
        pytest.approx((0, 0, 0)),
        pytest.approx((2, 2, 4)),
        pytest.approx((4, 4, 8)),
    ]


def test_objects_that_do_not_fit_are_refused(row: Stage) -> None:
    row.do("object.transform", {"name": "Two", "location": [4.4, 0, 0]})
    (finding,) = row.refusal("place.distribute", {"objects": NAMES, "axis": "X", "spacing": "gaps"})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/spacing")
    (finding,) = row.refusal("place.distribute", {"objects": ["One", "Tow"], "axis": "X"})
    assert (finding["code"], finding["pointer"]) == ("TARGET_NOT_FOUND", "/objects/1")


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"axis": "X", "start": [0, 0, 0], "end": [1, 1, 1]},
        {"start": [0, 0, 0]},
        {"start": [0, 0, 0], "end": [1, 1, 1], "spacing": "gaps"},
        {"axis": "X", "gap": 1},
    ],
)
def test_one_way_of_distributing_is_asked_for(stage: Stage, wrong: dict[str, Any]) -> None:
    assert stage.invalid("place.distribute", {"objects": NAMES, **wrong})


# ---------------------------------------------------------------------- shapes that depend on their place


def cut(stage: Stage, name: str, cutter: str) -> None:
    settings = {"type": "BOOLEAN", "operation": "DIFFERENCE", "object": cutter}
    stage.do("modifier.add", {"object": name, "name": "Cut", "settings": settings})


def test_an_object_that_another_one_cuts_is_aligned_by_what_is_left_of_it(stage: Stage) -> None:
    cube(stage, "Wall")
    cube(stage, "Cutter", 4, location=[0, 0, 2.5])
    cut(stage, "Wall", "Cutter")
    assert bounds(stage, "Wall")[1][2] == pytest.approx(0.5)
    stage.do("place.align", {"objects": ["Wall"], "axis": "Z", "edge": "max", "value": 0.2})
    assert bounds(stage, "Wall")[1][2] == pytest.approx(0.2, abs=1e-5)


def test_an_object_that_is_cut_rests_on_what_is_left_of_it(stage: Stage) -> None:
    cube(stage, "Table", location=[0, 0, -1.3])
    cube(stage, "Foot")
    cube(stage, "Cutter", 4, location=[0, 0, -2.5])
    cut(stage, "Foot", "Cutter")
    assert bounds(stage, "Foot")[0][2] == pytest.approx(-0.5)
    stage.do("place.on_surface", {"object": "Foot", "target": "Table"})
    assert bounds(stage, "Foot")[0][2] == pytest.approx(-0.3, abs=1e-5)


def test_a_shape_that_never_comes_to_rest_is_said_to_depend_on_its_place(stage: Stage) -> None:
    """The cutter takes away all that reaches the place to align to."""
    cube(stage, "Wall")
    cube(stage, "Cutter", 4, location=[0, 0, 2.5])
    cut(stage, "Wall", "Cutter")
    found = stage.refusal("place.align", {"objects": ["Wall"], "axis": "Z", "edge": "max", "value": 0.9})
    assert "depends on where it is" in found[0]["message"] and found[0]["pointer"] == "/objects/0"
