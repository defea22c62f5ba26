"""A run in the background that is called off: its answer is that of a cancelled call, and says what stands."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.client.client import Client

from blendwright.server.context import ServerContext
from support.hosts.mcp import Era, cube, operation, plan, talk

ERA: Era = "2026-07-28"
PICTURE = {"view": "ISO", "engine": "CYCLES", "samples": 256, "width": 2048, "height": 2048}
CUBE = {"kind": "cube", "name": "Made"}
LOST = {"name": "Nobody", "location": [0, 0, 0]}

Document = dict[str, Any]


def slow(*needs: str) -> Document:
    """A picture that takes minutes."""
    return operation("slow", "render.preview", PICTURE, *needs, level="read_only")


async def ask(client: Client, tool: str, **args: Any) -> Document:
    answer = await client.call_tool(tool, args)
    assert answer.structured_content is not None
    assert answer.is_error is (not answer.structured_content["ok"])
    return answer.structured_content


def result_of(envelope: Document) -> Document:
    """What a call answered with, in either form."""
    return envelope["result"].get("result", envelope["result"])


async def begin(client: Client, document: Document, *, done: int = 0, **options: Any) -> str:
    """The id of a job, of which so many operations stand already."""
    begun = await ask(client, "plan_execute", plan=document, background=True, detail="full", **options)
    id = result_of(begun)["job_id"]
    while True:
        status = result_of(await ask(client, "job_status", job_id=id, wait_s=0.2))
        if status["state"] != "waiting" and status["operations_done"] >= done:
            return id


async def cancel(client: Client, document: Document, **options: Any) -> tuple[Document, Document]:
    """What cancelling and asking afterwards are answered with."""
    id = await begin(client, document, **options)
    return await ask(client, "job_cancel", job_id=id), await ask(client, "job_status", job_id=id)


def work_of(details: Document) -> tuple[list[str], list[str], int]:
    work = details["partial_work"]
    return work["kept"], work["taken_back"], work["totals"]["not_run"]


@pytest.mark.proves("CORE-TIME-02")
def test_a_cancelled_job_answers_timeout_and_counts_what_stands(context: ServerContext) -> None:
    document = plan("told", cube("first", "Told"), slow("first"), cube("late", "Never", "slow"))
    for envelope in talk(context, ERA, lambda client: cancel(client, document, done=1)):
        details = envelope["details"]
        assert (envelope["ok"], envelope["error_code"], details["cancelled"]) == (False, "timeout", True)
        assert work_of(details) == (["first"], [], 2)
        result = envelope["result"]
        assert (result["state"], result["operations_done"], result["operations_total"]) == ("cancelled", 1, 3)
        assert {"kind": "objects", "name": "Told"} in envelope["handles"]
        assert envelope["fingerprint_before"] != envelope["fingerprint_after"]


@pytest.mark.proves("CORE-TIME-02")
def test_the_core_envelope_says_so_too(context: ServerContext) -> None:
    document = plan("core", cube("first", "Core"), slow("first"))
    for envelope in talk(context, ERA, lambda client: cancel(client, document, done=1), envelope="core"):
        assert (envelope["ok"], envelope["error"]["code"]) == (False, "timeout")
        assert envelope["error"]["details"]["cancelled"] is True
        assert work_of(envelope["error"]["details"]) == (["first"], [], 1)


def test_a_plan_that_is_kept_whole_leaves_nothing_when_it_is_cancelled(context: ServerContext) -> None:
    document = plan("whole", cube("first", "Whole"), slow("first"))
    envelope, _ = talk(context, ERA, lambda client: cancel(client, document, boundary="plan"))
    assert (envelope["error_code"], envelope["details"]["cancelled"]) == ("timeout", True)
    kept, _, _ = work_of(envelope["details"])
    assert (kept, envelope["handles"], envelope["result"]["operations_done"]) == ([], [], 0)
    assert envelope["fingerprint_before"] == envelope["fingerprint_after"]


def test_a_step_that_failed_before_does_not_hide_the_cancellation(context: ServerContext) -> None:
    steps: list[Document] = [
        {"step_id": "lost", "tool": {"name": "object.transform", "args": LOST}, "dependencies": []},
        {"step_id": "made", "tool": {"name": "mesh.create_primitive", "args": CUBE}, "dependencies": []},
        {"step_id": "slow", "tool": {"name": "render.preview", "args": PICTURE}, "dependencies": ["made"]},
    ]
    envelope, _ = talk(context, ERA, lambda client: cancel(client, {"steps": steps}, done=1))
    assert (envelope["error_code"], envelope["details"]["cancelled"]) == ("timeout", True)
    assert (envelope["details"]["partial_work"]["failed"], work_of(envelope["details"])) == (
        ["lost"],
        (["made"], [], 1),
    )


def test_a_job_that_waits_for_another_is_cancelled_at_once_and_never_begins(context: ServerContext) -> None:
    async def script(client: Client) -> Any:
        before = await begin(client, plan("before", cube("first", "Before"), slow("first")), done=1)
        begun = await ask(client, "plan_execute", plan=plan("behind", cube("a", "Behind")), background=True)
        behind = await ask(client, "job_cancel", job_id=begun["result"]["job_id"])
        running = await ask(client, "job_status", job_id=before)
        await ask(client, "job_cancel", job_id=before)
        return behind, running, await ask(client, "scene_find", name="Behind")

    behind, running, found = talk(context, ERA, script)
    assert running["result"]["state"] == "running"
    assert (behind["error_code"], behind["details"]["cancelled"]) == ("timeout", True)
    assert behind["details"]["partial_work"] == {"kept": [], "totals": {"kept": 0, "not_run": 1}}
    assert behind["result"]["state"] == "cancelled" and found["result"]["total"] == 0


def test_the_steps_of_a_macro_count_as_the_one_operation_that_was_asked_for(context: ServerContext) -> None:
    heard: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total))

    async def script(client: Client) -> Any:
        grid = {"source": "Tile", "columns": 2, "rows": 2, "prefix": "Tiles"}
        document = plan("tiles", cube("a", "Tile"), operation("m", "layout.grid", grid, "a"))
        await client.call_tool("plan_execute", {"plan": document}, progress_callback=hear)
        id = await begin(client, document)
        return await ask(client, "job_status", job_id=id, wait_s=30)

    envelope = talk(context, ERA, script)
    assert heard == [(1, 2), (2, 2)]
    assert (envelope["result"]["operations_done"], envelope["result"]["operations_total"]) == (2, 2)
