"""Programs over MCP: plan_execute, plan_validate and plan_preview take one in the place of a plan."""

from __future__ import annotations

from typing import Any

from blendwright.server.context import ServerContext
from support.hosts import mcp as hosts
from support.hosts.mcp import Era, cube, plan

ERA: Era = "2026-07-28"
PROGRAM = """
for i in range(param("count", 2)):
    mesh.create_primitive(kind = "cube", name = "%s_%d" % (param("stem", "P"), i), size = param("size", 1.0))
print("done")
"""


def call(context: ServerContext, tool: str, **args: Any) -> Any:
    answer = hosts.call(context, ERA, tool, args)
    return answer.structured_content


def test_a_program_is_validated_previewed_and_run(context: ServerContext) -> None:
    params = {"count": 3, "stem": "Run"}
    valid = call(context, "plan_validate", program=PROGRAM, params=params)
    assert valid["ok"] and (valid["result"]["operations"], valid["result"]["printed"]) == (3, "done")
    shown = call(context, "plan_preview", program=PROGRAM, params=params)
    assert shown["ok"], shown
    assert call(context, "scene_find", name="Run_*")["result"]["total"] == 0
    done = call(context, "plan_execute", program=PROGRAM, params=params)
    assert done["ok"] and done["result"]["report"]["printed"] == "done"
    assert call(context, "scene_find", name="Run_*")["result"]["total"] == 3


def test_findings_of_a_program_have_its_line_and_a_failure_takes_all_of_it_back(context: ServerContext) -> None:
    size = PROGRAM.split("\n")[2].index("size") + 1
    for tool in ("plan_validate", "plan_preview", "plan_execute"):
        broken = call(context, tool, program="x = 1\ny = x +")
        assert not broken["ok"] and broken["details"]["findings"][0]["place"] == "program:2:8"
        late = call(context, tool, program=PROGRAM, params={"size": -1.0, "stem": "Late"})
        assert not late["ok"] and late["details"]["findings"][0]["place"] == f"program:3:{size}", late
    clash = PROGRAM + 'object.create_empty(name = "Gone_0")'
    failed = call(context, "plan_execute", program=clash, params={"stem": "Gone"})
    assert failed["details"]["findings"][0]["place"] == "program:5:21"
    assert call(context, "scene_find", name="Gone_*")["result"]["total"] == 0


def test_either_a_plan_or_a_program_is_given(context: ServerContext) -> None:
    both = call(context, "plan_validate", plan={"request_id": "a", "operations": []}, program="x")
    assert not both["ok"] and "not both" in both["message"]
    neither = call(context, "plan_validate")
    assert not neither["ok"] and "'program'" in neither["details"]["findings"][0]["cure"]


def test_the_last_program_runs_again_with_other_params_alone(context: ServerContext) -> None:
    first = call(context, "plan_execute", program=PROGRAM, params={"count": 4, "stem": "Again"})
    assert first["ok"] and call(context, "scene_find", name="Again_*")["result"]["total"] == 4
    shown = call(context, "plan_preview", params={"count": 2}, instead=True)
    assert shown["ok"] and shown["result"]["result"]["removed"] == {"objects": "Again_2, Again_3"}, shown
    assert call(context, "scene_find", name="Again_*")["result"]["total"] == 4, "a copy was changed"
    fewer = call(context, "plan_execute", params={"count": 2}, instead=True)
    assert fewer["ok"], fewer
    assert call(context, "scene_find", name="Again_*")["result"]["total"] == 2, "the stem stays as it was given"
    assert call(context, "plan_execute", plan=plan("by hand", cube("a", "ByHand")))["ok"]
    more = call(context, "plan_execute", params={"count": 3}, instead=True)
    assert more["ok"], "the plan by hand came from no program: the one before it is meant"
    assert call(context, "scene_find", name="Again_*")["result"]["total"] == 3
    assert call(context, "scene_find", name="ByHand")["result"]["total"] == 1, "and it is kept"


def test_move_it_then_change_it(context: ServerContext) -> None:
    """What somebody does by hand after a program stays when the program is changed: by params or by an edit."""
    assert call(context, "plan_execute", program=PROGRAM, params={"count": 2, "stem": "Moved"})["ok"]
    move = {"operation_id": "m", "tool_name": "object.transform", "args": {"object": "Moved_0", "location": [0, 0, 7]}}
    assert call(context, "plan_execute", plan=plan("move it", move))["ok"]
    told = call(context, "plan_execute", params={"count": 3}, instead=True)
    assert told["ok"] and "Run again after it: move it (1 operation), now move it.2." in str(told), told
    shown = call(context, "plan_preview", params={"count": 5}, instead=True)
    assert shown["ok"] and shown["result"]["result"]["created"] == {"objects": "Moved_3, Moved_4"}, shown
    edit = {"replace": [{"old": PROGRAM.splitlines()[-1], "new": PROGRAM.splitlines()[-1] + " # edited"}]}
    edited = call(context, "plan_execute", program_edit=edit, params={"count": 4}, instead=True, detail="operations")
    assert edited["ok"], edited
    assert call(context, "plan_execute", plan=plan("beside it", cube("a", "Beside")))["ok"]
    both = call(context, "plan_execute", params={"count": 5}, instead=True)
    assert both["ok"] and "beside it (1 operation)" in str(both) and "move it.3" in str(both), both
    assert call(context, "scene_find", name="Moved_*")["result"]["total"] == 5
    asked = {"tool": "object.inspect", "args": {"object": "Moved_0"}}
    assert hosts.call(context, ERA, "tool_call", asked).structured_content["result"]["location"][2] == 7
    lost = call(context, "plan_execute", params={"stem": "Other"}, instead=True)
    assert not lost["ok"] and "object.transform of request move it" in lost["message"], lost
    assert call(context, "scene_find", name="Moved_*")["result"]["total"] == 5, "nothing was replaced"


def test_what_one_line_does_wrong_thirty_times_is_said_once(context: ServerContext) -> None:
    wrong = "for i in range(30):\n    mesh.create_primitive(kind = 'cube', name = 'W_%d' % i, size = -1)\nobject.create_empty(name = 7)"
    answer = hosts.call(context, ERA, "plan_execute", {"program": wrong})
    thirty, other = answer.structured_content["details"]["findings"]
    assert (thirty["place"].split(":")[1], thirty["times"], thirty["pointer"]) == ("2", 30, "/operations/0/args/size")
    assert other["place"].startswith("program:3:") and "times" not in other
    assert len(answer.content[0].text) < 1600, "with a line for each of the two tools, as they are called"
    whole = hosts.call(context, ERA, "plan_execute", {"program": wrong, "detail": "full"}).structured_content
    assert len(whole["details"]["findings"]) == 31
