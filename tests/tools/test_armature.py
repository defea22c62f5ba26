"""Peculiar behaviour of armature.create, armature.edit and pose.set; what holds for all tools is in the conformance suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from tools.objects import empty, named
from tools.rigs import LOWER, UPPER, ends, pose, rig

if TYPE_CHECKING:
    from support.stage.stage import Stage


# ---------------------------------------------------------------------- bones from a list


def test_bones_come_in_any_order_and_begin_where_their_parents_end(stage: Stage) -> None:
    tip = {"name": "Tip", "tail": [1, 0, 2], "parent": "Lower"}
    obj = rig(stage, bones=[tip, LOWER, UPPER], location=[5, 0, 0])
    assert [bone.name for bone in obj.data.bones] == ["Upper", "Lower", "Tip"]
    assert tuple(obj.data.bones["Tip"].head_local) == pytest.approx((0, 0, 2))
    assert not obj.data.bones["Tip"].use_connect
    assert ends("Tip") == (pytest.approx((5, 0, 2)), pytest.approx((6, 0, 2)))


def test_a_z_axis_makes_a_hinge_that_turns_about_x(stage: Stage) -> None:
    rig(stage, bones=[UPPER | {"z_axis": [0, -1, 0]}, LOWER | {"z_axis": [0, -1, 0]}])
    pose(stage, {"name": "Lower", "rotation_euler_deg": [90, 0, 0]})
    assert ends("Lower")[1] == pytest.approx((0, -1, 1), abs=1e-5)


def test_bones_are_in_the_collections_that_they_name(stage: Stage) -> None:
    obj = rig(stage, bones=[UPPER | {"collections": ["Arm", "All"]}, LOWER | {"collections": ["All"]}])
    members = {one.name: {bone.name for bone in one.bones} for one in obj.data.collections_all}
    assert members == {"Arm": {"Upper"}, "All": {"Upper", "Lower"}}
    stage.do("armature.edit", {"object": "Rig", "bones": [{"name": "Upper", "collections": ["Arm"]}]})
    assert {bone.name for bone in named("Rig").data.collections_all["All"].bones} == {"Lower"}


WRONG = {
    "a name twice": ([UPPER, UPPER], ["/bones/1/name"]),
    "a parent that is missing": ([UPPER, LOWER | {"parent": "Uper"}], ["/bones/1/parent"]),
    "a circle": ([UPPER | {"parent": "Lower"}, LOWER], ["/bones/1/parent", "/bones/0/parent"]),
    "no tail": ([{"name": "A", "head": [0, 0, 0]}], ["/bones/0/tail"]),
    "no head": ([{"name": "A", "tail": [0, 0, 0]}], ["/bones/0/head"]),
    "no length": ([UPPER | {"tail": [0, 0, 0]}], ["/bones/0/tail"]),
    "connected elsewhere": ([UPPER, LOWER | {"head": [0, 1, 1]}], ["/bones/1/head"]),
    "connected to nothing": ([UPPER | {"connected": True}], ["/bones/0/connected"]),
    "z_axis along": ([UPPER | {"z_axis": [0, 0, -2]}], ["/bones/0/z_axis"]),
    "two rolls": ([UPPER | {"z_axis": [0, 1, 0], "roll_deg": 3}], ["/bones/0"]),
}


@pytest.mark.parametrize("bones", WRONG)
def test_bones_that_cannot_be_are_refused_at_their_place(stage: Stage, bones: str) -> None:
    given, pointers = WRONG[bones]
    assert sorted(stage.invalid("armature.create", {"name": "Rig", "bones": given})) == sorted(pointers)


# ---------------------------------------------------------------------- changing bones


def edit(stage: Stage, *bones: dict[str, Any], **args: Any) -> dict[str, Any]:
    return stage.do("armature.edit", {"object": "Rig", "bones": list(bones), **args})


def test_connected_bones_follow_a_tail_and_others_stay_to_the_last_digit(stage: Stage) -> None:
    obj = rig(
        stage, bones=[UPPER, LOWER, {"name": "Far", "head": [0.1, 7.7, 3.3], "tail": [1.3, 7, 3], "roll_deg": 33}]
    )
    far = [list(row) for row in obj.data.bones["Far"].matrix_local]
    edit(stage, {"name": "Upper", "tail": [0, 1, 1]})
    bones = named("Rig").data.bones
    assert tuple(bones["Lower"].head_local) == pytest.approx((0, 1, 1))
    assert tuple(bones["Lower"].tail_local) == pytest.approx((0, 0, 2))
    assert [list(row) for row in bones["Far"].matrix_local] == far


def test_a_bone_gets_another_parent_and_none(stage: Stage) -> None:
    rig(stage, bones=[UPPER, LOWER])
    result = edit(stage, {"name": "Root", "head": [0, 0, -1], "tail": [0, 0, 0]}, {"name": "Upper", "parent": "Root"})
    assert (result["added"], result["bones"]) == (["Root"], ["Root", "Upper", "Lower"])
    edit(stage, {"name": "Lower", "parent": "", "connected": False})
    assert named("Rig").data.bones["Lower"].parent is None
    assert not edit(stage, {"name": "Lower", "parent": ""})["changed"]


def test_removing_a_bone_that_is_in_use_says_who_uses_it(stage: Stage) -> None:
    rig(stage, bones=[UPPER, LOWER, {"name": "Free", "head": [3, 0, 0], "tail": [3, 0, 1]}])
    empty(stage, "Tool")
    stage.do("object.set_parent", {"object": "Tool", "parent": "Rig", "bone": "Lower"})
    settings = {"type": "COPY_ROTATION", "target": "Rig", "subtarget": "Free"}
    stage.do("constraint.add", {"object": "Rig", "bone": "Lower", "name": "Turn", "settings": settings})
    found = stage.refusal("armature.edit", {"object": "Rig", "remove": ["Lower", "Free", "Lowest"]})
    assert [(one["pointer"], "Lower" in one["cure"]) for one in found] == [("/remove/2", True)]
    found = stage.refusal("armature.edit", {"object": "Rig", "remove": ["Upper", "Free"]})
    assert [(one["pointer"], "'Turn' of 'Lower'" in one["message"]) for one in found] == [("/remove/1", True)]
    found = stage.refusal("armature.edit", {"object": "Rig", "remove": ["Lower"]})
    assert "'Tool' follows it" in found[0]["message"]


def test_the_poses_of_all_objects_come_back_with_a_bone_whose_removal_is_taken_back(stage: Stage) -> None:
    rig(stage)
    stage.do("object.duplicate", {"object": "Rig", "new_name": "Twin"})
    goal = empty(stage, "Goal", location=[1, 0, 1])
    for name in ("Rig", "Twin"):
        bones = [{"name": "Lower", "rotation_euler_deg": [10, 20, 30], "ik_axes": ["X"]}]
        stage.do("pose.set", {"object": name, "bones": bones})
        settings = {"type": "IK", "target": goal.name, "chain_count": 2}
        stage.do("constraint.add", {"object": name, "bone": "Lower", "name": "IK", "settings": settings})
        stage.do("object.set_property", {"object": name, "bone": "Lower", "key": "grip", "value": 3})
    before = stage.state.full_root()
    answer = stage.call("armature.edit", {"object": "Twin", "remove": ["Lower"]}, rehearse="inverse")
    assert answer["reverted_by"] == "inverse"
    assert stage.state.full_root() == before
    twin = named("Twin").pose.bones["Lower"]
    assert (twin.rotation_mode, [one.name for one in twin.constraints], twin["grip"]) == ("XYZ", ["IK"], 3)
    assert named("Twin").data == named("Rig").data
    assert stage.do("armature.edit", {"object": "Twin", "remove": ["Lower"]})["bones"] == ["Upper"]
    assert [bone.name for bone in named("Rig").pose.bones] == ["Upper"]


# ---------------------------------------------------------------------- poses


def test_posing_moves_children_and_rest_brings_everything_back(stage: Stage) -> None:
    rig(stage)
    result = pose(stage, {"name": "Upper", "rotation_euler_deg": [0, 0, 90], "location": [0, 1, 0]})
    # About its own Z, which looks along -Y.
    assert result["bones"] == [{"name": "Upper", "head": pytest.approx([0, 0, 1]), "tail": pytest.approx([-1, 0, 1])}]
    pose(stage, {"name": "Lower", "rotation_quaternion": [2, 2, 0, 0], "scale": [1, 3, 1]})
    assert tuple(named("Rig").pose.bones["Lower"].rotation_quaternion) == pytest.approx((0.5**0.5, 0.5**0.5, 0, 0))
    assert ends("Lower") != (pytest.approx((0, 0, 1)), pytest.approx((0, 0, 2)))
    stage.do("pose.set", {"object": "Rig", "to_rest": True})
    assert ends("Lower") == (pytest.approx((0, 0, 1)), pytest.approx((0, 0, 2)))


def test_another_rotation_mode_is_taken_back_to_the_last_digit(stage: Stage) -> None:
    rig(stage)
    pose(stage, {"name": "Lower", "rotation_quaternion": [0.9, 0.13, 0.31, 0.27]})
    before = stage.state.full_root()
    turn = {"object": "Rig", "bones": [{"name": "Lower", "rotation_euler_deg": [11, 22, 33]}]}
    assert stage.call("pose.set", turn, rehearse="inverse")["reverted_by"] == "inverse"
    assert stage.state.full_root() == before


def test_a_pose_can_be_set_where_blender_evaluates_nothing(stage: Stage) -> None:
    rig(stage)
    stage.do("object.set_visibility", {"object": "Rig", "viewport": False})
    stage.state.open(saved(stage))
    assert pose(stage, {"name": "Lower", "location": [0, 0, 1]})["bones"][0]["head"] is None
    assert tuple(named("Rig").pose.bones["Lower"].location) == (0, 0, 1)


def saved(stage: Stage) -> Any:
    path = stage.scratch / "saved.blend"
    stage.state.save(path)
    return path


def test_what_does_not_fit_a_pose_is_refused(stage: Stage) -> None:
    rig(stage)
    empty(stage, "Goal")
    bones = [{"name": "Lowr", "scale": [1, 1, 1]}]
    found = stage.refusal("pose.set", {"object": "Rig", "bones": bones})
    assert (found[0]["pointer"], "'Lower'" in found[0]["cure"]) == ("/bones/0/name", True)
    assert stage.refusal("pose.set", {"object": "Goal", "to_rest": True})[0]["pointer"] == "/object"
    limits = {"name": "Lower", "ik_minimum_deg": [-10, None, None], "ik_maximum_deg": [10, 10, None]}
    assert stage.invalid("pose.set", {"object": "Rig", "bones": [limits]}) == ["/bones/0"]
    assert stage.invalid("pose.set", {"object": "Rig"}) == [""]


def test_keyed_rotations_keep_their_mode(stage: Stage) -> None:
    obj = rig(stage)
    pose(stage, {"name": "Lower", "location": [0, 0, 0]})
    obj.pose.bones["Lower"].keyframe_insert("rotation_quaternion", frame=1)
    stage.state.refresh()
    turn = {"object": "Rig", "bones": [{"name": "Lower", "rotation_euler_deg": [1, 0, 0]}]}
    assert {one["pointer"] for one in stage.refusal("pose.set", turn)} == {"/bones/0/rotation_euler_deg"}
    assert {one["pointer"] for one in stage.refusal("pose.set", {"object": "Rig", "to_rest": True})} == {"/to_rest"}


def test_leaving_edit_mode_disturbs_neither_selection_nor_what_is_active(stage: Stage) -> None:
    goal = empty(stage, "Goal")
    goal.select_set(True)
    bpy.context.view_layer.objects.active = goal
    rig(stage)
    edit(stage, {"name": "Lower", "tail": [0, 1, 2]})
    assert bpy.context.view_layer.objects.active == named("Goal")
    assert [one.name for one in bpy.context.view_layer.objects if one.select_get()] == ["Goal"]
    assert not [one for one in bpy.data.objects if one.mode != "OBJECT"]
