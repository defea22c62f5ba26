"""What a model is answered with is as long as it can afford, and the rest is where the answer says."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from mcp.client.client import Client

from blendwright.nodes.catalogue.load import NEWEST, catalogue
from blendwright.server.answers.plan_report import AUDIT, MAX_ANSWER_BYTES, brief_difference, families, fitted, runs
from blendwright.server.answers.tool_page import MAX_PAGE_BYTES, brief_node_page, brief_tool_page
from blendwright.server.context import ServerContext
from blendwright.tools.catalog import tools
from blendwright.tools.scene.audit import Audit
from support.hosts import mcp as hosts
from support.hosts.mcp import Era, cube, operation, plan, talk

ERA: Era = "2026-07-28"
Document = dict[str, Any]
PAGES = {"detail": "page"}


def call(context: ServerContext, tool: str, args: Document) -> Any:
    return hosts.call(context, ERA, tool, args)


def size(answer: Any) -> int:
    """Of what a model reads; the structured content says the same once more."""
    return len(answer.content[0].text.encode())


def bare(id: str, tool: str, args: Document) -> Document:
    """An operation as a model writes it, without what can be filled in."""
    return {"operation_id": id, "tool_name": tool, "args": args}


def room(name: str) -> list[Document]:
    """37 operations, alike and unlike ones, by ids whose lexical order is not the one that works."""
    listed = [
        bare(f"op{number}", "mesh.create_primitive", {"kind": "cube", "name": f"{name}Leg{number}", "collection": name})
        for number in range(1, 25)
    ]
    listed += [
        bare(f"op{25 + number}", "material.assign", {"object": f"{name}Leg{number}", "material": f"{name}Wood"})
        for number in range(1, 7)
    ]
    listed += [
        bare("op32", "material.ensure_principled", {"name": f"{name}Wood", "roughness": 0.4}),
        bare("op33", "collection.create", {"name": name}),
        bare("op34", "light.create", {"name": f"{name}Lamp", "type": "POINT"}),
        bare("op35", "camera.create", {"name": f"{name}Eye", "location": [0, -9, 3]}),
        bare("op36", "camera.look_at", {"name": f"{name}Eye", "target": f"{name}Leg1"}),
        bare("op37", "modifier.add", {"object": f"{name}Leg2", "name": "Round", "settings": {"type": "BEVEL", "width": 0.1}}),
        bare("op38", "mesh.measure", {"object": f"{name}Leg3"}),
    ]  # fmt: skip
    assert len(listed) == 37
    return listed


@pytest.fixture(scope="module")
def ran(context: ServerContext) -> Any:
    return call(context, "plan_execute", {"plan": plan("room", *room("Room"))})


def test_a_plan_of_37_operations_is_answered_in_less_than_2_kB(ran: Any) -> None:
    assert not ran.is_error, ran.structured_content
    assert size(ran) < 2000
    report = ran.structured_content["result"]["report"]
    told = {line.partition(" (")[0]: line for line in report["operations"]}
    assert told["24 x mesh.create_primitive ok"].endswith("made RoomLeg1 … RoomLeg24")
    assert told["1 x camera.look_at ok"] == "1 x camera.look_at ok (op36)", "what the plan made itself is no change"
    assert report["results"]["op38"]["dimensions"]
    assert "24 x" in ran.content[0].text and json.loads(ran.content[0].text) == ran.structured_content


def test_a_preview_tells_what_would_be_made_by_kind_and_what_would_change_with_its_values(
    context: ServerContext,
) -> None:
    program = (
        "for i in range(40):\n    object.create_empty(name = 'Post_%d' % i)\n"
        "mesh.create_primitive(kind = 'cube', name = 'Gate')\n"
        "object.transform(object = 'Stone', location = [1, 2, 3])\n"
    )
    assert not call(context, "plan_execute", {"program": "object.create_empty(name = 'Stone')"}).is_error
    shown = call(context, "plan_preview", {"program": program})
    difference = shown.structured_content["result"]["result"]
    assert difference["created"] == {"objects": "Gate, Post_0 … Post_39"}
    (stone,) = difference["changed"]
    assert (stone["kind"], stone["name"]) == ("objects", "Stone")
    assert {"property": "transform.location", "old": [0.0, 0.0, 0.0], "new": [1.0, 2.0, 3.0]} in stone["properties"]
    assert "removed" not in difference
    assert len(shown.content[0].text) < 1000
    full = call(context, "plan_preview", {"program": program, "detail": "operations"})
    assert {"kind": "objects", "name": "Post_7"} in full.structured_content["result"]["result"]["created"]


def test_a_preview_says_what_will_be_asked_about_and_not_that_it_was_allowed(context: ServerContext) -> None:
    assert not call(context, "plan_execute", {"program": "object.create_empty(name = 'Doomed')"}).is_error
    for detail in ("summary", "operations"):
        args = {"program": "object.delete(object = 'Doomed')", "detail": detail}
        report = call(context, "plan_preview", args).structured_content["result"]["report"]
        assert report["asks"] == ["object.delete (policy.levels.destructive = ask)"]
        assert "allowed" not in str(report) and "totals" not in report and "receipts" not in report


def test_a_preview_of_more_than_it_lists_says_how_many_there_are(context: ServerContext) -> None:
    program = "for i in range(1500):\n    object.create_empty(name = 'Of_many_%d' % i)\n"
    report = call(context, "plan_preview", {"program": program}).structured_content["result"]["report"]
    assert report["totals"]["created"] == 1500


@pytest.mark.parametrize("detail", ["summary", "operations"])
def test_an_answer_says_the_id_of_its_request_once(context: ServerContext, detail: str) -> None:
    program = f"object.create_empty(name = 'SaidOnce{detail}')"
    for args in ({"plan": plan(f"said-once-{detail}", cube("a", f"SaidOnceToo{detail}"))}, {"program": program}):
        ran = call(context, "plan_execute", {**args, "detail": detail})
        report = ran.structured_content["result"]["report"]
        request: str = report.get("request_id") or report["receipts"].rpartition("/")[2]
        assert not ran.is_error and ran.content[0].text.count(request) == 1
        shown = call(context, "plan_preview", {**args, "detail": detail})
        assert shown.content[0].text.count(request) <= 1
        assert "receipts" not in shown.structured_content["result"]["report"], "nothing of it is in the journal"


def test_the_whole_of_it_is_there_on_request_and_where_the_answer_says(context: ServerContext, ran: Any) -> None:
    link = ran.structured_content["result"]["report"]["receipts"]

    async def script(client: Client) -> Any:
        (content,) = (await client.read_resource(link)).contents
        again = {"plan": plan("room", *room("Room"))}
        return (
            json.loads(getattr(content, "text")),  # noqa: B009
            await client.call_tool("plan_execute", {**again, "detail": "operations"}),
            await client.call_tool("plan_execute", {**again, "detail": "full"}),
        )

    receipts, each, full = talk(context, ERA, script)
    assert len(receipts) == 36, "what only reads has no commit"
    entries = each.structured_content["result"]["report"]["operations"]
    assert len(entries) == 37 and entries[0].keys() >= {"operation_id", "tool", "status", "made"}
    whole = full.structured_content
    assert len(whole["result"]["result"]["receipts"]) == 37
    assert whole["fingerprint_after"] and whole["details"]["trace"] and whole["handles"]
    assert size(full) > 40_000 > MAX_ANSWER_BYTES > size(each) > size(ran)


def test_what_can_be_left_out_is_filled_in_and_the_order_works(context: ServerContext, ran: Any) -> None:
    assert ran.structured_content["ok"]
    report = ran.structured_content["result"]["report"]
    assert "op26, op27 after op32" in report["implied_by"]
    checked = call(context, "plan_validate", {"plan": plan("again", *room("Other"))})
    assert not checked.is_error
    assert checked.structured_content["result"]["implied_by"]["op36"] == {
        "op35": "it uses object 'OtherEye', which the other operation makes",
        "op1": "it uses object 'OtherLeg1', which the other operation makes",
    }


def test_levels_that_are_left_out_are_those_of_the_tools(context: ServerContext) -> None:
    call(context, "plan_execute", {"plan": plan("gone", bare("a", "object.create_empty", {"name": "Gone"}))})
    asked = call(context, "plan_execute", {"plan": plan("goes", bare("a", "object.delete", {"name": "Gone"}))})
    # A destructive tool is asked about, as if the plan had said so itself.
    assert asked.structured_content["details"]["findings"][0]["rule"] == "approval_missing"
    low = operation("a", "object.delete", {"name": "Gone"}, level="safe_write")
    refused = call(context, "plan_validate", {"plan": plan("low", low)}).structured_content
    assert refused["details"]["findings"][0]["pointer"] == "/operations/0/safety_level"


def test_the_command_line_and_the_published_schema_stay_strict() -> None:
    from blendwright.dialects.registry import parse_plan

    findings = parse_plan(plan("r", bare("a", "scene.snapshot", {}))).findings
    assert {finding.message for finding in findings} == {"'depends_on' is missing", "'safety_level' is missing"}


def test_what_neither_the_plan_nor_the_scene_has_is_found_before_anything_runs(
    context: ServerContext, ran: Any
) -> None:
    listed = [
        bare("a", "object.transform", {"name": "RoomLeg1", "location": [1, 0, 0]}),
        bare("b", "object.transform", {"name": "RoomLeg99", "location": [1, 0, 0]}),
        bare("c", "material.assign", {"object": "New", "material": "RoomWood"}),
        bare("d", "mesh.create_primitive", {"kind": "cube", "name": "New", "collection": "Rooom"}),
        bare("e", "collection.link_object", {"object": "New", "collection": "Scene Collection"}),
    ]
    said = call(context, "plan_validate", {"plan": plan("use", *listed)}).structured_content
    assert [(one["code"], one["pointer"]) for one in said["details"]["findings"]] == [
        ("TARGET_NOT_FOUND", "/operations/1/args/name"),
        ("TARGET_NOT_FOUND", "/operations/3/args/collection"),
    ]
    assert "RoomLeg" in said["details"]["findings"][0]["cure"]
    wrong = bare("e2", "mesh.create_primitive", {"kind": "cubs", "name": "Newer"})
    uses_it = bare("f", "object.transform", {"name": "Newer", "location": [1, 0, 0]})
    both = call(context, "plan_validate", {"plan": plan("use", *listed, wrong, uses_it)}).structured_content
    assert [(one["code"], one["pointer"]) for one in both["details"]["findings"]] == [
        ("TARGET_NOT_FOUND", "/operations/1/args/name"),
        ("TARGET_NOT_FOUND", "/operations/3/args/collection"),
        ("ARGS_INVALID", "/operations/5/args/kind"),
    ], "all at once, and nothing about what the wrong one is meant to make"
    whole = {**listed[3], "args": {"kind": "cube", "name": "New"}}
    assert not call(context, "plan_validate", {"plan": plan("use", listed[0], listed[2], whole, listed[4])}).is_error


def test_a_finding_is_said_once(context: ServerContext) -> None:
    lost = bare("z", "object.transform", {"name": "Nobody", "location": [0, 0, 0]})
    made = bare("a", "object.create_empty", {"name": "Pole"})
    answer = call(context, "plan_execute", {"plan": plan("lost", made, lost)})
    said = answer.structured_content
    [finding] = said["details"]["findings"]
    assert said["message"] == "there is no object named 'Nobody'" and "message" not in finding
    # The contract's own failure payload has a hint of its own.
    hint = said["result"]["result"].pop("retry_hint")
    assert said["message"] in hint
    assert orjson.dumps(said).count(b"there is no object") == 1
    assert size(answer) < 3000


def test_every_default_answer_is_under_8_kB(context: ServerContext) -> None:
    many = [bare(f"n{number}", "object.create_empty", {"name": f"Node {number * 7}"}) for number in range(120)]
    wrong = [bare(f"n{number}", "object.transform", {"name": f"Nobody {number}", "scales": 1}) for number in range(120)]
    others = [{**one, "args": {"name": "M" + one["args"]["name"]}} for one in many]
    answers = {
        "run": call(context, "plan_execute", {"plan": plan("many", *many)}),
        "refused": call(context, "plan_execute", {"plan": plan("wrong", *wrong)}),
        "validated": call(context, "plan_validate", {"plan": plan("wrong", *wrong)}),
        "previewed": call(context, "plan_preview", {"plan": plan("more", *others)}),
        "snapshot": call(context, "scene_snapshot", {}),
        "found": call(context, "scene_find", {}),
        "log": call(context, "history_log", {}),
        "contract": call(context, "contract_get", {}),
        "nodes": call(context, "tool_search", {"among": "nodes"}),
        "names": call(context, "tool_search", {}),
    }  # fmt: skip
    sizes = {name: size(answer) for name, answer in answers.items()}
    assert {name: bytes for name, bytes in sizes.items() if bytes > MAX_ANSWER_BYTES} == {}
    assert answers["refused"].structured_content["left_out"]["/details/findings"] > 0
    page = answers["snapshot"].structured_content["result"]
    assert page["next_offset"] == len(page["objects"]) > 40
    asked = call(context, "scene_snapshot", {"limit": 100, "detail": "full"})
    assert size(asked) > MAX_ANSWER_BYTES, "as much as was asked for"
    exact = call(context, "scene_snapshot", {"detail": "full"})
    assert size(exact) <= MAX_ANSWER_BYTES
    told = exact.structured_content["result"]
    assert told["next_offset"] == len(told["objects"]) > 20 and "explicit limit" in told["shortened"]
    following = json.loads(told["next"].removeprefix("scene_snapshot "))
    more = call(context, "scene_snapshot", following).structured_content["result"]["objects"]
    assert more[0]["name"] > told["objects"][-1]["name"] and more[0].keys() >= {"fingerprint", "location"}


def test_noise_of_numbers_is_no_change_worth_telling() -> None:
    moved = {"property": "transform.location", "old": [0.0, 0.0, 0.0], "new": [0.1 + 0.2, 0.0, 0.0]}
    noise = {"property": "transform.scale", "old": [1.0, 1.0, 1.0], "new": [0.99999994, 1.0, 1.0]}
    difference = {
        "created": [],
        "removed": [],
        "changed": [{"kind": "objects", "name": "Eye", "properties": [moved, noise]}],
    }
    (told,) = brief_difference(difference)["changed"]
    assert told["properties"] == [{**moved, "new": [0.3, 0, 0]}]
    alone = {**difference, "changed": [{"kind": "objects", "name": "Eye", "properties": [noise]}]}
    assert brief_difference(alone)["changed"][0]["properties"] == [noise], "that it changed is told all the same"


def test_what_has_one_user_more_or_less_has_not_changed(context: ServerContext) -> None:
    before = """
paint = material.ensure_principled(name="CountedPaint")
for name in ["CountedA", "CountedB"]: mesh.create_primitive(kind="cube", name=name, material=paint)
mesh.create_primitive(kind="cube", name="CountedHole")
"""
    assert not call(context, "plan_execute", {"program": before}).is_error
    program = """
mesh.create_primitive(kind="cube", name="CountedC", material="CountedPaint", parent="CountedA")
modifier.add(object="CountedB", name="Hole", settings={"type": "BOOLEAN", "object": "CountedHole"})
"""
    shown = call(context, "plan_preview", {"program": program}).structured_content["result"]["result"]
    assert shown["created"] == {"objects": "CountedC"}
    assert [one["name"] for one in shown["changed"]] == ["CountedB"], "not its material, parent or cutter"


def test_an_audit_tells_alike_findings_as_one_also_in_a_program(context: ServerContext) -> None:
    program = """
rail = mesh.create_primitive(kind="cube", name="AuditRail", dimensions=[10, 0.1, 0.1], location=[0, 50, 1])
for i in range(12):
    mesh.create_primitive(kind="cube", name="AuditPost_%d" % i, dimensions=[0.1, 0.1, 1.02], location=[i * 0.8 - 4.4, 50, 0.51])
lone = mesh.create_primitive(kind="cube", name="AuditLone", dimensions=[1, 1, 1], location=[0, 60, 4])
names = ["AuditRail", lone] + ["AuditPost_%d" % i for i in range(12)]
scene.audit(objects=names, rules=["interpenetrating", "floating"])
"""
    answer = call(context, "plan_execute", {"program": program})
    assert not answer.is_error, answer.structured_content
    (told,) = answer.structured_content["result"]["report"]["results"].values()
    assert told["checked"] == "interpenetrating, floating" and set(told["rules"]) == {"interpenetrating", "floating"}
    through = next(line for line in told["findings"] if line.startswith("interpenetrating"))
    assert through.startswith("interpenetrating: AuditPost_0 … AuditPost_11 with AuditRail; depth ")
    assert any(line.startswith("floating: AuditLone") for line in told["findings"])
    assert len(told["findings"]) == 2 and [one["args"]["object"] for one in told["repairs"]] == ["AuditLone"]
    assert size(answer) < 1800
    whole = call(
        context,
        "tool_call",
        {"tool": "scene.audit", "args": {"objects": ["AuditRail", "AuditPost_1"]}, "detail": "full"},
    )
    assert whole.structured_content["result"]["findings"][0]["repair"], "all of it when it is asked for"
    assert Audit.name == AUDIT


def test_numbered_names_that_follow_each_other_are_one() -> None:
    assert runs(["a1", "a2", "a3", "b", "a4", "Leg 09", "Leg 10", "Leg 11"]) == "a1 … a3, b, a4, Leg 09 … Leg 11"
    assert runs(f"x{number * 2}" for number in range(20)).endswith("x22 and 8 more")


def test_names_that_differ_in_numbers_are_one_family_wherever_they_stand() -> None:
    stairs = [f"{part}_{number:02}" for number in range(1, 15) for part in ("Step", "Post")]
    assert families([*stairs, "Rail"]) == "Step_01 … Step_14, Post_01 … Post_14, Rail"
    assert families(["Leg_4", "Leg_1", "Leg_2", "Leg_3", "Leg_9"]) == "Leg_1 … Leg_4, Leg_9"
    bricks = [f"Brick_{course}_{number}" for course in range(1, 11) for number in range(4)]
    assert families([*bricks, "Ground"]) == "Brick_1_0 … Brick_10_3 (40), Ground"
    assert families(f"{chr(97 + number // 2)}_{number}" for number in range(52)).endswith("l_23 and 28 more")


def test_a_document_is_cut_where_it_is_longest_and_says_so() -> None:
    document = {"ok": True, "result": {"short": [1, 2], "long": [f"name {number}" for number in range(5000)]}}
    cut = fitted(document, 4000)
    assert len(orjson.dumps(cut)) < 4000 and cut["result"]["short"] == [1, 2]
    assert len(cut["result"]["long"]) + cut["left_out"]["/result/long"] == 5000
    assert fitted({"ok": True}) == {"ok": True}


def test_a_document_of_mappings_is_cut_too_and_in_no_time_to_speak_of() -> None:
    others = {f"op{number}": "it uses object '😀', which the other operation makes" for number in range(50)}
    document = {"ok": True, "result": {"implied_by": {f"op{number}": others for number in range(500)}}}
    cut = fitted(document)
    assert len(orjson.dumps(cut)) <= MAX_ANSWER_BYTES
    left = cut["left_out"]["/result/implied_by"]
    assert len(cut["result"]["implied_by"]) + left == 500


def test_every_page_of_a_tool_is_at_most_3_kB_and_variants_have_their_own() -> None:
    sizes: dict[str, int] = {}
    for tool in tools().values():
        page = brief_tool_page(tool)
        assert isinstance(page, dict)
        sizes[tool.name] = len(orjson.dumps(page))
        named = {name.partition(".")[0].removesuffix("[]") for name in page["arguments"]}
        assert named == set(tool.args_model.model_fields), tool.name
        required = list(tool.args_schema().get("required", ()))
        assert list(page["arguments"])[: len(required)] != [] or not required
    for variant in ("BEVEL", "DECIMATE", "NODES", "ARRAY"):
        page = brief_tool_page(tools()["modifier.add"], variant)
        assert isinstance(page, dict) and "settings.type" in page["arguments"]
        sizes[variant] = len(orjson.dumps(page))
    assert {name: bytes for name, bytes in sizes.items() if bytes > MAX_PAGE_BYTES} == {}


def test_every_page_of_a_node_is_at_most_3_kB_without_what_all_nodes_have() -> None:
    nodes = catalogue(NEWEST)
    for name in nodes:
        node = nodes.find(name)
        assert node is not None
        page = brief_node_page(node)
        assert len(orjson.dumps(page)) <= MAX_PAGE_BYTES, name
        assert "warning_propagation" not in page.get("properties", {})


def test_the_page_of_a_node_has_the_sockets_of_a_new_one_and_names_those_that_settings_bring() -> None:
    nodes = catalogue(NEWEST, "shader")
    noise, mix = (
        brief_node_page(found) for name in ("ShaderNodeTexNoise", "ShaderNodeMix") if (found := nodes.find(name))
    )
    assert "Vector" in noise["inputs"] and "W" not in noise["inputs"], "a new one has three dimensions"
    assert noise["other_sockets"]["noise_dimensions=1D"] == "inputs W"
    assert mix["other_sockets"]["data_type=RGBA"] == "inputs A_Color, B_Color; outputs Result_Color"


def test_a_rename_is_told_as_one(context: ServerContext) -> None:
    for name in ("Ugly.001", "Ugly.002"):
        assert not call(
            context, "plan_execute", {"program": f"mesh.create_primitive(kind = 'cube', name = '{name}')"}
        ).is_error
    program = (
        "for i in [1, 2]:\n    object.rename(object = 'Ugly.00%d' % i, new_name = 'Chair_%d' % i, rename_data = True)\n"
    )
    report = call(context, "plan_execute", {"program": program}).structured_content["result"]["report"]
    assert report["operations"] == ["2 x object.rename ok, renamed Ugly.001 → Chair_1, Ugly.002 → Chair_2"]


def test_what_was_put_where_is_told(context: ServerContext) -> None:
    program = (
        "for i in range(3):\n    mesh.create_primitive(kind = 'cube', name = 'Put_%d' % i)\n"
        "for c in ['Here', 'There']:\n    collection.create(name = c)\n"
        "collection.move_objects(objects = ['Put_0', 'Put_1'], collection = 'Here')\n"
        "collection.move_objects(objects = ['Put_2'], collection = 'There')\n"
    )
    report = call(context, "plan_execute", {"program": program}).structured_content["result"]["report"]
    assert report["operations"][-1] == (
        "2 x collection.move_objects ok, put into Here: Put_0, Put_1, put into There: Put_2"
    )
    assert "allowed by" not in str(report), "nobody has to allow it"


def test_what_may_surprise_about_alike_operations_is_told_with_them(context: ServerContext) -> None:
    program = (
        "for i in range(5):\n"
        "    made = mesh.create_primitive(kind = 'cube', name = 'Moved_%d' % i, location = [i + 1, 0, 0])\n"
        "    object.apply_transform(object = made)\n"
    )
    first = call(context, "plan_execute", {"program": program}).structured_content["result"]["report"]
    assert first["operations"][-1].count("location: false leaves origins in place") == 3
    assert first["operations"][-1].endswith("; and 2 more notes")
    args = {"program": program, "detail": "operations", "instead": True}
    each = call(context, "plan_execute", args).structured_content["result"]["report"]["operations"]
    assert [len(one.get("notes", ())) for one in each] == [0, 1] * 5


def test_a_variant_is_described_by_name_and_a_wrong_one_named(context: ServerContext) -> None:
    said = call(
        context, "tool_describe", {"names": ["modifier.add:DECIMATE", "modifier_add"], **PAGES}
    ).structured_content
    variant, whole = said["result"]["tools"]
    assert "settings.ratio" in variant["arguments"] and "settings.ratio" not in whole["arguments"]
    assert "DECIMATE" in whole["variants"]
    wrong = call(context, "tool_describe", {"names": ["modifier.add:DECIMAT"]}).structured_content
    [finding] = wrong["details"]["findings"]
    assert (finding["pointer"], finding["cure"]) == ("/names/0", "Did you mean 'DECIMATE'?")


def test_the_list_of_all_tools_as_tools_of_the_server_is_under_60_kB(context: ServerContext) -> None:
    async def script(client: Client) -> Any:
        return await client.list_tools()

    listed = talk(context, ERA, script, direct=True)
    wire = orjson.dumps([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools])
    assert len(wire) < 60_000
    assert len(listed.tools) >= len(tools())


BOXES = """
wood = material.ensure_principled(name="%sWood")
for i in range(60):
    mesh.create_primitive(kind="cube", name="%s_%%d_x" %% i, material=wood)
"""


def test_a_program_is_answered_as_shortly_as_a_plan(context: ServerContext) -> None:
    answer = call(context, "plan_execute", {"program": BOXES.replace("%s", "Short").replace("%%", "%")})
    assert not answer.is_error, answer.structured_content
    report = answer.structured_content["result"]["report"]
    _, boxes = report["operations"]
    assert boxes.startswith("60 x mesh.create_primitive ok, made Short_0_x … Short_59_x (60)")
    # Its request id is said once; the ids that we gave are of no use where all went well.
    request_id = report["receipts"].removeprefix("blendwright://receipts/")
    assert len(request_id) == 64
    assert answer.content[0].text.count(request_id) == 1 and "_L4" not in answer.content[0].text
    assert size(answer) < 700
    failed = call(
        context,
        "plan_execute",
        {"program": BOXES.replace("%s", "Short").replace("%%", "%") + "object.delete(object='No')"},
    )
    assert "00061_L4" in failed.content[0].text, "what failed names its operations"


def test_what_a_refusal_skips_is_told_once_whatever_it_would_have_done(context: ServerContext) -> None:
    wrong = BOXES.replace("%s", "Wrong").replace("%%", "%") + "camera.look_at(object='Eye', target=[0, 0, 1])\n"
    answer = call(context, "plan_execute", {"program": wrong})
    entries = answer.structured_content["result"]["report"]["operations"]
    assert [entry["operations"] for entry in entries] == ["61 x operations skipped", "1 x camera.look_at refused"]


def test_several_tools_are_described_in_less_than_each_alone(context: ServerContext) -> None:
    names = ["mesh.create_primitive", "material.ensure_principled", "light.create", "camera.create"]
    together = call(context, "tool_describe", {"names": names, **PAGES})
    alone = sum(size(call(context, "tool_describe", {"names": [name], **PAGES})) for name in names)
    assert size(together) < 5000 < alone
    pages = {page["name"]: page for page in together.structured_content["result"]["tools"]}
    assert pages["light.create"]["arguments"]["type"].startswith("POINT | SUN")
    assert "location" in pages["light.create"]["arguments"]["as in mesh.create_primitive"]
    # Every argument is told, by itself or by the page that has told it.
    for page in pages.values():
        told = set(page["arguments"]) | {
            name for key, names in page["arguments"].items() if key.startswith("as in ") for name in names.split(", ")
        }
        assert told >= set(tools()[page["name"]].args_schema()["properties"])
