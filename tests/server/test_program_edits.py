"""A program that was refused is sent again by what changes in it; what runs and is journalled is the whole of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp.client.client import Client

from blendwright.server.context import ServerContext
from blendwright.server.programs.edits import MAX_PROGRAM_SIZE, SentProgram, SentPrograms, program_name
from blendwright.values.errors import Refusal
from blendwright.workspace.reading import read_journal
from support.hosts import mcp as hosts
from support.hosts.mcp import Era, cube, operation, plan

ERA: Era = "2026-07-28"
BROKEN = """
for i in range(param("count", 2)):
    mesh.create_primitive(kind = "cube", name = "Mend_%d" % i, dimension = [1, 1, 2])
object.create_empty(name = "MendPole")
object.create_empty(name = "MendPost")
"""


def call(context: ServerContext, tool: str, **args: Any) -> Any:
    return hosts.call(context, ERA, tool, args).structured_content


def edit(*pairs: tuple[str, str], of: str | None = None) -> dict[str, Any]:
    named = {} if of is None else {"of": of}
    return {**named, "replace": [{"old": old, "new": new} for old, new in pairs]}


def test_a_repaired_line_is_enough_and_the_whole_is_journalled(context: ServerContext) -> None:
    refused = call(context, "plan_execute", program=BROKEN, params={"count": 3})
    assert not refused["ok"]
    named = refused["result"]["report"]["program"]
    assert named == program_name(BROKEN)
    checked = call(context, "plan_validate", program_edit=edit(("dimension ", "dimensions ")))
    assert checked["ok"] and checked["result"]["operations"] == 5, "with the params that it was sent with"
    shown = call(
        context, "plan_preview", program_edit=edit(("dimension ", "dimensions "), of=named), params={"count": 1}
    )
    assert shown["ok"] and shown["result"]["result"]["created"]["objects"] == "MendPole, MendPost, Mend_0"
    ran = call(context, "plan_execute", program_edit=edit(("dimension ", "dimensions "), of=named))
    assert ran["ok"], ran
    with read_journal(context.workspace) as journal:
        head = journal.head
        assert head is not None
        [stored] = journal.programs.of_request(head.request_id)
    assert stored.program == BROKEN.replace("dimension ", "dimensions ")
    assert stored.params == {"count": 3}
    again = call(context, "plan_execute", program_edit={})
    assert again["ok"], "the last one as it is: it is done already"


def test_an_edit_runs_in_place_of_the_last_plan(context: ServerContext) -> None:
    assert call(context, "plan_execute", program="object.create_empty(name = 'First', location = [1, 0, 0])")["ok"]
    as_text = json.dumps(edit(("[1, 0, 0]", "[2, 0, 0]")))
    again = call(context, "plan_execute", program_edit=as_text, instead=True)
    assert again["ok"], "an object that is sent as text is read"
    assert again["result"]["report"]["replaced"].startswith("everything that the last plan made"), again
    [found] = call(context, "scene_find", name="First")["result"]["objects"]
    assert found["position"] == [2, 0, 0]


def test_a_program_that_was_previewed_is_run_by_a_call_without_one(context: ServerContext) -> None:
    program = "mesh.create_primitive(kind='cube', name=param('name', 'Foreseen'))"
    shown = call(context, "plan_preview", program=program, params={"name": "ForeseenBox"})
    assert shown["result"]["result"]["created"] == {"objects": "ForeseenBox"}
    ran = call(context, "plan_execute")
    assert ran["result"]["report"]["operations"] == ["1 operation ok: the scene is as previewed, by its hash"]
    again = call(context, "plan_execute")
    assert again["result"]["report"]["operations"] == ["1 x mesh.create_primitive done before, made ForeseenBox"]


def test_what_was_previewed_in_place_of_the_last_plan_takes_its_place(context: ServerContext) -> None:
    program = "for i in range(param('posts', 2)): object.create_empty(name='Stake_%d' % i)\nscene.audit(rules=['default_name'])"
    assert call(context, "plan_execute", program=program)["ok"]
    for posts, asked in ((4, {}), (5, {"instead": True})):
        shown = call(context, "plan_preview", params={"posts": posts}, instead=True)["result"]["report"]
        assert shown["params"] == {"posts": posts}, "who tries out must know with what"
        ran = call(context, "plan_execute", **asked)["result"]["report"]
        assert ran["replaced"].startswith("everything that the last plan made"), ran
        assert ran["params"] == {"posts": posts}
        assert call(context, "scene_find", name="Stake_*")["result"]["total"] == posts
    assert call(context, "plan_preview", params={"posts": 3}, instead=True)["ok"]
    assert call(context, "plan_execute")["result"]["report"]["operations"] == [
        "4 operations ok: the scene is as previewed, by its hash"
    ]
    assert call(context, "scene_find", name="Stake_*")["result"]["total"] == 3


def test_params_of_none_at_all_are_the_defaults_of_the_program(context: ServerContext) -> None:
    program = "for i in range(param('nails', 2)): object.create_empty(name='Nail_%d' % i)"
    assert call(context, "plan_execute", program=program, params={"nails": 3})["ok"]
    text = {"replace": [{"old": "Nail_", "new": "Tack_"}]}
    kept = call(context, "plan_execute", program_edit=text, instead=True)["result"]["report"]
    assert kept["params"] == {"nails": 3}
    back = call(context, "plan_execute", program_edit={}, params={}, instead=True)["result"]["report"]
    assert "params" not in back and call(context, "scene_find", name="Tack_*")["result"]["total"] == 2
    assert call(context, "plan_execute", params={"nails": 5}, instead=True)["ok"]
    assert call(context, "plan_execute", params={}, instead=True)["ok"]
    assert call(context, "scene_find", name="Tack_*")["result"]["total"] == 2


def test_what_an_audit_said_before_is_not_said_again(context: ServerContext) -> None:
    program = """
parts = [mesh.create_primitive(kind='cube', name='Said_%d' % i, location=[0.3 * i, 0, param('up', 50)], size=1) for i in range(4)]
scene.audit(rules=['interpenetrating'], objects=parts)
"""
    first = call(context, "plan_execute", program=program)["result"]["report"]
    [told] = first["results"].values()
    assert told["rules"]["interpenetrating"].endswith("in may_overlap, for example ['Mortar*'].")
    again = call(context, "plan_execute", params={"up": 60}, instead=True)["result"]["report"]
    assert [*again["results"].values()] == ["as in the earlier answer"] and again["operations"] == [
        "5 operations ok; made again: 4"
    ]
    edit_ = {"replace": [{"old": "0.3 * i", "new": "2.0 * i"}]}
    apart = call(context, "plan_execute", program_edit=edit_, instead=True)["result"]["report"]
    [told] = apart["results"].values()
    assert "findings" not in told or not told["findings"], "what is new is told"


def test_what_was_not_foreseen_is_told(context: ServerContext) -> None:
    """The hash of the scene decides: others may have changed it since the preview."""
    program = "object.create_empty(name='Foresight')"
    assert call(context, "plan_preview", program=program)["ok"]
    assert call(context, "plan_execute", plan=plan("meanwhile", cube("a", "Meanwhile")))["ok"]
    ran = call(context, "plan_execute", program=program)["result"]["report"]
    assert ran["operations"] == ["1 x object.create_empty ok, made Foresight"]


def test_a_call_without_a_program_runs_none_that_a_plan_came_after(context: ServerContext) -> None:
    assert call(context, "plan_preview", program="object.create_empty(name='DecidedAgainst')")["ok"]
    assert call(context, "plan_preview", plan=plan("later", cube("a", "Later")))["ok"]
    refused = call(context, "plan_execute")
    assert not refused["ok"]
    assert call(context, "scene_find", name="DecidedAgainst")["result"]["total"] == 0


def test_a_plan_in_place_of_the_last_one_tells_only_what_is_new(context: ServerContext) -> None:
    program = "for i in range(param('steps', 3)): object.create_empty(name='Rung_%d' % i)"
    assert call(context, "plan_execute", program=program)["ok"]
    more = call(context, "plan_execute", instead=True, params={"steps": 5})["result"]["report"]
    assert more["operations"] == ["5 x object.create_empty ok, 3 made again, made Rung_3, Rung_4"]
    assert "no_longer_made" not in more and more["params"] == {"steps": 5}
    fewer = call(context, "plan_execute", instead=True, params={"steps": 2})["result"]["report"]
    assert fewer["operations"] == ["2 operations ok; made again: 2"]
    assert fewer["no_longer_made"] == "Rung_2 … Rung_4"


def test_what_does_not_occur_once_is_told_with_its_place(context: ServerContext) -> None:
    assert not call(context, "plan_validate", program=BROKEN)["ok"]
    several = edit(("object.create_empty(name", "x"), ("mesh.create_primitive(kind = 'cube'", "y"), ("range", "range"))
    for tool in ("plan_validate", "plan_preview", "plan_execute"):
        refused = call(context, tool, program_edit=several)
        twice, never = refused["details"]["findings"]
        assert twice["pointer"] == "/program_edit/replace/0/old"
        assert twice["message"] == "it occurs 2 times in the program, in lines 4, 5"
        assert never["pointer"] == "/program_edit/replace/1/old"
        assert never["cure"].startswith("Line 3 is near: mesh.create_primitive(")
    assert call(context, "scene_find", name="x*")["result"]["total"] == 0


@pytest.mark.parametrize(
    ("document", "pointer"),
    [({"of": "nothing"}, "/of"), ({"replaces": []}, "/replaces"), ({"replace": [{"old": "", "new": "x"}]}, "/replace/0/old")],
)  # fmt: skip
def test_an_edit_of_nothing_is_refused(context: ServerContext, document: dict[str, Any], pointer: str) -> None:
    call(context, "plan_validate", program="object.create_empty(name = 'Any')")
    refused = call(context, "plan_execute", program_edit=document)
    assert not refused["ok"] and refused["details"]["findings"][0]["pointer"] == f"/program_edit{pointer}"


def test_an_edit_stands_alone(context: ServerContext) -> None:
    both = call(context, "plan_execute", program="object.create_empty(name = 'Both')", program_edit={})
    assert not both["ok"] and both["details"]["findings"][0]["pointer"] == "/program_edit"


def test_each_client_has_its_own_programs_and_all_together_are_bounded() -> None:
    programs = SentPrograms(most=1000)
    programs.remember("a", SentProgram("x = 1", {}))
    programs.remember("b", SentProgram("x = 2", {"n": 1}))
    assert programs.find("a", "last").text == "x = 1"
    assert programs.find("b", program_name("x = 2")).params == {"n": 1}
    with pytest.raises(Refusal) as refused:
        programs.find("a", program_name("x = 2"))
    assert program_name("x = 1") in str(refused.value.findings[0].cure)
    programs.remember("a", SentProgram("y" * 990, {}))
    with pytest.raises(Refusal, match="this session has no program"):
        programs.find("b", "last")
    programs.remember("a", SentProgram("z" * MAX_PROGRAM_SIZE, {}))
    assert programs.find("a", "last").text == "y" * 990


def test_a_wrong_call_is_answered_with_place_nearest_name_and_signature(context: ServerContext) -> None:
    program = "x = 1\nlight.create(name = 'L', type = 'SPOTT', energie = 3)\n"
    refused = call(context, "plan_execute", program=program)
    value, word = refused["details"]["findings"]
    assert (value["place"], value["cure"]) == ("program:2:26", "Did you mean 'SPOT' or 'POINT'?")
    assert (word["place"], word["cure"]) == ("program:2:42", "Did you mean 'energy'?")
    [line] = refused["result"]["report"]["calls"]
    assert line.startswith("light.create(name, type: POINT|SUN|SPOT|AREA")
    inside = "modifier.add(object = 'A', name = 'B', settings = {'type': 'BEVEL', 'widht': 1})"
    [line] = call(context, "plan_validate", program=inside)["result"]["report"]["calls"]
    assert "type: BEVEL, width=number" in line
    unknown = call(context, "plan_preview", program="for i in range(2):\n    mesh.create_primitiv(kind = 'cube')")
    [finding] = unknown["details"]["findings"]
    assert finding["place"] == "program:2:5" and finding["cure"].startswith("Did you mean 'mesh.create_primitive'")
    assert unknown["result"]["report"]["calls"][0].startswith("mesh.create_primitive(")
    plain = plan("misspelt", operation("a", "mesh.create_primitiv", {}))
    assert call(context, "plan_validate", plan=plain)["result"]["report"]["calls"][0].startswith(
        "mesh.create_primitive("
    )
    [function] = call(context, "plan_validate", program="x = math.sine(1)")["details"]["findings"]
    assert "'math.sin'" in function["cure"]
    [far] = call(context, "plan_validate", program="camera.zzzzzz(name = 'C')")["details"]["findings"]
    assert far["cure"].startswith("camera has: create, ")


def test_what_needs_approval_is_named_and_the_rest_runs_without_it(context: ServerContext) -> None:
    assert call(context, "plan_execute", program="object.create_empty(name = 'Doomed')")["ok"]
    whole = plan(
        "cleanup",
        cube("a", "Kept"),
        operation("b", "object.delete", {"object": "Doomed"}, level="destructive"),
        operation("c", "object.create_empty", {"name": "After"}, "b"),
        cube("d", "KeptToo"),
    )
    refused = call(context, "plan_execute", plan=whole)
    rest = "the same plan with skip_unapproved: true runs the other 2"
    assert refused["result"]["report"]["needs_approval"] == {"operations": "b", "rest": rest}
    ran = call(context, "plan_execute", plan=whole, skip_unapproved=True)
    assert ran["ok"], ran
    left = ran["result"]["report"]["left_out"]
    assert (left["unapproved"], left["waiting_for_them"]) == ("b", "c")
    found = call(context, "scene_find")["result"]["objects"]
    names = {one["name"] for one in found}
    assert names >= {"Kept", "KeptToo", "Doomed"} and "After" not in names
    only = plan("only", operation("b", "object.delete", {"object": "Doomed"}, level="destructive"))
    nothing = call(context, "plan_execute", plan=only, skip_unapproved=True)
    assert not nothing["ok"] and nothing["result"]["report"]["needs_approval"] == {"operations": "b"}
    program = "mesh.create_primitive(kind = 'cube', name = 'KeptLast')\nobject.delete(object = 'Doomed')"
    asked = call(context, "plan_execute", program=program)
    assert asked["result"]["report"]["needs_approval"]["rest"].startswith("program_edit: {} with skip_unapproved")
    assert call(context, "plan_execute", program_edit={}, skip_unapproved=True)["ok"]


def test_a_run_names_the_commits_around_it(context: ServerContext) -> None:
    first = call(context, "plan_execute", plan=plan("around", cube("a", "Around1"), cube("b", "Around2")))
    report = first["result"]["report"]
    assert report["head_after"] == report["head_before"] + 2
    assert call(context, "history_log", limit=1)["result"]["head"] == report["head_after"]
    between = call(context, "history_diff", a=str(report["head_before"]), b=str(report["head_after"]))
    assert between["result"]["created"]["objects"] == "Around1, Around2"
    again = call(context, "plan_execute", plan=plan("around", cube("a", "Around1"), cube("b", "Around2")))
    assert "head_after" not in again["result"]["report"], "nothing was committed"


def test_waiting_for_no_named_job_waits_for_the_newest_that_runs(context: ServerContext) -> None:
    async def script(client: Client) -> Any:
        wait = {"engine": "CYCLES", "samples": 8, "width": 128, "height": 128, "view": "ISO"}
        slow = plan("slow", cube("a", "Slow"), operation("b", "render.preview", wait, "a", level="read_only"))
        begun = await client.call_tool("plan_execute", {"plan": slow, "background": True})
        waited = await client.call_tool("job_status", {"wait_s": 50})
        return begun.structured_content["result"]["job_id"], waited.structured_content["result"]

    job, told = hosts.talk(context, ERA, script)
    assert (told["job_id"], told["state"]) == (job, "finished")
