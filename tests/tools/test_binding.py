"""Peculiar behaviour of armature.bind and of the vertex group tools; what holds for all tools is in the conformance suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tools.objects import bounds, box, empty, named
from tools.rigs import LOWER, UPPER, center, pose, rig

if TYPE_CHECKING:
    from support.stage.stage import Stage

BENT = {"name": "Lower", "rotation_euler_deg": [90, 0, 0]}
HINGED = [UPPER | {"z_axis": [0, -1, 0]}, LOWER | {"z_axis": [0, -1, 0]}]


def bind(stage: Stage, *parts: dict[str, Any], **args: Any) -> dict[str, Any]:
    return stage.do("armature.bind", {"armature": "Rig", "parts": list(parts), **args})


def weights(name: str, group: str) -> dict[int, float]:
    obj = named(name)
    index = obj.vertex_groups[group].index
    return {v.index: round(g.weight, 4) for v in obj.data.vertices for g in v.groups if g.group == index}


# ---------------------------------------------------------------------- binding


def test_rigid_parts_follow_their_bones_as_wholes(stage: Stage) -> None:
    rig(stage, bones=HINGED, location=[5, 0, 0], scale=[2, 2, 2])
    box(stage, "Base", size=0.4, location=[5, 0, 1])
    box(stage, "Arm", size=0.4, location=[5, 0, 3])
    box(stage, "Extra", size=0.4, location=[5, 0, 3])
    before = bounds(stage, "Arm")
    result = bind(stage, {"object": "Base"}, {"object": "Arm"}, {"object": "Extra", "bone": "Upper"})
    assert [one["bones"] for one in result["parts"]] == [{"Upper": 8}, {"Lower": 8}, {"Upper": 8}]
    assert bounds(stage, "Arm") == (pytest.approx(before[0]), pytest.approx(before[1]))
    pose(stage, BENT)
    assert center("Arm") == pytest.approx([5, -1, 2], abs=1e-4)
    assert center("Base") == pytest.approx([5, 0, 1], abs=1e-4)
    assert center("Extra") == pytest.approx([5, 0, 3], abs=1e-4)
    # Weights are found at rest, whatever the pose.
    assert not bind(stage, {"object": "Base"}, {"object": "Arm"}, {"object": "Extra", "bone": "Upper"})["changed"]


def test_connected_parts_of_one_mesh_go_to_their_nearest_bones(stage: Stage) -> None:
    rig(stage, bones=HINGED)
    for name, height in (("Arm", 1.5), ("Base", 0.4)):
        box(stage, name, size=0.4, location=[0, 0, height])
    stage.do("object.join", {"object": "Arm", "objects": ["Base"]})
    assert bind(stage, {"object": "Arm"}, per="part")["parts"][0]["bones"] == {"Lower": 8, "Upper": 8}
    assert bind(stage, {"object": "Arm"}, per="object")["parts"][0]["bones"] == {"Upper": 16}


def test_heat_bends_a_skin_smoothly_and_ignores_bones_that_do_not_deform(stage: Stage) -> None:
    rig(stage, bones=[*HINGED, {"name": "Goal", "head": [0, 0, 1], "tail": [0, 0, 1.2], "deform": False}])
    rod = {"kind": "cylinder", "name": "Rod", "radius": 0.2, "depth": 2, "location": [0, 0, 1], "segments": 8}
    stage.do("mesh.create_primitive", rod)
    cuts = [{"op": "cut", "point": [0, 0, height], "normal": "+Z"} for height in (-0.5, 0, 0.5)]
    stage.do("mesh.edit", {"object": "Rod", "operations": cuts})
    part = bind(stage, {"object": "Rod"}, method="automatic")["parts"][0]
    assert (set(part["bones"]), part["unweighted"]) == ({"Upper", "Lower"}, 0)
    middle = [v.index for v in named("Rod").data.vertices if abs(v.co.z) < 1e-4]
    assert all(0.2 < weights("Rod", "Lower")[vertex] < 0.8 for vertex in middle)
    pose(stage, BENT)
    assert -0.5 < center("Rod")[1] < -0.1


def test_binding_again_replaces_groups_of_bones_and_leaves_others(stage: Stage) -> None:
    rig(stage)
    box(stage, "Arm", size=0.4)
    stage.do("vertex_group.set", {"object": "Arm", "name": "Paint", "weights": [{"select": {"normal": "+Z"}}]})
    bind(stage, {"object": "Arm", "bone": "Upper"})
    bind(stage, {"object": "Arm", "bone": "Lower"})
    assert [group.name for group in named("Arm").vertex_groups] == ["Paint", "Lower"]
    assert len(weights("Arm", "Paint")) == 4
    given = [{"bone": "Upper"}, {"bone": "Upper", "select": {"normal": "+Z"}, "weight": 0}]
    part = bind(stage, {"object": "Arm", "weights": given}, method="given")["parts"][0]
    assert (part["bones"], part["unweighted"]) == ({"Upper": 4}, 4)
    assert [one.type for one in named("Arm").modifiers] == ["ARMATURE"]


def test_the_modifier_comes_before_those_that_round_off(stage: Stage) -> None:
    rig(stage)
    box(stage, "Arm", size=0.4)
    for name, settings in (("Copies", {"type": "ARRAY", "count": 2}), ("Smooth", {"type": "SUBSURF"})):
        stage.do("modifier.add", {"object": "Arm", "name": name, "settings": settings})
    bind(stage, {"object": "Arm"}, preserve_volume=True, parent=False)
    assert [one.name for one in named("Arm").modifiers] == ["Copies", "Armature", "Smooth"]
    assert named("Arm").modifiers["Armature"].use_deform_preserve_volume
    assert named("Arm").parent is None


def test_what_cannot_be_bound_is_refused_at_its_place(stage: Stage) -> None:
    rig(stage, bones=[UPPER, LOWER, {"name": "Goal", "head": [1, 0, 0], "tail": [1, 0, 1], "deform": False}])
    box(stage, "Arm")
    box(stage, "Held")
    stage.do("object.duplicate", {"object": "Arm", "new_name": "Twin"})
    empty(stage, "Hook")
    stage.do("object.set_parent", {"object": "Held", "parent": "Hook"})

    def refused(*parts: dict[str, Any], **args: Any) -> list[str]:
        found = stage.refusal("armature.bind", {"armature": "Rig", "parts": list(parts), **args})
        return [one["pointer"] for one in found]

    assert refused({"object": "Arm"}, {"object": "Held", "bone": "Lowr"}) == [
        "/parts/0/object",
        "/parts/1/bone",
        "/parts/1/object",
    ]
    assert refused({"object": "Held", "bone": "Goal"}, parent=False) == ["/parts/0/bone"]
    assert refused({"object": "Hook"}) == ["/parts/0/object"]
    stage.do("object.set_parent", {"object": "Held", "parent": None})
    stage.do("object.set_parent", {"object": "Rig", "parent": "Held"})
    assert refused({"object": "Held"}) == ["/parts/0/object"]
    assert stage.invalid("armature.bind", {"armature": "Rig", "parts": [{"object": "A"}, {"object": "A"}]}) == [
        "/parts/1/object"
    ]
    weighted = [{"object": "A", "weights": [{"bone": "Upper", "select": "last"}]}]
    assert stage.invalid("armature.bind", {"armature": "Rig", "parts": weighted}) == [""]
    assert stage.invalid("armature.bind", {"armature": "Rig", "parts": weighted, "method": "given"}) == [
        "/parts/0/weights/0/select"
    ]


def test_an_envelope_that_reaches_nothing_says_so_and_leaves_nothing(stage: Stage) -> None:
    rig(stage)
    box(stage, "Far", location=[50, 0, 0])
    args = {"armature": "Rig", "parts": [{"object": "Far"}], "method": "envelope"}
    assert stage.refusal("armature.bind", args)[0]["pointer"] == "/parts/0/object"


# ---------------------------------------------------------------------- vertex groups


def test_later_weights_win_and_zero_takes_out(stage: Stage) -> None:
    box(stage)
    stage.do("object.duplicate", {"object": "Box", "new_name": "Twin"})
    entries = [{"weight": 0.25}, {"select": {"normal": "+Z"}, "weight": 0.75}]
    assert stage.do("vertex_group.set", {"object": "Box", "name": "Pin", "weights": entries})["vertices"] == 8
    assert sorted(weights("Box", "Pin").values()) == [0.25] * 4 + [0.75] * 4
    # The mesh keeps the groups, so the other object has them too.
    assert weights("Twin", "Pin") == weights("Box", "Pin")
    taken_out = {"weights": [{"select": {"normal": "+X"}, "weight": 0}], "mode": "update"}
    assert stage.do("vertex_group.set", {"object": "Box", "name": "Pin", **taken_out})["vertices"] == 4
    before = stage.state.full_root()
    stage.call("vertex_group.remove", {"object": "Twin", "name": "Pin"}, rehearse="inverse")
    assert stage.state.full_root() == before
    assert stage.do("vertex_group.remove", {"object": "Twin", "name": "Pin"})["groups"] == []
    assert not named("Box").vertex_groups


def test_selectors_of_weights_say_what_they_miss(stage: Stage) -> None:
    box(stage)
    entries = [{"select": {"box": [[5, 5, 5], [6, 6, 6]]}}]
    found = stage.refusal("vertex_group.set", {"object": "Box", "name": "Pin", "weights": entries})
    assert (found[0]["pointer"], "of 8 vertices" in found[0]["message"]) == ("/weights/0/select", True)
    entries = [{"select": "top"}]
    assert stage.invalid("vertex_group.set", {"object": "Box", "name": "Pin", "weights": entries}) == [
        "/weights/0/select"
    ]
    assert stage.refusal("vertex_group.remove", {"object": "Box", "name": "Pin"})[0]["pointer"] == "/name"
