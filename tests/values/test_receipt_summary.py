"""Receipts of several operations, summed up."""

from __future__ import annotations

from typing import Any

from blendwright.values.report import OperationReport, OperationStatus, summarise_receipts


def operation(id: str, status: OperationStatus = "succeeded", **receipt: Any) -> OperationReport:
    whole = {"operation_id": id, "determinism_class": "deterministic", **receipt}
    return OperationReport(id, "mesh.create_primitive", status, 0, receipt=whole)


def test_the_weakest_class_the_largest_tolerance_and_every_seed_count() -> None:
    first = operation("a", determinism_class="seeded", seed=1, tolerance=0.1)
    second = operation("b", determinism_class="nondeterministic", seed=2, tolerance=0.01)
    summary = summarise_receipts((first, second, operation("c")))
    assert (summary.determinism_class, summary.tolerance) == ("nondeterministic", 0.1)
    assert (summary.seed, summary.seeds) == (None, {"a": 1, "b": 2})
    assert summarise_receipts((first,)).seed == 1


def test_what_was_rolled_back_counts_for_nothing() -> None:
    summary = summarise_receipts((operation("a", "rolled_back", seed=1, handles=[{"kind": "objects", "name": "A"}]),))
    assert (summary.determinism_class, summary.seeds, summary.handles) == (None, {}, ())


def test_a_handle_is_named_once_and_not_after_its_removal() -> None:
    handle, other = {"kind": "objects", "name": "A"}, {"kind": "objects", "name": "B"}
    made = operation("a", handles=[handle, other])
    changed = operation("b", handles=[other])
    removed = operation("c", changes=[{**handle, "change": "removed"}])
    assert summarise_receipts((made, changed, removed)).handles == (other,)
    assert summarise_receipts((made, removed, operation("d", handles=[handle]))).handles == (other, handle)
