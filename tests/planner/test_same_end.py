"""A story with mistakes ends where the right plan at first would have: scene, receipts and audit are the same."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest

import blendwright
from blendwright.planner.loop import PlannerRun
from blendwright.planner.prompt import build_first_request
from planner.scripted import Scripted, op, plan

# Differ from run to run, whatever the plan.
OF_THE_MOMENT = {
    "mcp_call_id", "blender_mutation_id", "timestamp", "session_id", "timings", "duration_ms", "phases_us", "prev", "hash", "entry_hash",
    "audit", "contract", "started", "finished",
}  # fmt: skip
ID = "ask-same"
RIGHT = plan(
    op("a", name="One"), op("b", "object.set_parent", "a", "c", child="Two", parent="One"), op("c", name="Two")
)
WRONG_NAME = plan(
    op("a", name="One"), op("b", "object.set_parent", "a", "c", child="Tow", parent="One"), op("c", name="Two")
)
WRONG_KIND = plan(
    op("a", name="One"), op("b", "object.set_parent", "a", "c", child="Two", parent="One"), op("c", kind="cubus")
)


class End(NamedTuple):
    scene: str
    receipts: Any
    audit: Any
    attempts: int


def end_of(place: Path, *answers: Any, preview: bool) -> End:
    with blendwright.open(place, spare=False) as opened:
        first = build_first_request(opened, "one above two", "operations", ID)
        result = asyncio.run(PlannerRun(opened, Scripted(*answers), first, ID, preview=preview).run())
        assert result.ending == "done" and result.report is not None, result.reason
        receipts = [_lasting(commit.receipt) for commit in opened.journal.commits_of(ID)]
        records = [record.record for record in opened.journal.audit.records(limit=1000)]
        # Looking at the scene for the prompt is a call of its own, under an id that is new every time.
        audit = [_lasting(record) for record in records if record["request_id"] == ID]
        return End(opened.hash, receipts, audit, len(opened.journal.attempts.of_request(ID)))


def _lasting(value: Any) -> Any:
    if isinstance(value, Mapping):
        known = cast("Mapping[str, Any]", value)
        return {key: _lasting(inner) for key, inner in known.items() if key not in OF_THE_MOMENT and not _timed(key)}
    return [_lasting(inner) for inner in cast("list[Any]", value)] if isinstance(value, list | tuple) else value


def _timed(key: str) -> bool:
    return key.endswith(("_ms", "_us"))


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> End:
    return end_of(tmp_path_factory.mktemp("straight"), RIGHT, preview=False)


def test_after_repairs_scene_receipts_and_audit_are_those_of_the_right_plan(straight: End, tmp_path: Path) -> None:
    mended = end_of(tmp_path / "mended", "no plan", WRONG_KIND, WRONG_NAME, RIGHT, preview=True)
    assert mended[:3] == straight[:3]
    assert (straight.attempts, mended.attempts) == (1, 4)


def test_without_a_preview_the_audit_has_what_failed_in_addition_and_nothing_else(
    straight: End, tmp_path: Path
) -> None:
    mended = end_of(tmp_path / "mended", WRONG_NAME, RIGHT, preview=False)
    assert (mended.scene, mended.receipts) == (straight.scene, straight.receipts)
    done = [record for record in mended.audit if record["status"] == "succeeded"]
    assert _numbered(done) == _numbered(straight.audit)
    more = [record["status"] for record in mended.audit if record["status"] != "succeeded"]
    assert more == ["failed", "skipped_idempotent", "skipped_idempotent"]


def _numbered(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Counted anew: a chain with more in it has other numbers."""
    return [record | {"sequence": number} for number, record in enumerate(records)]
