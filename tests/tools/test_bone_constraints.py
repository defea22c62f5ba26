"""Constraints on bones: IK and the others; what holds for all tools is in the conformance suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.tools.catalog import tools
from tools.objects import empty, named
from tools.rigs import ends, pose, rig

if TYPE_CHECKING:
    from support.stage.stage import Stage

UPPER = {"name": "Upper", "head": [0, 0, 0], "tail": [0, -0.3, 1]}
LOWER = {"name": "Lower", "tail": [0, 0, 2], "parent": "Upper", "connected": True}
HAND = {"name": "Hand", "head": [0, 0, 2], "tail": [0, 0.3, 2], "deform": False}


def constrain(stage: Stage, settings: dict[str, Any], bone: str = "Lower", **args: Any) -> dict[str, Any]:
    return stage.do("constraint.add", {"object": "Rig", "bone": bone, "name": "Rule", "settings": settings, **args})


def refused(stage: Stage, settings: dict[str, Any], **args: Any) -> list[tuple[str, str]]:
    given = {"object": "Rig", "bone": "Lower", "name": "Rule", "settings": settings} | args
    return [(one["pointer"], one["message"]) for one in stage.refusal("constraint.add", given)]


def arm(stage: Stage, *more: dict[str, Any], **args: Any) -> Any:
    return rig(stage, bones=[UPPER, LOWER, HAND, *more], **args)


# ---------------------------------------------------------------------- inverse kinematics


def test_ik_reaches_its_target_and_moving_the_target_writes_nothing_else(stage: Stage) -> None:
    arm(stage, location=[1, 0, 0])
    empty(stage, "Goal", location=[1, 1, 1])
    constrain(stage, {"type": "IK", "target": "Goal", "chain_count": 2})
    assert ends("Lower")[1] == pytest.approx((1, 1, 1), abs=1e-3)
    answer = stage.call("object.transform", {"object": "Goal", "location": [1, -1, 1.2]})
    # What IK solves is in no hash: only the goal has changed.
    assert [change[:2] for change in answer["changes"]] == [["objects", "Goal"]]
    assert ends("Lower")[1] == pytest.approx((1, -1, 1.2), abs=1e-3)
    path = stage.scratch / "solved.blend"
    stage.state.save(path)
    stage.state.open(path)
    assert stage.state.root() == answer["after"]


@pytest.mark.parametrize("turned", [[0, 0, 0], [30, 50, -70]])
@pytest.mark.parametrize("roll", [0, 75, 180, -120])
def test_a_pole_leaves_the_chain_as_it_lies_at_rest(stage: Stage, roll: float, turned: list[float]) -> None:
    bones = [UPPER | {"roll_deg": roll}, LOWER | {"roll_deg": roll}]
    rig(stage, bones=bones, rotation_euler_deg=turned)
    for name, place in (("Goal", [0, 0, 2]), ("Elbow", [0, -3, 1])):
        empty(stage, name, location=place, parent="Rig")
    before = ends("Upper")
    constrain(stage, {"type": "IK", "target": "Goal", "pole_target": "Elbow"})
    for actual, expected in zip(ends("Upper"), before, strict=True):
        assert actual == pytest.approx(expected, abs=0.02)


def test_limits_of_bones_bound_what_ik_does(stage: Stage) -> None:
    rig(stage, bones=[bone | {"z_axis": [0, -1, 0]} for bone in (UPPER, LOWER)])
    empty(stage, "Goal", location=[1.2, 0, 1])
    constrain(stage, {"type": "IK", "target": "Goal"})
    assert ends("Lower")[1] == pytest.approx((1.2, 0, 1), abs=1e-2)
    hinge = {"ik_axes": ["X"], "ik_minimum_deg": [-90, None, None], "ik_maximum_deg": [90, None, None]}
    pose(stage, {"name": "Upper", **hinge}, {"name": "Lower", **hinge})
    assert ends("Lower")[1][0] == pytest.approx(0, abs=1e-3)


def test_applying_ik_leaves_every_bone_of_the_chain_where_it_was(stage: Stage) -> None:
    arm(stage, rotation_euler_deg=[0, 20, 30])
    empty(stage, "Goal", location=[0.7, 0.9, 1])
    constrain(stage, {"type": "IK", "target": "Goal"})
    before = [ends(name) for name in ("Upper", "Lower")]
    stage.do("constraint.remove", {"object": "Rig", "bone": "Lower", "constraint": "Rule", "keep_transform": True})
    assert not named("Rig").pose.bones["Lower"].constraints
    for actual, expected in zip([ends(name) for name in ("Upper", "Lower")], before, strict=True):
        assert actual[0] == pytest.approx(expected[0], abs=1e-4)
        assert actual[1] == pytest.approx(expected[1], abs=1e-4)


# ---------------------------------------------------------------------- what must not be


def test_a_target_that_follows_the_chain_is_refused(stage: Stage) -> None:
    arm(stage, {"name": "Tip", "tail": [0, 0, 3], "parent": "Lower"})
    empty(stage, "Held")
    stage.do("object.set_parent", {"object": "Held", "parent": "Rig", "bone": "Upper", "keep_transform": False})
    ik = {"type": "IK", "target": "Held"}
    assert refused(stage, ik)[0][0] == "/settings/target"
    # With one bone only the lower one turns, which the target does not follow.
    constrain(stage, ik | {"chain_count": 1})
    found = stage.refusal(
        "constraint.set",
        {"object": "Rig", "bone": "Lower", "constraint": "Rule", "settings": {"type": "IK", "chain_count": 2}},
    )
    assert found[0]["pointer"] == "/settings/target"
    of_rig = {"type": "IK", "target": "Rig"}
    assert refused(stage, of_rig | {"subtarget": "Tip"}, name="Other")[0][0] == "/settings/target"
    assert (
        refused(stage, of_rig, name="Other")[0][1] == "the target is the bone's own armature, so its bone must be named"
    )
    assert refused(stage, of_rig | {"subtarget": "Hnd"}, name="Other")[0][0] == "/settings/subtarget"
    constrain(stage, of_rig | {"subtarget": "Hand"}, name="Other")
    # Now the hand leads the arm, so it cannot look at it.
    look = {"type": "DAMPED_TRACK", "target": "Rig", "subtarget": "Upper"}
    assert refused(stage, look, bone="Hand")[0][0] == "/settings/target"


def test_what_is_of_bones_only_is_refused_for_objects(stage: Stage) -> None:
    arm(stage)
    empty(stage, "Goal", location=[0, 1, 1])
    empty(stage, "Thing")
    assert refused(stage, {"type": "IK", "target": "Goal"}, object="Thing", bone=None)[0][0] == "/settings/type"
    spaced = {"type": "COPY_ROTATION", "target": "Goal", "owner_space": "POSE", "target_space": "POSE"}
    pointers = [pointer for pointer, _ in refused(stage, spaced, object="Thing", bone=None)]
    assert pointers == ["/settings/owner_space", "/settings/target_space"]
    assert refused(stage, {"type": "IK", "target": "Goal"}, object="Thing")[0][0] == "/bone"
    assert refused(stage, {"type": "IK", "target": "Goal", "pole_angle_deg": 3})[0][0] == "/settings/pole_angle_deg"
    assert refused(stage, {"type": "IK"})[0][0] == "/settings/target"


def test_constraints_of_one_name_on_two_bones_are_two(stage: Stage) -> None:
    tool = tools()["constraint.add"]
    made = [
        {
            (mention.owner, mention.name)
            for mention in tool.mentions_for(
                tool.args_model.model_validate(
                    {"object": "Rig", "bone": bone, "name": "Rule", "settings": {"type": "LIMIT_SCALE"}}
                )
            )
            if mention.kind == "constraints"
        }
        for bone in ("Upper", "Lower", None)
    ]
    assert len({frozenset(one) for one in made}) == 3


# ---------------------------------------------------------------------- the others


def test_a_bone_stretches_to_its_target_from_its_own_length(stage: Stage) -> None:
    arm(stage, scale=[2, 2, 2])
    empty(stage, "Goal", location=[0, 3, 5])
    result = constrain(stage, {"type": "STRETCH_TO", "target": "Goal"})
    assert ends("Lower")[1] == pytest.approx((0, 3, 5), abs=1e-4)
    assert result["location"] == pytest.approx(ends("Lower")[0])
    length = named("Rig").pose.bones["Lower"].constraints["Rule"].rest_length
    assert length == pytest.approx((1 + 0.3**2) ** 0.5)


def test_child_of_on_a_bone_does_not_jump_and_follows(stage: Stage) -> None:
    arm(stage, location=[1, 2, 3])
    empty(stage, "Goal", location=[5, 0, 0], rotation_euler_deg=[10, 20, 30])
    before = ends("Hand")
    constrain(stage, {"type": "CHILD_OF", "target": "Goal"}, bone="Hand")
    assert ends("Hand")[0] == pytest.approx(before[0], abs=1e-4)
    stage.do("object.transform", {"object": "Goal", "location": [5, 0, 1]})
    assert ends("Hand")[0] == pytest.approx((before[0][0], before[0][1], before[0][2] + 1), abs=1e-4)


def test_inspecting_shows_bones_with_what_is_on_them(stage: Stage) -> None:
    arm(stage)
    empty(stage, "Goal")
    constrain(stage, {"type": "IK", "target": "Goal", "chain_count": 2})
    stage.do("object.set_property", {"object": "Rig", "bone": "Hand", "key": "grip", "value": 0.5})
    bones = {bone["name"]: bone for bone in stage.do("object.inspect", {"object": "Rig"})["bones"]}
    assert bones["Lower"]["parent"] == "Upper"
    assert bones["Lower"]["constraints"][0]["settings"]["target"] == "Goal"
    assert (bones["Hand"]["properties"], bones["Hand"]["deform"]) == ({"grip": 0.5}, False)
    assert bpy.data.objects["Rig"].get("grip") is None
