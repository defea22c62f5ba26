from __future__ import annotations

import base64
import io
import json
from typing import Any

import anyio
import orjson
import pytest
from mcp.client.client import Client
from mcp_types import ElicitResult
from PIL import Image

from blendwright.server.context import ServerContext
from blendwright.server.pictures.pictures import CAPTION
from blendwright.server.service import TOOLS
from blendwright.workspace.reading import read_journal
from support.hosts.mcp import FEWER_ERAS, Era, call, cube, operation, plan, talk
from support.plans.documents import geonodes_plan, step, tree_step

LARGEST_LIST = 12 * 1024


def test_the_list_of_tools_fits_into_a_small_part_of_a_context(context: ServerContext, era: Era) -> None:
    async def script(client: Client) -> Any:
        return await client.list_tools()

    listed = talk(context, era, script)
    assert {tool.name for tool in listed.tools} == {offer.name for offer in TOOLS}
    wire = orjson.dumps([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools])
    assert len(wire) <= LARGEST_LIST
    for tool in listed.tools:
        assert not {"anyOf", "oneOf", "allOf"} & tool.input_schema.keys(), tool.name
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is None, "it would say the same of every tool, and not much"
        assert len(tool.name) <= 40


def test_annotations_say_what_a_tool_does(context: ServerContext, era: Era) -> None:
    async def script(client: Client) -> Any:
        return {tool.name: tool.annotations for tool in (await client.list_tools()).tools}

    told = talk(context, era, script)
    hints = {name: (given.read_only_hint, given.destructive_hint) for name, given in told.items()}
    changing = {name: hint for name, hint in hints.items() if hint[0] is not True}
    assert changing == {
        "plan_execute": (None, True),
        "python_run": (None, True),
        "geonodes_execute": (None, True),
        "tool_call": (None, True),
        "history_checkout": (None, False),
        "job_cancel": (None, False),
    }


def test_a_plan_is_run_and_answered_with_receipts(context: ServerContext, era: Era) -> None:
    name = f"Run{era}"
    answer = call(context, era, "plan_execute", {"plan": plan(name, cube("a", name)), "detail": "full"})
    assert not answer.is_error
    said = answer.structured_content
    assert said["result"]["result"]["status"] == "succeeded"
    assert said["result"]["result"]["receipts"][0]["operation_id"] == "a"
    found = call(context, era, "scene_find", {"name": name}).structured_content["result"]
    assert [entry["name"] for entry in found["objects"]] == [name]


def test_the_text_is_the_structured_content(context: ServerContext, era: Era) -> None:
    answer = call(context, era, "scene_find", {})
    assert json.loads(answer.content[0].text) == answer.structured_content


def test_a_plan_that_is_wrong_is_an_error_result_with_the_failure_payload(context: ServerContext, era: Era) -> None:
    wrong = plan("wrong", operation("a", "mesh.create_primitiv", {}))
    answer = call(context, era, "plan_execute", {"plan": wrong})
    assert answer.is_error
    said = answer.structured_content
    assert said["ok"] is False
    assert said["error_code"] == "policy_refused"
    assert said["result"]["result"].keys() == {"error_code", "recoverable", "minimal_repair_plan", "retry_hint"}
    assert said["details"]["findings"][0]["pointer"] == "/operations/0/tool_name"
    assert "mesh.create_primitive" in said["details"]["findings"][0]["cure"]


def test_a_plan_can_be_checked_without_running_it(context: ServerContext, era: Era) -> None:
    name = f"Check{era}"
    good = call(context, era, "plan_validate", {"plan": plan(name, cube("a", name))})
    assert good.structured_content["result"]["ok"] is True
    bad = call(context, era, "plan_validate", {"plan": plan(name, cube("a", name), cube("a", name))})
    assert bad.is_error
    assert bad.structured_content["result"]["result"]["error_code"] == "SCHEMA_INVALID"
    assert call(context, era, "scene_find", {"name": name}).structured_content["result"]["total"] == 0


def test_a_plan_is_checked_under_the_policy_of_the_workspace(context: ServerContext, era: Era) -> None:
    policy = context.workspace / "blendwright.toml"
    policy.write_text('[policy.tools]\n"mesh.*" = "deny"\n')
    try:
        denied = call(context, era, "plan_validate", {"plan": plan("denied", cube("a", f"Denied{era}"))})
    finally:
        policy.unlink()
    assert denied.is_error and denied.structured_content["error_code"] == "policy_refused"
    assert "policy.tools.'mesh.*'" in denied.structured_content["message"]


@pytest.mark.parametrize("era", FEWER_ERAS)
def test_a_preview_changes_nothing(context: ServerContext, era: Era) -> None:
    name = f"Preview{era}"
    shown = call(context, era, "plan_preview", {"plan": plan(name, cube("a", name)), "image": True})
    assert shown.structured_content["result"]["result"]["created"]["objects"] == name
    assert [part.type for part in shown.content] == ["text", "image"]
    assert call(context, era, "scene_find", {"name": name}).structured_content["result"]["total"] == 0


def test_what_is_known_to_fail_is_told_when_a_plan_is_checked(context: ServerContext, era: Era) -> None:
    document = {"steps": [step("step_1"), step("step_2", tool="scene.snapshoot")]}
    checked = call(context, era, "plan_validate", {"plan": document}).structured_content
    assert checked["ok"] is True
    (warning,) = checked["result"]["warnings"]
    assert warning["pointer"] == "/steps/1/tool" and "scene.snapshot" in warning["cure"]


def test_a_plan_that_comes_as_text_is_read(context: ServerContext, era: Era) -> None:
    text = json.dumps(plan("text", cube("a", "AsText")))
    assert not call(context, era, "plan_validate", {"plan": text}).is_error
    assert call(context, era, "plan_validate", {"plan": "{not json"}).is_error


def test_unknown_arguments_are_refused_and_the_one_that_gemini_cli_adds_is_dropped(
    context: ServerContext, era: Era
) -> None:
    refused = call(context, era, "scene_find", {"nmae": "x"})
    assert refused.is_error
    assert refused.structured_content["error_code"] == "invalid_input"
    assert refused.structured_content["details"]["findings"][0]["pointer"] == "/nmae"
    assert not call(context, era, "scene_find", {"wait_for_previous": True}).is_error


def test_an_unknown_tool_is_an_error_result_that_helps(context: ServerContext, era: Era) -> None:
    async def script(client: Client) -> Any:
        return await client.session.call_tool("plan_exceute", {})

    answer = talk(context, era, script)
    assert answer.is_error
    assert "plan_execute" in answer.structured_content["details"]["findings"][0]["cure"]


def test_pictures_are_image_content_and_several_become_one(context: ServerContext, era: Era) -> None:
    call(context, era, "plan_execute", {"plan": plan(f"pic{era}", cube("a", f"Pic{era}"))})
    answer = call(context, era, "scene_image", {"views": ["ISO", "TOP", "FRONT"], "width": 96, "height": 64})
    picture = Image.open(io.BytesIO(base64.b64decode(answer.content[1].data)))
    high = 64 + CAPTION
    assert picture.size == (192, 2 * high)
    corner = picture.getpixel((191, 2 * high - 1))
    assert corner == (0, 0, 0)
    places = ((0, 0), (96, 0), (0, high))
    seen = {picture.crop((x, y + CAPTION, x + 96, y + high)).tobytes() for x, y in places}
    captions = {picture.crop((x, y, x + 96, y + CAPTION)).tobytes() for x, y in places}
    assert (len(seen), len(captions)) == (3, 3)
    assert answer.structured_content["result"]["views"] == ["iso", "top", "front"]


@pytest.mark.proves("OPS-TOOL-03")
def test_every_tool_that_is_listed_can_be_named_in_a_plan(context: ServerContext, era: Era) -> None:
    listed = call(context, era, "tool_search", {}).structured_content["result"]["tools"]
    names = [f"{noun}.{verb}" for noun, verbs in listed.items() for verb in verbs]
    assert len(names) > 50
    operations = [operation(f"op{number}", name, {}) for number, name in enumerate(names)]
    answer = call(context, era, "plan_validate", {"plan": plan("all", *operations)}).structured_content
    found = answer["details"]["findings"]
    assert found and "TOOL_NOT_ALLOWED" not in {finding["code"] for finding in found}


def test_the_catalogue_is_disclosed_step_by_step(context: ServerContext, era: Era) -> None:
    found = call(context, era, "tool_search", {"query": "bevel modifiers"}).structured_content["result"]["matches"]
    assert "modifier.add" in [entry["name"] for entry in found][:3]
    every = call(context, era, "tool_search", {}).structured_content["result"]["tools"]
    assert "create_primitive" in every["mesh"]
    line = call(context, era, "tool_describe", {"names": ["mesh.create_primitive"]}).structured_content
    assert "kind: cube|plane" in line["result"]["tools"][0]["call"]
    page = call(
        context, era, "tool_describe", {"names": ["mesh.create_primitive"], "detail": "page"}
    ).structured_content
    assert "kind" in page["result"]["tools"][0]["arguments"]
    names = ["mesh.create_primitive", "mesh.creat", "light.create", "modifier.add:BEVELL"]
    some = call(context, era, "tool_describe", {"names": names}).structured_content["result"]
    assert [tool["call"].partition("(")[0] for tool in some["tools"]] == ["mesh.create_primitive", "light.create"]
    unknown, variant = some["not_found"]
    assert unknown["pointer"] == "/names/1" and "'mesh.create'" in unknown["cure"]
    assert (variant["pointer"], variant["cure"]) == ("/names/3", "Did you mean 'BEVEL'?")
    assert call(context, era, "tool_describe", {"names": ["mesh.creat"]}).is_error, "nothing is known of it"


def test_a_run_in_the_background_is_a_job(context: ServerContext, era: Era) -> None:
    name = f"Job{era}"

    async def script(client: Client) -> Any:
        begun = await client.call_tool("plan_execute", {"plan": plan(name, cube("a", name)), "background": True})
        job = begun.structured_content["result"]["job_id"]
        return (await client.call_tool("job_status", {"job_id": job, "wait_s": 90})).structured_content["result"]

    ended = talk(context, era, script)
    assert (ended["state"], ended["ok"], ended["operations_done"]) == ("finished", True, 1)
    unknown = call(context, era, "job_status", {"job_id": "nobody"})
    assert unknown.is_error
    told = call(context, era, "job_status", {"wait_s": 5}).structured_content["result"]
    assert (told["request_id"], told["state"], told["ok"]) == (name, "finished", True), "the newest is meant"
    assert "jobs" in call(context, era, "job_status", {}).structured_content["result"]
    assert unknown.structured_content["error_code"] == "not_found"


def test_a_job_that_succeeded_stays_so_when_it_is_cancelled_afterwards(context: ServerContext, era: Era) -> None:
    name = f"Late{era}"

    async def script(client: Client) -> Any:
        begun = await client.call_tool("plan_execute", {"plan": plan(name, cube("a", name)), "background": True})
        job = {"job_id": begun.structured_content["result"]["job_id"]}
        await client.call_tool("job_status", {**job, "wait_s": 30})
        stopped = (await client.call_tool("job_cancel", job)).structured_content["result"]
        return stopped, (await client.call_tool("job_status", job)).structured_content["result"]

    stopped, told = talk(context, era, script)
    assert (stopped["state"], stopped["ok"]) == ("finished", True)
    assert (told["state"], told["ok"]) == ("finished", True)


def test_a_job_that_is_cancelled_in_the_middle_is_told_as_cancelled(context: ServerContext) -> None:
    slow = operation(
        "slow", "render.preview", {"view": "ISO", "engine": "CYCLES", "samples": 256, "width": 2048, "height": 2048}, "a",
        level="read_only",
    )  # fmt: skip

    async def script(client: Client) -> Any:
        begun = await client.call_tool(
            "plan_execute", {"plan": plan("stop", cube("a", "Stop"), slow), "background": True}
        )
        job = {"job_id": begun.structured_content["result"]["job_id"]}
        while (await client.call_tool("job_status", job)).structured_content["result"]["operations_done"] == 0:
            await anyio.lowlevel.checkpoint()
        return (await client.call_tool("job_cancel", job)).structured_content["result"]

    stopped = talk(context, "legacy", script)
    assert (stopped["state"], stopped["ok"]) == ("cancelled", False)


def test_progress_is_told_operation_by_operation(context: ServerContext, era: Era) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async def script(client: Client) -> Any:
        steps = [cube(f"op{number}", f"Progress{era}{number}") for number in range(3)]
        await client.call_tool("plan_execute", {"plan": plan(f"progress{era}", *steps)}, progress_callback=heard)

    talk(context, era, script)
    assert [(done, total) for done, total, _ in told] == [(1, 3), (2, 3), (3, 3)]
    assert told[0][2] == "op0 succeeded"


@pytest.mark.proves("EXEC-TIME-04")
def test_a_cancelled_request_stops_its_run_and_the_next_one_is_answered(context: ServerContext, era: Era) -> None:
    """The picture would take minutes: only stopping it lets the client go on. The host can ask, which in the newer era is another way."""
    slow = operation(
        "slow",
        "render.preview",
        {"view": "ISO", "engine": "CYCLES", "samples": 256, "width": 2048, "height": 2048},
        level="read_only",
    )

    async def script(client: Client) -> Any:
        await client.call_tool("plan_execute", {"plan": plan(f"before{era}", cube("a", f"Before{era}"))})
        begun = anyio.Event()

        async def heard(progress: float, total: float | None, message: str | None) -> None:
            begun.set()

        async with anyio.create_task_group() as tasks:

            async def run() -> None:
                late = cube("late", f"Behind{era}", "slow")
                steps = plan(f"slow{era}", cube("first", f"First{era}"), {**slow, "depends_on": ["first"]}, late)
                await client.call_tool("plan_execute", {"plan": steps}, progress_callback=heard)

            tasks.start_soon(run)
            await begun.wait()
            tasks.cancel_scope.cancel()
        return (await client.call_tool("scene_find", {"name": f"*{era}"})).structured_content["result"]

    async def user(context: Any, params: Any) -> ElicitResult:
        raise AssertionError("nothing here is asked about")

    found = talk(context, era, script, elicitation_callback=user)
    names = {entry["name"] for entry in found["objects"]}
    assert {f"Before{era}", f"First{era}"} <= names
    assert f"Behind{era}" not in names, "what came after the picture was not done"
    with read_journal(context.workspace) as journal:
        records = [record.record for record in journal.audit.records(limit=10_000)]
    (slow_one,) = [each for each in records if (each["request_id"], each["operation_id"]) == (f"slow{era}", "slow")]
    assert slow_one["error_code"] == "CANCELLED", "it did not just run into its deadline"


@pytest.mark.proves("CORE-PIPE-01")
def test_the_core_envelope_is_spoken_where_it_is_asked_for(context: ServerContext, era: Era) -> None:
    good = call(context, era, "scene_find", {"name": "no such name"}, envelope="core").structured_content
    assert good.keys() == {"ok", "result"} and good["ok"] is True
    assert good["result"]["result"]["total"] == 0
    bad = call(context, era, "tool_describe", {"names": ["no.such"]}, envelope="core").structured_content
    assert bad.keys() == {"ok", "error"} and bad["ok"] is False
    assert bad["error"].keys() == {"code", "message", "details"}
    assert bad["error"]["code"] == "not_found"


@pytest.mark.proves("EXEC-TOOL-01")
def test_direct_tools_take_the_whole_lifecycle_of_a_call(context: ServerContext, era: Era) -> None:
    name = f"Direct{era}"
    args = {"kind": "cube", "name": name}
    made = call(context, era, "mesh_create_primitive", args, direct=True)
    assert made.structured_content["fingerprint_after"] != made.structured_content["fingerprint_before"]
    again = call(context, era, "mesh_create_primitive", {**args, "kind": "cub"}, direct=True)
    assert again.structured_content["error_code"] == "invalid_input"


def test_macros_and_nodes_are_found_and_described_like_tools(context: ServerContext, era: Era) -> None:
    found = call(context, era, "tool_search", {"query": "three point lighting"}).structured_content["result"]["matches"]
    assert "studio.three_point" in [entry["name"] for entry in found][:3]
    for among, wanted in (("shader_nodes", "ShaderNodeBsdfGlass"), ("compositor_nodes", "CompositorNodeGlare")):
        words = wanted.rpartition("Bsdf" if "Bsdf" in wanted else "Node")[2]
        found = call(context, era, "tool_search", {"query": words, "among": among}).structured_content["result"]
        assert wanted in [match["name"] for match in found["matches"]]
        page = call(context, era, "tool_describe", {"names": [wanted]})
        assert not page.is_error
    nodes = call(context, era, "tool_search", {"query": "noise texture", "among": "nodes"}).structured_content["result"]
    assert "ShaderNodeTexNoise" in [entry["name"] for entry in nodes["matches"]]
    several = {"query": "noise texture, mapping (of a texture, say), no such thing", "among": "shader_nodes"}
    noise, mapping, none = call(context, era, "tool_search", several).structured_content["result"]["answers"]
    assert noise["matches"][0]["name"] == "ShaderNodeTexNoise" and none["message"]
    assert mapping["query"] == "mapping (of a texture, say)", "what stands in brackets is one thing"
    names = {"names": ["studio.three_point", "ShaderNodeTexNoise"]}
    short = call(context, era, "tool_describe", names).structured_content["result"]["tools"]
    assert short[0]["call"].startswith("studio.three_point(") and "Scale" in short[1]["inputs"]
    pages = call(context, era, "tool_describe", {**names, "detail": "page"})
    macro, node = pages.structured_content["result"]["tools"]
    assert macro["steps"]
    assert "Scale" in node["inputs"]


def test_a_geonodes_plan_is_run_and_a_gate_keeps_it_from_being_done(context: ServerContext, era: Era) -> None:
    cut = {
        "op": "unlink",
        "from": {"node_id": "group_input", "socket": "Geometry"},
        "to": {"node_id": "group_output", "socket": "Geometry"},
    }
    target = {"object_name": f"Plane{era}", "node_group_name": f"GN{era}"}
    made = {"op": "create_node", "node_id": "grid", "bl_idname": "GeometryNodeMeshGrid"}
    joined = {
        "op": "link",
        "from": {"node_id": "grid", "socket": "Mesh"},
        "to": {"node_id": "group_output", "socket": "Geometry"},
    }
    first = geonodes_plan(tree_step("step_1", cut, **target, allow_create_object=True))
    answer = call(context, era, "geonodes_execute", {"plan": first})
    assert answer.is_error
    said = answer.structured_content["result"]["result"]
    assert said["done"] is False and said["gates"]["failed_gates"] == ["OUTPUT_CONNECTED"]
    answer = call(
        context, era, "geonodes_execute", {"plan": geonodes_plan(tree_step("step_1", made, joined, **target))}
    )
    said = answer.structured_content["result"]["result"]
    assert not answer.is_error and said["done"] is True
    assert said["gates"] == {"success": True, "failed_gates": [], "messages": []}
