"""A scene as a model reads it: a line for each thing, with what is not as usual, in numbers as a person would write them."""

from __future__ import annotations

import json
from typing import Any

from blendwright.server.answers.plan_report import MAX_ANSWER_BYTES, rounded, runs
from blendwright.server.context import ServerContext
from support.hosts import mcp as hosts

ROOM = """
red = material.ensure_principled(name="LinesRed", base_color=[0.7, 0.1, 0.05], roughness=0.25, metallic=1)
group = collection.create(name="LinesGroup")
pole = object.create_empty(name="LinesPole", location=[0.1, 0.2, 0.3], collection=group)
mesh.create_primitive(kind="cube", name="LinesBox", location=[1, 2, 3.3], rotation_euler_deg=[0, 0, 45], scale=[1, 2, 0.1],
    material=red, parent=pole, collection=group, bevel=0.02)
object.set_visibility(object="LinesBox", render=False)
object.set_property(object="LinesBox", key="note", value="chair")
light.create(name="LinesLamp", type="POINT", energy=60, radius=0.1)
keys = [{"channel": "location", "frame": f, "value": [0.1, 0.2, 0.3]} for f in [1, 9]]
animation.set_keyframes(object="LinesPole", keys=keys)
"""


def call(context: ServerContext, name_: str, **args: Any) -> Any:
    answer = hosts.call(context, "2026-07-28", name_, args)
    assert not answer.is_error, answer.structured_content
    return answer


def test_an_object_is_a_line_with_what_is_not_as_usual(context: ServerContext) -> None:
    call(context, "plan_execute", program=ROOM)
    answer = call(context, "scene_snapshot", name="Lines*")
    told = answer.structured_content["result"]
    assert told["objects"] == [
        "LinesBox: MESH at [1,2,3.3]; turned [0,0,45]; scale [1,2,0.1]; size [2,4,0.2]; child of LinesPole; material LinesRed; "
        'modifiers Bevel (BEVEL); in LinesGroup; properties note="chair"; hidden in render, used by nothing',
        "LinesLamp: LIGHT at [0,0,0]",
        "LinesPole: EMPTY at [0.1,0.2,0.3]; animated location in 1 to 9; in LinesGroup",
    ]
    assert told.keys() == {"objects", "total", "unsaid"} and told["total"] == 3, "who asks for some by name gets these"
    told = call(context, "scene_snapshot").structured_content["result"]
    assert "LinesRed: [0.7,0.1,0.05], metallic 1, roughness 0.25" in told["materials"]
    assert "LinesLamp: POINT 60 [1,1,1], radius 0.1" in told["lights"]
    assert "LinesGroup: 2 objects" in told["collections"]
    exact = call(context, "scene_snapshot", name="Lines*", detail="full").structured_content["result"]
    assert exact["objects"]["items"][0]["transform"]["matrix_world"] and exact["fingerprint"]


def test_a_scene_of_fifty_objects_is_read_at_once(context: ServerContext) -> None:
    rows = (
        "for i in range(50): mesh.create_primitive(kind='cube', name='Row_%d' % i, location=[i * 1.1, 0, 0.5], size=1)"
    )
    call(context, "plan_execute", program=rows)
    answer = call(context, "scene_snapshot", name="Row_*")
    told = answer.structured_content["result"]
    assert told["total"] == 50 and len(answer.content[0].text) < MAX_ANSWER_BYTES // 4
    assert told["objects"][:3] == [
        "Row_0: MESH at [0,0,0.5]; size [1,1,1]",
        "Row_1: MESH at [1.1,0,0.5]; size [1,1,1]",
        "Row_10 … Row_19 (10): MESH evenly from [11,0,0.5] to [20.9,0,0.5]; size [1,1,1]",
    ]
    assert call(context, "scene_find", name="Row_1").structured_content["result"]["objects"] == [
        {"name": "Row_1", "type": "MESH", "position": [1.1, 0, 0.5]}
    ]


def test_objects_that_differ_in_their_places_alone_are_one_line(context: ServerContext) -> None:
    program = """
for i, place in enumerate([[0, 0, 1], [2, 0, 1], [2, 3, 1], [0, 3, 1]]):
    mesh.create_primitive(kind="cube", name="AlikeLeg_%d" % i, location=place, size=0.5)
mesh.create_primitive(kind="cube", name="AlikeLeg_4", location=[5, 5, 1], size=0.75)
for i in range(5, 8): mesh.create_primitive(kind="cube", name="AlikeLeg_%d" % i, location=[i, 0, 0.1 * i], size=0.5)
for i in range(2): object.create_empty(name="AlikePair_%d" % i)
for i in range(3): light.create(name="AlikeThing_%d" % i, type="POINT")
object.create_empty(name="AlikeThing_3")
"""
    call(context, "plan_execute", program=program)
    told = call(context, "scene_snapshot", name="Alike*").structured_content["result"]
    assert told["objects"] == [
        "AlikeLeg_0 … AlikeLeg_3 (4): MESH at [0,0,1], [2,0,1], [2,3,1], [0,3,1]; size [0.5,0.5,0.5]",
        "AlikeLeg_4: MESH at [5,5,1]; size [0.75,0.75,0.75]",
        "AlikeLeg_5 … AlikeLeg_7 (3): MESH evenly from [5,0,0.5] to [7,0,0.7]; size [0.5,0.5,0.5]",
        "AlikePair_0: EMPTY at [0,0,0]",
        "AlikePair_1: EMPTY at [0,0,0]",
        "AlikeThing_0 … AlikeThing_2 (3): LIGHT evenly from [0,0,0] to [0,0,0]",
        "AlikeThing_3: EMPTY at [0,0,0]",
    ]
    page = call(context, "scene_snapshot", name="AlikeLeg*", limit=6).structured_content["result"]
    assert (page["total"], page["next_offset"]) == (8, 6), "a line counts for all that it tells of"
    rest = call(context, "scene_snapshot", name="AlikeLeg*", offset=6).structured_content["result"]
    assert [line.partition(":")[0] for line in rest["objects"]] == ["AlikeLeg_6", "AlikeLeg_7"]


def test_where_an_object_stands_is_told_where_its_location_does_not_say(context: ServerContext) -> None:
    code = """
import bpy
for number in range(4):
    made = bpy.data.objects.new(f"StandCube_{number}", bpy.data.meshes.new(f"StandCube_{number}"))
    made.location = (number, 0, 1)
    bpy.context.scene.collection.objects.link(made)
bpy.data.objects["StandCube_2"].delta_location = (0, 0, 7)
"""
    call(context, "python_run", code=code)
    told = call(context, "scene_snapshot", name="StandCube*").structured_content["result"]["objects"]
    assert "StandCube_2: MESH at [2,0,1]; stands at [2,0,8]; size [0,0,0]" in told and len(told) == 4


def test_a_name_that_could_be_read_as_more_is_in_quotes(context: ServerContext) -> None:
    names = [
        "Forged_1 … Forged_9 (9): MESH",
        "Forged\nLine: MESH",
        "Forged; hidden",
        " Forged",
        'Forged"',
        "Forged plain.001",
    ]
    made = f"for name in {names!r}: bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, None))"
    call(context, "python_run", code=f"import bpy\n{made}")
    told = call(context, "scene_snapshot", name="*Forged*").structured_content["result"]["objects"]
    heads = sorted(line.rpartition(": EMPTY at")[0] for line in told)
    assert heads == sorted([json.dumps(name, ensure_ascii=False) for name in names[:-1]] + names[-1:])
    assert all("\n" not in line for line in told)
    made = (
        "for i in range(3): bpy.context.scene.collection.objects.link(bpy.data.objects.new(f'Hid; hidden_{i}', None))"
    )
    call(context, "python_run", code=f"import bpy\n{made}")
    [series] = call(context, "scene_snapshot", name="Hid;*").structured_content["result"]["objects"]
    assert series.startswith('"Hid; hidden_0" … "Hid; hidden_2" (3): EMPTY')


def test_numbers_that_do_not_follow_each_other_to_the_letter_are_no_series() -> None:
    assert runs(["U_1", "U_2", "U_3"]) == runs(["U_1", "U_2", "U_3"]) == "U_1 … U_3"
    assert runs(["U_8", "U_9", "U_10"]) == "U_8 … U_10" and runs(["U_08", "U_09", "U_10"]) == "U_08 … U_10"
    assert runs(["U_1", "U_02", "U_3"]) == "U_1, U_02, U_3"
    assert "…" not in runs(["U_1", "U_2", "U_٣"]) and "…" not in runs([f"U_{'9' * 5000}", f"U_{'9' * 4999}8", "U_1"])


def test_a_plan_that_ends_with_a_snapshot_tells_what_is_there_then(context: ServerContext) -> None:
    program = """
for i in range(4): mesh.create_primitive(kind="cube", name="EndPost_%d" % i, location=[i, 0, 0.5], size=1)
scene.snapshot(name="EndPost_*")
scene.snapshot(name="EndPost_*", include=["objects"])
"""
    report = call(context, "plan_execute", program=program).structured_content["result"]["report"]
    whole, objects = report["results"].values()
    line = "EndPost_0 … EndPost_3 (4): MESH evenly from [0,0,0.5] to [3,0,0.5]; size [1,1,1]"
    assert whole["objects"] == objects["objects"] == [line] and whole["render"].endswith("1920x1080")
    assert objects.keys() == {"objects", "total", "unsaid"}, "and nothing of what was not asked for"


def test_who_shares_what_and_what_nobody_uses_is_told(context: ServerContext) -> None:
    program = """
for name, grey in [("UsedRed", 0.31), ("UsedNever", 0.32)]: material.ensure_principled(name=name, base_color=[grey, grey, grey])
box = mesh.create_primitive(kind="cube", name="UsedBox", material="UsedRed")
object.duplicate(object=box, new_name="UsedTwin", mode="linked")
mesh.create_primitive(kind="cube", name="UsedOther", material="UsedRed")
"""
    call(context, "plan_execute", program=program)
    told = call(context, "scene_snapshot").structured_content["result"]
    lines = {line.partition(":")[0]: line for line in told["objects"]}
    box, twin = lines["UsedBox"], lines["UsedTwin"]
    assert "data UsedBox (of 2)" in box and "data UsedBox (of 2)" in twin
    users = {line.partition(":")[0]: line.partition(": ")[2] for line in told["materials"]}
    assert (users["UsedRed"], users["UsedNever"]) == (
        "[0.31,0.31,0.31], 3 users",
        "[0.32,0.32,0.32], unused, kept by a fake user",
    )
    call(context, "python_run", code="import bpy; bpy.data.meshes.new('UsedMesh').use_fake_user = True")
    assert "meshes/UsedMesh" in call(context, "scene_snapshot").structured_content["result"]["unused"]
    exact = call(context, "tool_call", tool="scene.snapshot", args={"include": ["materials", "unused"]}, detail="full")
    entries = {one["name"]: one for one in exact.structured_content["result"]["materials"]["items"]}
    assert (entries["UsedRed"]["users"], entries["UsedNever"]["users"]) == (3, 0)
    assert entries["UsedNever"]["fake_user"], "a step gives one to what it leaves unused"


def test_what_modifiers_point_at_and_who_uses_what_is_hidden_is_told(context: ServerContext) -> None:
    program = """
top = mesh.create_primitive(kind="cylinder", name="CutTop")
cutter = mesh.create_primitive(kind="cube", name="CutCutter")
modifier.add(object=top, name="Hole", settings={"type": "BOOLEAN", "object": cutter})
pivot = mesh.create_primitive(kind="cube", name="CutPivot")
mesh.create_primitive(kind="cube", name="CutArm", parent=pivot)
spare = mesh.create_primitive(kind="cube", name="CutSpare")
for name in [cutter, pivot, spare]: object.set_visibility(object=name, render=False)
"""
    call(context, "plan_execute", program=program)
    lines = call(context, "scene_snapshot", name="Cut*").structured_content["result"]["objects"]
    told = {line.partition(":")[0]: line for line in lines}
    assert "modifiers Hole (BOOLEAN with CutCutter)" in told["CutTop"]
    assert told["CutCutter"].endswith("; used by CutTop; hidden in render")
    assert told["CutSpare"].endswith("; hidden in render, used by nothing")
    assert told["CutPivot"].endswith("; hidden in render"), "it has a child"


def test_materials_that_differ_in_nothing_but_their_name_say_so(context: ServerContext) -> None:
    program = """
for name in ["AlikeA", "AlikeB"]: material.ensure_principled(name=name, base_color=[0.4, 0.22, 0.1])
material.ensure_principled(name="AlikeNot", base_color=[0.4, 0.22, 0.11])
"""
    call(context, "plan_execute", program=program)
    materials = call(context, "scene_snapshot").structured_content["result"]["materials"]
    told = {line.partition(":")[0]: line.partition(": ")[2] for line in materials}
    assert told["AlikeA"].startswith("[0.4,0.22,0.1]") and told["AlikeB"].startswith("equal to AlikeA")
    assert told["AlikeNot"].startswith("[0.4,0.22,0.11]")


def test_numbers_are_as_a_person_writes_them() -> None:
    assert rounded({"a": [0.30000001192092896, 2.0, (1e-9, 3)], "b": None}) == {"a": [0.3, 2, [0, 3]], "b": None}


def test_a_snapshot_in_a_plan_is_as_long_as_is_affordable_and_says_where_it_goes_on(context: ServerContext) -> None:
    many = "for i in range(300): mesh.create_primitive(kind='cube', name='%sMany' % pad(i * 7919 % 300, 3), location=[i, 0, i * i])"
    report = call(context, "plan_execute", program=f"{many}\nscene.snapshot(limit=300)").structured_content["result"][
        "report"
    ]
    [result] = report["results"].values()
    assert len(str(result)) < 4500 and result["next_offset"] < 300, "as much as is affordable, and where it goes on"
