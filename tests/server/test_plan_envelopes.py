"""The envelope of a plan's result says what its receipts say: class, seeds, handles, fingerprints, and what stands."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from mcp.client.client import Client

from blendwright.server.context import ServerContext
from support.hosts.mcp import Era, cube, operation, plan, talk
from support.plans.documents import geonodes_plan, python_step, tree_step

# The envelope is the same in both.
ERA: Era = "2026-07-28"
CLASSES = ("deterministic", "seeded", "nondeterministic")

Document = dict[str, Any]


def scatter(id: str, name: str, seed: int, *needs: str) -> Document:
    args = {"source": f"{name}Stone", "target": f"{name}Ground", "count": 3, "seed": seed, "prefix": f"{name}{id}"}
    return operation(id, "place.scatter", args, *needs)


def field(name: str, *seeds: int) -> list[Document]:
    """A ground, a stone, and one scatter for each seed."""
    ground = operation(
        "ground", "mesh.create_primitive", {"kind": "grid", "name": f"{name}Ground", "size": 10, "cells": 4}
    )
    listed = [ground, cube("stone", f"{name}Stone", "ground")]
    for number, seed in enumerate(seeds):
        listed.append(scatter(f"scatter{number}", name, seed, listed[-1]["operation_id"]))
    return listed


def lost(*needs: str) -> Document:
    return operation("lost", "object.transform", {"name": "Nobody", "location": [0, 0, 0]}, *needs)


async def execute(client: Client, document: Document, **options: Any) -> Document:
    answer = await client.call_tool("plan_execute", {"plan": document, "detail": "full", **options})
    assert answer.structured_content is not None
    return answer.structured_content


async def journal_receipts(client: Client, request_id: str) -> list[Document]:
    (content,) = (await client.read_resource(f"blendwright://receipts/{request_id}")).contents
    return json.loads(getattr(content, "text"))  # noqa: B009 - the SDK's union has another member without a text


async def fingerprint(client: Client) -> str:
    answer = await client.call_tool("scene_snapshot", {"limit": 1, "detail": "full"})
    assert answer.structured_content is not None
    return answer.structured_content["result"]["fingerprint"]


def report_receipts(envelope: Document) -> list[Document]:
    operations = envelope["result"]["report"]["operations"]
    return [entry["receipt"] for entry in operations if entry["receipt"] is not None]


def agree(envelope: Mapping[str, Any], receipts: Sequence[Document]) -> None:
    """Every field that sums up receipts says what they say."""
    worst = max((CLASSES.index(receipt["determinism_class"]) for receipt in receipts), default=None)
    assert envelope["determinism_class"] == (None if worst is None else CLASSES[worst])
    seeds = {receipt["operation_id"]: receipt["seed"] for receipt in receipts if receipt["seed"] is not None}
    assert envelope["seeds"] == seeds
    assert envelope["seed"] == (next(iter(seeds.values())) if len(set(seeds.values())) == 1 else None)
    tolerances = [receipt["tolerance"] for receipt in receipts if receipt["tolerance"] is not None]
    assert envelope["tolerance"] == max(tolerances, default=None)
    assert {(handle["kind"], handle["name"]) for handle in envelope["handles"]} == handles_of(receipts)


def handles_of(receipts: Sequence[Document]) -> set[tuple[str, str]]:
    standing = set[tuple[str, str]]()
    for receipt in receipts:
        standing -= {(one["kind"], one["name"]) for one in receipt["changes"] if one["change"] == "removed"}
        standing |= {(one["kind"], one["name"]) for one in receipt["handles"]}
    return standing


def phases(envelope: Document) -> dict[str, float | None]:
    return {phase["name"]: phase["ms"] for phase in envelope["details"]["trace"]}


def test_a_seeded_plan_is_seeded_with_its_seed_its_handles_and_its_fingerprints(context: ServerContext) -> None:
    async def script(client: Client) -> Any:
        before = await fingerprint(client)
        envelope = await execute(client, plan("seeded", *field("Seeded", 7)))
        return before, envelope, await fingerprint(client), await journal_receipts(client, "seeded")

    before, envelope, after, journal = talk(context, ERA, script)
    agree(envelope, report_receipts(envelope))
    agree(envelope, journal)
    assert (envelope["ok"], envelope["determinism_class"], envelope["seed"]) == (True, "seeded", 7)
    assert (envelope["fingerprint_before"], envelope["fingerprint_after"]) == (before, after)
    assert before == journal[0]["scene_hash_before"] and after == journal[-1]["scene_hash_after"]
    assert {"kind": "objects", "name": "SeededGround"} in envelope["handles"]
    assert None not in phases(envelope).values() and "partial_work" not in envelope["details"]


def test_several_seeds_are_named_by_operation_and_none_speaks_for_all(context: ServerContext) -> None:
    envelope = talk(context, ERA, lambda client: execute(client, plan("seeds", *field("Seeds", 3, 4))))
    agree(envelope, report_receipts(envelope))
    assert (envelope["seed"], envelope["seeds"]) == (None, {"scatter0": 3, "scatter1": 4})


def test_a_plan_that_would_not_be_deterministic_is_refused_with_nothing_done(context: ServerContext) -> None:
    bevel = {"object": "RandomGround", "name": "Round", "settings": {"type": "BEVEL"}}
    apply = {"object": "RandomGround", "modifier": "Round", "type": "BEVEL"}
    listed = [
        *field("Random", 7),
        operation("bevel", "modifier.add", bevel, "scatter0"),
        operation("apply", "modifier.apply", apply, "bevel", level="destructive"),
    ]
    envelope = talk(context, ERA, lambda client: execute(client, plan("random", *listed), determinism="seeded"))
    agree(envelope, [])
    assert (envelope["ok"], envelope["error_code"]) == (False, "nondeterministic_refused")


def test_a_measurement_brings_its_tolerance_and_changes_nothing(context: ServerContext) -> None:
    async def script(client: Client) -> Any:
        made = await execute(client, plan("made", cube("a", "Measured")))
        measure = operation("m", "mesh.measure", {"object": "Measured"}, level="read_only")
        return made, await execute(client, plan("measured", measure))

    made, envelope = talk(context, ERA, script)
    agree(envelope, report_receipts(envelope))
    assert envelope["tolerance"] is not None
    assert envelope["fingerprint_before"] == envelope["fingerprint_after"] == made["fingerprint_after"]


def test_what_a_later_operation_removed_is_no_handle(context: ServerContext) -> None:
    async def script(client: Client) -> Any:
        ball = {"kind": "uv_sphere", "name": "Again"}
        listed = [cube("a", "Whole"), operation("b", "mesh.create_primitive", ball, "a")]
        rename = operation("c", "object.rename", {"name": "Again", "new_name": "Renamed"}, "b")
        return await execute(client, plan("renamed", *listed, rename))

    envelope = talk(context, ERA, script)
    agree(envelope, report_receipts(envelope))
    assert {"kind": "objects", "name": "Renamed"} in envelope["handles"]
    assert {"kind": "objects", "name": "Again"} not in envelope["handles"]


def test_a_failure_says_what_stands(context: ServerContext) -> None:
    async def script(client: Client) -> Any:
        document = plan("partial", *field("Partial", 9), lost("scatter0"), cube("late", "Late", "lost"))
        envelope = await execute(client, document)
        return envelope, await journal_receipts(client, "partial"), await fingerprint(client)

    envelope, journal, after = talk(context, ERA, script)
    agree(envelope, report_receipts(envelope))
    agree(envelope, journal)
    assert (envelope["ok"], envelope["error_code"], envelope["seed"]) == (False, "not_found", 9)
    assert (envelope["fingerprint_before"], envelope["fingerprint_after"]) == (journal[0]["scene_hash_before"], after)
    work = envelope["details"]["partial_work"]
    assert work["kept"] == [receipt["operation_id"] for receipt in journal] == ["ground", "stone", "scatter0"]
    assert (work["failed"], work["taken_back"], work["totals"]["not_run"]) == (["lost"], [], 1)


def test_what_was_rolled_back_leaves_nothing_in_the_envelope(context: ServerContext) -> None:
    async def script(client: Client) -> Any:
        before = await fingerprint(client)
        envelope = await execute(client, plan("gone", *field("Gone", 9), lost("scatter0")), boundary="plan")
        return before, envelope, await fingerprint(client)

    before, envelope, after = talk(context, ERA, script)
    assert report_receipts(envelope) == []
    agree(envelope, [])
    assert envelope["fingerprint_before"] == envelope["fingerprint_after"] == before == after
    assert envelope["result"]["report"]["scene_hash"] == after
    work = envelope["details"]["partial_work"]
    assert (work["kept"], work["taken_back"]) == ([], ["ground", "stone", "scatter0"])
    assert envelope["details"]["reverted_by"] == "rebuild"


def test_a_plan_that_comes_again_has_the_same_receipts_and_leaves_the_scene(context: ServerContext) -> None:
    async def script(client: Client) -> Any:
        first = await execute(client, plan("again", *field("Again2", 5)))
        await execute(client, plan("between", cube("a", "Between")))
        return first, await execute(client, plan("again", *field("Again2", 5))), await fingerprint(client)

    first, again, now = talk(context, ERA, script)
    agree(again, report_receipts(again))
    for field_name in ("determinism_class", "seed", "seeds", "tolerance", "handles"):
        assert again[field_name] == first[field_name]
    assert again["result"]["report"]["counts"] == {"skipped_idempotent": 3}
    assert again["fingerprint_before"] == again["fingerprint_after"] == now


def test_a_refused_plan_has_no_receipts_and_no_partial_work(context: ServerContext) -> None:
    envelope = talk(context, ERA, lambda client: execute(client, plan("refused", operation("a", "no.tool", {}))))
    agree(envelope, [])
    assert envelope["result"]["report"]["status"] == "refused"
    assert "partial_work" not in envelope["details"]


def test_the_steps_of_a_macro_are_named_one_by_one(context: ServerContext) -> None:
    async def script(client: Client) -> Any:
        grid = {"source": "Tile", "columns": 2, "rows": 2, "prefix": "Tiles"}
        return await execute(client, plan("macro", cube("a", "Tile"), operation("m", "layout.grid", grid, "a")))

    envelope = talk(context, ERA, script)
    agree(envelope, report_receipts(envelope))
    ids = [receipt["operation_id"] for receipt in report_receipts(envelope)]
    assert envelope["ok"] and ids[0] == "a" and len(ids) > 2 and all(id.startswith("m.") for id in ids[1:])


def test_a_geonodes_plan_is_described_like_any_other(context: ServerContext) -> None:
    create = {"op": "create_node", "node_id": "finer", "bl_idname": "GeometryNodeSubdivideMesh", "location": [0, 0]}
    step = tree_step("step_1", create, object_name="Finer", node_group_name="GNFiner", allow_create_object=True)

    async def script(client: Client) -> Any:
        before = await fingerprint(client)
        answer = await client.call_tool("geonodes_execute", {"plan": geonodes_plan(step), "detail": "full"})
        assert answer.structured_content is not None
        request_id = answer.structured_content["result"]["report"]["request_id"]
        return before, answer.structured_content, await journal_receipts(client, request_id), await fingerprint(client)

    before, envelope, journal, after = talk(context, ERA, script)
    agree(envelope, journal)
    assert (envelope["fingerprint_before"], envelope["fingerprint_after"]) == (before, after)
    assert {"kind": "objects", "name": "Finer"} in envelope["handles"]


@pytest.mark.parametrize("fails", [False, True], ids=["done", "failed"])
def test_a_job_that_ended_has_the_envelope_of_its_plan(context: ServerContext, fails: bool) -> None:
    name = f"Job{fails}"
    listed = [*field(name, 11), *([lost("scatter0")] if fails else [])]

    async def script(client: Client) -> Any:
        begun = await execute(client, plan(name, *listed), background=True)
        arguments = {"job_id": begun["result"]["job_id"], "wait_s": 30}
        answer = await client.call_tool("job_status", arguments)
        return begun, answer.structured_content, await journal_receipts(client, name)

    begun, envelope, journal = talk(context, ERA, script)
    assert begun["determinism_class"] == "nondeterministic" and "seeds" not in begun, "nothing has been done yet"
    agree(envelope, journal)
    assert envelope["ok"] == envelope["result"]["ok"] == (not fails)
    assert envelope["error_code"] == ("not_found" if fails else None)
    assert envelope["fingerprint_before"] == journal[0]["scene_hash_before"]
    assert envelope["fingerprint_after"] == journal[-1]["scene_hash_after"]
    assert ("partial_work" in envelope["details"]) == fails


def test_a_preview_promises_what_a_run_then_keeps_and_leaves_the_scene(context: ServerContext) -> None:
    async def script(client: Client) -> Any:
        before = await fingerprint(client)
        document = plan("tried", *field("Tried", 13))
        shown = await client.call_tool("plan_preview", {"plan": document, "detail": "full"})
        return before, shown.structured_content, await execute(client, document)

    before, shown, envelope = talk(context, ERA, script)
    agree(shown, report_receipts(envelope))
    assert shown["fingerprint_before"] == shown["fingerprint_after"] == before


@pytest.mark.parametrize("fails", [False, True], ids=["done", "failed"])
def test_the_core_envelope_says_the_same(context: ServerContext, fails: bool) -> None:
    name = f"Core{fails}"
    listed = [*field(name, 15), *([lost("scatter0")] if fails else [])]

    async def script(client: Client) -> Any:
        return await execute(client, plan(name, *listed)), await journal_receipts(client, name)

    envelope, journal = talk(context, ERA, script, envelope="core")
    described = envelope["error"]["details"] if fails else envelope["result"]
    agree({"tolerance": None, **described}, journal)
    assert described["fingerprint_after"] == journal[-1]["scene_hash_after"]


# ---------------------------------------------------------------------- every fate, by every tool that answers with a plan


def tree(name: str, *more: Document) -> Document:
    """A geonodes plan whose tree makes a grid."""
    made = {"op": "create_node", "node_id": "grid", "bl_idname": "GeometryNodeMeshGrid", "location": [0, 0]}
    out = {"node_id": "group_output", "socket": "Geometry"}
    link = {"op": "link", "from": {"node_id": "grid", "socket": "Mesh"}, "to": out}
    target = {"object_name": name, "node_group_name": f"GN{name}", "allow_create_object": True}
    return geonodes_plan(tree_step("step_1", made, link, **target), *more)


def fated(dialect: str, fate: str, name: str) -> Document:
    """A plan that ends like this, after something of it was done."""
    if dialect == "geonodes":
        code = {
            "failed": "raise ValueError('no')",
            "taken back": "raise ValueError('no')",
            "cancelled": "while True: pass",
        }
        more = [python_step("step_2", code=code[fate], timeout_ms=60_000)] if fate in code else []
        return tree(name, *more)
    picture = {"view": "ISO", "engine": "CYCLES", "samples": 256, "width": 2048, "height": 2048}
    slow = operation("slow", "render.preview", picture, "scatter0", level="read_only")
    more = {"failed": [lost("scatter0")], "taken back": [lost("scatter0")], "cancelled": [slow]}
    return plan(name, *field(name, 21), *more.get(fate, []))


async def ended(client: Client, tool: str, document: Document, fate: str) -> Document:
    """What the tool answers with once the plan has ended."""
    options = {"plan": document, "detail": "full", "boundary": "plan" if fate == "taken back" else "operation"}
    if tool != "job_status":
        answer = await client.call_tool(tool, options)
        assert answer.structured_content is not None
        return answer.structured_content
    begun = await client.call_tool("plan_execute", {**options, "background": True})
    assert begun.structured_content is not None
    job = {"job_id": begun.structured_content["result"]["job_id"]}
    while fate == "cancelled":
        status = (await client.call_tool("job_status", {**job, "wait_s": 0.2})).structured_content
        assert status is not None and status["ok"], status
        if status["result"]["operations_done"] >= (3 if "operations" in document else 1):
            await client.call_tool("job_cancel", job)
            break
    told = (await client.call_tool("job_status", {**job, "wait_s": 30})).structured_content
    assert told is not None
    return told


ANSWERS = [
    ("plan_execute", "operations"),
    ("geonodes_execute", "geonodes"),
    ("job_status", "operations"),
    ("job_status", "geonodes"),
]
FATES = ("done", "failed", "taken back", "cached", "cancelled")


@pytest.mark.parametrize(
    ("tool", "dialect", "fate"),
    # A request that is cancelled gets no answer: that is the protocol.
    [(*answer, fate) for answer in ANSWERS for fate in FATES if fate != "cancelled" or answer[0] == "job_status"],
)
def test_every_envelope_says_what_its_receipts_say(context: ServerContext, tool: str, dialect: str, fate: str) -> None:
    name = f"Fate{tool}{dialect}{fate}".replace("_", "").replace(" ", "")
    document = fated(dialect, fate, name)

    async def script(client: Client) -> Any:
        if fate == "cached":
            await ended(client, tool, document, fate)
        before = await fingerprint(client)
        envelope = await ended(client, tool, document, fate)
        result = envelope["result"]
        request = result["request_id"] if tool == "job_status" else result["report"]["request_id"]
        receipts = [] if fate == "taken back" else await journal_receipts(client, request)
        return before, envelope, receipts, await fingerprint(client)

    before, envelope, receipts, after = talk(context, ERA, script)
    agree(envelope, receipts)
    assert envelope["ok"] == (fate in ("done", "cached"))
    assert (envelope["fingerprint_before"], envelope["fingerprint_after"]) == (before, after)
    if fate in ("taken back", "cached"):
        assert before == after
    else:
        assert before == receipts[0]["scene_hash_before"] and after == receipts[-1]["scene_hash_after"]
    assert [phase["phase"] for phase in envelope["details"]["trace"]] == list(range(7))
    assert (phases(envelope)["execute"] is None) == (fate == "cached"), "nothing is executed that was done before"
    if not envelope["ok"]:
        work = envelope["details"]["partial_work"]
        assert work["kept"] == [receipt["operation_id"] for receipt in receipts]
        assert envelope["details"].get("cancelled", False) == (fate == "cancelled")
