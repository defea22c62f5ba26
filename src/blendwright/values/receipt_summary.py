"""What the receipts of a plan promise together: the weakest determinism class, the seeds, and everything that was made or changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from blendwright.values.outcome import DeterminismClass
from blendwright.values.report import OperationReport

# From the strongest promise to the weakest.
CLASSES: tuple[str, ...] = get_args(DeterminismClass)


@dataclass(frozen=True, slots=True)
class ReceiptSummary:
    """`determinism_class` is None when there is no receipt. `seeds` are by operation; `tolerance` is the largest."""

    determinism_class: str | None
    seeds: Mapping[str, int]
    tolerance: float | None
    handles: tuple[Mapping[str, str], ...]

    @property
    def seed(self) -> int | None:
        """The seed, where all operations that have one share it."""
        distinct = set(self.seeds.values())
        return distinct.pop() if len(distinct) == 1 else None


def summarise_receipts(operations: Iterable[OperationReport]) -> ReceiptSummary:
    """Of the operations that are done; what failed or was rolled back has no receipt."""
    receipts = [report.receipt for report in operations if report.done and report.receipt is not None]
    ranks = [CLASSES.index(receipt["determinism_class"]) for receipt in receipts]
    tolerances = [receipt["tolerance"] for receipt in receipts if receipt.get("tolerance") is not None]
    return ReceiptSummary(
        determinism_class=CLASSES[max(ranks)] if ranks else None,
        seeds={receipt["operation_id"]: receipt["seed"] for receipt in receipts if receipt.get("seed") is not None},
        tolerance=max(tolerances, default=None),
        handles=tuple(_handles(receipts)),
    )


def _handles(receipts: Iterable[Mapping[str, Any]]) -> list[Mapping[str, str]]:
    """Each once, in the order in which they came; what a later operation removed is no handle any more."""
    handles: dict[tuple[str, str], Mapping[str, str]] = {}
    for receipt in receipts:
        for change in receipt.get("changes", ()):
            if change["change"] == "removed":
                handles.pop((change["kind"], change["name"]), None)
        for handle in receipt.get("handles", ()):
            handles[handle["kind"], handle["name"]] = dict(handle)
    return list(handles.values())
