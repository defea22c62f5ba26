"""Peculiar behaviour of object.apply_transform and object.set_origin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from tools.objects import box, empty, named

if TYPE_CHECKING:
    from support.stage.stage import Stage

PLACED: dict[str, Any] = {"location": [1, 2, 3], "rotation_euler_deg": [0, 30, 45], "scale": [2, 1, 0.5]}


def corners(name: str) -> list[Any]:
    """Where the vertices are in the world, in their order."""
    bpy.context.view_layer.update()
    obj = named(name)
    return [tuple(obj.matrix_world @ vertex.co) for vertex in obj.data.vertices]


def faces_point_outwards(name: str) -> bool:
    obj = named(name)
    mesh = obj.data
    centre = sum((vertex.co for vertex in mesh.vertices[1:]), mesh.vertices[0].co.copy()) / len(mesh.vertices)
    return all((face.center - centre).dot(face.normal) > 0 for face in mesh.polygons)


def near(one: list[Any], other: list[Any]) -> bool:
    pairs = zip(one, other, strict=True)
    return all(first == pytest.approx(second, abs=1e-5) for first, second in pairs)


PARTS = [
    {},
    {"location": False},
    {"rotation": False},
    {"scale": False},
    {"location": False, "rotation": False},
    {"location": False, "scale": False},
    {"rotation": False, "scale": False},
]


CASES: list[tuple[dict[str, bool], str]] = [
    *((parts, "XYZ") for parts in PARTS),
    ({}, "QUATERNION"),
    ({"scale": False}, "AXIS_ANGLE"),
]


@pytest.mark.parametrize(("parts", "mode"), CASES)
def test_the_applied_channels_are_neutral_and_nothing_moves(stage: Stage, parts: dict[str, bool], mode: str) -> None:
    obj = box(stage, **PLACED)
    empty(stage, "Tip", location=[0, 0, 2], parent="Box")
    obj.rotation_mode = mode
    obj.delta_location = (0.5, 0, 0)
    stage.state.refresh()
    before, tip = corners("Box"), named("Tip").matrix_world.copy()
    stage.do("object.apply_transform", {"object": "Box", **parts})
    assert near(corners("Box"), before)
    assert near(list(map(tuple, named("Tip").matrix_world)), list(map(tuple, tip)))
    obj = named("Box")
    basis = obj.matrix_basis
    if parts.get("location", True):
        assert tuple(basis.translation) == (0, 0, 0)
    if parts.get("rotation", True):
        assert near([basis[0][1], basis[1][0], basis[2][0]], [0, 0, 0])
    if parts.get("scale", True):
        assert tuple(obj.scale) == (1, 1, 1)
    else:
        assert tuple(obj.scale) == (2, 1, 0.5)


@pytest.mark.parametrize("scale", [[-1, 1, 1], [-2, -1, -3], [-1, -1, 1]])
def test_faces_still_point_outwards_after_a_mirroring_scale(stage: Stage, scale: list[float]) -> None:
    box(stage, scale=scale)
    result = stage.do("object.apply_transform", {"object": "Box"})
    assert result["flipped"] is (scale != [-1, -1, 1])
    assert faces_point_outwards("Box")


def test_a_single_mirrored_axis_keeps_the_rotation_that_is_left(stage: Stage) -> None:
    box(stage, rotation_euler_deg=[0, 30, 45], scale=[1, 1, -1])
    before = corners("Box")
    stage.do("object.apply_transform", {"object": "Box", "rotation": False, "location": False})
    assert near(corners("Box"), before)


def test_shape_keys_are_transformed_too(stage: Stage) -> None:
    obj = box(stage, scale=[2, 2, 2])
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Tall").data[0].co.z = -5
    stage.state.refresh()
    stage.do("object.apply_transform", {"object": "Box"})
    assert named("Box").data.shape_keys.key_blocks["Tall"].data[0].co.z == pytest.approx(-10)


def test_shared_geometry_is_refused_unless_it_is_made_single(stage: Stage) -> None:
    box(stage, scale=[2, 2, 2])
    stage.do("object.duplicate", {"object": "Box", "new_name": "Twin"})
    (finding,) = stage.refusal("object.apply_transform", {"object": "Twin"})
    assert finding["pointer"] == "/make_single_user" and "'Box'" in finding["message"]
    twins = corners("Box")
    result = stage.do("object.apply_transform", {"object": "Twin", "make_single_user": True})
    assert result["data"] == named("Twin").data.name == "Twin"
    assert named("Box").data.name == "Box" and near(corners("Box"), twins)


def test_an_animated_channel_is_refused_and_one_that_is_not_applied_does_not_matter(stage: Stage) -> None:
    box(stage, scale=[2, 2, 2])
    stage.do("animation.set_keyframe", {"object": "Box", "channel": "location", "frame": 1, "value": [0, 0, 0]})
    assert stage.refusal("object.apply_transform", {"object": "Box"})[0]["pointer"] == "/location"
    stage.do("object.apply_transform", {"object": "Box", "location": False})


def test_a_scale_of_zero_other_types_and_nothing_asked_are_refused(stage: Stage) -> None:
    box(stage, scale=[1, 0, 1])
    assert "scale of zero" in stage.refusal("object.apply_transform", {"object": "Box"})[0]["message"]
    empty(stage)
    assert "type EMPTY" in stage.refusal("object.apply_transform", {"object": "Pivot"})[0]["message"]
    assert stage.invalid(
        "object.apply_transform", {"object": "Box", "location": False, "rotation": False, "scale": False}
    )


def test_a_constraint_that_would_move_it_is_met_and_all_is_taken_back(stage: Stage) -> None:
    obj = box(stage, location=[1, 0, 0])
    obj.constraints.new("LIMIT_LOCATION").use_min_x = True
    obj.constraints[0].min_x = 5
    stage.state.refresh()
    assert "constraint" in stage.refusal("object.apply_transform", {"object": "Box"})[0]["message"]


def test_modifiers_in_units_of_the_object_are_named(stage: Stage) -> None:
    box(stage, scale=[2, 2, 2])
    stage.do("modifier.add", {"object": "Box", "name": "Edges", "settings": {"type": "BEVEL"}})
    assert stage.do("object.apply_transform", {"object": "Box"})["modifiers"] == ["Edges"]


def test_curves_are_transformed_and_flat_ones_stay_in_their_plane(stage: Stage) -> None:
    points = [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
    stage.do("curve.create", {"name": "Wire", "kind": "POLY", "points": points, "scale": [2, 2, 2]})
    stage.do("object.apply_transform", {"object": "Wire"})
    assert tuple(named("Wire").data.splines[0].points[2].co[:3]) == (2, 2, 0)
    named("Wire").data.dimensions = "2D"
    stage.state.refresh()
    stage.do("object.transform", {"object": "Wire", "rotation_euler_deg": [90, 0, 0]})
    assert "two-dimensional" in stage.refusal("object.apply_transform", {"object": "Wire"})[0]["message"]
    stage.do("object.transform", {"object": "Wire", "rotation_euler_deg": [0, 0, 90]})
    stage.do("object.apply_transform", {"object": "Wire"})


# ---------------------------------------------------------------------- of several


def test_several_are_applied_in_one_call_and_nothing_moves_also_where_one_is_the_parent_of_another(
    stage: Stage,
) -> None:
    box(stage, **PLACED)
    box(stage, "Lid", parent="Box", location=[0, 0, 3], scale=[1, -2, 1])
    box(stage, "Base")
    empty(stage, "Tip", location=[0, 0, 2], parent="Lid")
    bpy.context.view_layer.update()
    before, tip = corners("Box") + corners("Lid") + corners("Base"), named("Tip").matrix_world.copy()
    result = stage.do("object.apply_transform", {"objects": ["Lid", "Box", "Base"]})
    assert near(corners("Box") + corners("Lid") + corners("Base"), before)
    assert near(list(map(tuple, named("Tip").matrix_world)), list(map(tuple, tip)))
    assert [tuple(named(name).scale) for name in ("Box", "Lid")] == [(1, 1, 1)] * 2
    assert [(one["object"], one["changed"], one["flipped"]) for one in result["objects"]] == [
        ("Lid", True, True),
        ("Box", True, False),
        ("Base", False, False),
    ]
    assert result["changed"] and result["flipped"] and result["object"] == ""
    assert [note.split(" (")[0] for note in result["notes"]] == [
        "the origins of 2 objects are now at the origin of the world or the parent"
    ]


def test_origins_that_stay_are_no_news(stage: Stage) -> None:
    box(stage, **PLACED)
    kept = stage.do("object.apply_transform", {"object": "Box", "location": False})
    assert kept["changed"] and kept["notes"] == []
    moved = stage.do("object.apply_transform", {"object": "Box"})
    assert moved["notes"] == [
        "the origin of 'Box' is now at the origin of the world or the parent (location: false leaves origins in place)"
    ]


def test_when_one_of_several_cannot_be_applied_none_is(stage: Stage) -> None:
    box(stage, scale=[2, 2, 2])
    box(stage, "Flat", scale=[1, 0, 1])
    empty(stage)
    findings = stage.refusal("object.apply_transform", {"objects": ["Box", "Flat", "Pivot", "Nobody"]})
    assert [finding["pointer"] for finding in findings] == ["/objects/2", "/objects/3", "/objects/1"]
    held = box(stage, "Held", location=[1, 0, 0])
    held.constraints.new("LIMIT_LOCATION").use_min_x = True
    held.constraints[0].min_x = 5
    stage.state.refresh()
    (finding,) = stage.refusal("object.apply_transform", {"objects": ["Box", "Held"]})
    assert finding["pointer"] == "/objects/1" and "constraint" in finding["message"]
    assert tuple(named("Box").scale) == (2, 2, 2)


def test_several_that_share_geometry_are_refused_unless_they_are_made_single(stage: Stage) -> None:
    box(stage, scale=[2, 2, 2])
    stage.do("object.duplicate", {"object": "Box", "new_name": "Twin"})
    stage.do("object.transform", {"object": "Twin", "scale": [1, 1, 3], "location": [5, 0, 0]})
    before = corners("Box") + corners("Twin")
    findings = stage.refusal("object.apply_transform", {"objects": ["Box", "Twin"]})
    assert [finding["pointer"] for finding in findings] == ["/make_single_user"] * 2
    assert "'Twin'" in findings[0]["message"] and "'Box'" in findings[1]["message"]
    # The one that the geometry is named after keeps it, whatever the order.
    result = stage.do("object.apply_transform", {"objects": ["Box", "Twin"], "make_single_user": True})
    assert [one["data"] for one in result["objects"]] == ["Box", "Twin"]
    assert near(corners("Box") + corners("Twin"), before)


def test_of_several_that_share_geometry_with_others_each_gets_its_own(stage: Stage) -> None:
    box(stage, scale=[2, 2, 2])
    for name in ("Twin", "Third"):
        stage.do("object.duplicate", {"object": "Box", "new_name": name})
    result = stage.do("object.apply_transform", {"objects": ["Third", "Twin"], "make_single_user": True})
    assert [one["data"] for one in result["objects"]] == ["Third", "Twin"]
    assert named("Box").data.name == "Box" and tuple(named("Box").scale) == (2, 2, 2)
    box(stage, "Fourth")
    stage.do("object.rename", {"object": "Fourth", "new_name": "Other"})
    stage.do("object.duplicate", {"object": "Box", "new_name": "Fourth"})
    (finding,) = stage.refusal("object.apply_transform", {"objects": ["Fourth"], "make_single_user": True})
    assert finding["pointer"] == "/objects/0" and "'Fourth'" in finding["message"]


def test_names_of_several_are_given_once_and_in_one_way(stage: Stage) -> None:
    box(stage)
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, ""),
        ({"object": "Box", "objects": ["Box"]}, ""),
        ({"objects": []}, "/objects"),
        ({"objects": ["Box", "Box"]}, "/objects/1"),
        ({"objects": ["Box", "Ball"], "data_name": "Own", "make_single_user": True}, "/data_name"),
    ]
    for wrong, at in cases:
        assert stage.invalid("object.apply_transform", wrong) == [at], wrong


# ---------------------------------------------------------------------- origin


@pytest.mark.parametrize(
    ("args", "place"),
    [
        ({"to": "point", "point": [4, 5, 6]}, (4, 5, 6)),
        ({"to": "object", "target": "Mark"}, (7, 0, 1)),
        ({"to": "bounds"}, (1, 2, 3)),
        ({"to": "geometry"}, (1, 2, 3)),
    ],
)
def test_the_origin_goes_there_and_nothing_moves(stage: Stage, args: dict[str, Any], place: tuple[float, ...]) -> None:
    box(stage, **PLACED)
    empty(stage, "Mark", location=[7, 0, 1])
    empty(stage, "Tip", location=[0, 0, 2], parent="Box")
    stage.do("object.set_origin", {"object": "Box", "to": "point", "point": [-3, 0, 9]})
    before, tip = corners("Box"), named("Tip").matrix_world.copy()
    result = stage.do("object.set_origin", {"object": "Box", **args})
    assert result["origin"] == pytest.approx(place, abs=1e-5)
    assert tuple(named("Box").matrix_world.translation) == pytest.approx(place, abs=1e-5)
    assert near(corners("Box"), before)
    assert near(list(map(tuple, named("Tip").matrix_world)), list(map(tuple, tip)))


def test_the_bottom_is_that_of_the_world_also_of_a_turned_object(stage: Stage) -> None:
    box(stage, location=[1, 2, 3], rotation_euler_deg=[90, 0, 0], scale=[1, 3, 1])
    assert stage.do("object.set_origin", {"object": "Box", "to": "bottom"})["origin"] == pytest.approx(
        [1, 2, 0], abs=1e-6
    )


def test_geometry_is_the_mean_of_the_points_and_bounds_the_middle_of_the_box(stage: Stage) -> None:
    corner = {"name": "Wedge", "vertices": [[0, 0, 0], [3, 0, 0], [0, 3, 0]], "faces": [[0, 1, 2]]}
    stage.do("mesh.create", corner)
    assert stage.do("object.set_origin", {"object": "Wedge", "to": "geometry"})["origin"] == pytest.approx([1, 1, 0])
    assert stage.do("object.set_origin", {"object": "Wedge", "to": "bounds"})["origin"] == pytest.approx([1.5, 1.5, 0])


def test_an_origin_of_shared_geometry_or_an_animated_location_is_refused(stage: Stage) -> None:
    box(stage)
    stage.do("object.duplicate", {"object": "Box", "new_name": "Twin"})
    there = {"object": "Box", "to": "point", "point": [1, 1, 1]}
    assert stage.refusal("object.set_origin", there)[0]["pointer"] == "/make_single_user"
    stage.do("animation.set_keyframe", {"object": "Box", "channel": "location", "frame": 1, "value": [0, 0, 0]})
    assert (
        stage.refusal("object.set_origin", {**there, "make_single_user": True, "data_name": "Own"})[0]["pointer"]
        == "/object"
    )


def test_place_and_argument_must_fit_each_other(stage: Stage) -> None:
    assert stage.invalid("object.set_origin", {"object": "Box", "to": "point"})
    assert stage.invalid("object.set_origin", {"object": "Box", "to": "bounds", "point": [0, 0, 0]})
    assert stage.invalid("object.set_origin", {"object": "Box", "to": "object"})


def test_children_on_three_vertices_are_refused(stage: Stage) -> None:
    box(stage, location=[1, 0, 0])
    tip = empty(stage, "Tip")
    tip.parent, tip.parent_type = named("Box"), "VERTEX_3"
    stage.state.refresh()
    assert "'Tip'" in stage.refusal("object.apply_transform", {"object": "Box"})[0]["message"]
