"""A scene as a model reads it: a line for each thing, with what is not as usual, in numbers as a person would write them."""

from __future__ import annotations

from typing import Any

import hosts
from blendwright.server.brief import LARGEST_ANSWER
from blendwright.server.context import ServerContext
from blendwright.server.scene_lines import rounded

ROOM = """
red = material.ensure_principled(name="LinesRed", base_color=[0.7, 0.1, 0.05], roughness=0.25, metallic=1)
group = collection.create(name="LinesGroup")
pole = object.create_empty(name="LinesPole", location=[0.1, 0.2, 0.3], collection=group)
mesh.create_primitive(kind="cube", name="LinesBox", location=[1, 2, 3.3], rotation_euler_deg=[0, 0, 45], scale=[1, 2, 0.1],
    material=red, parent=pole, collection=group, bevel=0.02)
object.set_visibility(object="LinesBox", render=False)
object.set_property(object="LinesBox", key="note", value="chair")
light.create(name="LinesLamp", type="POINT", energy=60)
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
        "LinesBox: MESH at [1,2,3.3]; turned [0,0,45]; scale [1,2,0.1]; on LinesPole; material LinesRed; modifiers Bevel (BEVEL); "
        'in LinesGroup; properties note="chair"; hidden in render',
        "LinesLamp: LIGHT at [0,0,0]",
        "LinesPole: EMPTY at [0.1,0.2,0.3]; in LinesGroup",
    ]
    assert told["total"] == 3 and "next_offset" not in told
    assert "LinesRed: [0.7,0.1,0.05], metallic 1, roughness 0.25" in told["materials"]
    assert "LinesLamp: POINT 60 [1,1,1]" in told["lights"]
    assert "LinesGroup: 2 objects" in told["collections"]
    exact = call(context, "scene_snapshot", name="Lines*", detail="full").structured_content["result"]
    assert exact["objects"]["items"][0]["transform"]["matrix_world"] and exact["fingerprint"] == told["fingerprint"]


def test_a_scene_of_fifty_objects_is_read_at_once(context: ServerContext) -> None:
    rows = (
        "for i in range(50): mesh.create_primitive(kind='cube', name='Row_%d' % i, location=[i * 1.1, 0, 0.5], size=1)"
    )
    call(context, "plan_execute", program=rows)
    answer = call(context, "scene_snapshot", name="Row_*")
    told = answer.structured_content["result"]
    assert len(told["objects"]) == told["total"] == 50 and len(answer.content[0].text) < LARGEST_ANSWER
    assert call(context, "scene_find", name="Row_1").structured_content["result"]["objects"] == [
        {"name": "Row_1", "type": "MESH", "position": [1.1, 0, 0.5]}
    ]


def test_who_shares_what_and_what_nobody_uses_is_told(context: ServerContext) -> None:
    program = """
for name in ["UsedRed", "UsedNever"]: material.ensure_principled(name=name)
box = mesh.create_primitive(kind="cube", name="UsedBox", material="UsedRed")
object.duplicate(object=box, new_name="UsedTwin", mode="linked")
mesh.create_primitive(kind="cube", name="UsedOther", material="UsedRed")
"""
    call(context, "plan_execute", program=program)
    told = call(context, "scene_snapshot", name="Used*").structured_content["result"]
    box, _, twin = told["objects"]
    assert "data UsedBox (of 2)" in box and "data UsedBox (of 2)" in twin
    users = {line.partition(":")[0]: line.rpartition(", ")[2] for line in told["materials"]}
    assert (users["UsedRed"], users["UsedNever"]) == ("3 users", "unused")
    call(context, "python_run", code="import bpy; bpy.data.meshes.new('UsedMesh').use_fake_user = True")
    assert "meshes/UsedMesh" in call(context, "scene_snapshot").structured_content["result"]["unused"]
    exact = call(context, "tool_call", tool="scene.snapshot", args={"include": ["materials", "unused"]}, detail="full")
    entries = {one["name"]: one for one in exact.structured_content["result"]["materials"]["items"]}
    assert (entries["UsedRed"]["users"], entries["UsedNever"]["users"]) == (3, 0)
    assert entries["UsedNever"]["fake_user"], "a step gives one to what it leaves unused"


def test_numbers_are_as_a_person_writes_them() -> None:
    assert rounded({"a": [0.30000001192092896, 2.0, (1e-9, 3)], "b": None}) == {"a": [0.3, 2, [0, 3]], "b": None}
