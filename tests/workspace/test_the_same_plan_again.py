"""The very same plan once more in one process: answered from memory while HEAD stands still, by the journal as soon as it moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import blendwright
from blendwright.values.faults import Fault
from blendwright.values.report import RunReport
from support.plans.documents import box

PLAN = {"request_id": "many", "operations": [box(f"op{number:03}") for number in range(120)]}
LOOK = box("a-look", tool_name="scene.find", args={"name": "*", "limit": 1}, safety_level="read_only")


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[blendwright.OpenScene]:
    with blendwright.open(tmp_path_factory.mktemp("again") / "workspace", spare=False) as scene:
        assert scene.run(PLAN).ok
        yield scene


def statuses(report: RunReport) -> set[str]:
    return {operation.status for operation in report.operations}


def test_it_is_answered_without_a_look_into_the_journal_and_as_the_journal_would(
    scene: blendwright.OpenScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, records = scene.hash, len(scene.journal.audit.records(limit=10_000))

    def asked(*args: Any, **options: Any) -> Any:
        pytest.fail("the journal was asked")

    with monkeypatch.context() as quiet:
        quiet.setattr(scene.journal, "find_many", asked)
        again = scene.run(PLAN)
    assert again.ok and statuses(again) == {"skipped_idempotent"} and scene.hash == before
    assert len(scene.journal.audit.records(limit=10_000)) == records + 120, "every operation has its record"
    for operation in again.operations:
        assert operation.commit is not None
        assert operation.receipt == scene.journal.show(operation.commit).receipt


def test_once_head_has_moved_the_journal_decides(scene: blendwright.OpenScene) -> None:
    scene.history.undo()
    gone = scene.run(PLAN)
    assert gone.operations[-1].fault is Fault.IDEMPOTENCY_CONFLICT
    assert statuses(gone) == {"skipped_idempotent", "failed"}
    scene.history.redo()
    scene.call("object.create_empty", name="Later")
    assert statuses(scene.run(PLAN)) == {"skipped_idempotent"}


def test_what_was_read_is_never_answered_from_memory(scene: blendwright.OpenScene) -> None:
    made = [
        box(f"e{number:03}", tool_name="object.create_empty", args={"name": f"e{number:03}"}) for number in range(120)
    ]
    plan = {"request_id": "look", "operations": [LOOK, *made]}
    first, again = scene.run(plan), scene.run(plan)
    assert first.ok and again.ok
    looked = [one for report in (first, again) for one in report.operations if one.operation_id == "a-look"]
    assert [one.status for one in looked] == ["succeeded", "succeeded"], "the scene is another one by now"
