"""scene.audit: each rule finds its flaw, lets sound things pass, and names repairs that mend it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import bpy
import pytest

from blendwright.plan.validate import validate_arguments
from blendwright.tools.auditing.flaws import RULES, Rule
from blendwright.tools.catalog import tools
from blendwright.tools.scene.purge import PurgedKind
from blendwright.tools.unused_kinds import PURGED
from support.stage.stage import Stage
from tools.objects import box, empty, named

blocks: Any = bpy.data


def audit(stage: Stage, *rules: str, **args: Any) -> list[dict[str, Any]]:
    return stage.do("scene.audit", {"rules": list(rules), **args}, verify=True)["findings"]


def subjects(findings: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(one["object"], one["other"]) for one in findings]


def mend(stage: Stage, findings: list[dict[str, Any]]) -> None:
    for finding in findings:
        assert finding["repair"], finding
        for call in finding["repair"]:
            _, problems, _ = validate_arguments(tools()[call["tool"]], call["args"])
            assert not problems, (call, problems)
            stage.do(call["tool"], call["args"])


def floor(stage: Stage, **args: Any) -> None:
    stage.do("mesh.create_primitive", {"kind": "plane", "name": "Floor", "size": 20, **args})


def ball(stage: Stage, name: str = "Ball", **args: Any) -> None:
    stage.do("mesh.create_primitive", {"kind": "uv_sphere", "name": name, **args})


def mesh(stage: Stage, name: str, vertices: Any, faces: Any, **args: Any) -> None:
    stage.do("mesh.create", {"name": name, "vertices": vertices, "faces": faces, **args})


def test_every_rule_says_what_it_means_and_what_to_do() -> None:
    assert set(RULES) == set(get_args(Rule))
    assert all(text.meaning and text.cure.endswith(".") for text in RULES.values())
    assert set(get_args(PurgedKind)) == {kind.name.lower() for kind in PURGED}


# ---------------------------------------------------------------------- where things are


def test_what_touches_nothing_floats_and_its_repair_puts_it_on_what_is_below(stage: Stage) -> None:
    floor(stage)
    box(stage, "Crate", location=[0, 0, 1])
    ball(stage, location=[0, 0, 4])
    found = audit(stage, "floating", objects=["Floor", "Crate", "Ball"])
    assert subjects(found) == [("Ball", "Crate")]
    assert found[0]["measure"] == {"gap": 1.0}
    assert found[0]["repair"] == [{"tool": "place.on_surface", "args": {"object": "Ball", "target": "Crate"}}]
    mend(stage, found)
    assert not audit(stage, "floating", objects=["Floor", "Crate", "Ball"])


def test_a_group_in_the_air_is_told_once_and_comes_down_together(stage: Stage) -> None:
    box(stage, "Seat", location=[0, 0, 6])
    box(stage, "Back", size=1, location=[0, 0, 7.5])
    box(stage, "Base", location=[9, 0, 1])
    [found] = audit(stage, "floating")
    assert (found["object"], found["measure"]) == ("Seat", {"gap": 5.0, "parts": 2})
    mend(stage, [found])
    assert not audit(stage, "floating")
    assert [named(name).location.z for name in ("Seat", "Back")] == pytest.approx([1.0, 2.5])


@pytest.mark.parametrize("gap", [0.0, 0.0005])
def test_contact_within_the_tolerance_holds_a_part_at_every_side(stage: Stage, gap: float) -> None:
    box(stage, "Post", location=[0, 0, 1])
    for number, way in enumerate([(2, 0), (-2, 0), (0, 2)]):
        x, y = (part * (1 + gap / 2) for part in way)
        box(stage, f"Arm {number}", location=[x, y, 1.5])
    stage.do("mesh.create_primitive", {"kind": "plane", "name": "Ceiling", "size": 4, "location": [0, 0, 2.5 + gap]})
    box(stage, "Lamp", size=0.5, location=[0, -1.5, 2.25])
    assert not audit(stage, "floating")
    apart = {"Arm 0", "Arm 1", "Arm 2", "Ceiling", "Lamp"} if gap else set[str]()
    assert {one["object"] for one in audit(stage, "floating", tolerance=1e-5)} == apart


def test_what_falls_short_of_its_parent_is_told_by_that_and_not_put_down_elsewhere(stage: Stage) -> None:
    box(stage, "Base", location=[0, 0, 1])
    box(stage, "Arm", location=[0, 0, 3.004])
    box(stage, "Hand", size=1, location=[1.25, 0, 3.6])
    stage.do("object.set_parent", {"object": "Arm", "parent": "Base"})
    stage.do("object.set_parent", {"object": "Hand", "parent": "Arm"})
    [found] = audit(stage, "floating")
    assert (found["object"], found["other"], found["repair"]) == ("Arm", "Base", [])
    assert found["measure"] == {"gap_to_parent": pytest.approx(0.004, rel=2e-3)}
    stage.do("object.transform", {"object": "Arm", "location": [0, 0, 2.0]})
    assert not audit(stage, "floating")


def test_it_says_what_it_was_held_to(stage: Stage) -> None:
    assert stage.do("scene.audit", {})["checked"] == "all"
    asked = stage.do("scene.audit", {"rules": ["floating", "inside_out"]})
    assert (asked["checked"], asked["rules"]) == ("floating, inside_out", [])


def test_the_ground_is_where_it_is_said_to_be(stage: Stage) -> None:
    box(stage, "Crate", location=[0, 0, 1])
    assert not audit(stage, "floating")
    assert subjects(audit(stage, "floating", ground=-3.0)) == [("Crate", "")]


def test_a_part_of_a_turned_parent_is_moved_in_the_world(stage: Stage) -> None:
    empty(stage, "Pivot", rotation_euler_deg=[90, 0, 0], scale=[2, 2, 2])
    box(stage, "Crate")
    stage.do("object.set_parent", {"object": "Crate", "parent": "Pivot", "keep_transform": False})
    stage.do("object.transform", {"object": "Crate", "location": [0, 5, 0]})
    box(stage, "Base", location=[30, 0, 1])
    found = audit(stage, "floating")
    assert subjects(found) == [("Crate", "")]
    mend(stage, found)
    assert not audit(stage, "floating")


def test_what_goes_through_another_is_found_and_moved_apart_but_what_rests_on_it_is_not(stage: Stage) -> None:
    floor(stage)
    box(stage, "Crate", location=[0, 0, 1])
    box(stage, "Small", size=1, location=[1.25, 0, 0.5])
    box(stage, "Upper", location=[0, 0, 3])
    ball(stage, location=[6, 0, 1])
    [found] = audit(stage, "interpenetrating")
    assert (found["object"], found["other"], found["measure"]) == ("Small", "Crate", {"depth": 0.25, "axis": "x"})
    mend(stage, [found])
    assert not audit(stage, "interpenetrating")


def test_what_is_stuck_in_something_thin_comes_out_whole(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Board", "dimensions": [2, 2, 0.1]})
    stage.do(
        "mesh.create_primitive", {"kind": "cone", "name": "Vase", "depth": 0.5, "radius": 0.2, "location": [0, 0, 0.15]}
    )
    [found] = audit(stage, "interpenetrating")
    assert found["measure"] == {"depth": 0.15, "axis": "z"}
    mend(stage, [found])
    assert not audit(stage, "interpenetrating", "floating")


def test_boxes_that_overlap_are_no_interpenetration_where_the_surfaces_are_apart(stage: Stage) -> None:
    ball(stage, location=[0, 0, 1])
    box(stage, "Corner", location=[1.8, 1.8, 1])
    assert not audit(stage, "interpenetrating")


def test_a_tool_of_a_boolean_goes_through_what_it_cuts(stage: Stage) -> None:
    box(stage, "Block", location=[0, 0, 1])
    box(stage, "Cutter", size=1, location=[1, 0, 1])
    assert audit(stage, "interpenetrating")
    cut = {"type": "BOOLEAN", "operation": "DIFFERENCE", "object": "Cutter"}
    stage.do("modifier.add", {"object": "Block", "name": "Cut", "settings": cut})
    assert not audit(stage, "interpenetrating")


def test_copies_in_place_are_found_once_each_and_no_interpenetration(stage: Stage) -> None:
    box(stage, "Crate", location=[0, 0, 1])
    stage.do("object.duplicate", {"object": "Crate", "new_name": "Crate A", "mode": "deep"})
    stage.do("object.duplicate", {"object": "Crate", "new_name": "Crate B"})
    box(stage, "Other", size=1.9, location=[0, 0, 1])
    ball(stage, location=[6, 0, 1])
    ball(stage, "Ball A", location=[6.0009, 0, 1])
    found = audit(stage, "duplicate", "interpenetrating")
    assert subjects(found) == [("Ball A", "Ball"), ("Crate A", "Crate"), ("Crate B", "Crate")]
    mend(stage, found)
    assert not audit(stage, "duplicate")


def test_what_the_camera_cannot_see_is_out_of_its_frame(stage: Stage) -> None:
    stage.do("camera.create", {"name": "Eye", "location": [0, -10, 1], "rotation_euler_deg": [90, 0, 0]})
    stage.do("camera.set_active", {"object": "Eye"})
    box(stage, "Seen", location=[0, 0, 1])
    box(stage, "Aside", location=[40, 0, 1])
    box(stage, "Behind", location=[0, -30, 1])
    box(stage, "Screen", location=[0, -40, 1])
    named("Screen").visible_camera = False
    stage.state.refresh()
    [found] = audit(stage, "out_of_frame")
    assert (found["object"], found["severity"]) == ("Eye", "info")
    assert found["measure"] == {"objects": 2, "unseen": "Aside (right), Behind (behind)"}
    assert audit(stage, "out_of_frame", objects=["Behind", "Seen"])[0]["measure"]["unseen"] == "Behind (behind)"
    assert not audit(stage, "out_of_frame", objects=["Seen"])
    stage.do("object.delete", {"object": "Screen"})
    mend(stage, [found])
    assert not audit(stage, "out_of_frame")


def test_many_things_out_of_the_picture_are_one_finding_with_some_of_their_names(stage: Stage) -> None:
    stage.do("camera.create", {"name": "Eye", "location": [0, -10, 1], "rotation_euler_deg": [90, 0, 0]})
    stage.do("camera.set_active", {"object": "Eye"})
    for number in range(12):
        box(stage, f"Post {number:02}", location=[60, number * 3, 1])
    [found] = audit(stage, "out_of_frame")
    assert found["measure"]["objects"] == 12
    assert found["measure"]["unseen"].startswith("Post 00 (right), ")
    assert found["measure"]["unseen"].endswith("Post 07 (right) and 4 more")


def test_whoever_names_objects_is_told_about_these_and_everything_else_still_holds_them(stage: Stage) -> None:
    floor(stage)
    box(stage, "Table", location=[0, 0, 1])
    ball(stage, "Lamp", radius=0.5, location=[0, 0, 2.5])
    box(stage, "Shelf", size=1, location=[5, 0, 4])
    box(stage, "Book", size=0.5, location=[5, 0, 4.75])
    box(stage, "Wedge", size=1, location=[1, 0, 0.5])
    ball(stage, "Aloft", location=[-5, 0, 9])
    assert not audit(stage, "floating", objects=["Lamp"])
    # It is held by what floats itself: the group is told by the part that was asked about, and comes down whole.
    [found] = audit(stage, "floating", objects=["Book"])
    assert (found["object"], found["other"], found["measure"]) == ("Book", "Floor", {"gap": 3.5, "parts": 2})
    assert [call["args"]["object"] for call in found["repair"]] == ["Book", "Shelf"]
    assert subjects(audit(stage, "interpenetrating", objects=["Table"])) == [("Wedge", "Table")]
    assert not audit(stage, "interpenetrating", objects=["Lamp", "Book"])
    whole = stage.do("scene.audit", {"objects": ["Lamp", "Table"]})
    assert (whole["objects"], whole["triangles"]) == (2, 972)


def test_a_copy_in_place_is_told_by_whichever_of_both_is_named(stage: Stage) -> None:
    box(stage, "Crate", location=[0, 0, 1])
    stage.do("object.duplicate", {"object": "Crate", "new_name": "Crate A", "mode": "deep"})
    assert subjects(audit(stage, "duplicate", objects=["Crate"])) == [("Crate", "Crate A")]
    assert subjects(audit(stage, "duplicate", objects=["Crate A"])) == [("Crate A", "Crate")]


def chair(stage: Stage) -> None:
    empty(stage, "Chair")
    board = {"kind": "cube", "dimensions": [0.5, 0.5, 0.05], "location": [0, 0, 0.45], "parent": "Chair"}
    stage.do("mesh.create_primitive", {**board, "name": "Seat"})
    for number, (x, y) in enumerate([(-1, -1), (1, -1), (-1, 1), (1, 1)]):
        leg = {"kind": "cylinder", "name": f"Leg {number}", "radius": 0.02, "depth": 0.435, "origin": "bottom"}
        stage.do("mesh.create_primitive", {**leg, "location": [x * 0.2, y * 0.2, 0], "parent": "Chair"})


def test_parts_of_one_parent_are_joined_and_told_in_one_finding_worth_knowing(stage: Stage) -> None:
    floor(stage)
    chair(stage)
    # A knob on a leg: its parent is a part itself.
    knob = {"kind": "uv_sphere", "name": "Knob", "radius": 0.03, "location": [0, 0, 0.1], "parent": "Leg 0"}
    stage.do("mesh.create_primitive", knob)
    box(stage, "Cushion", size=0.3, location=[0, 0, 0.6])
    found = audit(stage, "interpenetrating", "joined")
    assert [(one["rule"], one["severity"], one["object"], one["other"]) for one in found] == [
        ("interpenetrating", "warning", "Cushion", "Seat"),
        ("joined", "info", "Chair", ""),
        ("joined", "info", "Leg 0", ""),
    ]
    chairs = found[1]["measure"]
    assert (chairs["overlaps"], chairs["depth"]) == (4, pytest.approx(0.01, abs=1e-4))
    assert chairs["deepest"].startswith("Leg ") and chairs["deepest"].endswith(" and Seat")
    assert [one["rule"] for one in audit(stage, "interpenetrating")] == ["interpenetrating"]
    assert stage.do("scene.audit", {"rules": ["joined"], "require": "warning"})["infos"] == 2


def test_overlaps_that_are_meant_are_named_and_not_told(stage: Stage) -> None:
    floor(stage)
    chair(stage)
    box(stage, "Cushion [red] 1", size=0.3, location=[0, 0, 0.6])
    box(stage, "Stuck", location=[1.1, 0, 1])
    rules = ("interpenetrating", "joined")
    everything = subjects(audit(stage, *rules))
    assert ("Cushion [red] 1", "Seat") in everything and ("Chair", "") in everything
    meant = subjects(audit(stage, *rules, may_overlap=["Cushion [red] ?", "Leg *"]))
    assert meant == [("Seat", "Stuck")]


# ---------------------------------------------------------------------- light that is shut in


def lamp(stage: Stage, name: str = "Bulb", **args: Any) -> None:
    stage.do("light.create", {"name": name, "type": "POINT", "energy": 50, **args})


def test_a_light_in_a_closed_surface_is_told_until_the_surface_opens_or_lets_light_through(stage: Stage) -> None:
    floor(stage)
    ball(stage, "Shade", radius=0.3, location=[0, 0, 2])
    lamp(stage, location=[0, 0, 2])
    lamp(stage, "Free", location=[3, 0, 2])
    lamp(stage, "Sun", type="SUN", location=[0, 0, 2])
    [found] = audit(stage, "hidden_light")
    assert (found["object"], found["other"], found["severity"]) == ("Bulb", "Shade", "warning")
    assert subjects(audit(stage, "hidden_light", objects=["Bulb"])) == [("Bulb", "Shade")]
    assert subjects(audit(stage, "hidden_light", objects=["Shade"])) == [("Bulb", "Shade")]
    assert not audit(stage, "hidden_light", objects=["Floor"])
    for material in (
        {"emission_color": [1, 1, 1], "emission_strength": 1.0}, {"alpha": 0.5}, {"transmission": 1.0},
    ):  # fmt: skip
        stage.do("material.ensure_principled", {"name": f"Thin {material}", **material})
        stage.do("material.assign", {"object": "Shade", "material": f"Thin {material}"})
        assert not audit(stage, "hidden_light"), material
    stage.do("material.ensure_principled", {"name": "Brass", "metallic": 1.0})
    stage.do("material.assign", {"object": "Shade", "material": "Brass"})
    assert audit(stage, "hidden_light")
    named("Shade").visible_shadow = False
    stage.state.refresh()
    assert not audit(stage, "hidden_light")


def test_a_shade_with_walls_shuts_light_in_and_one_that_is_open_does_not(stage: Stage) -> None:
    walls = {"type": "SOLIDIFY", "thickness": 0.02}
    ball(stage, "Globe", radius=0.3, location=[0, 0, 2])
    stage.do("modifier.add", {"object": "Globe", "name": "Walls", "settings": walls})
    lamp(stage, "In globe", location=[0, 0, 2])
    shade = {"kind": "cone", "name": "Shade", "radius": 0.3, "radius_top": 0.15, "depth": 0.4, "fill": False}
    stage.do("mesh.create_primitive", {**shade, "location": [4, 0, 2]})
    lamp(stage, "In shade", location=[4, 0, 2])
    assert subjects(audit(stage, "hidden_light")) == [("In globe", "Globe")]
    # With walls of its own it is closed as a surface, and open all the same.
    stage.do("modifier.add", {"object": "Shade", "name": "Walls", "settings": walls})
    assert not audit(stage, "open_edges", objects=["Shade"])
    assert subjects(audit(stage, "hidden_light")) == [("In globe", "Globe")]


def test_a_room_with_its_camera_or_its_things_inside_hides_no_light(stage: Stage) -> None:
    box(stage, "Room", size=6, location=[0, 0, 3])
    lamp(stage, location=[0, 0, 5])
    assert audit(stage, "hidden_light")
    box(stage, "Table", size=1, location=[0, 0, 0.5])
    assert not audit(stage, "hidden_light")
    stage.do("camera.create", {"name": "Eye", "location": [2, 0, 2], "look_at": [0, 0, 1]})
    stage.do("camera.set_active", {"object": "Eye"})
    assert not audit(stage, "hidden_light")
    stage.do("object.transform", {"object": "Eye", "location": [20, 0, 2]})
    assert subjects(audit(stage, "hidden_light")) == [("Bulb", "Room")]


# ---------------------------------------------------------------------- meshes


def test_scales_are_told_and_negative_ones_apart(stage: Stage) -> None:
    box(stage, "Plain")
    box(stage, "Long", scale=[1, 1, 3])
    box(stage, "Mirrored", scale=[-1, 1, 1])
    box(stage, "Turned", scale=[-1, -1, 1])
    stage.do("modifier.add", {"object": "Long", "name": "Round", "settings": {"type": "BEVEL", "width": 0.1}})
    box(stage, "High", scale=[1, 1, 2])
    scaled, mirrored = audit(stage, "unapplied_scale"), audit(stage, "negative_scale")
    assert (subjects(scaled), subjects(mirrored)) == ([("High", ""), ("Long", "")], [("Mirrored", "")])
    # A bevel would be another one at another scale.
    assert [one["object"] for one in scaled if one["repair"]] == ["High"]
    assert scaled[0]["repair"][0]["tool"] == "object.apply_transform"
    mend(stage, [one for one in (*scaled, *mirrored) if one["repair"]])
    assert subjects(audit(stage, "unapplied_scale")) == [("Long", "")] and not audit(stage, "negative_scale")
    assert not audit(stage, "inside_out", "flipped_normals")


def test_what_pierces_a_box_goes_through_it_and_touches_it(stage: Stage) -> None:
    box(stage, "Box", location=[0, 0, 1])
    stage.do("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball", "location": [1.4, 0.1, 1.2]})
    stage.do("mesh.create_primitive", {"kind": "uv_sphere", "name": "Core", "radius": 0.4, "location": [0, 0, 1]})
    found = audit(stage, "interpenetrating", "floating")
    assert subjects([one for one in found if one["rule"] == "interpenetrating"]) == [("Ball", "Box")]
    # What lies inside touches nothing.
    assert [one["object"] for one in found if one["rule"] == "floating"] == ["Core"]


def test_a_mesh_is_inside_out_or_partly_flipped_whatever_its_scale(stage: Stage) -> None:
    box(stage, "Sound", scale=[-1, 1, 1])
    box(stage, "Inverted")
    box(stage, "Mixed")
    stage.do("mesh.create_primitive", {"kind": "cylinder", "name": "Sound drum", "segments": 12})
    stage.do("mesh.create_primitive", {"kind": "cylinder", "name": "Drum", "segments": 4, "radius": 2, "depth": 0.5})
    named("Inverted").data.flip_normals()
    named("Mixed").data.polygons[0].flip()
    named("Drum").data.flip_normals()
    stage.state.refresh()
    [drum, inverted, mixed] = audit(stage, "inside_out", "flipped_normals")
    assert (drum["object"], drum["measure"]) == ("Drum", {"volume": -4.0})
    assert (inverted["object"], inverted["rule"], inverted["measure"]) == ("Inverted", "inside_out", {"volume": -8.0})
    assert (mixed["object"], mixed["rule"], mixed["measure"]) == ("Mixed", "flipped_normals", {"edges": 4})
    mend(stage, [drum, inverted, mixed])
    assert not audit(stage, "inside_out", "flipped_normals")


def test_holes_crowded_edges_loose_parts_and_faces_without_area_are_counted(stage: Stage) -> None:
    corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1], [5, 5, 5], [0.5, 0, 0]]
    mesh(stage, "Tent", corners, [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [0, 1, 6]])
    mesh(stage, "Fan", [[0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [-1, 0, 0]], [[0, 1, 2], [0, 1, 3], [0, 1, 4]])
    floor(stage)
    found = {(one["object"], one["rule"]): one["measure"] for one in audit(stage, *MESH_RULES)}
    assert found == {
        ("Tent", "degenerate"): {"faces": 1},
        ("Tent", "flipped_normals"): {"edges": 1},
        ("Tent", "loose"): {"vertices": 1, "edges": 0},
        ("Tent", "open_edges"): {"edges": 5},
        ("Fan", "non_manifold"): {"edges": 1},
        ("Fan", "open_edges"): {"edges": 6},
    }
    mend(stage, audit(stage, "degenerate", "loose"))
    assert not audit(stage, "degenerate", "loose")


MESH_RULES = ("degenerate", "flipped_normals", "inside_out", "loose", "non_manifold", "open_edges")


def test_modifiers_count(stage: Stage) -> None:
    mesh(stage, "Half", [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 1]], [[0, 1, 2], [0, 2, 3]])
    assert subjects(audit(stage, "open_edges")) == [("Half", "")]
    solid = {"type": "SOLIDIFY", "thickness": 0.1}
    stage.do("modifier.add", {"object": "Half", "name": "Thick", "settings": solid})
    assert not audit(stage, "open_edges")


def test_a_budget_is_held_against_all_and_against_each(stage: Stage) -> None:
    box(stage)
    ball(stage, location=[5, 0, 0])
    [whole, one] = audit(stage, "polygon_budget", polygon_budget=900, object_polygon_budget=500)
    assert (whole["object"], whole["measure"]) == ("", {"triangles": 972, "budget": 900})
    assert (one["object"], one["measure"]) == ("Ball", {"triangles": 960, "budget": 500})
    mend(stage, [one])
    assert not audit(stage, "polygon_budget", polygon_budget=900, object_polygon_budget=500)


def test_texel_density_is_pixels_of_the_map_per_metre_of_the_world(stage: Stage) -> None:
    for name, scale in (("Fine", 1.0), ("Coarse", 10.0), ("Bare", 1.0)):
        stage.do("mesh.create_primitive", {"kind": "plane", "name": name, "size": 2, "scale": [scale, scale, 1]})
    for name in ("Fine", "Coarse"):
        data = named(name).data
        layer = data.uv_layers.new(name="UVMap")
        for corner, place in zip(layer.uv, [(0, 0), (1, 0), (1, 1), (0, 1)], strict=True):
            corner.vector = place
    stage.state.refresh()
    wanted = {"image_size": 1024, "least": 200.0, "most": 1000.0}
    found = {one["object"]: one["measure"] for one in audit(stage, "texel_density", texel_density=wanted)}
    assert found == {
        "Bare": {"uv_maps": 0},
        "Coarse": {"pixels_per_metre": 51.2, "least": 200.0, "most": 1000.0},
    }


# ---------------------------------------------------------------------- the scene


def test_a_scene_wants_a_camera_and_something_that_shines(stage: Stage) -> None:
    box(stage)
    found = audit(stage, "no_camera", "no_light")
    assert [one["rule"] for one in found] == ["no_camera", "no_light"]
    mend(stage, found)
    assert not audit(stage, "no_camera", "no_light", "out_of_frame")


def test_a_world_or_a_material_that_shines_is_light(stage: Stage) -> None:
    box(stage)
    stage.do("scene.set_world", {"color": [0, 0, 0]})
    assert audit(stage, "no_light")
    stage.do("scene.set_world", {"color": [0.1, 0, 0]})
    assert not audit(stage, "no_light")
    stage.do("scene.set_world", {"strength": 0.0})
    glow = {"name": "Glow", "emission_color": [1, 1, 1], "emission_strength": 2.0}
    stage.do("material.ensure_principled", glow)
    assert audit(stage, "no_light")
    stage.do("material.assign", {"object": "Box", "material": "Glow"})
    assert not audit(stage, "no_light")


def test_names_that_nobody_chose_are_told(stage: Stage) -> None:
    for name in ("Cube", "Leg.001", "Table top", "Cube of sugar"):
        box(stage, name)
    stage.do("material.ensure_principled", {"name": "Material.002"})
    assert subjects(audit(stage, "default_name")) == [("Cube", ""), ("Leg.001", ""), ("materials/Material.002", "")]


def test_files_that_are_not_there_are_told(stage: Stage, tmp_path: Path) -> None:
    there = tmp_path / "there.txt"
    there.write_text("x")
    for name, path in (("Gone", tmp_path / "gone.png"), ("There", there)):
        image = blocks.images.new(name, 4, 4)
        image.source, image.filepath = "FILE", str(path)
    stage.state.refresh()
    [found] = audit(stage, "missing_file")
    assert (found["object"], found["measure"]) == ("images/Gone", {"path": str(tmp_path / "gone.png")})


# ---------------------------------------------------------------------- the answer, and the gate


def test_findings_are_the_gravest_first_counted_and_cut(stage: Stage) -> None:
    for number in range(30):
        box(stage, f"Cube.{number:03}", location=[0, 0, 1])
    answer = stage.do("scene.audit", {"most": 5})
    assert answer["errors"] == 29 and answer["infos"] == 30 and answer["warnings"] == 2
    assert [(one["rule"], one["count"]) for one in answer["rules"]] == [
        ("duplicate", 29), ("no_camera", 1), ("no_light", 1), ("default_name", 30),
    ]  # fmt: skip
    assert [one["object"] for one in answer["findings"]] == [f"Cube.{number:03}" for number in range(1, 6)]
    assert len(json.dumps(answer)) < 2500


def test_what_a_render_does_not_show_is_not_looked_at_unless_it_is_named(stage: Stage) -> None:
    box(stage, "Hidden", scale=[1, 1, 2])
    named("Hidden").hide_render = True
    stage.state.refresh()
    assert not audit(stage, "unapplied_scale")
    assert audit(stage, "unapplied_scale", objects=["Hidden"])


def test_as_a_gate_it_fails_with_every_finding_of_that_severity(stage: Stage) -> None:
    box(stage, "Crate", location=[0, 0, 1], scale=[1, 1, 2])
    stage.do("object.duplicate", {"object": "Crate", "new_name": "Copy"})
    rules = ["duplicate", "unapplied_scale"]
    [finding] = stage.refusal("scene.audit", {"rules": rules, "require": "warning"})
    assert finding["code"] == "VERIFICATION_FAILED" and finding["rule"] == "duplicate"
    assert "'Crate'" in finding["message"] and "object.delete" in finding["cure"]
    assert len(stage.refusal("scene.audit", {"rules": rules, "require": "info"})) == 3
    stage.do("object.delete", {"object": "Crate"})
    assert stage.do("scene.audit", {"rules": rules, "require": "warning"})["infos"] == 1


def test_a_rule_without_its_figure_and_an_unknown_object_are_refused(stage: Stage) -> None:
    assert stage.invalid("scene.audit", {"rules": ["texel_density"]}) == [""]
    assert stage.invalid("scene.audit", {"rules": ["beauty"]}) == ["/rules/0"]
    box(stage)
    [finding] = stage.refusal("scene.audit", {"objects": ["Bx"]})
    assert finding["pointer"] == "/objects/0" and "'Box'" in finding["cure"]
