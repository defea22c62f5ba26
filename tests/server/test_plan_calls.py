"""The options of calls that run or try plans, each by what it changes."""

from __future__ import annotations

import asyncio
from typing import Any

from blendwright.server.context import ServerContext
from blendwright.server.transport.client_info import MAX_PROGRESS_REPORTS, ProgressReporter
from support.hosts import mcp as hosts
from support.hosts.mcp import Era, cube, operation, plan
from support.plans.documents import geonodes_plan, tree_step

# What is tested here is the same in both.
ERA: Era = "2026-07-28"
LOST = operation("z", "object.transform", {"name": "Nobody", "location": [0, 0, 0]}, "a")


def call(context: ServerContext, tool: str, args: dict[str, Any], **more: Any) -> Any:
    return hosts.call(context, ERA, tool, args, **more)


def total(context: ServerContext, name: str) -> int:
    return call(context, "scene_find", {"name": name}).structured_content["result"]["total"]


def test_the_boundary_says_what_a_failure_takes_back(context: ServerContext) -> None:
    kept, gone = "Kept", "Gone"
    by_operation = call(context, "plan_execute", {"plan": plan(kept, cube("a", kept), LOST)})
    whole = call(context, "plan_execute", {"plan": plan(gone, cube("a", gone), LOST), "boundary": "plan"})
    assert by_operation.is_error and whole.is_error
    assert (total(context, kept), total(context, gone)) == (1, 0)
    assert whole.structured_content["result"]["report"]["status"] == "rolled_back"
    assert whole.structured_content["error_code"] == "not_found"


def test_the_boundary_of_a_geonodes_plan_takes_all_of_it_back(context: ServerContext) -> None:
    cut = {
        "op": "unlink",
        "from": {"node_id": "group_input", "socket": "Geometry"},
        "to": {"node_id": "group_output", "socket": "Geometry"},
    }
    name = "Cut"
    step = tree_step("step_1", cut, object_name=name, node_group_name=f"GN{name}", allow_create_object=True)
    answer = call(context, "geonodes_execute", {"plan": geonodes_plan(step), "boundary": "plan"})
    assert answer.is_error
    assert answer.structured_content["result"]["result"]["status"] == "rolled_back"
    assert total(context, name) == 0


def test_a_deadline_ends_a_run(context: ServerContext) -> None:
    endless = {"code": "while True: pass", "timeout_ms": 60_000}
    name = "Late"
    listed = [cube("a", name), operation("slow", "python.run", endless, "a")]
    assert total(context, name) == 0  # Blender has started before the time of the plan begins
    answer = call(context, "plan_execute", {"plan": plan(name, *listed), "timeout_s": 2})
    assert answer.is_error
    assert answer.structured_content["error_code"] == "timeout"
    assert total(context, name) == 1


def test_a_picture_and_the_whole_report_come_when_they_are_asked_for(context: ServerContext) -> None:
    name = "Asked"
    bare = call(context, "plan_execute", {"plan": plan(name, cube("a", name))})
    assert [part.type for part in bare.content] == ["text"]
    (short,) = bare.structured_content["result"]["report"]["operations"]
    assert short == f"1 x mesh.create_primitive ok (a), made {name}"
    more = {"plan": plan(f"more{name}", cube("b", f"More{name}")), "image": True, "detail": "full"}
    full = call(context, "plan_execute", more)
    assert [part.type for part in full.content] == ["text", "image"]
    (told,) = full.structured_content["result"]["report"]["operations"]
    assert (told["operation_id"], told["status"]) == ("b", "succeeded") and told["scene_hash_after"]
    assert full.structured_content["result"]["report"]["counts"] == {"succeeded": 1}


def test_a_picture_is_taken_as_it_is_asked_for_in_the_same_call(context: ServerContext) -> None:
    asked = {"plan": plan("seen", cube("a", "Seen")), "image": {"views": ["front", "top"], "width": 320, "height": 240}}
    answer = call(context, "plan_execute", asked)
    assert not answer.is_error and [block.type for block in answer.content] == ["text", "image"]
    (picture,) = answer.structured_content["result"]["pictures"]
    assert picture["width"] == 640, "both of them, side by side"
    none = {"plan": plan("unseen", cube("a", "Unseen")), "image": {"camera": "NoSuchCamera"}}
    unseen = call(context, "plan_execute", none)
    assert not unseen.is_error, "what was done stands"
    assert [block.type for block in unseen.content] == ["text"]
    assert any(
        "no picture" in note and "NoSuchCamera" in note for note in unseen.structured_content["details"]["notes"]
    )


def test_a_change_is_seen_beside_what_was_there_before_it(context: ServerContext) -> None:
    call(context, "plan_execute", {"plan": plan("placed", cube("a", "Placed"))})
    moved = plan("moved", operation("a", "object.transform", {"object": "Placed", "location": [0, 0, 3]}))
    answer = call(
        context, "plan_execute", {"plan": moved, "image": {"compare": "before", "views": ["front"], "width": 200}}
    )
    assert not answer.is_error and [block.type for block in answer.content] == ["text", "image"]
    assert answer.structured_content["result"]["compared"]["difference"] > 0
    same = plan("same", operation("a", "object.set_property", {"object": "Placed", "key": "note", "value": "x"}))
    alike = call(
        context, "plan_execute", {"plan": same, "image": {"compare": "before", "views": ["front"], "width": 200}}
    )
    assert alike.structured_content["result"]["compared"]["difference"] == 0


def test_a_comparison_that_is_not_to_be_had_takes_nothing_back(context: ServerContext) -> None:
    for number, compare in enumerate(("99999", "no such commit")):
        asked = {"plan": plan(f"kept{number}", cube("a", f"Kept{number}")), "image": {"compare": compare}}
        answer = call(context, "plan_execute", asked)
        assert not answer.is_error, answer.structured_content
        assert any(note.startswith("no picture: ") for note in answer.structured_content["details"]["notes"])
        assert total(context, f"Kept{number}") == 1


def test_a_picture_that_nobody_could_take_is_refused_before_anything_runs(context: ServerContext) -> None:
    asked = {"plan": plan("never", cube("a", "NeverMade")), "image": {"views": ["sideways"], "colour": 1}}
    for tool, args in (("plan_execute", asked), ("python_run", {"code": "import bpy", "image": asked["image"]})):
        answer = call(context, tool, args)
        assert answer.is_error
        found = {finding["pointer"] for finding in answer.structured_content["details"]["findings"]}
        assert any(pointer.startswith("/image") for pointer in found), found
    shown = call(context, "scene_find", {"name": "NeverMade"}).structured_content
    assert shown["result"]["objects"] == []


def test_a_preview_of_what_would_fail_is_an_error_with_its_findings(context: ServerContext) -> None:
    name = "Tried"
    shown = call(context, "plan_preview", {"plan": plan(name, cube("a", name), LOST)})
    assert shown.is_error
    assert shown.structured_content["error_code"] == "not_found"
    assert "Nobody" in shown.structured_content["message"]
    assert shown.structured_content["result"]["report"]["status"] != "succeeded"
    assert total(context, name) == 0


def test_a_failed_plan_in_the_core_envelope_keeps_its_failure_payload(context: ServerContext) -> None:
    name = "Core"
    document = {"plan": plan(name, cube("a", name), LOST)}
    said = call(context, "plan_execute", document, envelope="core").structured_content
    assert (said["ok"], said["error"]["code"]) == (False, "not_found")
    payload = said["error"]["details"]["result"]["result"]
    assert payload["error_code"] == "TARGET_NOT_FOUND" and payload["minimal_repair_plan"]


class Told:
    """A session that keeps what it is told."""

    def __init__(self) -> None:
        self.heard: list[float] = []

    async def report_progress(self, done: float, total: float | None, message: str) -> None:
        self.heard.append(done)


def test_of_a_long_run_only_a_part_is_told_in_order_and_always_the_end() -> None:
    async def main(count: int) -> list[float]:
        session: Any = Told()
        progress = ProgressReporter(session)
        for done in range(1, count + 1):
            progress(done, count, "")
        await progress.flush()
        return session.heard

    assert asyncio.run(main(5)) == [1, 2, 3, 4, 5]
    told = asyncio.run(main(10 * MAX_PROGRESS_REPORTS + 7))
    assert MAX_PROGRESS_REPORTS <= len(told) <= MAX_PROGRESS_REPORTS + 2
    assert told == sorted(told) and told[-1] == 10 * MAX_PROGRESS_REPORTS + 7
