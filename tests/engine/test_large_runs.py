"""Plans of ten thousand operations on real Blender: done once each, taken back as a whole, gone on with after a loss."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from support.engine.engine import Engine
from support.plans.documents import of_operations

MANY = 10_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine(tmp_path_factory.mktemp("large"), background=True) as engine:
        engine.do("object.create_empty", {"name": "Anchor"})
        yield engine


def moves(request: str, *more: dict[str, Any]) -> Any:
    """Each waits for the one before it, so that a recursion would show."""
    listed = [
        {
            "operation_id": f"o{number:05d}", "tool_name": "object.transform",
            "args": {"name": "Anchor", "location": [number + len(request), 0, 0]},
            "depends_on": [f"o{number - 1:05d}"] if number else [], "safety_level": "safe_write",
        }
        for number in range(MANY)
    ]  # fmt: skip
    return of_operations(*listed, *more, request_id=request)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ten_thousand_operations_survive_the_loss_of_their_worker_and_are_done_once(large: Engine) -> None:
    plan, before, seen = moves("once"), large.head().number, 0

    def progress(report: object) -> None:
        nonlocal seen
        seen += 1
        if seen == MANY // 2:
            os.kill(large.scene.worker().profile.pid, signal.SIGKILL)

    first = large.run(plan, progress=progress)
    second = first if first.ok else large.run(plan)
    assert second.ok and len(second.operations) == MANY
    assert large.head().number == before + MANY, "each is committed once"
    third = large.run(plan)
    assert {operation.status for operation in third.operations} == {"skipped_idempotent"}
    assert large.full_hash() == large.scene.hash == large.head().hash_after
    assert large.journal.audit.verify().ok


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ten_thousand_operations_are_taken_back_as_a_whole(large: Engine) -> None:
    nobody = {"name": "Nobody", "location": [0, 0, 0]}
    last: dict[str, Any] = {
        "operation_id": "z", "tool_name": "object.transform", "args": nobody, "depends_on": [f"o{MANY - 1:05d}"],
        "safety_level": "safe_write",
    }  # fmt: skip
    before = large.head()
    report = large.run(replace(moves("never", last), boundary="plan"))
    assert not report.ok and large.head() == before
    assert large.full_hash() == before.hash_after
    assert large.journal.audit.verify().ok
